"""What has a syntax of its own, or stands for other rows."""

from __future__ import annotations

from typing import Final

from featurekit.expr.catalogue.row import (
    ANY,
    ATOMIC,
    BOOLEAN,
    BYTES,
    INT,
    NUMBER,
    ORDERED,
    Function,
    Param,
    syntax,
)

ROWS: Final[tuple[Function, ...]] = (
    syntax("cast", (Param("a", ANY),),
           "The value in another type; NULL where it has no form in it. `CAST(x AS type)`."),
    syntax("case", (Param("a", ANY, repeated=True),),
           "The first branch whose condition is true. `CASE [x] WHEN … THEN … [ELSE …] END`."),
    syntax("between", (Param("a", ORDERED), Param("low", ORDERED), Param("high", ORDERED)),
           "Whether it is not smaller than the first and not larger than the second."),
    syntax("if", (Param("condition", BOOLEAN), Param("then", ANY), Param("otherwise", ANY)),
           "The second argument when the first is true, else the third.", "if"),
    syntax("nullif", (Param("a", ATOMIC), Param("b", ATOMIC)), "NULL when both are equal, else the first.", "nullif"),
    syntax("nvl2", (Param("a", ANY), Param("known", ANY), Param("unknown", ANY)),
           "The second argument when the first is not NULL, else the third.", "nvl2"),
    syntax("zeroifnull", (Param("a", NUMBER),), "The number, 0 when it is NULL.", "zeroifnull"),
    syntax("nullifzero", (Param("a", NUMBER),), "The number, NULL when it is 0.", "nullifzero"),
    syntax("decode", (Param("a", ANY), Param("key", ANY), Param("result", ANY, optional=True, repeated=True)),
           "The result beside the first key that equals the first argument (NULL equals NULL), else the last one. "
           "`decode(a, key, result, key, result, otherwise)`; `decode(bytes, 'UTF-8')` is the text of bytes.",
           "decode"),
    syntax("elt", (Param("place", INT), Param("a", BYTES, repeated=True)),
           "The argument at that place of those after the first; NULL where there is none.", "elt"),
)  # fmt: skip

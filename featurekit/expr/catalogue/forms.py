"""What has a syntax of its own, or stands for other rows."""

from __future__ import annotations

from typing import Final

from featurekit.expr.catalogue.row import ANY, ATOMIC, BOOLEAN, ORDERED, Function, Param, syntax

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
)  # fmt: skip

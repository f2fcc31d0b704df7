"""Choice among arguments."""

from __future__ import annotations

from typing import Final

from featurekit.expr import signatures as rules
from featurekit.expr import spark_forms as forms
from featurekit.expr.catalogue.row import ANY, COMPARED, Function, Nulls, Param, scalar

_TWO_OR_MORE = (Param("a", COMPARED), Param("b", COMPARED, repeated=True))

ROWS: Final[tuple[Function, ...]] = (
    scalar("coalesce", (Param("a", ANY, repeated=True),), rules.one_of, forms.listed("coalesce"),
           "The first argument that is not NULL.", spellings=("coalesce", "ifnull", "nvl"), nulls=Nulls.ALL),
    scalar("greatest", _TWO_OR_MORE, rules.extreme, forms.extreme("greatest", "array_max"),
           "The largest argument that is not NULL; NaN is largest.", nulls=Nulls.ALL),
    scalar("least", _TWO_OR_MORE, rules.extreme, forms.extreme("least", "array_min"),
           "The smallest argument that is not NULL.", nulls=Nulls.ALL),
)  # fmt: skip

"""Logic of three values: true, false and NULL, which is not known."""

from __future__ import annotations

from typing import Final

from featurekit.expr import signatures as rules
from featurekit.expr.catalogue.row import ANY, BOOLEAN, Function, Nulls, Param, operator

_ONE = (Param("a", BOOLEAN),)
_TWO = (Param("a", BOOLEAN), Param("b", BOOLEAN))
_ANY = (Param("a", ANY),)

ROWS: Final[tuple[Function, ...]] = (
    operator("and", "and", _TWO, rules.logic, "({0} AND {1})", "True when both are, false when one is false.",
             nulls=Nulls.ANY),
    operator("or", "or", _TWO, rules.logic, "({0} OR {1})", "True when one is, false when both are false.",
             nulls=Nulls.ANY),
    operator("not", "not", _ONE, rules.logic, "(NOT {0})", "The other truth."),
    operator("is_null", "is null", _ANY, rules.any_to_boolean, "({0} IS NULL)", "Whether it is NULL; NaN is not.",
             nulls=Nulls.NEVER, spellings=("isnull",)),
    operator("is_not_null", "is not null", _ANY, rules.any_to_boolean, "({0} IS NOT NULL)", "Whether it is not NULL.",
             nulls=Nulls.NEVER, spellings=("isnotnull",)),
)  # fmt: skip

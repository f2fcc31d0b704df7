"""Comparison. NaN equals NaN and is larger than all; -0.0 equals 0.0; strings go by their UTF-8 bytes."""

from __future__ import annotations

from typing import Final

from featurekit.expr import signatures as rules
from featurekit.expr import spark_forms as forms
from featurekit.expr.catalogue.row import ATOMIC, ORDERED, Function, Nulls, Param, operator

_EQUAL = (Param("a", ATOMIC), Param("b", ATOMIC))
_ORDER = (Param("a", ORDERED), Param("b", ORDERED))

ROWS: Final[tuple[Function, ...]] = (
    operator("eq", "=", _EQUAL, rules.comparison, "({0} = {1})", "Whether both are equal."),
    operator("ne", "<>", _EQUAL, rules.comparison, "(NOT ({0} = {1}))", "Whether both differ."),
    operator("lt", "<", _ORDER, rules.comparison, "({0} < {1})", "Whether the first is smaller."),
    operator("le", "<=", _ORDER, rules.comparison, "({0} <= {1})", "Whether the first is not larger."),
    operator("gt", ">", _ORDER, rules.comparison, "({0} > {1})", "Whether the first is larger."),
    operator("ge", ">=", _ORDER, rules.comparison, "({0} >= {1})", "Whether the first is not smaller."),
    operator("eq_null_safe", "<=>", _EQUAL, rules.comparison, "({0} <=> {1})", "Equality where NULL equals NULL.",
             nulls=Nulls.NEVER, spellings=("equal_null",)),
    operator("in", "in", (Param("a", ATOMIC), Param("b", ATOMIC, repeated=True)), rules.comparison, forms.member,
             "Whether the first is one of the others.", nulls=Nulls.ANY),
)  # fmt: skip

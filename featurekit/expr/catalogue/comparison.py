"""Comparison. NaN equals NaN and is larger than all; -0.0 equals 0.0; strings go by their UTF-8 bytes."""

from __future__ import annotations

from typing import Final

from featurekit.expr import signatures as rules
from featurekit.expr import spark_forms as forms
from featurekit.expr.catalogue.row import COMPARED, Function, Nulls, Param, operator

_TWO = (Param("a", COMPARED), Param("b", COMPARED))

ROWS: Final[tuple[Function, ...]] = (
    operator("eq", "=", _TWO, rules.comparison, forms.compared("="), "Whether both are equal."),
    operator("ne", "<>", _TWO, rules.comparison, forms.differ, "Whether both differ."),
    operator("lt", "<", _TWO, rules.comparison, forms.compared("<"), "Whether the first is smaller."),
    operator("le", "<=", _TWO, rules.comparison, forms.compared("<="), "Whether the first is not larger."),
    operator("gt", ">", _TWO, rules.comparison, forms.compared(">"), "Whether the first is larger."),
    operator("ge", ">=", _TWO, rules.comparison, forms.compared(">="), "Whether the first is not smaller."),
    operator("eq_null_safe", "<=>", _TWO, rules.comparison, forms.compared("<=>"), "Equality where NULL equals NULL.",
             nulls=Nulls.NEVER, spellings=("equal_null",)),
    operator("in", "in", (Param("a", COMPARED), Param("b", COMPARED, repeated=True)), rules.comparison, forms.member,
             "Whether the first is one of the others.", nulls=Nulls.ANY),
)  # fmt: skip

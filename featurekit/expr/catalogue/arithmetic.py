"""Arithmetic. What does not fit, and division by zero, is NULL."""

from __future__ import annotations

from typing import Final

from featurekit.expr import signatures as rules
from featurekit.expr import spark_forms as forms
from featurekit.expr.catalogue.row import INTEGER, NUMBER, Function, Param, operator, scalar
from featurekit.expr.coerce import decimal_product, decimal_quotient, decimal_sum
from featurekit.types import DataType, Decimal, is_integer


def _overflows(kinds: tuple[DataType, ...]) -> bool:
    return any(is_integer(kind) or isinstance(kind, Decimal) for kind in kinds)


def _integers(kinds: tuple[DataType, ...]) -> bool:
    return is_integer(kinds[0])


def _fractions(kinds: tuple[DataType, ...]) -> bool:
    return not is_integer(kinds[0]) and not isinstance(kinds[0], Decimal)


_ONE = (Param("a", NUMBER),)
_TWO = (Param("a", NUMBER), Param("b", NUMBER))
_WHOLE = (Param("a", INTEGER), Param("b", INTEGER))

ROWS: Final[tuple[Function, ...]] = (
    operator("add", "+", _TWO, rules.arithmetic(decimal_sum), forms.commutative("try_add", "add"), "The sum.",
             raises=_overflows),
    operator("subtract", "-", _TWO, rules.arithmetic(decimal_sum), "try_subtract({0}, {1})", "The difference.",
             raises=_overflows),
    operator("multiply", "*", _TWO, rules.arithmetic(decimal_product), forms.commutative("try_multiply", "multiply"),
             "The product.", raises=_overflows),
    operator("divide", "/", _TWO, rules.arithmetic(decimal_quotient, division=True), "try_divide({0}, {1})",
             "The quotient, a double or a decimal; NULL when the divisor is zero, also for doubles.", raises=True),
    operator("remainder", "%", _TWO, rules.remainder, "try_mod({0}, {1})",
             "The remainder with the dividend's sign; NULL when the divisor is zero.", raises=True,
             spellings=("mod",)),
    operator("div", "div", _WHOLE, rules.whole_division, forms.whole_division,
             "The whole quotient of integers, towards zero; NULL when the divisor is zero.", raises=True),
    operator("negate", "-", _ONE, rules.negated, forms.negate, "The number with the other sign.",
             raises=_integers, spellings=("negative",)),
    scalar("abs", _ONE, rules.negated, forms.absolute,
           "The number without its sign; NULL for the smallest integer.", raises=_integers),
    scalar("round",
           (Param("a", NUMBER), Param("digits", INTEGER, literal=True, optional=True, edges=(1, 0, 2, 8, -1, -5))),
           rules.rounded, forms.rounded("round"), "The number rounded to so many digits, halves away from zero.",
           raises=_integers),
    scalar("floor", _ONE, rules.to_whole, forms.to_whole("floor"), "The largest whole number that is not larger.",
           raises=_fractions),
    scalar("ceil", _ONE, rules.to_whole, forms.to_whole("ceil"), "The smallest whole number that is not smaller.",
           spellings=("ceil", "ceiling"), raises=_fractions),
    scalar("sqrt", _ONE, rules.doubles, "sqrt({0})", "The square root; NaN for negative numbers."),
)  # fmt: skip

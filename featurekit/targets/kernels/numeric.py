"""Arithmetic and comparison with Spark's bits. Out of range is None; only IEEE operations, never a libm function.

Spark compares doubles so that NaN equals NaN and is larger than every other value, and -0.0 equals 0.0. float32 results
are computed in double and rounded once: a double has more than twice a float32's digits, so that is exact.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context
from decimal import Decimal as PyDecimal
from typing import Any, Final

from featurekit.expr.nodes import Call
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always, literal_value
from featurekit.types import DataType, Decimal, Float32, integer_range, is_float, is_integer

# Wide enough for every exact intermediate of two 38-digit operands; Python's default context has 28 digits.
WIDE: Final = Context(prec=400, rounding=ROUND_HALF_UP, Emax=MAX_EMAX, Emin=MIN_EMIN)
_QUOTIENT_SCALE: Final = 38  # Spark divides decimals to 38 fraction digits, then rounds to the result's scale
_FLOAT32: Final = struct.Struct("<f")
_LONG_LOW, _LONG_HIGH = -(1 << 63), (1 << 63) - 1


def to_float32(value: float) -> float:
    """Return the nearest float32, an infinity beyond its range."""
    try:
        return _FLOAT32.unpack(_FLOAT32.pack(value))[0]  # type: ignore[no-any-return]
    except OverflowError:
        return math.copysign(math.inf, value)


def fit(kind: Decimal) -> Callable[[PyDecimal], PyDecimal | None]:
    """Return the function that rounds an exact decimal half up into `kind`, None where it has too many digits."""
    step = PyDecimal((0, (1,), -kind.scale))
    zero = PyDecimal((0, (0,), -kind.scale))
    whole = kind.precision - kind.scale
    quantize = WIDE.quantize

    def fitted(value: PyDecimal) -> PyDecimal | None:
        rounded = quantize(value, step)
        if not rounded:
            return zero  # decimals have no -0
        return rounded if rounded.adjusted() < whole else None

    return fitted


def _bounded(kind: DataType, compute: Callable[[int, int], int]) -> Kernel:
    low, high = integer_range(kind)

    def kernel(left: int, right: int) -> int | None:
        result = compute(left, right)
        return result if low <= result <= high else None

    return kernel


def _arithmetic(
    symbol: str, integers: Callable[[int, int], int], decimals: Callable[[PyDecimal, PyDecimal], PyDecimal]
) -> Factory:
    """Return the factory of + - *."""

    def factory(call: Call) -> Kernel:
        if is_integer(call.type):
            return _bounded(call.type, integers)
        if isinstance(call.type, Decimal):
            into = fit(call.type)
            return lambda left, right: into(decimals(left, right))
        return _float_operation(call, Inline(f"{{0}} {symbol} {{1}}"), integers)

    return factory


def _float_operation(call: Call, double: Kernel, compute: Callable[[Any, Any], Any]) -> Kernel:
    if call.type != Float32():
        return double
    return lambda left, right: to_float32(compute(left, right))


def _divide(call: Call) -> Kernel:
    if isinstance(call.type, Decimal):
        return _divide_decimals(call.type)
    return _divide_floats


def _divide_floats(left: float, right: float) -> float | None:
    return left / right if right else None


def _divide_decimals(kind: Decimal) -> Kernel:
    into = fit(kind)

    def kernel(left: PyDecimal, right: PyDecimal) -> PyDecimal | None:
        if not right:
            return None
        # Whole numbers, because a context's precision would round before we do.
        numerator, denominator = left.as_integer_ratio()
        other_numerator, other_denominator = right.as_integer_ratio()
        above = abs(numerator * other_denominator) * 10**_QUOTIENT_SCALE
        below = abs(denominator * other_numerator)
        quotient = (2 * above + below) // (2 * below)  # half up
        negative = (numerator < 0) != (other_numerator < 0)
        return into(PyDecimal(-quotient if negative else quotient).scaleb(-_QUOTIENT_SCALE, WIDE))

    return kernel


def _remainder(call: Call) -> Kernel:
    if is_integer(call.type):
        return _remainder_of_integers
    if isinstance(call.type, Decimal):
        into = fit(call.type)
        return lambda left, right: into(WIDE.remainder(left, right)) if right else None
    return _remainder_of_floats  # a float32's remainder is a float32


def _remainder_of_integers(left: int, right: int) -> int | None:
    if not right:
        return None
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _remainder_of_floats(left: float, right: float) -> float | None:
    if not right:
        return None
    # fmod raises where IEEE says NaN.
    return math.fmod(left, right) if math.isfinite(left) else math.nan


def _whole_division(left: int, right: int) -> int | None:
    if not right:
        return None
    quotient = abs(left) // abs(right)
    quotient = -quotient if (left < 0) != (right < 0) else quotient
    return quotient if quotient <= _LONG_HIGH else None


def _negate(call: Call) -> Kernel:
    if is_integer(call.type):
        low = integer_range(call.type)[0]
        return lambda value: None if value == low else -value
    if isinstance(call.type, Decimal):
        return lambda value: value.copy_negate() if value else value
    return Inline("-{0}")


def _absolute(call: Call) -> Kernel:
    if is_integer(call.type):
        low = integer_range(call.type)[0]
        return lambda value: None if value == low else abs(value)
    return PyDecimal.copy_abs if isinstance(call.type, Decimal) else Inline("abs({0})")


def _round(call: Call) -> Kernel:
    digits: int | None = literal_value(call, 1) if len(call.args) == 2 else 0
    if digits is None:
        return lambda _: None
    if isinstance(call.type, Decimal):
        return _round_decimal(call.type, digits)
    if is_integer(call.type):
        return Inline("{0}") if digits >= 0 else _round_integer(call.type, 10**-digits)
    return _round_float(digits, to_float32 if call.type == Float32() else None)


def _round_decimal(kind: Decimal, digits: int) -> Kernel:
    step = PyDecimal((0, (1,), -digits))
    into = fit(kind)
    return lambda value: into(WIDE.quantize(value, step))


def _round_integer(kind: DataType, unit: int) -> Kernel:
    low, high = integer_range(kind)

    def kernel(value: int) -> int | None:
        rounded = (abs(value) + unit // 2) // unit * unit
        rounded = -rounded if value < 0 else rounded
        return rounded if low <= rounded <= high else None

    return kernel


def _round_float(digits: int, narrow: Callable[[float], float] | None) -> Kernel:
    """Round the shortest decimal text of a double, as Java's BigDecimal.valueOf(x).setScale(digits, HALF_UP) does."""
    # Python's round() sends halves to the even neighbour: round(2.5) is 2, Spark says 3.0.
    step = PyDecimal((0, (1,), -digits))
    quantize = WIDE.quantize

    def kernel(value: float) -> float:
        if not math.isfinite(value):
            return value
        rounded = quantize(PyDecimal(repr(value)), step)
        return float(rounded) if rounded else 0.0  # never -0.0

    if narrow is None:
        return kernel
    return lambda value: narrow(kernel(value))


def _to_whole(rounding: str, compute: Callable[[float], int]) -> Factory:
    """Return the factory of floor and ceil."""

    def kernel(value: float) -> int | None:
        if -9223372036854775808.0 <= value < 9223372036854775808.0:
            return compute(value)
        return 0 if value != value else None  # Spark: floor(NaN) is 0, where CAST(NaN AS BIGINT) fails

    def factory(call: Call) -> Kernel:
        kind = call.args[0].type
        if is_integer(kind):
            return Inline("{0}")
        if isinstance(kind, Decimal):
            one, zero = PyDecimal(1), PyDecimal(0)
            return lambda value: value.quantize(one, rounding, WIDE) or zero  # decimals have no -0
        return kernel

    return factory


def _square_root(value: float) -> float:
    return math.sqrt(value) if value >= 0.0 or value != value else math.nan


def _compare(plain: str, floats: str) -> Factory:
    """Return the factory of a comparison: `floats` also orders NaN."""
    return lambda call: Inline(floats if is_float(call.args[0].type) else plain)


EQUAL_FLOATS: Final = "({0} == {1} or ({0} != {0} and {1} != {1}))"
GREATER_FLOATS: Final = "({0} > {1} or ({0} != {0} and {1} == {1}))"

KERNELS: Final[dict[str, Factory]] = {
    "add": _arithmetic("+", lambda a, b: a + b, WIDE.add),
    "subtract": _arithmetic("-", lambda a, b: a - b, WIDE.subtract),
    "multiply": _arithmetic("*", lambda a, b: a * b, WIDE.multiply),
    "divide": _divide,
    "remainder": _remainder,
    "div": always(_whole_division),
    "negate": _negate,
    "abs": _absolute,
    "round": _round,
    "floor": _to_whole(ROUND_FLOOR, math.floor),
    "ceil": _to_whole(ROUND_CEILING, math.ceil),
    "sqrt": always(_square_root),
    "eq": _compare("{0} == {1}", EQUAL_FLOATS),
    "ne": _compare("{0} != {1}", f"(not {EQUAL_FLOATS})"),
    "lt": _compare("{0} < {1}", "({0} < {1} or ({1} != {1} and {0} == {0}))"),
    "le": _compare("{0} <= {1}", "({0} <= {1} or {1} != {1})"),
    "gt": _compare("{0} > {1}", GREATER_FLOATS),
    "ge": _compare("{0} >= {1}", "({0} >= {1} or {0} != {0})"),
}

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

from featurekit.expr.nodes import Call, Literal, Node
from featurekit.expr.spark_forms import SAME_TEXT_BELOW
from featurekit.targets.kernels import order
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always, literal_value
from featurekit.types import DataType, Decimal, Float32, integer_range, is_float, is_integer, is_nested

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


def bounded(kind: DataType, text: str) -> Inline:
    """Return the kernel of an integer expression, None where its value does not fit."""
    low, high = integer_range(kind)
    return Inline(f"({{t}} if {{low}} <= ({{t}} := {text}) <= {{high}} else None)", {"low": low, "high": high})


def _arithmetic(symbol: str, decimals: Callable[[PyDecimal, PyDecimal], PyDecimal]) -> Factory:
    """Return the factory of + - *."""
    plain = f"{{0}} {symbol} {{1}}"

    def factory(call: Call) -> Kernel:
        if is_integer(call.type):
            return bounded(call.type, plain)
        if isinstance(call.type, Decimal):
            into = fit(call.type)
            return lambda left, right: into(decimals(left, right))
        if call.type == Float32():
            return Inline(f"{{narrow}}({plain})", {"narrow": to_float32})
        return Inline(f"({plain})")

    return factory


def _divide(call: Call) -> Kernel:
    if isinstance(call.type, Decimal):
        return _divide_decimals(call.type)
    return Inline("{0} / {1}" if _constant(call.args[1]) else "({0} / {1} if {1} else None)")


def _constant(node: Node) -> Any:
    """Return the value of a literal, None where there is none."""
    return node.value if isinstance(node, Literal) else None


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
        if (divisor := _constant(call.args[1])) is not None and divisor > 0:
            return Inline("({0} % {1} if {0} >= 0 else -(-{0} % {1}))")
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


def _div(call: Call) -> Kernel:
    if (divisor := _constant(call.args[1])) is not None and divisor > 0:
        return Inline("({0} // {1} if {0} >= 0 else -(-{0} // {1}))")
    return _whole_division


def _whole_division(left: int, right: int) -> int | None:
    if not right:
        return None
    quotient = abs(left) // abs(right)
    quotient = -quotient if (left < 0) != (right < 0) else quotient
    return quotient if quotient <= _LONG_HIGH else None


def _negate(call: Call) -> Kernel:
    if is_integer(call.type):
        return Inline("(None if {0} == {low} else -{0})", {"low": integer_range(call.type)[0]})
    if isinstance(call.type, Decimal):
        return lambda value: value.copy_negate() if value else value
    return Inline("-{0}")


def _absolute(call: Call) -> Kernel:
    if is_integer(call.type):
        return Inline("(None if {0} == {low} else abs({0}))", {"low": integer_range(call.type)[0]})
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
        rounded = _half_up(value, unit)
        return rounded if low <= rounded <= high else None

    return kernel


def _half_up(value: int, unit: int) -> int:
    rounded = (abs(value) + unit // 2) // unit * unit
    return -rounded if value < 0 else rounded


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

    if digits < 0:
        full: Callable[[float], float | None] = to_tens(kernel, lambda value: _half_up(value, 10**-digits))
    else:
        full = _near(kernel, digits) if digits <= EXACT_POWERS else kernel
    if narrow is None:
        return full
    return lambda value: None if (found := full(value)) is None else narrow(found)


def to_tens(text: Callable[[float], float], whole: Callable[[int], int]) -> Callable[[float], float | None]:
    """Return the rounding to tens, hundreds …: by a double's text, beyond 1e15 by its exact value, if a bigint's."""

    def kernel(value: float) -> float | None:
        if abs(value) < SAME_TEXT_BELOW or not math.isfinite(value):
            return text(value)
        return float(whole(int(value))) if -9223372036854775808.0 <= value < 9223372036854775808.0 else None

    return kernel


EXACT_POWERS: Final = 22  # 10^22 is the last power of ten that a double holds
UNSURE: Final = 2.0**-51
NEAR_BELOW: Final = 2.0**50


def _near(exact: Callable[[float], float], digits: int) -> Callable[[float], float]:
    """Return `exact`, rounding to `digits`, with a way around decimals for values that are not close to a tie.

    The text of a double lies within half an ulp of it, and the scaled double within half an ulp of the product: so
    farther than 2^-51 of itself from a tie the scaled double is on the text's side. The quotient of two whole numbers
    that doubles hold is the double nearest to the decimal, which is what the exact way ends with.
    """
    power = float(10**digits)

    def kernel(value: float) -> float:
        size = abs(value * power)
        if size < NEAR_BELOW:  # false for NaN
            whole = int(size)
            over = size - whole - 0.5
            if over > size * UNSURE:
                whole += 1
            elif over >= -size * UNSURE:
                return exact(value)
            return (-whole / power if value < 0.0 else whole / power) if whole else 0.0
        return exact(value)

    return kernel


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


SQUARE_ROOT: Final = Inline(
    "({root}({0}) if {0} >= 0.0 or {0} != {0} else {nan})", {"root": math.sqrt, "nan": math.nan}
)


def _compare(plain: str, floats: str, with_number: str) -> Factory:
    """Return the factory of a comparison: `floats` also orders NaN, `with_number` does where the second is a number."""

    def factory(call: Call) -> Kernel:
        if is_nested(call.args[0].type):
            return order.comparison(call)
        if not is_float(call.args[0].type):
            return Inline(plain)
        second = _constant(call.args[1])
        return Inline(floats if second is None or math.isnan(second) else with_number)

    return factory


EQUAL_FLOATS: Final = "({0} == {1} or ({0} != {0} and {1} != {1}))"
GREATER_FLOATS: Final = "({0} > {1} or ({0} != {0} and {1} == {1}))"

KERNELS: Final[dict[str, Factory]] = {
    "add": _arithmetic("+", WIDE.add),
    "subtract": _arithmetic("-", WIDE.subtract),
    "multiply": _arithmetic("*", WIDE.multiply),
    "divide": _divide,
    "remainder": _remainder,
    "div": _div,
    "negate": _negate,
    "abs": _absolute,
    "round": _round,
    "floor": _to_whole(ROUND_FLOOR, math.floor),
    "ceil": _to_whole(ROUND_CEILING, math.ceil),
    "sqrt": always(SQUARE_ROOT),
    "eq": _compare("{0} == {1}", EQUAL_FLOATS, "{0} == {1}"),
    "ne": _compare("{0} != {1}", f"(not {EQUAL_FLOATS})", "{0} != {1}"),
    "lt": _compare("{0} < {1}", "({0} < {1} or ({1} != {1} and {0} == {0}))", "{0} < {1}"),
    "le": _compare("{0} <= {1}", "({0} <= {1} or {1} != {1})", "{0} <= {1}"),
    "gt": _compare("{0} > {1}", GREATER_FLOATS, "(not {0} <= {1})"),
    "ge": _compare("{0} >= {1}", "({0} >= {1} or {0} != {0})", "(not {0} < {1})"),
}

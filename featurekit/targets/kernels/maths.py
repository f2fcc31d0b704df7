"""Mathematical functions, exact to the last bit; the last bit is the same on every machine.

`fdlibm` and its kin are Spark's own, `redefined` ours; the rest is here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN
from decimal import Decimal as PyDecimal
from typing import Any, Final

from featurekit.expr.nodes import Call
from featurekit.targets.kernels import fdlibm, fdlibm_angles, fdlibm_hyperbolic, redefined
from featurekit.targets.kernels.fdlibm_pow import pow_
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always, literal_value
from featurekit.targets.kernels.numeric import WIDE, fit, to_float32, to_tens
from featurekit.types import DataType, Decimal, Float32, Int64, integer_range, is_integer

DEGREE: Final = math.pi / 180.0
RADIAN: Final = 180.0 / math.pi


def _log(call: Call) -> Kernel:
    return fdlibm.log if len(call.args) == 1 else fdlibm.log_to_base


def signum(value: float) -> float:
    """Return -1, 0 or 1 with the number's sign; zero and NaN stay as they are."""
    return value if value == 0.0 or value != value else math.copysign(1.0, value)


_BEYOND_FRACTIONS: Final = 2.0**52


def rint(value: float) -> float:
    """Return the nearest whole number, halves to the even one; a zero keeps the sign."""
    if not -_BEYOND_FRACTIONS < value < _BEYOND_FRACTIONS:
        return value
    return math.copysign(float(round(value)), value)


def _bround(call: Call) -> Kernel:
    digits: int | None = literal_value(call, 1) if len(call.args) == 2 else 0
    if digits is None:
        return lambda _: None
    step = PyDecimal((0, (1,), -digits))
    if isinstance(call.type, Decimal):
        into = fit(call.type)
        return lambda value: into(_even(value, step))
    if is_integer(call.type):
        return Inline("{0}") if digits >= 0 else _bround_integer(call.type, 10**-digits)
    return _bround_float(digits, to_float32 if call.type == Float32() else None)


def _even(value: PyDecimal, step: PyDecimal) -> PyDecimal:
    return value.quantize(step, ROUND_HALF_EVEN, WIDE)


def _bround_integer(kind: DataType, unit: int) -> Kernel:
    low, high = integer_range(kind)

    def kernel(value: int) -> int | None:
        rounded = _half_even(value, unit)
        return rounded if low <= rounded <= high else None

    return kernel


def _half_even(value: int, unit: int) -> int:
    below, rest = divmod(value, unit)
    if 2 * rest > unit or (2 * rest == unit and below % 2):
        below += 1
    return below * unit


def _bround_float(digits: int, narrow: Callable[[float], float] | None) -> Kernel:
    """Round the shortest decimal text of a double, as Java's BigDecimal.valueOf(x).setScale(digits, HALF_EVEN) does."""

    step = PyDecimal((0, (1,), -digits))

    def kernel(value: float) -> float:
        if not math.isfinite(value):
            return value
        rounded = _even(PyDecimal(repr(value)), step)
        return float(rounded) if rounded else 0.0  # never -0.0

    full = to_tens(kernel, lambda value: _half_even(value, 10**-digits)) if digits < 0 else kernel
    if narrow is None:
        return full
    return lambda value: None if (found := full(value)) is None else narrow(found)


FACTORIALS: Final = tuple(math.factorial(n) for n in range(21))


def factorial(n: int) -> int | None:
    """Return n!, None where n is negative or n! does not fit a bigint."""
    return FACTORIALS[n] if 0 <= n <= 20 else None


def _pmod(call: Call) -> Kernel:
    if is_integer(call.type):
        return _pmod_of_integers(call.type)
    if isinstance(call.type, Decimal):
        into = fit(call.type)
        return lambda a, n: into(_positive(WIDE.remainder(a, n), n, WIDE.add, WIDE.remainder)) if n else None
    if call.type == Float32():
        return lambda a, n: _positive(_fmod(a, n), n, lambda r, m: to_float32(r + m), _fmod) if n else None
    return _pmod_of_doubles


def _pmod_of_integers(kind: DataType) -> Kernel:
    # Spark adds the divisor to a negative remainder, in the type: at the smallest int and bigint that wraps.
    wraps = 1 << (64 if kind == Int64() else 32)

    def kernel(a: int, n: int) -> int | None:
        if not n:
            return None
        rest = abs(a) % abs(n)
        if a >= 0 or not rest:
            return rest
        total = n - rest
        if total < -wraps // 2:
            total += wraps
        return total % abs(n) if total >= 0 else -(-total % abs(n))

    return kernel


def _pmod_of_doubles(a: float, n: float) -> float | None:
    if not n:
        return None
    rest = _fmod(a, n)
    return _fmod(rest + n, n) if rest < 0.0 else rest


def _fmod(a: float, n: float) -> float:
    return math.fmod(a, n) if math.isfinite(a) else math.nan  # fmod raises where IEEE says NaN


def _positive(rest: Any, n: Any, add: Callable[[Any, Any], Any], remainder: Callable[[Any, Any], Any]) -> Any:
    return remainder(add(rest, n), n) if rest < 0 else rest


def binary_text(value: int) -> str:
    """Return the bits of a bigint as text, two's complement."""
    return f"{value & 0xFFFFFFFFFFFFFFFF:b}"


KERNELS: Final[dict[str, Factory]] = {
    "exp": always(fdlibm.exp),
    "expm1": always(fdlibm.expm1),
    "ln": always(fdlibm.log),
    "log": _log,
    "log10": always(fdlibm.log10),
    "log2": always(fdlibm.log2),
    "log1p": always(fdlibm.log1p),
    "pow": always(pow_),
    "hypot": always(fdlibm_angles.hypot),
    "asin": always(fdlibm_angles.asin),
    "acos": always(fdlibm_angles.acos),
    "atan": always(fdlibm_angles.atan),
    "atan2": always(fdlibm_angles.atan2),
    "sinh": always(fdlibm_hyperbolic.sinh),
    "cosh": always(fdlibm_hyperbolic.cosh),
    "asinh": always(fdlibm_hyperbolic.asinh),
    "acosh": always(fdlibm_hyperbolic.acosh),
    "atanh": always(fdlibm_hyperbolic.atanh),
    "sin": always(redefined.sin),
    "cos": always(redefined.cos),
    "tan": always(redefined.tan),
    "cot": always(redefined.cot),
    "sec": always(redefined.sec),
    "csc": always(redefined.csc),
    "tanh": always(redefined.tanh),
    "cbrt": always(redefined.cbrt),
    "degrees": always(Inline("{0} * {radian}", {"radian": RADIAN})),
    "radians": always(Inline("{0} * {degree}", {"degree": DEGREE})),
    "pi": always(Inline("{pi}", {"pi": math.pi})),
    "e": always(Inline("{e}", {"e": math.e})),
    "signum": always(signum),
    "rint": always(rint),
    "bround": _bround,
    "factorial": always(factorial),
    "pmod": _pmod,
    "positive": always(Inline("{0}")),
    "isnan": always(Inline("{0} is not None and {0} != {0}")),
    "nanvl": always(Inline("{0} if {0} is None or {0} == {0} else {1}")),
    "bin": always(binary_text),
}

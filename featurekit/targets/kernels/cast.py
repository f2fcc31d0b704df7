"""CAST, type by type; None where the value has no form in the target, as ANSI says."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_DOWN
from decimal import Decimal as PyDecimal
from typing import Any

from featurekit.clock import DAY, SECOND
from featurekit.targets.kernels.kernel import Inline, Kernel
from featurekit.targets.kernels.numeric import WIDE, fit, to_float32
from featurekit.types import (
    INTEGER_BITS,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int64,
    Timestamp,
    integer_range,
    is_float,
    is_integer,
)


def cast_kernel(source: DataType, target: DataType) -> Kernel:
    """Return the kernel of CAST from `source` to `target`, two different types that `castable` allows."""
    match source, target:
        case Timestamp(), Date():
            return Inline(f"{{0}} // {DAY}")
        case Date(), Timestamp():
            return Inline(f"{{0}} * {DAY}")
        case Timestamp(), Int64():
            return Inline(f"{{0}} // {SECOND}")  # floors, where unix_timestamp cuts
        case _, Boolean():
            return Inline("{0} != 0")
        case _, Float64():
            return Inline("float({0})") if source != Float32() else Inline("{0}")
        case _, Float32():
            return _to_float32(source)
        case _, Decimal():
            return _to_decimal(source, target)
        case _:
            return _to_integer(source, target)


def _bounded(kind: DataType, convert: Callable[[Any], int]) -> Kernel:
    low, high = integer_range(kind)

    def kernel(value: Any) -> int | None:
        result = convert(value)
        return result if low <= result <= high else None

    return kernel


def _to_integer(source: DataType, target: DataType) -> Kernel:
    if isinstance(source, Boolean):
        return Inline("int({0})")
    if is_integer(source):
        return Inline("{0}") if INTEGER_BITS[source] <= INTEGER_BITS[target] else _bounded(target, lambda value: value)
    if isinstance(source, Decimal):
        return _bounded(target, lambda value: int(value.to_integral_value(ROUND_DOWN, WIDE)))
    return _float_to_integer(target)


def _float_to_integer(target: DataType) -> Kernel:
    low, high = integer_range(target)
    # Spark compares with the bounds as doubles: 2^63 passes, and becomes 2^63 - 1.
    low_float, high_float = float(low), float(high)

    def kernel(value: float) -> int | None:
        if not (math.isfinite(value) and math.floor(value) <= high_float and math.ceil(value) >= low_float):
            return None
        return min(int(value), high)

    return kernel


def _to_float32(source: DataType) -> Kernel:
    if isinstance(source, Float64):
        return to_float32
    if isinstance(source, Boolean):
        return Inline("float({0})")
    return _exact_to_float32


def _exact_to_float32(value: int | PyDecimal) -> float:
    """Round an exact number to float32 once; through the nearest double it could land on the wrong side of a tie."""
    near = float(value)
    if math.isfinite(near) and near != value and math.frexp(near)[0] * 2**53 % 2 == 0:
        near = math.nextafter(near, math.inf if value > near else -math.inf)  # to odd: remembers the lost digits
    return to_float32(near)


def _to_decimal(source: DataType, target: Decimal) -> Kernel:
    into = fit(target)
    if is_float(source):
        # The shortest text of the double, as Java's Double.toString; a float32 is widened first.
        return lambda value: into(PyDecimal(repr(value))) if math.isfinite(value) else None
    if isinstance(source, Decimal):
        return into
    return lambda value: into(PyDecimal(int(value)))

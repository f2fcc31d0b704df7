"""CAST, type by type; None where the value has no form in the target, as ANSI says."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_DOWN
from decimal import Decimal as PyDecimal
from typing import Any, Final

from featurekit.clock import DAY, SECOND
from featurekit.targets.kernels import cast_number as number
from featurekit.targets.kernels import cast_string as text
from featurekit.targets.kernels.cast_text import text_to_date, text_to_timestamp, text_to_timestamp_ntz
from featurekit.targets.kernels.kernel import Inline, Kernel
from featurekit.targets.kernels.numeric import WIDE, fit, to_float32
from featurekit.types import (
    INTEGER_BITS,
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int64,
    Map,
    Null,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
    integer_range,
    is_float,
    is_integer,
)

_LOW, _HIGH = integer_range(Int64())
_INSTANTS = (Timestamp, TimestampNtz)
_MICROS: Final = PyDecimal(SECOND)
_MICRO: Final = PyDecimal("0.000001")


def cast_kernel(source: DataType, target: DataType) -> Kernel:
    """Return the kernel of CAST from `source` to `target`, two different types that `castable` allows."""
    if isinstance(source, String):
        return _from_text(target)
    if isinstance(target, String):
        return _to_text(source)
    if isinstance(source, Array | Map | Struct):
        return _of_parts(source, target)
    if isinstance(source, Date | Timestamp | TimestampNtz) or isinstance(target, Timestamp):
        return _of_time(source, target)
    match target:
        case Boolean():
            return Inline("{0} != 0")
        case Float64():
            return Inline("float({0})") if source != Float32() else Inline("{0}")
        case Float32():
            return _to_float32(source)
        case Decimal():
            return _to_decimal(source, target)
        case _:
            return _to_integer(source, target)


def _from_text(target: DataType) -> Kernel:
    match target:
        case Boolean():
            return number.text_to_boolean
        case Float64():
            return number.text_to_double
        case Float32():
            return number.text_to_float32
        case Decimal():
            return number.text_to_decimal(target)
        case Date():
            return text_to_date
        case Timestamp():
            return text_to_timestamp
        case TimestampNtz():
            return text_to_timestamp_ntz
        case Binary():
            return str.encode
        case _:
            return number.text_to_integer(target)


def _to_text(source: DataType) -> Kernel:
    if isinstance(source, Binary):
        return text.bytes_to_text
    return text.writer(source)


def _of_parts(source: Array | Map | Struct, target: DataType) -> Kernel:
    """Return the kernel that casts the parts; one that has no form in the target is NULL there, the rest stays."""
    match source, target:
        case Array(), Array():
            part = _part(source.element, target.element)
            return lambda value: tuple(map(part, value))
        case Map(), Map():
            left, right = _part(source.key, target.key), _part(source.value, target.value)
            return lambda pairs: tuple((left(key), right(value)) for key, value in pairs)
        case Struct(), Struct():
            pairs = zip(source.fields, target.fields, strict=True)
            parts = [_part(one, other) for (_, one), (_, other) in pairs]
            return lambda value: tuple(part(each) for part, each in zip(parts, value, strict=True))
        case _:
            raise AssertionError(f"{source.name} has no cast to {target.name}")


def _part(source: DataType, target: DataType) -> Callable[[Any], Any]:
    if source == target or isinstance(source, Null):
        return lambda value: value
    kernel = cast_kernel(source, target)
    function = _called(kernel) if isinstance(kernel, Inline) else kernel
    return lambda value: None if value is None else function(value)


def _called(kernel: Inline) -> Callable[[Any], Any]:
    scope = {"__builtins__": {"float": float, "int": int}, **kernel.bound}
    function: Callable[[Any], Any] = eval(f"lambda value: {kernel.text.format('value')}", scope)
    return function


def _of_time(source: DataType, target: DataType) -> Kernel:
    match source, target:
        case ((Timestamp() | TimestampNtz()), Date()):
            return Inline(f"{{0}} // {DAY}")
        case ((Timestamp() | TimestampNtz()), (Timestamp() | TimestampNtz())):
            return Inline("{0}")  # the session's clock is UTC's
        case Date(), _:
            return lambda days: _instant(days * DAY)
        case Timestamp(), _:
            return _from_timestamp(target)
        case ((Float32() | Float64()), _):
            whole = _float_to_integer(Int64())
            return lambda seconds: whole(seconds * 1e6)
        case Decimal(), _:
            return _decimal_to_timestamp
        case _:
            return Inline(f"{{0}} * {SECOND}") if source != Int64() else (lambda seconds: _instant(seconds * SECOND))


def _instant(micros: int) -> int | None:
    return micros if _LOW <= micros <= _HIGH else None


def _from_timestamp(target: DataType) -> Kernel:
    """Return the kernel to a number: of seconds."""
    if target == Int64():
        return Inline(f"{{0}} // {SECOND}")  # floors, where unix_timestamp cuts
    if is_integer(target):
        return _bounded(target, lambda micros: micros // SECOND)
    if isinstance(target, Float64):
        return Inline("float({0}) / 1000000.0")
    if isinstance(target, Float32):
        return lambda micros: to_float32(float(micros) / 1e6)
    assert isinstance(target, Decimal)
    into = fit(target)
    return lambda micros: into(PyDecimal(micros).scaleb(-6, WIDE))


def _decimal_to_timestamp(seconds: PyDecimal) -> int | None:
    rounded = int(WIDE.multiply(WIDE.quantize(seconds, _MICRO), _MICROS))
    return int(WIDE.multiply(seconds, _MICROS)) if _LOW <= rounded <= _HIGH else None


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


def _float_to_integer(target: DataType) -> Callable[[float], int | None]:
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
    near = float(value)
    return number.narrow(near, value)


def _to_decimal(source: DataType, target: Decimal) -> Kernel:
    into = fit(target)
    if is_float(source):
        # The shortest text of the double, as Java's Double.toString; a float32 is widened first.
        return lambda value: into(PyDecimal(repr(value))) if math.isfinite(value) else None
    if isinstance(source, Decimal):
        return into
    return lambda value: into(PyDecimal(int(value)))

"""Defaults: what people write, as an exact value of the feature's type (DESIGN T6)."""

from __future__ import annotations

import datetime
import decimal
import struct
from typing import Any

from featurekit.clock import from_date, parse_instant
from featurekit.errors import TypeMismatchError
from featurekit.types import (
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    String,
    Timestamp,
    integer_range,
    is_integer,
)


def typed_default(value: bool | int | float | str, kind: DataType) -> Any:
    """Return a written default as a value of the type; TypeMismatchError where it isn't exactly one.

    >>> typed_default(0, Float64()), typed_default("0.50", Decimal(4, 2))
    (0.0, Decimal('0.50'))
    """
    if isinstance(kind, Boolean) and isinstance(value, bool):
        return value
    if isinstance(kind, String) and isinstance(value, str):
        return value
    if is_integer(kind) and isinstance(value, int) and not isinstance(value, bool):
        low, high = integer_range(kind)
        if low <= value <= high:
            return value
    if isinstance(kind, Float64) and _is_number(value) and float(value) == value:
        return float(value)
    if isinstance(kind, Float32) and _is_number(value):
        return _to_float32(float(value), value)
    if isinstance(kind, Decimal) and not isinstance(value, bool):
        return _to_decimal(value, kind)
    if isinstance(kind, Timestamp) and isinstance(value, str):
        return parse_instant(value)
    if isinstance(kind, Date) and isinstance(value, str):
        return _to_date(value)
    raise _mismatch(value, kind)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _to_float32(value: float, written: object) -> float:
    try:
        narrow: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        raise _mismatch(written, Float32()) from None
    return narrow


def _to_decimal(value: int | float | str, kind: Decimal) -> decimal.Decimal:
    try:
        # repr gives the digits as written in the definition; the float's exact value has dozens more.
        number = decimal.Decimal(repr(value) if isinstance(value, float) else str(value))
        with decimal.localcontext(prec=80):
            exact = number.quantize(decimal.Decimal(1).scaleb(-kind.scale))
    except decimal.InvalidOperation:
        raise _mismatch(value, kind) from None
    if exact != number or exact.adjusted() >= kind.precision - kind.scale:
        raise _mismatch(value, kind)
    return exact


def _to_date(value: str) -> int:
    try:
        return from_date(datetime.date.fromisoformat(value))
    except ValueError:
        raise _mismatch(value, Date()) from None


def _mismatch(value: object, kind: DataType) -> TypeMismatchError:
    return TypeMismatchError(
        f"the default {value!r} is no {kind} value",
        why=f"the feature's expression is {kind}, and a default has the feature's type exactly",
        try_=f"write a value of type {kind}, or cast the expression",
    )

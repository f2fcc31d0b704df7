"""Typed values as `types` says they are held, for Hypothesis."""

from __future__ import annotations

import decimal
import math
from typing import Any

from hypothesis import strategies as st

from featurekit.types import (
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Null,
    String,
    Timestamp,
    TimestampNtz,
    integer_range,
    is_integer,
)

KEY_TYPES: tuple[DataType, ...] = (
    Boolean(),
    Int8(),
    Int16(),
    Int32(),
    Int64(),
    Float32(),
    Float64(),
    Decimal(9, 2),
    Decimal(18, 18),
    Decimal(19, 0),
    Decimal(38, 10),
    String(),
    Binary(),
    Date(),
    Timestamp(),
    TimestampNtz(),
)
TYPES: tuple[DataType, ...] = (*KEY_TYPES, Null())


def values(kind: DataType) -> st.SearchStrategy[Any]:
    """Return values of a type, without NULL, its edges among them."""
    if is_integer(kind):
        return st.integers(*integer_range(kind))
    match kind:
        case Boolean():
            return st.booleans()
        case Float32():
            return st.floats(width=32)
        case Float64():
            return st.floats()
        case Decimal(precision=precision, scale=scale):
            top = 10**precision - 1
            return st.integers(-top, top).map(lambda n: decimal.Decimal((int(n < 0), _digits(abs(n)), -scale)))
        case String():
            special = st.sampled_from([chr(code) for code in (0, 10, 31, 37, 44, 58, 123, 125, 127, 233, 0x1F600)])
            return st.text(st.characters(codec="utf-8") | special, max_size=20)
        case Binary():
            return st.binary(max_size=20)
        case Date():
            return st.integers(-(2**31), 2**31 - 1)
        case Timestamp() | TimestampNtz():
            return st.integers(-(2**63) + 1, 2**63 - 1)
        case _:
            return st.none()


def _digits(number: int) -> tuple[int, ...]:
    return tuple(map(int, str(number)))


def same(one: Any, other: Any) -> bool:
    """Return whether two held values are the same bits, every NaN being one."""
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    if isinstance(one, decimal.Decimal) and isinstance(other, decimal.Decimal):
        return one == other and one.as_tuple().exponent == other.as_tuple().exponent
    return type(one) is type(other) and bool(one == other)

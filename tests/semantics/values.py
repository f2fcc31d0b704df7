"""Values as fixture text, exact and readable; and Arrow's values as the package holds them."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal as PyDecimal
from typing import Any

import pyarrow as pa

from featurekit.clock import from_date, to_date
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
    is_float,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ARROW: dict[type[DataType], pa.DataType] = {
    Null: pa.null(),
    Boolean: pa.bool_(),
    Int8: pa.int8(),
    Int16: pa.int16(),
    Int32: pa.int32(),
    Int64: pa.int64(),
    Float32: pa.float32(),
    Float64: pa.float64(),
    String: pa.string(),
    Binary: pa.binary(),
    Date: pa.date32(),
    Timestamp: pa.timestamp("us", tz="UTC"),
}


def arrow_type(kind: DataType) -> pa.DataType:
    return pa.decimal128(kind.precision, kind.scale) if isinstance(kind, Decimal) else _ARROW[type(kind)]


def arrow_column(values: list[Any], kind: DataType) -> pa.Array:
    """Return held values as an Arrow array, bit for bit."""
    if isinstance(kind, Date):
        return pa.array(values, pa.int32()).cast(pa.date32())
    if isinstance(kind, Timestamp):
        return pa.array(values, pa.int64()).cast(arrow_type(kind))
    return pa.array(values, arrow_type(kind))


def held_values(column: pa.ChunkedArray) -> list[Any]:
    """Return an Arrow column's values as the package holds them."""
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]
    if pa.types.is_date(column.type):
        return column.cast(pa.int32()).to_pylist()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]


def write(value: Any, kind: DataType) -> str:
    """Return one value as fixture text."""
    if value is None:
        return "NULL"
    match kind:
        case Boolean():
            return "true" if value else "false"
        case String():
            return '"' + str(value).encode("unicode_escape").decode("ascii").replace('"', '\\"') + '"'
        case Decimal():
            return f"{value:f}"
        case Float64() | Float32():
            return _write_float(value)
        case Date():
            return _write_date(value)
        case Timestamp():
            return _write_timestamp(value)
        case _:
            return str(value)


def _write_float(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _write_date(days: int) -> str:
    try:
        return to_date(days).isoformat()
    except OverflowError:
        return f"day {days}"


def _write_timestamp(micros: int) -> str:
    try:
        return (_EPOCH + timedelta(microseconds=micros)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return f"micros {micros}"


def read(text: str, kind: DataType) -> Any:
    """Return the value that `write` wrote."""
    if text == "NULL":
        return None
    match kind:
        case Boolean():
            return {"true": True, "false": False}[text]
        case String():
            return text[1:-1].replace('\\"', '"').encode("ascii").decode("unicode_escape")
        case Decimal():
            return PyDecimal(text)
        case Float64() | Float32():
            return float(text)
        case Date():
            return int(text[4:]) if text.startswith("day ") else from_date(date.fromisoformat(text))
        case Timestamp():
            if text.startswith("micros "):
                return int(text[7:])
            return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)
        case _:
            return int(text)


def same_bits(left: Any, right: Any, kind: DataType) -> bool:
    """Return whether two values are one value: NaN is NaN, -0.0 is not 0.0, 1.0 is not 1.00, True is not 1."""
    if left is None or right is None:
        return left is right
    if is_float(kind) and isinstance(left, float) and isinstance(right, float):
        return left.hex() == right.hex() or (math.isnan(left) and math.isnan(right))
    if isinstance(kind, Decimal):
        return str(left) == str(right) or (left == right and f"{left:f}" == f"{right:f}")
    return type(left) is type(right) and bool(left == right)

"""Logical types as Arrow types, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final

import pyarrow as pa

from featurekit.errors import InputError
from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Field,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Map,
    Null,
    Schema,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
)

_ARROW: Final[dict[DataType, pa.DataType]] = {
    Null(): pa.null(),
    Boolean(): pa.bool_(),
    Int8(): pa.int8(),
    Int16(): pa.int16(),
    Int32(): pa.int32(),
    Int64(): pa.int64(),
    Float32(): pa.float32(),
    Float64(): pa.float64(),
    String(): pa.string(),
    Binary(): pa.binary(),
    Date(): pa.date32(),
    Timestamp(): pa.timestamp("us", tz="UTC"),
    TimestampNtz(): pa.timestamp("us"),
}

# Arrow types that hold the values of a logical type in another layout, or in a narrower one. The unsigned ones are
# what Spark makes of them in Parquet: the narrowest signed type that holds them all.
_ALSO: Final[dict[pa.DataType, DataType]] = {
    pa.uint8(): Int16(),
    pa.uint16(): Int32(),
    pa.uint32(): Int64(),
    pa.uint64(): Decimal(20, 0),
    pa.large_string(): String(),
    pa.string_view(): String(),
    pa.large_binary(): Binary(),
    pa.binary_view(): Binary(),
    pa.date64(): Date(),
}
_FROM_ARROW: Final[dict[pa.DataType, DataType]] = {arrow: kind for kind, arrow in _ARROW.items()} | _ALSO

_LISTS: Final = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)

# Why a type is refused, by Arrow's test for it.
_REFUSALS: Final = (
    (pa.types.is_time, "a time of day is no type of Spark SQL; write seconds since midnight as an int"),
    (pa.types.is_duration, "Spark reads a duration as a bare bigint and forgets its unit; write a number"),
    (pa.types.is_interval, "an interval is not a column type here; write a number"),
    (pa.types.is_float16, "Spark has no half precision float; write float32"),
    (pa.types.is_nested, "it is neither a list, nor a map, nor a struct of named fields"),
    (pa.types.is_decimal, "Spark's decimals have at most 38 digits, and a scale from 0 to the precision"),
)


def to_arrow(kind: DataType) -> pa.DataType:
    """Return the Arrow type of a logical type, the one form in which featurekit writes it.

    >>> str(to_arrow(Timestamp())), str(to_arrow(Decimal(10, 2)))
    ('timestamp[us, tz=UTC]', 'decimal128(10, 2)')
    """
    if isinstance(kind, Decimal):
        return pa.decimal128(kind.precision, kind.scale)
    match kind:
        case Array():
            return pa.list_(to_arrow(kind.element))
        case Map():
            return pa.map_(to_arrow(kind.key), to_arrow(kind.value))
        case Struct():
            return pa.struct([pa.field(name, to_arrow(inner)) for name, inner in kind.fields])
        case _:
            return _ARROW[kind]


def from_arrow(arrow: pa.DataType) -> DataType:
    """Return the logical type whose values an Arrow type holds; InputError, with the reason, where there is none.

    >>> from_arrow(pa.uint32()).name, from_arrow(pa.timestamp("ns", tz="Asia/Tokyo")).name
    ('bigint', 'timestamp')
    """
    if pa.types.is_dictionary(arrow) or pa.types.is_run_end_encoded(arrow):
        return from_arrow(arrow.value_type)
    if pa.types.is_timestamp(arrow):
        return TimestampNtz() if arrow.tz is None else Timestamp()
    if pa.types.is_decimal(arrow) and arrow.precision <= 38 and 0 <= arrow.scale <= arrow.precision:
        return Decimal(arrow.precision, arrow.scale)
    if pa.types.is_fixed_size_binary(arrow) and not pa.types.is_decimal(arrow):
        return Binary()
    if found := _FROM_ARROW.get(arrow) or _nested(arrow):
        return found
    why = next((why for test, why in _REFUSALS if test(arrow)), "Spark has no such type")
    raise InputError(f"the Arrow type {arrow} is not supported", why=why)


def _nested(arrow: pa.DataType) -> DataType | None:
    if any(test(arrow) for test in _LISTS):
        return Array(from_arrow(arrow.value_type))
    if pa.types.is_map(arrow):
        return Map(from_arrow(arrow.key_type), from_arrow(arrow.item_type))
    if pa.types.is_struct(arrow) and arrow.num_fields:
        return Struct(tuple((field.name, from_arrow(field.type)) for field in arrow))
    return None


def for_arrow(value: Any, kind: DataType) -> Any:
    """Return a held value as pyarrow takes it: structs by name, because it could read a tuple in two ways."""
    match kind:
        case _ if value is None:
            return None
        case Array():
            return [for_arrow(part, kind.element) for part in value]
        case Map():
            return [(for_arrow(key, kind.key), for_arrow(part, kind.value)) for key, part in value]
        case Struct():
            return {name: for_arrow(part, inner) for part, (name, inner) in zip(value, kind.fields, strict=True)}
        case _:
            return value


def held_values(array: pa.Array) -> list[Any]:
    """Return an Arrow array's values as `types` says they are held."""
    kind = array.type
    if pa.types.is_timestamp(kind):
        return array.cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]
    if pa.types.is_date(kind):
        return array.cast(pa.int32()).to_pylist()  # type: ignore[no-any-return]
    if pa.types.is_map(kind):
        return _sliced(array, list(zip(held_values(array.keys), held_values(array.items), strict=True)))
    if pa.types.is_list(kind):
        return _sliced(array, held_values(array.values))
    if pa.types.is_struct(kind):
        return _where_valid(array, zip(*map(held_values, array.flatten()), strict=True))
    return array.to_pylist()  # type: ignore[no-any-return]


def _sliced(array: pa.Array, parts: Sequence[Any]) -> list[Any]:
    return _where_valid(array, (tuple(parts[start:end]) for start, end in pairwise(array.offsets.to_pylist())))


def _where_valid(array: pa.Array, rows: Iterable[Any]) -> list[Any]:
    if not array.null_count:
        return list(rows)
    return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)]


def to_arrow_schema(schema: Schema) -> pa.Schema:
    """Return the schema as Arrow's, in the same order and with the same nullability."""
    return pa.schema([pa.field(field.name, to_arrow(field.type), field.nullable) for field in schema.fields])


def from_arrow_schema(arrow: pa.Schema) -> Schema:
    """Return Arrow's schema as ours; InputError that names the column where a type is not supported."""
    return Schema(tuple(_field(field) for field in arrow))


def _field(field: pa.Field) -> Field:
    try:
        return Field(field.name, from_arrow(field.type), field.nullable)
    except InputError as error:
        raise InputError(f"{field.name}: {error.what}", why=error.why) from error

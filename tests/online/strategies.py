"""Typed values as `types` says they are held, for Hypothesis."""

from __future__ import annotations

import decimal
import math
from typing import Any

from hypothesis import strategies as st

from featurekit.types import (
    Array,
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
    Map,
    Null,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
    integer_range,
    is_integer,
    parse_type,
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
SCALARS: tuple[DataType, ...] = (*KEY_TYPES, Null())
# What people store, each sort of part in each other, and the deepest that may be.
NESTED: tuple[DataType, ...] = tuple(
    map(
        parse_type,
        (
            "array<float>",
            "array<double>",
            "array<bigint>",
            "array<boolean>",
            "array<string>",
            "array<decimal(30,2)>",
            "array<void>",
            "map<string,int>",
            "map<int,array<string>>",
            "map<struct<a:int,b:string>,double>",
            "struct<a:int>",
            "struct<city:string,at:timestamp,tags:array<string>,price:decimal(9,2),is_new:boolean>",
            "array<array<array<int>>>",
            "array<struct<a:double,b:map<string,binary>>>",
            "struct<a:struct<b:struct<c:string,d:void>>>",
            "array<map<bigint,struct<a:array<date>,b:smallint>>>",
            "array<array<array<array<array<array<array<array<tinyint>>>>>>>>",
        ),
    )
)
TYPES: tuple[DataType, ...] = (*SCALARS, *NESTED)


def nested_types(deepest: int = 3) -> st.SearchStrategy[DataType]:
    """Return arrays, maps and structs of any types."""
    inner = st.sampled_from(SCALARS) if deepest == 1 else st.sampled_from(SCALARS) | nested_types(deepest - 1)
    keys = st.sampled_from(KEY_TYPES)
    fields = st.lists(inner, min_size=1, max_size=9)
    return st.one_of(
        st.builds(Array, inner),
        st.builds(Map, keys, inner),
        fields.map(lambda kinds: Struct(tuple((f"f{i}", kind) for i, kind in enumerate(kinds)))),
    )


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
        case Array():
            return st.lists(st.none() | values(kind.element), max_size=10).map(tuple)
        case Map():
            pairs = st.tuples(values(kind.key), st.none() | values(kind.value))
            return st.lists(pairs, max_size=4, unique_by=lambda pair: repr(pair[0])).map(tuple)
        case Struct():
            return st.tuples(*(st.none() | values(inner) for _, inner in kind.fields))
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
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, decimal.Decimal) and isinstance(other, decimal.Decimal):
        return one == other and one.as_tuple().exponent == other.as_tuple().exponent
    return type(one) is type(other) and bool(one == other)

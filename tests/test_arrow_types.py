"""Logical types as Arrow types: each has one form, and what Arrow has beyond them is refused with the reason."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.arrow_types import from_arrow, from_arrow_schema, to_arrow, to_arrow_schema
from featurekit.errors import InputError
from featurekit.types import Array, DataType, Decimal, Field, Map, Null, Schema, Struct, parse_type

NAMES = ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary", "date")
TYPES = st.one_of(
    st.sampled_from([*map(parse_type, NAMES), parse_type("timestamp"), parse_type("timestamp_ntz"), Null()]),
    st.integers(1, 38).flatmap(lambda digits: st.builds(Decimal, st.just(digits), st.integers(0, digits))),
)

TYPES |= st.recursive(
    TYPES,
    lambda parts: st.one_of(
        st.builds(Array, parts),
        st.builds(Map, parts.filter(lambda kind: kind != Null()), parts),
        st.builds(lambda one, two: Struct((("a", one), ("B c", two))), parts, parts),
    ),
    max_leaves=4,
)


@given(TYPES)
def test_each_type_comes_back_from_arrow(kind: DataType) -> None:
    assert from_arrow(to_arrow(kind)) == kind


FIELDS = st.builds(Field, st.text(max_size=5), TYPES, st.booleans()).filter(
    lambda field: field.nullable or field.type != Null()  # a column of nulls that has none is no column
)


@given(st.lists(FIELDS, max_size=5))
def test_schema_keeps_order_names_and_nullability(fields: list[Field]) -> None:
    schema = Schema(tuple(fields))
    assert from_arrow_schema(to_arrow_schema(schema)) == schema


def test_timestamps_are_microseconds_in_utc() -> None:
    assert to_arrow(parse_type("timestamp")) == pa.timestamp("us", tz="UTC")
    assert to_arrow(parse_type("timestamp_ntz")) == pa.timestamp("us")


@pytest.mark.parametrize(
    ("arrow", "name"),
    [
        (pa.uint8(), "smallint"),
        (pa.uint16(), "int"),
        (pa.uint32(), "bigint"),
        (pa.uint64(), "decimal(20,0)"),
        (pa.large_string(), "string"),
        (pa.string_view(), "string"),
        (pa.large_binary(), "binary"),
        (pa.binary_view(), "binary"),
        (pa.binary(16), "binary"),
        (pa.dictionary(pa.int8(), pa.large_string()), "string"),
        (pa.dictionary(pa.int32(), pa.int64()), "bigint"),
        (pa.run_end_encoded(pa.int32(), pa.float64()), "double"),
        (pa.date64(), "date"),
        (pa.timestamp("s"), "timestamp_ntz"),
        (pa.timestamp("ns"), "timestamp_ntz"),
        (pa.timestamp("ms", tz="America/New_York"), "timestamp"),
        (pa.decimal32(9, 2), "decimal(9,2)"),
        (pa.decimal64(18, 18), "decimal(18,18)"),
        (pa.decimal256(38, 0), "decimal(38,0)"),
        (pa.large_list(pa.int64()), "array<bigint>"),
        (pa.list_(pa.uint8(), 4), "array<smallint>"),
        (pa.list_view(pa.large_string()), "array<string>"),
    ],
)
def test_other_layouts_hold_the_same_values(arrow: Any, name: str) -> None:
    assert from_arrow(arrow).name == name


@pytest.mark.parametrize(
    ("arrow", "reason"),
    [
        (pa.time32("s"), "a time of day"),
        (pa.time64("us"), "a time of day"),
        (pa.duration("us"), "a duration"),
        (pa.month_day_nano_interval(), "an interval"),
        (pa.float16(), "half precision"),
        (pa.list_(pa.duration("s")), "a duration"),
        (pa.map_(pa.string(), pa.float16()), "half precision"),
        (pa.struct([]), "a struct of named fields"),
        (pa.struct([("a:b", pa.int64())]), "would read back as another"),
        (pa.struct([("a", pa.int64()), ("A", pa.int64())]), "upper and lower case"),
        (pa.decimal256(39, 0), "at most 38 digits"),
        (pa.decimal128(5, -2), "scale from 0"),
        (pa.uuid(), "no such type"),
        (pa.dictionary(pa.int8(), pa.time32("s")), "a time of day"),
    ],
)
def test_type_without_a_counterpart_is_refused_with_the_reason(arrow: Any, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        from_arrow(arrow)
    assert reason in str(caught.value.why)


def test_refused_column_is_named() -> None:
    with pytest.raises(InputError, match="at: the Arrow type time32"):
        from_arrow_schema(pa.schema([("ok", pa.int64()), ("at", pa.time32("s"))]))

from __future__ import annotations

import math
from decimal import Decimal as Exact
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.clock import parse_instant
from featurekit.errors import SettingsError
from featurekit.online.arrow_keys import encode_key_columns
from featurekit.online.keys import KeySpace, Namespace, as_of_text, entity_key_encoder
from featurekit.types import (
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Field,
    Float32,
    Float64,
    Int32,
    Int64,
    String,
    Timestamp,
    TimestampNtz,
)
from tests.online.servers import held_array
from tests.online.strategies import KEY_TYPES, values

TEXTS: list[tuple[DataType, Any, bytes]] = [
    (Int64(), 2**63 - 1, b"9223372036854775807"),
    (Int64(), -(2**63), b"-9223372036854775808"),
    (Int32(), -7, b"-7"),
    (String(), "UA", b"UA"),
    (String(), "", b"%_"),
    (String(), "%_", b"%25_"),
    (String(), "a{b}c,d:e%", b"a%7Bb%7Dc%2Cd:e%25"),
    (String(), "\0\n\x7f", b"%00%0A%7F"),
    (String(), " é\u0301 ", " é\u0301 ".encode()),
    (Binary(), b"\x00\xff", b"00ff"),
    (Binary(), b"", b"%_"),
    (Boolean(), True, b"true"),
    (Boolean(), False, b"false"),
    (Float64(), 1.5, b"1.5"),
    (Float64(), -0.0, b"0.0"),
    (Float64(), math.nan, b"nan"),
    (Float64(), -math.inf, b"-inf"),
    (Float64(), 1e22, b"1e+22"),
    (Float32(), 0.10000000149011612, b"0.10000000149011612"),
    (Decimal(9, 2), Exact("-1.50"), b"-1.50"),
    (Decimal(9, 2), Exact("-0.00"), b"0.00"),
    (Decimal(38, 0), Exact(10**37), b"1" + b"0" * 37),
    (Decimal(9, 9), Exact("1E-9"), b"0.000000001"),
    (Date(), 0, b"1970-01-01"),
    (Timestamp(), parse_instant("2013-11-15T02:00Z"), b"2013-11-15T02:00:00.000000Z"),
    (TimestampNtz(), parse_instant("2013-11-15T02:00Z") + 1, b"2013-11-15T02:00:00.000001"),
]


@pytest.mark.parametrize(("kind", "value", "text"), TEXTS)
def test_a_value_has_this_key_text(kind: DataType, value: Any, text: bytes) -> None:
    assert entity_key_encoder([kind])([[value]]) == [text]
    batch = pa.record_batch({"key": held_array([value], kind)})
    assert encode_key_columns(batch, [Field("key", kind)]) == [text]


def test_an_int32_and_an_int64_of_one_value_are_one_key() -> None:
    assert entity_key_encoder([Int32()])([[42]]) == entity_key_encoder([Int64()])([[42]])


def test_a_null_in_any_join_key_is_no_key() -> None:
    assert entity_key_encoder([String(), Int64()])([["a", None, None], [None, 1, None]]) == [None, None, None]
    batch = pa.record_batch({"a": pa.array(["x", None]), "b": pa.array([None, 1], pa.int64())})
    assert encode_key_columns(batch, [Field("a", String()), Field("b", Int64())]) == [None, None]


def test_text_that_is_not_utf8_still_has_a_key_in_a_batch() -> None:
    # Spark's strings can be any bytes; no row may fail a job.
    bad = pa.array([b"\xff{", b"ok"], pa.binary()).view(pa.string())
    assert encode_key_columns(pa.record_batch({"key": bad}), [Field("key", String())]) == [b"\xff%7B", b"ok"]


def _as_one(value: Any) -> Any:
    """Return what decides whether two key values are one: NaN is NaN and -0.0 is 0.0."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    return value


@given(st.data())
def test_different_tuples_have_different_keys_and_equal_ones_the_same(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(KEY_TYPES), min_size=1, max_size=3))
    rows = data.draw(st.lists(st.tuples(*(values(kind) for kind in kinds)), min_size=1, max_size=20))
    rows = rows + rows[:3]
    keys = entity_key_encoder(kinds)(list(zip(*rows, strict=True)))
    by_key: dict[bytes | None, set[Any]] = {}
    for row, key in zip(rows, keys, strict=True):
        by_key.setdefault(key, set()).add(tuple(map(_as_one, row)))
    assert all(len(found) == 1 for found in by_key.values())
    assert len(by_key) == len({tuple(map(_as_one, row)) for row in rows})


@given(st.data())
def test_keys_made_by_column_are_those_made_one_by_one(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(KEY_TYPES), min_size=1, max_size=3))
    rows = data.draw(st.lists(st.tuples(*(st.none() | values(kind) for kind in kinds)), max_size=12))
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in kinds]
    names = [f"k{i}" for i in range(len(kinds))]
    arrays = [held_array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    fields = [Field(name, kind) for name, kind in zip(names, kinds, strict=True)]
    expected = list(entity_key_encoder(kinds)(columns))
    batch = pa.record_batch(arrays, names)
    assert encode_key_columns(batch, fields) == expected
    assert encode_key_columns(batch.slice(1), fields) == expected[1:]


@given(st.lists(values(String()), min_size=1, max_size=3))
def test_a_key_keeps_redis_hash_tag_whole(parts: list[str]) -> None:
    (key,) = entity_key_encoder([String()] * len(parts))([[part] for part in parts])
    assert key
    assert not set(key) & set(b"{}\r\n\0")


def test_the_keys_of_one_refresh() -> None:
    space = KeySpace(
        namespace=Namespace("shop", "prod"), view="spend", fingerprint="9f3c0011" + "0" * 56, as_of=1384473600000000
    )
    assert space.row(b"42") == b"fk:shop:prod:{42}:spend@9f3c0011:20131115T00"
    assert space.marker == b"fk:shop:prod:space:spend@9f3c0011:20131115T00"
    assert space.head == b"fk:shop:prod:head:spend@9f3c0011"
    again = KeySpace(
        namespace=space.namespace, view="spend", fingerprint=space.fingerprint, as_of=space.as_of, restatement=2
    )
    assert again.row(b"42") == b"fk:shop:prod:{42}:spend@9f3c0011:20131115T00~2"


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        ("2013-11-15T00:00Z", "20131115T00"),
        ("2013-11-15T05:30Z", "20131115T0530"),
        ("2013-11-15T05:00:07Z", "20131115T050007"),
        ("2013-11-15T05:00:00.000001Z", "20131115T050000000001"),
    ],
)
def test_an_as_of_has_only_the_digits_it_needs(instant: str, text: str) -> None:
    assert as_of_text(parse_instant(instant)) == text


@pytest.mark.parametrize("name", ["", "a:b", "a b", "{a}", "a*"])
def test_a_project_name_that_would_blur_keys_is_refused(name: str) -> None:
    with pytest.raises(SettingsError):
        Namespace(name, "prod")

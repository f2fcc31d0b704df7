from __future__ import annotations

import math
from decimal import Decimal as Exact
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.errors import CodecError, ForeignRowError, NewerWireVersionError, TruncatedRowError
from featurekit.online.arrow_rows import row_array
from featurekit.online.codec import RowCodec
from featurekit.status import Status
from featurekit.types import (
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
    Null,
    String,
    Timestamp,
    TimestampNtz,
    parse_type,
)
from tests.online.servers import FINGERPRINT, offline_batch, plan_field, view_plan
from tests.online.strategies import TYPES, same, values

GOLDEN = Path(__file__).parent / "golden" / "wire_version_1.txt"
AS_OF = 1384473600000000
LAST_EVENT = AS_OF - 1

# One row each: a name, the fields' types, their values; a Status stands for a value that is not there.
ROWS: list[tuple[str, list[DataType], list[Any]]] = [
    ("no fields", [], []),
    ("boolean true", [Boolean()], [True]),
    ("boolean false", [Boolean()], [False]),
    ("tinyint least", [Int8()], [-128]),
    ("tinyint most", [Int8()], [127]),
    ("smallint least", [Int16()], [-32768]),
    ("smallint most", [Int16()], [32767]),
    ("int least", [Int32()], [-(2**31)]),
    ("int most", [Int32()], [2**31 - 1]),
    ("bigint least", [Int64()], [-(2**63)]),
    ("bigint most", [Int64()], [2**63 - 1]),
    ("float 0.1", [Float32()], [0.10000000149011612]),
    ("float NaN", [Float32()], [math.nan]),
    ("float -0.0", [Float32()], [-0.0]),
    ("double 0.1", [Float64()], [0.1]),
    ("double NaN", [Float64()], [math.nan]),
    ("double -0.0", [Float64()], [-0.0]),
    ("double -inf", [Float64()], [-math.inf]),
    ("double smallest", [Float64()], [5e-324]),
    ("decimal(18,2) most", [Decimal(18, 2)], [Exact("9999999999999999.99")]),
    ("decimal(18,2) least", [Decimal(18, 2)], [Exact("-9999999999999999.99")]),
    ("decimal(19,2) small", [Decimal(19, 2)], [Exact("-0.01")]),
    ("decimal(38,0) most", [Decimal(38, 0)], [Exact(10**38 - 1)]),
    ("decimal(38,38) least", [Decimal(38, 38)], [Exact("-0." + "9" * 38)]),
    ("string empty", [String()], [""]),
    ("string one", [String()], ["a"]),
    ("string 255", [String()], ["b" * 255]),
    ("string 256", [String()], ["c" * 256]),
    ("string unicode", [String()], ["\0é\U0001f600"]),
    ("binary", [Binary()], [b"\x00\xff"]),
    ("strings", [String(), Binary(), String()], ["ab", b"", "cde"]),
    ("string null between", [String(), String(), String()], ["ab", Status.NULL, "c"]),
    ("date", [Date()], [16024]),
    ("timestamp", [Timestamp()], [AS_OF]),
    ("timestamp_ntz", [TimestampNtz()], [-1]),
    ("void", [Null(), Int8()], [Status.NULL, 1]),
    ("statuses", [Int64()] * 4, [7, Status.NULL, Status.MISSING, Status.EXPIRED]),
    ("five fields", [Int8()] * 5, [1, 2, 3, 4, Status.EXPIRED]),
    (
        "every type",
        [
            Boolean(), String(), Int8(), Float64(), Decimal(38, 2), Int16(), Int32(), Date(), Int64(), Timestamp(),
            Float32(), Decimal(9, 2), Binary(), TimestampNtz(),
        ],
        [True, "x", 1, 2.5, Exact("3.25"), 4, 5, 6, 7, 8, 9.5, Exact("10.25"), b"yz", 11],
    ),
    ("array empty", [parse_type("array<int>")], [()]),
    ("array of ints", [parse_type("array<int>")], [(1, None, -1)]),
    ("array of floats", [parse_type("array<float>")], [(-0.0, math.nan, 1.5)]),
    ("array of nine", [parse_type("array<boolean>")], [(True,) * 8 + (None,)]),
    ("array of decimals", [parse_type("array<decimal(30,2)>")], [(Exact("-0.01"), None)]),
    ("array of strings", [parse_type("array<string>")], [("ab", None, "", "é")]),
    ("array of voids", [parse_type("array<void>")], [(None, None)]),
    ("array of arrays", [parse_type("array<array<tinyint>>")], [((1, 2), (), None)]),
    ("map", [parse_type("map<string,int>")], [(("b", 7), ("a", None))]),
    ("map empty", [parse_type("map<string,int>")], [()]),
    ("struct", [parse_type("struct<a:smallint,b:string,c:double,d:void>")], [(-2, "x", None, None)]),
    (
        "nested in each other",
        [parse_type("struct<a:map<int,array<timestamp>>,b:array<struct<c:binary,d:date>>>")],
        [(((1, (AS_OF,)), (2, None)), ((b"\0", 1), None, (None, None)))],
    ),
    (
        "nested among others",
        [String(), parse_type("array<double>"), Int64(), parse_type("array<double>"), parse_type("map<int,int>")],
        ["é", (0.1,), 5, Status.MISSING, ((3, 4),)],
    ),
]  # fmt: skip


def fields_of(kinds: list[DataType]) -> list[Field]:
    return [Field(f"f{i}", kind) for i, kind in enumerate(kinds)]


def encoded(kinds: list[DataType], given_values: list[Any]) -> bytes:
    statuses = [value if isinstance(value, Status) else Status.PRESENT for value in given_values]
    held = [None if isinstance(value, Status) else value for value in given_values]
    codec = RowCodec(fields_of(kinds), FINGERPRINT)
    return codec.encode_row(held, as_of=AS_OF, last_event=LAST_EVENT, statuses=statuses)


def golden() -> dict[str, bytes]:
    lines = (line for line in GOLDEN.read_text().splitlines() if line and not line.startswith("#"))
    return {name: bytes.fromhex(text) for name, _, text in (line.partition(" | ") for line in lines)}


@pytest.mark.parametrize(("name", "kinds", "given_values"), ROWS)
def test_a_row_has_the_bytes_it_always_had(name: str, kinds: list[DataType], given_values: list[Any]) -> None:
    assert encoded(kinds, given_values).hex() == golden()[name].hex()


@pytest.mark.parametrize(("name", "kinds", "given_values"), ROWS)
def test_bytes_of_wire_version_1_are_still_read(name: str, kinds: list[DataType], given_values: list[Any]) -> None:
    row = RowCodec(fields_of(kinds), FINGERPRINT).decode_row(golden()[name])
    assert (row.as_of, row.last_event) == (AS_OF, LAST_EVENT)
    for value, found, status in zip(given_values, row.values, row.statuses, strict=True):
        if isinstance(value, Status):
            assert (found, status) == (None, value)
        else:
            assert same(found, value)
            assert status is Status.PRESENT


def test_every_golden_row_has_its_case() -> None:
    assert set(golden()) == {name for name, _, _ in ROWS}


@st.composite
def typed_rows(draw: st.DrawFn, *, most: int = 6) -> tuple[list[DataType], list[list[Any]]]:
    """Draw the types of a row's fields and some rows of values, None among them."""
    kinds = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=9))
    row = st.tuples(*(st.none() | values(kind) for kind in kinds)).map(list)
    return kinds, draw(st.lists(row, max_size=most))


@given(typed_rows())
def test_what_is_encoded_is_what_is_decoded(drawn: tuple[list[DataType], list[list[Any]]]) -> None:
    kinds, rows = drawn
    codec = RowCodec(fields_of(kinds), FINGERPRINT)
    for row in rows:
        found = codec.decode_row(codec.encode_row(row, as_of=3, last_event=2))
        assert all(same(a, b) for a, b in zip(found.values, row, strict=True))
        assert [status is Status.NULL for status in found.statuses] == [value is None for value in row]


@given(typed_rows(most=12), st.data())
def test_a_batch_gives_the_bytes_of_its_rows(
    drawn: tuple[list[DataType], list[list[Any]]], data: st.DataObject
) -> None:
    kinds, rows = drawn
    view = view_plan([plan_field(f"f{i}", kind, is_latest=i % 2 == 0) for i, kind in enumerate(kinds)])
    missing = st.sampled_from([Status.PRESENT, Status.MISSING, Status.EXPIRED])
    statuses = {
        field.name: data.draw(st.lists(missing, min_size=len(rows), max_size=len(rows)))
        for field in view.fields
        if field.is_latest
    }
    named = [
        {"user_id": 1, "__last_event": i, **{f"f{j}": value for j, value in enumerate(row)}}
        for i, row in enumerate(rows)
    ]
    codec = RowCodec(fields_of(kinds), FINGERPRINT)
    expected = []
    for i, row in enumerate(rows):
        told = [statuses[f"f{j}"][i] if f"f{j}" in statuses else Status.PRESENT for j in range(len(row))]
        codes = [
            status if status is not Status.PRESENT else (Status.NULL if value is None else Status.PRESENT)
            for status, value in zip(told, row, strict=True)
        ]
        expected.append(codec.encode_row(row, as_of=9, last_event=i, statuses=codes))
    batch = offline_batch(view, named, statuses)
    assert row_array(batch, codec, as_of=9).to_pylist() == expected
    assert row_array(batch.slice(1), codec, as_of=9).to_pylist() == expected[1:]


def test_text_that_is_not_utf8_is_kept_and_refused_when_read() -> None:
    # Spark's strings can be any bytes: such a row may not fail the job, and it has no str.
    codec = RowCodec([Field("f0", String())], FINGERPRINT)
    bad = pa.array([b"\xff"], pa.binary()).view(pa.string())
    last_event = pa.array([1], pa.int64()).view(pa.timestamp("us", "UTC"))
    (row,) = row_array(pa.record_batch({"f0": bad, "__last_event": last_event}), codec, as_of=1).to_pylist()
    assert row.endswith(b"\xff")
    with pytest.raises(CodecError, match="UTF-8"):
        codec.decode_row(row)


def test_a_batch_without_a_declared_column_is_refused_by_name() -> None:
    codec = RowCodec([Field("f9", Int64())], FINGERPRINT)
    last_event = pa.array([1], pa.int64()).view(pa.timestamp("us", "UTC"))
    with pytest.raises(CodecError, match="f9"):
        row_array(pa.record_batch({"__last_event": last_event}), codec, as_of=1)


def test_a_row_of_another_version_is_foreign() -> None:
    row = encoded([Int64()], [1])
    with pytest.raises(ForeignRowError):
        RowCodec([Field("f0", Int64())], "a" * 64).decode_row(row)


@pytest.mark.parametrize("header", [b"\x02\x00", b"\x01\x01", b"\xff\x00"])
def test_a_row_of_a_later_wire_version_is_refused(header: bytes) -> None:
    codec = RowCodec([Field("f0", Int64())], FINGERPRINT)
    with pytest.raises(NewerWireVersionError):
        codec.decode_row(header + encoded([Int64()], [1])[2:])


@pytest.mark.parametrize("kinds", [[Int64()], [String(), Int8()]])
def test_a_row_that_is_a_byte_short_or_long_is_truncated(kinds: list[DataType]) -> None:
    codec = RowCodec(fields_of(kinds), FINGERPRINT)
    row = encoded(kinds, ["abc" if kind == String() else 1 for kind in kinds])
    for cut in range(8, len(row)):
        with pytest.raises(TruncatedRowError):
            codec.decode_row(row[:cut])
    with pytest.raises(TruncatedRowError):
        codec.decode_row(row + b"\0")


@given(typed_rows(most=1), st.data())
def test_damaged_bytes_are_a_codec_error_or_a_row_of_this_version(
    drawn: tuple[list[DataType], list[list[Any]]], data: st.DataObject
) -> None:
    kinds, rows = drawn
    codec = RowCodec(fields_of(kinds), FINGERPRINT)
    for row in rows:
        whole = bytearray(codec.encode_row(row, as_of=3, last_event=2))
        for bit in data.draw(st.lists(st.integers(0, len(whole) * 8 - 1), max_size=8)):
            whole[bit // 8] ^= 1 << bit % 8
        damaged = bytes(whole)[: data.draw(st.integers(0, len(whole)))] + data.draw(st.binary(max_size=4))
        try:
            codec.decode_row(damaged)
        except CodecError:
            continue
        assert damaged[:8] == codec.identity

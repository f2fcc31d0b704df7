from __future__ import annotations

import math
import struct
from decimal import Decimal as Exact
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.errors import CodecError, ForeignRowError, NewerWireVersionError, TruncatedRowError
from featurekit.online import arrow_rows
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
    ("float most", [Float32()], [3.4028234663852886e38]),
    ("float smallest", [Float32()], [1.401298464324817e-45]),
    ("double most", [Float64()], [1.7976931348623157e308]),
    ("double inf", [Float64()], [math.inf]),
    ("decimal(1,1)", [Decimal(1, 1)], [Exact("-0.9")]),
    ("decimal(18,0) most", [Decimal(18, 0)], [Exact(10**18 - 1)]),
    ("decimal(18,18) least", [Decimal(18, 18)], [Exact("-0." + "9" * 18)]),
    ("decimal(19,0) least", [Decimal(19, 0)], [Exact(1 - 10**19)]),
    ("decimal(19,19) most", [Decimal(19, 19)], [Exact("0." + "9" * 19)]),
    ("decimal(38,0) least", [Decimal(38, 0)], [Exact(1 - 10**38)]),
    ("date least and most", [Date(), Date()], [-(2**31), 2**31 - 1]),
    ("timestamp least and most", [Timestamp(), Timestamp()], [-(2**63), 2**63 - 1]),
    ("timestamp_ntz least and most", [TimestampNtz(), TimestampNtz()], [-(2**63), 2**63 - 1]),
    ("nothing there", [Decimal(38, 0), Float64(), Int64(), Float32(), Date(), String(), Int16(), Int8(), Boolean()],
     [Status.NULL, Status.MISSING, Status.EXPIRED] * 3),
    ("three fields", [Int8()] * 3, [Status.EXPIRED] * 3),
    ("four fields", [Int8()] * 4, [Status.EXPIRED] * 4),
    ("eight fields", [Boolean()] * 8, [True, False] * 4),
    ("nine fields", [Boolean()] * 9, [Status.MISSING] * 8 + [True]),
    ("strings empty", [String()] * 3, [""] * 3),
    ("binary empty and null", [Binary(), Binary()], [b"", Status.NULL]),
    ("array empty", [parse_type("array<int>")], [()]),
    ("array of eight", [parse_type("array<tinyint>")], [(1, 2, 3, 4, 5, 6, 7, None)]),
    ("eight deep", [parse_type("array<" * 8 + "tinyint" + ">" * 8)], [((((((((7, None),), None),),),),),)]),
    ("map of nulls", [parse_type("map<bigint,string>")], [((-1, None), (0, ""))]),
    ("struct of nothing", [parse_type("struct<a:string,b:decimal(30,2),c:array<int>>")], [(None, None, None)]),
    ("struct of nine", [parse_type("struct<" + ",".join(f"f{i}:boolean" for i in range(9)) + ">")],
     [(True, None) * 4 + (False,)]),
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


@pytest.mark.parametrize("size", [0, 1, 255, 256, 65_535, 65_536, 100_000])
@pytest.mark.parametrize("text", ["x", "é"], ids=["one byte", "two bytes"])
def test_texts_of_any_length_are_read_as_they_were_written(size: int, text: str) -> None:
    kinds: list[DataType] = [String(), Binary(), String(), parse_type("array<string>")]
    given_values = [text * size, b"\0" * size, "", (text * size, None)]
    codec = RowCodec(fields_of(kinds), FINGERPRINT)
    row = encoded(kinds, given_values)
    assert codec.decode_row(row).values == tuple(given_values)
    view = view_plan([plan_field(f"f{i}", kind) for i, kind in enumerate(kinds)])
    named = {"user_id": 1, "__last_event": LAST_EVENT, **{f"f{i}": value for i, value in enumerate(given_values)}}
    assert row_array(offline_batch(view, [named]), codec, as_of=AS_OF).to_pylist() == [row]


def test_every_nan_is_written_as_one() -> None:
    expected = encoded([Float64(), parse_type("array<double>")], [math.nan, (math.nan,)])
    for bits in ("efbeadde0000f8ff", "010000000000f07f", "000000000000f8ff"):
        (value,) = struct.unpack("<d", bytes.fromhex(bits))
        assert math.isnan(value)
        assert encoded([Float64(), parse_type("array<double>")], [value, (value,)]) == expected


def test_a_row_longer_than_a_value_may_be_is_refused_when_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assert arrow_rows._SECTION_LIMIT == 512 << 20  # what Redis takes by default
    monkeypatch.setattr(arrow_rows, "_SECTION_LIMIT", 1000)  # half a GiB takes seconds
    codec = RowCodec([Field("f0", String()), Field("f1", String())], FINGERPRINT)
    last_event = pa.array([1], pa.int64()).view(pa.timestamp("us", "UTC"))
    for size, is_refused in ((499, False), (500, True)):
        batch = pa.record_batch({"f0": ["x" * 500], "f1": ["y" * size], "__last_event": last_event})
        if is_refused:
            with pytest.raises(CodecError, match="512 MiB"):
                row_array(batch, codec, as_of=1)
        else:
            assert len(row_array(batch, codec, as_of=1)[0].as_py()) == codec.size + 999


def test_a_decimal_beyond_its_digits_is_no_value() -> None:
    for kind, size in ((Decimal(18, 2), 8), (Decimal(5, 0), 8), (Decimal(38, 0), 16)):
        codec = RowCodec([Field("f0", kind)], FINGERPRINT)
        row = codec.encode_row([Exact(0)], as_of=1, last_event=1)
        for number in (10**kind.precision, -(10**kind.precision)):
            if kind.precision == 38 or abs(number) < 2**63:
                damaged = row[:24] + number.to_bytes(size, "little", signed=True) + row[24 + size :]
                with pytest.raises(CodecError, match="digits"):
                    codec.decode_row(damaged)


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

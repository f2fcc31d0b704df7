"""Bytes of arrays, maps and structs: one value and many, from Arrow and to it, whole and damaged."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.arrow_types import held_values, to_arrow
from featurekit.errors import CodecError, TruncatedRowError
from featurekit.online.codec import from_stored, to_stored
from featurekit.online.nested_arrow import arrow_array, value_bytes
from featurekit.online.nested_columns import NestedColumn, column_reader
from featurekit.online.nested_vectors import nested_vector
from featurekit.types import Array, DataType, Map, Struct, parse_type
from tests.online.servers import held_array
from tests.online.strategies import NESTED, nested_types, same, values

# A type, a value, and its bytes as docs/formats.md has them.
SPELLED: list[tuple[str, Any, str]] = [
    ("array<int>", (), "00000000"),
    ("array<int>", (1, None, -1), "03000000 02 01000000 00000000 ffffffff"),
    ("array<float>", (-0.0, math.nan), "02000000 00 00000080 0000c07f"),
    ("array<boolean>", (True,) * 8 + (None,), "09000000 0001 0101010101010101 00"),
    ("array<decimal(30,2)>", (None,), "01000000 01 00000000000000000000000000000000"),
    ("array<string>", ("ab", None, "", "é"), "04000000 02 02000000 02000000 02000000 04000000 6162c3a9"),
    ("array<array<tinyint>>", ((1, 2), ()), "02000000 00 07000000 0b000000 02000000000102 00000000"),
    ("array<void>", (None, None), "02000000 03"),
    ("map<string,int>", (("b", 7), ("a", None)), "02000000 00 01000000 02000000 6261 02 07000000 00000000"),
    ("struct<a:smallint,b:string,c:double>", (-2, "x", None), "04 feff 01000000 0000000000000000 78"),
    ("struct<a:array<int>,b:void,c:binary>", (None, None, b"\x01"), "03 00000000 01000000 01"),
]


@pytest.mark.parametrize(("kind", "value", "spelled"), SPELLED)
def test_a_value_has_the_bytes_that_the_format_says(kind: str, value: Any, spelled: str) -> None:
    found = parse_type(kind)
    assert to_stored(found)(value).hex() == bytes.fromhex(spelled).hex()
    assert same(from_stored(found)(bytes.fromhex(spelled)), value)


def columns(kinds: st.SearchStrategy[DataType], *, fewest: int = 0) -> st.SearchStrategy[tuple[DataType, list[Any]]]:
    def of(kind: DataType) -> st.SearchStrategy[tuple[DataType, list[Any]]]:
        return st.lists(st.none() | values(kind), min_size=fewest, max_size=12).map(lambda found: (kind, found))

    return kinds.flatmap(of)


ANY_COLUMN = columns(st.sampled_from(NESTED) | nested_types())


def encoded(kind: DataType, held: list[Any]) -> list[bytes]:
    write = to_stored(kind)
    return [b"" if value is None else write(value) for value in held]


def read_many(kind: DataType, pieces: list[bytes], valid: list[bool] | None) -> NestedColumn:
    assert isinstance(kind, Array | Map | Struct)
    return column_reader(kind)(pieces, None if valid is None else np.array(valid, np.bool_))


@given(ANY_COLUMN)
def test_a_value_is_read_as_it_was_written(drawn: tuple[DataType, list[Any]]) -> None:
    kind, held = drawn
    read = from_stored(kind)
    for value, content in zip(held, encoded(kind, held), strict=True):
        assert value is None or same(read(content), value)


@given(ANY_COLUMN)
def test_values_that_differ_have_bytes_that_differ(drawn: tuple[DataType, list[Any]]) -> None:
    kind, held = drawn
    write = to_stored(kind)
    present = [value for value in held if value is not None]
    for one in present[:4]:
        for other in present[:4]:
            assert (write(one) == write(other)) == same(one, other)


@given(ANY_COLUMN)
def test_many_values_are_read_as_each_one_is(drawn: tuple[DataType, list[Any]]) -> None:
    kind, held = drawn
    column = read_many(kind, encoded(kind, held), [value is not None for value in held])
    assert len(column) == len(held)
    assert all(map(same, column, held))
    found = arrow_array(column.column)
    found.validate(full=True)
    assert found.type == to_arrow(kind)
    assert all(map(same, held_values(found), held))
    assert all(map(same, nested_vector(column.column).held(len(held)), held))


@given(ANY_COLUMN, st.data())
def test_an_arrow_array_gives_the_bytes_of_its_values(drawn: tuple[DataType, list[Any]], data: st.DataObject) -> None:
    kind, held = drawn
    expected = encoded(kind, held)
    array = held_array(held, kind)
    assert value_bytes(array, kind).to_pylist() == expected
    start = data.draw(st.integers(0, len(held)))
    end = data.draw(st.integers(start, len(held)))
    assert value_bytes(array.slice(start, end - start), kind).to_pylist() == expected[start:end]


def test_elements_under_a_null_are_not_written() -> None:
    offsets, validity = pa.array([0, 2, 3], pa.int32()), pa.py_buffer(b"\x02")
    array = pa.Array.from_buffers(
        pa.list_(pa.int32()), 2, [validity, offsets.buffers()[1]], children=[pa.array([1, 2, 3], pa.int32())]
    )
    kind = parse_type("array<int>")
    assert value_bytes(array, kind).to_pylist() == [b"", to_stored(kind)((3,))]


def damaged(content: bytes, data: st.DataObject) -> bytes:
    bits = bytearray(content)
    for bit in data.draw(st.lists(st.integers(0, max(len(bits) * 8 - 1, 0)), max_size=4)) if bits else []:
        bits[bit // 8] ^= 1 << bit % 8
    return bytes(bits)[: data.draw(st.integers(0, len(bits)))] + data.draw(st.binary(max_size=3))


@given(columns(st.sampled_from(NESTED) | nested_types(), fewest=1), st.data())
def test_damaged_bytes_are_refused_by_both_readers_or_by_neither(
    drawn: tuple[DataType, list[Any]], data: st.DataObject
) -> None:
    kind, held = drawn
    valid = [value is not None for value in held]
    pieces = [damaged(piece, data) if piece else piece for piece in encoded(kind, held)]
    read, write = from_stored(kind), to_stored(kind)
    try:
        one_by_one = [read(piece) if there else None for piece, there in zip(pieces, valid, strict=True)]
    except CodecError:
        with pytest.raises(CodecError):
            read_many(kind, pieces, valid)
        return
    column = read_many(kind, pieces, valid)
    assert all(map(same, column, one_by_one))
    for piece, value in zip(pieces, one_by_one, strict=True):
        # What is accepted is a value's own bytes, but for the payload of a NaN.
        assert value is None or len(write(value)) == len(piece)


@pytest.mark.parametrize("kind", NESTED, ids=str)
def test_a_value_cut_anywhere_is_truncated(kind: DataType) -> None:
    read, write = from_stored(kind), to_stored(kind)
    content = write(sample(kind))
    for cut in [*(content[:end] for end in range(len(content))), content + b"\0"]:
        with pytest.raises(TruncatedRowError):
            read(cut)
        with pytest.raises(TruncatedRowError):
            read_many(kind, [content, cut], None)


def sample(kind: DataType) -> Any:
    """Return a value of a nested type with something in every part."""
    match kind:
        case Array():
            return (sample(kind.element),)
        case Map():
            return ((sample(kind.key), sample(kind.value)),)
        case Struct():
            return tuple(sample(inner) for _, inner in kind.fields)
        case _:
            return (
                held_values(pa.array(["1"]).cast(to_arrow(kind)))[0] if kind.name not in _GIVEN else _GIVEN[kind.name]
            )


_GIVEN = {"void": None, "binary": b"1", "date": 1, "timestamp": 1, "boolean": True}


@pytest.mark.parametrize("kind", ["array<double>", "array<string>", "array<void>", "map<int,int>", "array<array<int>>"])
def test_a_count_without_bytes_for_it_takes_no_memory(kind: str) -> None:
    content = b"\xff\xff\xff\xff" + bytes(64)
    tracemalloc.start()
    for read in (from_stored(parse_type(kind)), lambda piece: read_many(parse_type(kind), [piece, piece], None)):
        with pytest.raises(TruncatedRowError):
            read(content)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()

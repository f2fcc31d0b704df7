from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.online.codec import RowCodec
from featurekit.online.columns import RowReader, ViewColumns
from featurekit.online.reason import Reason
from featurekit.plan import PlanField
from featurekit.status import Status
from featurekit.types import DataType, Field, Float64, Int64, String, parse_type
from tests.online.servers import FINGERPRINT, plan_field
from tests.online.strategies import TYPES, same, values

AS_OF = 1384473600000000


def codec_of(fields: list[PlanField], fingerprint: str = FINGERPRINT) -> RowCodec:
    return RowCodec([Field(field.name, field.type) for field in fields], fingerprint)


def cell(reader: RowReader, read: ViewColumns, place: int, row: int) -> tuple[Any, Status, Reason]:
    """Return one value as a caller would see it, with its status and reason."""
    group, at = reader.group_of(place)
    value = read.values[group][at][row]
    status = Status.PRESENT if read.statuses is None else Status(int(read.statuses[place, row]))
    reason = Reason.NONE if read.reasons is None else Reason(int(read.reasons[place, row]))
    if status not in (Status.PRESENT, Status.DEFAULTED):
        value = None
    return (value.item() if isinstance(value, np.generic) else value), status, reason


def optional(kind: DataType) -> st.SearchStrategy[Any]:
    return st.none() | values(kind)


@given(st.data())
def test_many_rows_at_once_read_as_each_one_does(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=7))
    fields = [
        plan_field(
            f"f{i}",
            kind,
            is_latest=data.draw(st.booleans()),
            empty=data.draw(optional(kind)),
            default=data.draw(optional(kind)),
        )
        for i, kind in enumerate(kinds)
    ]
    codec = codec_of(fields)
    rows = data.draw(st.lists(st.none() | st.tuples(*(optional(kind) for kind in kinds)).map(list), max_size=6))
    wanted = data.draw(st.permutations(range(len(fields))))[: data.draw(st.integers(0, len(fields)))]
    packed = [None if row is None else codec.encode_row(row, as_of=AS_OF, last_event=1) for row in rows]
    reader = RowReader(codec, fields, wanted)
    read = reader.read(packed, AS_OF)
    found = [True] * len(rows) if read.found is None else read.found.tolist()
    assert found == [row is not None for row in rows]
    for at, row in enumerate(rows):
        for place, i in enumerate(wanted):
            field = fields[i]
            value = (None if field.is_latest else field.empty) if row is None else row[i]
            status = Status.NULL if value is None else Status.PRESENT
            if row is None and field.is_latest:
                status = Status.MISSING
            reason = Reason.NONE
            if status is not Status.PRESENT and field.default is not None:
                value, status, reason = field.default, Status.DEFAULTED, Reason(status)
            got = cell(reader, read, place, at)
            assert same(got[0], value)
            assert got[1:] == (status, reason)


FIELDS = [plan_field("n", Int64(), empty=0), plan_field("s", String(), default="none"), plan_field("x", Float64())]


def packed_row(number: int = 1, *, as_of: int = AS_OF, fingerprint: str = FINGERPRINT) -> bytes:
    return codec_of(FIELDS, fingerprint).encode_row([number, "é", 0.5], as_of=as_of, last_event=1)


BAD_ROWS = [
    ("of another version", packed_row(fingerprint="b" * 64), Reason.FOREIGN_ROW),
    ("of another as-of", packed_row(as_of=AS_OF - 1), Reason.STALE_ROW),
    ("of a later wire version", b"\x02" + packed_row()[1:], Reason.NEWER_ROW),
    ("empty", b"", Reason.BROKEN_ROW),
    ("cut in the header", packed_row()[:10], Reason.BROKEN_ROW),
    ("cut in the fixed part", packed_row()[:30], Reason.BROKEN_ROW),
    ("cut in the variable part", packed_row()[:-1], Reason.BROKEN_ROW),
    ("longer than it says", packed_row() + b"x", Reason.BROKEN_ROW),
    ("with text that is not UTF-8", packed_row()[:-2] + b"\xff\xff", Reason.BROKEN_ROW),
]


@pytest.mark.parametrize(("row", "reason"), [case[1:] for case in BAD_ROWS], ids=[case[0] for case in BAD_ROWS])
def test_a_row_that_cannot_be_read_is_unavailable_and_its_neighbours_are_not(row: bytes, reason: Reason) -> None:
    reader = RowReader(codec_of(FIELDS), FIELDS, [0, 1, 2])
    read = reader.read([packed_row(1), row, None, packed_row(2)], AS_OF)
    assert [cell(reader, read, 0, at) for at in range(4)] == [
        (1, Status.PRESENT, Reason.NONE),
        (None, Status.UNAVAILABLE, reason),
        (0, Status.PRESENT, Reason.NONE),
        (2, Status.PRESENT, Reason.NONE),
    ]
    # A default is for what is known not to be there, never for what could not be read.
    assert cell(reader, read, 1, 1) == (None, Status.UNAVAILABLE, reason)
    assert cell(reader, read, 1, 2) == ("none", Status.DEFAULTED, Reason.NULL)
    assert cell(reader, read, 1, 3) == ("é", Status.PRESENT, Reason.NONE)


def test_text_that_is_not_wanted_is_not_read() -> None:
    reader = RowReader(codec_of(FIELDS), FIELDS, [0])
    read = reader.read([packed_row()[:-2] + b"\xff\xff"], AS_OF)
    assert cell(reader, read, 0, 0) == (1, Status.PRESENT, Reason.NONE)


NESTED = [plan_field("n", Int64()), plan_field("e", parse_type("array<string>"), default=("none",))]


@pytest.mark.parametrize("times", [1, 5], ids=["few", "many"])
@pytest.mark.parametrize("damage", [b"\xff", b"\x80"], ids=["no text", "half a character"])
def test_a_damaged_nested_value_makes_its_row_unavailable_and_no_other(times: int, damage: bytes) -> None:
    codec = codec_of(NESTED)
    whole = codec.encode_row([1, ("a", "b")], as_of=AS_OF, last_event=1)
    null = codec.encode_row([2, None], as_of=AS_OF, last_event=1)
    broken = whole[:-1] + damage
    read = RowReader(codec, NESTED, [0, 1]).read([whole, broken, null, None] * times, AS_OF)
    reader = RowReader(codec, NESTED, [0, 1])
    for at in range(0, 4 * times, 4):
        assert cell(reader, read, 1, at) == (("a", "b"), Status.PRESENT, Reason.NONE)
        for place in (0, 1):
            assert cell(reader, read, place, at + 1) == (None, Status.UNAVAILABLE, Reason.BROKEN_ROW)
        assert cell(reader, read, 0, at + 2) == (2, Status.PRESENT, Reason.NONE)
        assert cell(reader, read, 1, at + 2) == (("none",), Status.DEFAULTED, Reason.NULL)
        assert cell(reader, read, 1, at + 3) == (("none",), Status.DEFAULTED, Reason.NULL)
    unread = RowReader(codec, NESTED, [0])
    assert cell(unread, unread.read([broken], AS_OF), 0, 0) == (1, Status.PRESENT, Reason.NONE)


@given(st.data())
def test_damaged_rows_never_raise_and_never_answer_for_another_version(data: st.DataObject) -> None:
    reader = RowReader(codec_of(FIELDS), FIELDS, [0, 1, 2])
    rows = []
    for _ in range(data.draw(st.integers(1, 3))):
        damaged = bytearray(packed_row())
        for bit in data.draw(st.lists(st.integers(0, len(damaged) * 8 - 1), max_size=4)):
            damaged[bit // 8] ^= 1 << bit % 8
        rows.append(bytes(damaged[: data.draw(st.just(len(damaged)) | st.integers(0, len(damaged)))]))
    read = reader.read(rows, AS_OF)
    for at, row in enumerate(rows):
        _, status, _ = cell(reader, read, 0, at)
        if status is not Status.UNAVAILABLE:
            assert row[:16] == packed_row()[:16]

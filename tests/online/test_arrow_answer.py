from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.arrow_types import for_arrow, to_arrow
from featurekit.online.answer import Answer, AnswerPlan, ViewRows
from featurekit.online.arrow_answer import ArrowPlan
from featurekit.online.codec import RowCodec
from featurekit.online.keys import Namespace
from featurekit.online.planned import PlannedService
from featurekit.online.texts import TextBlock, TextColumn, shared_block
from featurekit.status import Status
from featurekit.types import DataType, Field, Float64, Int64, String, is_nested, parse_type
from tests.online.servers import plan_field, service_plan, view_plan
from tests.online.strategies import TYPES, values

AS_OF = 1384473600000000
FLAT = [kind for kind in TYPES if not is_nested(kind)]  # test_nested has the others


def answered(kinds: list[DataType], rows: list[list[Any] | None]) -> tuple[Answer, ArrowPlan]:
    """Return the answer of a service over one view with these rows, None an entity without one."""
    view = view_plan([plan_field(f"f{i}", kind, is_latest=True) for i, kind in enumerate(kinds)])
    codec = RowCodec([Field(field.name, field.type) for field in view.fields], view.fingerprint)
    planned = PlannedService(service_plan(view), Namespace("a", "b"), pointer_key=b"", pointer=b"")
    packed = [None if row is None else codec.encode_row(row, as_of=AS_OF, last_event=1) for row in rows]
    answer = AnswerPlan(planned).answer([ViewRows(rows=packed, as_of=AS_OF)], {}, len(rows))
    return answer, ArrowPlan(planned.plan.outputs)


@given(st.data())
def test_a_table_has_what_arrays_made_one_by_one_have(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(FLAT), min_size=1, max_size=9))
    row = st.tuples(*(st.none() | values(kind) for kind in kinds)).map(list)
    rows = data.draw(st.lists(st.none() | row, max_size=11))
    answer, plan = answered(kinds, rows)
    for _ in range(2):  # the second time by what was kept of the first
        table = plan.table(answer, len(rows))
        table.validate(full=True)
        for i, kind in enumerate(kinds):
            held = [None if row is None or row[i] is None else for_arrow(row[i], kind) for row in rows]
            arrow = to_arrow(kind)
            if pa.types.is_temporal(arrow):
                expected = pa.array(held, pa.int32() if arrow.bit_width == 32 else pa.int64()).view(arrow)
            else:
                expected = pa.array(held, arrow)
            found = table.column(i).combine_chunks()
            assert found.type == expected.type
            # As text: NaN is NaN there, and an instant beyond the year 9999 has no datetime.
            assert found.to_string(window=100) == expected.to_string(window=100)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 64, 65])
def test_columns_of_any_width_begin_where_arrow_wants_them(count: int) -> None:
    kinds = [
        parse_type(name) for name in ("boolean", "tinyint", "smallint", "int", "bigint", "float", "string", "date")
    ]
    rows: list[list[Any] | None] = [[i % 2 == 0, i, -i, i, i, float(i), "é" * i, i] for i in range(count)]
    answer, plan = answered(kinds, rows)
    table = plan.table(answer, count)
    table.validate(full=True)
    expected = [[row[i] for row in rows if row is not None] for i in range(7)]
    assert [table.column(i).to_pylist() for i in range(7)] == expected


def test_more_counts_than_are_kept_still_answer_right() -> None:
    for count in range(1, 150):
        answer, plan = answered([Float64(), Int64()], [[float(i), i] for i in range(count)])
        assert plan.table(answer, count).column(1).to_pylist() == list(range(count))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.lists(TEXTS, min_size=3, max_size=3), max_size=9))
def test_texts_of_a_block_are_those_that_were_stored(rows: list[list[str]]) -> None:
    stored = [[text.encode() for text in row] for row in rows]
    content = b"".join(text for row in stored for text in row)
    ends = np.cumsum([len(text) for row in stored for text in row], dtype=np.int64).reshape(len(rows), 3)
    block = TextBlock.of(content, ends)
    if "\0" in "".join(text for row in rows for text in row):
        assert block is None
        return
    assert block is not None
    columns = [TextColumn(block, field) for field in range(3)]
    assert [list(column) for column in columns] == [[row[field] for row in rows] for field in range(3)]
    assert block.array().tolist() == rows
    assert shared_block(columns) == (block, [0, 1, 2])


def test_bytes_that_are_no_text_make_no_block() -> None:
    # é cut in two: end to end they are UTF-8, field by field they are not.
    assert TextBlock.of("é".encode(), np.array([[1, 2]])) is None


def test_a_bad_text_that_nobody_asked_for_harms_no_other() -> None:
    kinds: list[DataType] = [String(), String()]
    view = view_plan([plan_field(f"f{i}", kind, is_latest=True) for i, kind in enumerate(kinds)])
    codec = RowCodec([Field(field.name, field.type) for field in view.fields], view.fingerprint)
    row = codec.encode_row(["a", "b"], as_of=AS_OF, last_event=1)[:-1] + b"\xff"
    service = service_plan(view)
    planned = PlannedService(
        type(service)(
            service=service.service,
            fingerprint=service.fingerprint,
            views=service.views,
            request=service.request,
            on_demand=(),
            outputs=service.outputs[:1],
        ),
        Namespace("a", "b"),
        pointer_key=b"",
        pointer=b"",
    )
    for count in (1, 3):
        answer = AnswerPlan(planned).answer([ViewRows(rows=[row] * count, as_of=AS_OF)], {}, count)
        assert answer.statuses is None or not (answer.statuses == Status.UNAVAILABLE).any()
        assert ArrowPlan(planned.plan.outputs).table(answer, count).column(0).to_pylist() == ["a"] * count

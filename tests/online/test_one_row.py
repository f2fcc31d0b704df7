from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from featurekit.online.answer import AnswerPlan, ViewRows
from featurekit.online.codec import RowCodec
from featurekit.online.counts import Counts
from featurekit.online.keys import Namespace
from featurekit.online.planned import PlannedService
from featurekit.online.request import Columns
from featurekit.online.result import Features
from featurekit.plan import LookupPlan, PlanView
from featurekit.types import DataType, Field, String, parse_type
from tests.online.servers import plan_field, service_plan, view_plan
from tests.online.strategies import TYPES, values

AS_OF = 1384473600000000


def features_of(planned: PlannedService, rows: list[bytes | None], *, is_general: bool) -> tuple[Features, Counts]:
    counts = Counts()
    plan = AnswerPlan(planned, counts)
    if is_general:
        plan.one = None
    views = [ViewRows(rows=[row], as_of=AS_OF) for row in rows]
    return Features(plan, Columns({}, 1, is_single=True), views, service="service", fingerprint="f", at=AS_OF), counts


def planned_for(plan: LookupPlan) -> PlannedService:
    return PlannedService(plan, Namespace("a", "b"), pointer_key=b"", pointer=b"")


def looks(features: Features) -> list[Any]:
    """Return all that can be seen of an answer, as text: NaN is NaN there."""
    arrays = {name: (array.dtype, type(array), array.tolist()) for name, array in features.to_numpy().items()}
    numbers = [output.name for output in features.outputs if output.type.name in ("double", "bigint", "boolean")]
    with np.errstate(over="ignore", invalid="ignore"):  # doubles beyond the largest float32, NaN that signal
        matrices = [features.matrix(kind, names=numbers).tolist() for kind in (np.float32, np.float64)]
    table = features.to_arrow()
    table.validate(full=True)
    return [
        repr(features.to_dict()),
        repr(arrays),
        repr(matrices),
        (table.schema, table.to_string()),
        (features.statuses.tolist(), features.reasons.tolist(), features.found, features.as_of),
    ]


PLAIN = [kind for kind in TYPES if kind.name in {"double", "float", "bigint", "int", "boolean", "date", "timestamp"}]


def drawn_view(data: st.DataObject, alias: str, kinds: list[DataType]) -> PlanView:
    fields = [plan_field(f"f{i}", kind, is_latest=data.draw(st.booleans())) for i, kind in enumerate(kinds)]
    return view_plan(fields, alias=alias)


@given(st.data())
def test_one_row_is_read_as_one_of_many_is(data: st.DataObject) -> None:
    plain = st.sampled_from([*PLAIN, String(), parse_type("binary")])
    kind = st.one_of(plain, plain, plain, st.sampled_from(TYPES)) if data.draw(st.booleans()) else plain
    views: list[PlanView] = []
    rows: list[bytes | None] = []
    for alias in ("one", "two")[: data.draw(st.integers(1, 2))]:
        kinds = data.draw(st.lists(kind, min_size=1, max_size=6))
        view = drawn_view(data, alias, kinds)
        codec = RowCodec([Field(field.name, field.type) for field in view.fields], view.fingerprint)
        held = [data.draw(values(kind) if data.draw(st.integers(0, 9)) else st.none()) for kind in kinds]
        row = codec.encode_row(held, as_of=AS_OF, last_event=1)
        match data.draw(st.sampled_from(["whole"] * 6 + ["none", "cut", "longer", "damaged", "stale"])):
            case "none":
                rows.append(None)
            case "cut":
                rows.append(row[: data.draw(st.integers(0, len(row) - 1))])
            case "longer":
                rows.append(row + b"\0")
            case "damaged":
                at = data.draw(st.integers(0, len(row) - 1))
                rows.append(row[:at] + bytes([data.draw(st.integers(0, 255))]) + row[at + 1 :])
            case "stale":
                rows.append(codec.encode_row(held, as_of=AS_OF - 1, last_event=1))
            case _:
                rows.append(row)
        views.append(view)
    plan = service_plan(*views)
    outputs = data.draw(st.permutations(plan.outputs))[: data.draw(st.integers(1, len(plan.outputs)))]
    planned = planned_for(dataclasses.replace(plan, outputs=tuple(outputs)))
    (taken, counts), (read, expected) = (
        features_of(planned, rows, is_general=is_general) for is_general in (False, True)
    )
    assert looks(taken) == looks(read)
    assert counts.read() == expected.read()


def test_whole_rows_of_plain_types_are_taken_out() -> None:
    view = view_plan([plan_field("n", parse_type("bigint")), plan_field("s", String())])
    codec = RowCodec([Field(field.name, field.type) for field in view.fields], view.fingerprint)
    plan = AnswerPlan(planned_for(service_plan(view)))
    row = codec.encode_row([7, "é"], as_of=AS_OF, last_event=1)
    assert plan.whole_rows([ViewRows([row], AS_OF)]) is not None
    assert plan.whole_rows([ViewRows([row[:-1] + b"\xff"], AS_OF)]) is None
    assert plan.whole_rows([ViewRows([row], AS_OF + 1)]) is None

"""Every change of drawn worlds is computed, whatever the types and the values: a diagnosis never fails for one."""

from __future__ import annotations

import random
from decimal import localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledView
from featurekit.consistency.cells import Answers, same_values
from featurekit.consistency.diagnosis.changes import answers_with, changes_of
from featurekit.consistency.diagnosis.evidence import evidence_rows
from featurekit.consistency.diagnosis.source_rows import SourceRows, with_places
from featurekit.consistency.diagnosis.worlds import Recomputation
from featurekit.offline.source import key_names, row_key_names
from featurekit.types import DataType
from tests.consistency.diagnosis.by_hand import array_of, fields_of, recomputation, row, view_of
from tests.offline.drawn_paths import compile_round
from tests.offline.drawn_worlds import drawn_round


def drawn_rows(view: CompiledView, rows: list[dict[str, Any]]) -> SourceRows:
    """Return drawn rows as `fetch_rows` has them, their times as instants whatever the source tells them by."""
    columns = {
        label: array_of(key.type, [each[key.source_column] for each in rows])
        for label, key in zip(key_names(view), view.keys, strict=True)
    }
    source = view.source
    created = source.created_timestamp or source.event_timestamp
    columns["$event"] = pa.array([each[source.event_timestamp] for each in rows], pa.int64())
    columns["$created"] = pa.array([each[created] for each in rows], pa.int64())
    if source.event_id is not None:
        columns["$id"] = pa.array([each["id"] for each in rows])
    if source.valid_to is not None:
        columns["$valid_to"] = pa.array([each["until"] for each in rows], pa.int64())
    for label, column in zip(row_key_names(view), view.row_key, strict=False):
        columns.setdefault(label, array_of(column.type, [each[column.name] for each in rows]))
    kinds: dict[str, DataType] = {column.name: column.type for column in view.columns}
    columns |= {name: array_of(kind, [each[name] for each in rows]) for name, kind in kinds.items()}
    return SourceRows(table=with_places(pa.table(columns)), whole=np.ones(1, np.bool_), since=None, means={"d": (0.5,)})


@pytest.mark.parametrize("number", [5, *(pytest.param(each, marks=pytest.mark.long) for each in (1, 3, 4, 6))])
def test_every_change_of_a_drawn_world_is_computed(number: int, tmp_path: Path) -> None:
    with localcontext(prec=80):
        drawn = drawn_round(number, range(2))
        repository = compile_round(tmp_path, drawn)
    for drawn_view in drawn.views:
        view = repository.views[drawn_view.name]
        rows = drawn.rows[view.name]
        people = list(dict.fromkeys((each["world"], each["name"], each["number"]) for each in rows))
        people = [each for each in people if None not in each]
        as_of = drawn_view.instants[1]
        computed = Recomputation(
            view, fields_of(view), drawn_rows(view, rows), people, np.full(len(people), as_of, np.int64)
        )
        told = set()
        for factor in changes_of(computed, asked_at=computed.as_ofs + HOUR):
            answers = answers_with(computed, [factor])
            told.add(factor.told)
            if answers is not None:
                assert answers.fields.keys() == computed.base.fields.keys()
        assert len(told) > 30
        assert len(evidence_rows(computed, [], 0, view.features[0].name)) <= 3


def test_what_is_computed_together_is_what_is_computed_alone(tmp_path: Path) -> None:
    chance = random.Random(5)
    view = view_of(
        tmp_path,
        view={"where": "items < 8", "allowed_lateness": "10m"},
        source={"event_id": "id"},
        n={"sql": "count(*)", "window": "3d"},
        mean={"sql": "avg(amount)", "window": "7d"},
        last={"sql": "kind", "ttl": "1d"},
        both={"sql": "n / 2 + mean"},
    )
    rows = [
        row(
            f"p{chance.randrange(9)}",
            chance.randrange(9 * DAY),
            id=chance.randrange(200),
            amount=chance.choice((None, chance.random())),
            items=chance.randrange(10),
            kind=chance.choice(("x", " y", None)),
        )
        for _ in range(400)
    ]
    people = [f"p{at}" for at in range(10)]
    shared = recomputation(view, rows, *people)
    compared = 0
    for factor in changes_of(shared, asked_at=shared.as_ofs + HOUR):
        alone = recomputation(view, rows, *people)
        one, other = answers_with(shared, [factor]), answers_with(alone, [factor])
        assert one is not None
        assert other is not None
        assert_same(shared, one, other)
        if factor.view is not None:  # as is what is left as it is
            whole = factor.view(view)
            assert whole is not None
            found = alone._computed(
                None, whole, frozenset(spec.name for spec in alone.fields), alone.as_ofs, alone.entities
            )
            assert_same(shared, one, found)
        compared += 1
    assert compared > 80


def assert_same(computed: Recomputation, one: Answers, other: Answers) -> None:
    for spec in computed.fields:
        left, right = one.fields[spec.name], other.fields[spec.name]
        null = np.asarray(left.values.is_null()) & np.asarray(right.values.is_null())
        assert (same_values(left.values, right.values, spec.type) | null).all()
        assert (left.statuses == right.statuses).all()

"""A world in which nothing is changed gives what Spark's recompute gives, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from featurekit.arrow_types import held_values
from featurekit.clock import DAY, HOUR, parse_instant
from featurekit.compiled import CompiledRepository, CompiledView
from featurekit.config import Settings
from featurekit.consistency.cells import Answers, FieldSpec, same_values
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.changes import answers_with, changes_of
from featurekit.consistency.diagnosis.counterfactuals import Counterfactuals
from featurekit.consistency.diagnosis.source_rows import fetch_rows
from featurekit.consistency.diagnosis.worlds import Recomputation
from featurekit.consistency.recompute import cells_of, recompute_rows
from featurekit.offline.as_of import FOUND, Span, known_entities
from featurekit.offline.session import SparkEngine, start_engine
from tests.consistency.diagnosis.by_hand import AS_OF, COLUMNS, fields_of, row, view_of
from tests.offline.drawn_paths import compile_round
from tests.offline.drawn_worlds import drawn_round
from tests.offline.worlds import write_rows


def entities_of(engine: SparkEngine, view: CompiledView) -> list[tuple[Any, ...]]:
    """Return all entities of the view's source."""
    table = engine.to_arrow(known_entities(engine, view))
    return sorted(zip(*(held_values(table[key.name].combine_chunks()) for key in view.keys), strict=True), key=repr)


def by_spark(
    engine: SparkEngine,
    view: CompiledView,
    fields: Sequence[FieldSpec],
    entities: Sequence[tuple[Any, ...]],
    as_ofs: Sequence[int],
) -> Answers:
    rows = recompute_rows(engine, view, entities, as_ofs)
    found = np.asarray(rows.column(FOUND).to_numpy(), np.bool_)
    return Answers(found=found, fields={spec.name: cells_of(rows, spec, found) for spec in fields})


def differences(fields: Sequence[FieldSpec], one: Answers, other: Answers) -> list[str]:
    lines = (
        [f"found differs in {int((one.found != other.found).sum())} rows"] if (one.found != other.found).any() else []
    )
    for spec in fields:
        left, right = one.fields[spec.name], other.fields[spec.name]
        null = np.asarray(left.values.is_null()) & np.asarray(right.values.is_null())
        same = (same_values(left.values, right.values, spec.type) | null) & (left.statuses == right.statuses)
        lines += [
            f"{spec.name} {position}: {left.values[position]} {left.statuses[position]},"
            f" not {right.values[position]} {right.statuses[position]}"
            for position in np.flatnonzero(~same)[:3]
        ]
    return lines


@pytest.mark.spark
@pytest.mark.parametrize(
    "number", [4, *(pytest.param(each, marks=pytest.mark.long) for each in range(16) if each != 4)]
)
def test_nothing_changed_is_what_spark_says(number: int, tmp_path: Path) -> None:
    engine = start_engine(Settings(root=tmp_path, state=tmp_path / "state", spark_master="local[2]"))
    with localcontext(prec=80):
        drawn = drawn_round(number, range(2))
        repository = compile_round(tmp_path, drawn)
    for drawn_view in drawn.views:
        compare(engine, repository.views[drawn_view.name], drawn_view.instants)


@pytest.mark.spark
@pytest.mark.long
def test_flights_are_as_spark_has_them(flights: CompiledRepository, flights_base: Path, tmp_path: Path) -> None:
    engine = start_engine(Settings(root=flights_base, state=tmp_path / "state", spark_master="local[2]"))
    for view in flights.views.values():
        at = view.view.grid.floor(parse_instant("2013-11-20T00:00Z"))
        compare(engine, view, (at, view.view.grid.next(at)), most=200)


def compare(engine: SparkEngine, view: CompiledView, instants: Sequence[int], *, most: int | None = None) -> None:
    """Compute entities at some instants by both, and compare every cell."""
    fields = fields_of(view)
    known = entities_of(engine, view)[:most]
    entities = known * len(instants)
    as_ofs = np.repeat(np.array(instants, np.int64), len(known))
    rows = fetch_rows(engine, view, known, Span(int(as_ofs.min()), int(as_ofs.max())))
    assert rows.whole.all()
    found = Recomputation(view, fields, rows, entities, as_ofs).base
    expected = by_spark(engine, view, fields, entities, as_ofs.tolist())
    assert expected.found.any()
    assert differences(fields, found, expected) == [], view.name


@pytest.mark.spark
def test_more_rows_than_are_held_leave_entities_out_whole(tmp_path: Path) -> None:
    view = view_of(tmp_path, n={"sql": "count(*)", "window": "7d"}, mean={"sql": "avg(amount)", "window": "7d"})
    rows = [row(who, DAY + at, amount=float(at)) for who in ("a", " A", "b", "c") for at in range(40)]
    rows += [row("d", HOUR, amount=None)]
    write_rows(tmp_path / "rows.parquet", COLUMNS, rows)
    engine = start_engine(Settings(root=tmp_path, state=tmp_path / "state", spark_master="local[2]"))
    people = [("a",), ("b",), ("d",)]
    fetched = fetch_rows(engine, view, people, Span(AS_OF, AS_OF))
    assert fetched.whole.all()
    assert sorted(fetched.table["$key0"].to_pylist()) == [" A"] * 40 + ["a"] * 40 + ["b"] * 40 + ["d"]
    assert fetched.means == {"amount": (19.5,)}
    some = fetch_rows(engine, view, people, Span(AS_OF, AS_OF), most=60)
    assert some.whole.tolist() == [False, True, False]  # the first by their hashes, until there are too many
    found = Recomputation(view, fields_of(view), some, people, np.full(3, AS_OF, np.int64)).base
    assert found.fields["n"].values.to_pylist() == [0, 40, 0]

    as_ofs = np.full(3, AS_OF, np.int64)
    recomputed = Recomputation(view, fields_of(view), fetched, people, as_ofs).base
    worlds = Counterfactuals(engine, view, fields_of(view), people, as_ofs)
    worlds.__dict__["rows"] = some
    counts = [world.answers.fields.get("n") for world in worlds.worlds(recomputed)]
    counted = [cells.values.to_pylist() for cells in counts if cells is not None]
    assert [40, 80, 1] in counted  # events that came twice
    assert {(first, last) for first, _, last in counted} == {(40, 1)}  # who was left out is in every world as it is


@pytest.mark.spark
def test_the_newest_row_beyond_a_ttl_is_here(tmp_path: Path) -> None:
    view = view_of(tmp_path, view={"where": "items > 0"}, last={"sql": "kind", "ttl": "1d"})
    rows = [row("a", 300 * DAY, kind="oldest", items=1), row("a", 200 * DAY, kind="newest", items=1)]
    rows += [row("a", 100 * DAY, kind="not wanted", items=0), row("b", HOUR, kind="x", items=1)]
    rows += [row("b", 200 * DAY, kind="older", items=1)]
    write_rows(tmp_path / "rows.parquet", COLUMNS, rows)
    engine = start_engine(Settings(root=tmp_path, state=tmp_path / "state", spark_master="local[2]"))
    fetched = fetch_rows(engine, view, [("a",), ("b",)], Span(AS_OF, AS_OF))
    assert sorted(fetched.table["kind"].to_pylist()) == ["newest", "older", "x"]
    computed = Recomputation(view, fields_of(view), fetched, [("a",), ("b",)], np.full(2, AS_OF, np.int64))
    assert computed.base.fields["last"].values.to_pylist() == [None, "x"]
    (factor,) = [one for one in changes_of(computed) if one.cause is Cause.TTL_IGNORED]
    answers = answers_with(computed, [factor])
    assert answers is not None
    assert answers.fields["last"].values.to_pylist() == ["newest", "x"]

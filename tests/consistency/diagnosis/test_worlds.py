"""A world in which nothing is changed gives what Spark's recompute gives, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from featurekit.arrow_types import held_values
from featurekit.compiled import CompiledView
from featurekit.config import Settings
from featurekit.consistency.cells import Answers, FieldSpec, same_values
from featurekit.consistency.diagnosis.source_rows import fetch_rows
from featurekit.consistency.diagnosis.worlds import Recomputation
from featurekit.consistency.recompute import cells_of, recompute_rows
from featurekit.lookup_plan import plan_fields
from featurekit.offline.as_of import FOUND, Span, known_entities
from featurekit.offline.session import SparkEngine, start_engine
from tests.offline.drawn_paths import compile_round
from tests.offline.drawn_worlds import drawn_round


def entities_of(engine: SparkEngine, view: CompiledView) -> list[tuple[Any, ...]]:
    """Return all entities of the view's source, and one that is not there."""
    table = engine.to_arrow(known_entities(engine, view))
    return sorted(zip(*(held_values(table[key.name].combine_chunks()) for key in view.keys), strict=True), key=repr)


def fields_of(view: CompiledView) -> tuple[FieldSpec, ...]:
    return tuple(
        FieldSpec(name=each.name, type=each.type, is_latest=each.is_latest, default=each.default, empty=each.empty)
        for each in plan_fields(view)
    )


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
@pytest.mark.parametrize("number", [4])
def test_nothing_changed_is_what_spark_says(number: int, tmp_path: Path) -> None:
    engine = start_engine(Settings(root=tmp_path, state=tmp_path / "state", spark_master="local[2]"))
    with localcontext(prec=80):
        drawn = drawn_round(number, range(2))
        repository = compile_round(tmp_path, drawn)
    for drawn_view in drawn.views:
        view = repository.views[drawn_view.name]
        fields = fields_of(view)
        known = entities_of(engine, view)
        entities = known * len(drawn_view.instants)
        as_ofs = np.repeat(np.array(drawn_view.instants, np.int64), len(known))
        rows = fetch_rows(engine, view, known, Span(int(as_ofs.min()), int(as_ofs.max())))
        assert rows.whole.all()
        found = Recomputation(view, fields, rows, entities, as_ofs).base
        expected = by_spark(engine, view, fields, entities, as_ofs.tolist())
        assert expected.found.any()
        assert differences(fields, found, expected) == [], view.name

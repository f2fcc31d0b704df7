"""The smallest world that still differs, written as a test."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from featurekit.offline.session import SparkEngine
from tests.offline.drawn_paths import PATHS, Difference, compare_round
from tests.offline.drawn_views import DrawnView, narrowed
from tests.offline.drawn_worlds import Round
from tests.offline.reference import Row

TRIES: Final = 100
EngineAt = Callable[[Path], SparkEngine]


def shrink(engine_at: EngineAt, base: Path, drawn: Round, difference: Difference) -> tuple[Round, Difference]:
    """Return a round of one view and as few rows as some tries find, and how it still differs."""
    tries = itertools.count()

    def still(candidate: Round) -> Difference | None:
        if (number := next(tries)) >= TRIES:
            return None
        folder = base / f"try{number}"
        found = compare_round(engine_at(folder), folder, candidate, paths=(difference.path,)).differences
        return found[0] if found else None

    smaller, known = drawn, difference
    for step in (_one_view, _one_world, _one_feature):
        candidate = step(smaller, known)
        if found := still(candidate):
            smaller, known = candidate, found
    name = difference.view
    rows, size = smaller.rows[name], max(1, len(smaller.rows[name]) // 2)
    while size:
        at = 0
        while at < len(rows):
            fewer = rows[:at] + rows[at + size :]
            if fewer and (found := still(replace(smaller, rows={name: fewer}))):
                rows, known = fewer, found
            else:
                at += size
        size //= 2
    return replace(smaller, rows={name: rows}), known


def _one_view(drawn: Round, known: Difference) -> Round:
    views = tuple(view for view in drawn.views if view.name == known.view)
    alone = known.path in PATHS and known.at in views[0].instants
    instants = (known.at,) if alone else views[0].instants
    views = (replace(views[0], instants=instants),)
    labels = [(keys, at) for keys, at in drawn.labels if at == known.at]
    return replace(drawn, views=views, rows={known.view: drawn.rows[known.view]}, labels=labels)


def _one_world(drawn: Round, known: Difference) -> Round:
    rows = {name: [row for row in rows if row["world"] == known.key[0]] for name, rows in drawn.rows.items()}
    return replace(drawn, rows=rows)


def _one_feature(drawn: Round, known: Difference) -> Round:
    view = drawn.views[0]
    if known.column not in view.drawn:
        return drawn
    return replace(drawn, views=(narrowed(view, (known.column,), view.instants),))


def as_test(drawn: Round, known: Difference) -> str:
    """Return a test that fails as long as the difference is there; of the path that makes rows for the store."""
    view = drawn.views[0]
    source = view.source.model_dump(exclude_defaults=True)
    definition = view.definition.model_dump(exclude_defaults=True)
    used = _used(view)
    columns = ", ".join(f'"{name}": {view.columns[name]!r}' for name in used)
    rows = "".join(f"        {_row(row, used)},\n" for row in drawn.rows[view.name])
    return (
        f"def test_round_{drawn.number}_{view.name}(engine: SparkEngine, tmp_path: Path) -> None:  # {known.path}\n"
        f"    columns: dict[str, DataType] = {{{columns}}}\n"
        f"    rows: list[dict[str, Any]] = [\n{rows}    ]\n"
        f'    write_rows(tmp_path / "{view.name}.parquet", columns, rows)\n'
        f"    source = Source(**{source!r})\n"
        f"    view = FeatureView(**{definition!r})\n"
        f"    repository = compiled(tmp_path, entities=[ENTITY], sources=[source], views=[view])\n"
        f"    found = materialized(engine, repository.views[view.name], {known.at})\n"
        f"    # {known}\n"
        f"    {_claim(known)}\n"
    )


def _claim(known: Difference) -> str:
    if known.column == "found":
        return f"assert {known.key!r} {'in' if known.expected else 'not in'} found"
    return f"assert bits(found[{known.key!r}][{known.column!r}]) == bits({known.expected!r})"


def _used(view: DrawnView) -> Sequence[str]:
    source = view.source
    times = (source.event_timestamp, source.created_timestamp, source.valid_to)
    named = {*view.meaning.keys, *view.meaning.order, *(source.row_key or ()), *times, source.event_id, source.deleted}
    return [name for name in view.columns if name in named]


def _row(row: Row, used: Sequence[str]) -> dict[str, Any]:
    return {name: row[name] for name in used}

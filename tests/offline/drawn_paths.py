"""What the computing paths make of a drawn round, held against the plain reference, cell by cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from featurekit.arrow_types import to_arrow
from featurekit.compiled import CompiledRepository, CompiledView
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.offline.as_of import as_of_rows, at_instants, known_entities
from featurekit.offline.join_shape import JoinShape
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.point_in_time import point_in_time
from featurekit.offline.session import SparkEngine
from featurekit.types import Int64, String, Timestamp
from tests.offline import reference
from tests.offline.drawn_growing import by_growing
from tests.offline.drawn_views import ENTITY, KEYS, DrawnView
from tests.offline.drawn_worlds import Round
from tests.offline.reference_training import Role, label_row
from tests.offline.worlds import bits, compiled, python_rows, write_rows

Key = tuple[Any, ...]
Cells = dict[str, Any]
Found = dict[Key, Cells]
OTHER: Final = "near_other"
"""The second role of the view `near`: of the entity that a label names in `other`."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One cell in which a path differs from the reference; `column` is `found` where one of them has no row."""

    path: str
    view: str
    at: int
    key: Key
    column: str
    found: Any
    expected: Any

    def __str__(self) -> str:
        where = f"{self.path} {self.view} at {self.at} {self.key}"
        return f"{where} {self.column}: {self.found!r}, and the reference has {self.expected!r}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How many rows of each path were compared, and what differs."""

    rows: Mapping[str, int]
    differences: tuple[Difference, ...]


def by_materialize(engine: SparkEngine, view: CompiledView, instants: Sequence[int]) -> dict[int, Found]:
    frames = {at: materialized_frame(engine, view, at) for at in instants}
    return {at: _by_key(python_rows(engine.to_arrow(frame))) for at, frame in frames.items()}


def by_sweep(engine: SparkEngine, view: CompiledView, instants: Sequence[int]) -> dict[int, Found]:
    """Return what the sweep says of every entity at every instant, of those without a row too."""
    requests = at_instants(engine, known_entities(engine, view), tuple(instants))
    rows = python_rows(engine.to_arrow(as_of_rows(engine, view, requests)))
    groups: dict[int, list[Cells]] = {at: [] for at in instants}
    for row in rows:
        groups[row.pop("as_of")].append(row)
    return {at: _by_key(group) for at, group in groups.items()}


Path_ = Callable[[SparkEngine, CompiledView, Sequence[int]], dict[int, Found]]
GROWING: Final = ("history", "incremental")
PATHS: Final[Mapping[str, Path_]] = {"materialize": by_materialize, "as_of": by_sweep}


def _by_key(rows: list[Cells]) -> Found:
    found = {tuple(row.pop(name) for name in KEYS): row for row in rows}
    assert len(found) == len(rows)
    return found


def compile_round(base: Path, drawn: Round) -> CompiledRepository:
    """Write a round's rows into a folder, and compile its definitions against them."""
    for view in drawn.views:
        write_rows(base / f"{view.name}.parquet", view.columns, drawn.rows[view.name])
    parts = [ServiceFeatures(view=view.name) for view in drawn.views]
    if any(view.name == "near" for view in drawn.views):
        parts.append(ServiceFeatures(view="near", alias=OTHER, keys={"name": "other"}))
    return compiled(
        base,
        entities=[ENTITY],
        sources=[view.source for view in drawn.views],
        views=[view.definition for view in drawn.views],
        services=[FeatureService(name="all", features=tuple(parts))],
    )


def compare_round(engine: SparkEngine, base: Path, drawn: Round, *, paths: Iterable[str] | None = None) -> Outcome:
    """Compute a round by each path, and compare every cell.

    `training` is the path of label rows, whose join takes its shapes by turns; `history` and `incremental` are of a
    source that grows, by turns of the views.
    """
    repository = compile_round(base, drawn)
    wanted = tuple(paths) if paths is not None else (*PATHS, "training", *GROWING)
    rows, differences = Counter[str](), list[Difference]()
    growing = any(path in wanted for path in GROWING)
    for position, view in enumerate(drawn.views):
        log = drawn.rows[view.name]
        expected = {at: reference.rows_as_of(log, view.meaning, at) for at in view.instants}
        for path in wanted:
            if path not in PATHS:
                continue
            found = PATHS[path](engine, repository.views[view.name], view.instants)
            for at in view.instants:
                rows[path] += len(expected[at])
                differences += _of_view(path, view, at, found[at], expected[at])
        turn = paths is not None or (position + drawn.number) % 2 == 0
        for path, (at, kept) in (by_growing(engine, base / "grows", view, log) if turn and growing else {}).items():
            if path in wanted:
                rows[path] += len(expected[at])
                differences += _of_view(path, view, at, _by_key(kept), expected[at])
    if "training" in wanted and drawn.labels:
        rows["training"] += len(drawn.labels)
        differences += _of_labels(engine, repository, drawn)
    return Outcome(rows=rows, differences=tuple(differences))


def _of_view(
    path: str, view: DrawnView, at: int, found: Found, expected: Mapping[Key, reference.Expected]
) -> Iterable[Difference]:
    absent = reference.nothing(view.meaning, at)
    for key in sorted(found.keys() | expected.keys(), key=str):
        row = dict(found.get(key, {}))
        is_found = row.pop("found", True) if key in found else False

        def differs(column: str, one: Any, other: Any, key: Key = key) -> Difference:
            return Difference(path=path, view=view.name, at=at, key=key, column=column, found=one, expected=other)

        if is_found != (key in expected):
            yield differs("found", is_found, key in expected)
            continue
        wanted = expected.get(key, absent)
        columns = {"__last_event": wanted.last_event, **wanted.values}
        columns |= {f"__status_{name}": status for name, status in wanted.statuses.items()}
        assert row.keys() == columns.keys(), row.keys() ^ columns.keys()
        for name, value in columns.items():
            # Of an entity that has no row, what lies beyond the view's reach is nobody's last event.
            if bits(row[name]) != bits(value) and (key in expected or name != "__last_event"):
                yield differs(name, row[name], value)


def _of_labels(engine: SparkEngine, repository: CompiledRepository, drawn: Round) -> Iterable[Difference]:
    kinds = {"row": Int64(), **KEYS, "other": String(), "event_timestamp": Timestamp()}
    rows = [{"row": row, **keys, "event_timestamp": at} for row, (keys, at) in enumerate(drawn.labels)]
    arrays = [
        pa.array([row[name] for row in rows], pa.int64() if isinstance(kind, Timestamp) else to_arrow(kind))
        for name, kind in kinds.items()
    ]
    table = pa.table([array.cast(to_arrow(kind)) for array, kind in zip(arrays, kinds.values(), strict=True)], [*kinds])
    frame = engine.session.createDataFrame(table)
    shape = tuple(JoinShape)[drawn.number % len(JoinShape)]
    answered = python_rows(engine.to_arrow(point_in_time(engine, repository.services["all"], frame, shape=shape)))
    assert sorted(row["row"] for row in answered) == list(range(len(rows)))
    roles = {
        view.name: Role(
            view=view.meaning, grid=view.grid, log=drawn.rows[view.name], keys=tuple(KEYS), defaults=view.defaults
        )
        for view in drawn.views
    }
    if "near" in roles:
        roles[OTHER] = replace(roles["near"], keys=("world", "other", "number"))
    seen: dict[Any, Any] = {}
    for row in answered:
        keys, at = drawn.labels[row["row"]]
        for name, value in label_row(keys, at, roles, seen).items():
            if bits(row[name]) != bits(value):
                view, _, column = name.partition(".")
                key = tuple(keys[part] for part in roles[view].keys)
                yield Difference(
                    path="training", view=view, at=at, key=key, column=column, found=row[name], expected=value
                )

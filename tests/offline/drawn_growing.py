"""A source that grows: a refresh kept in the history, and a later one computed from it and from what landed since."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from featurekit.offline import incremental
from featurekit.offline.history import History
from featurekit.offline.incremental import incremental_frame
from featurekit.offline.materialize import materialize
from featurekit.offline.session import SparkEngine
from tests.offline import reference
from tests.offline.drawn_views import ENTITY, DrawnView
from tests.offline.reference import CREATED, Row
from tests.offline.worlds import compiled, python_rows, write_rows

Rows = list[Row]


def by_growing(engine: SparkEngine, base: Path, view: DrawnView, log: Rows) -> dict[str, tuple[int, Rows]]:
    """Return the rows that the history has of the first instant, and those computed from them as of the last.

    There are none of the latter where a refresh has to be computed in full.
    """
    early, late = view.instants[0], view.instants[-1]
    folder = base / f"{view.name}.parquet"
    write_rows(folder / "0.parquet", view.columns, [row for row in log if landed(row, view, early)])
    repository = compiled(base, entities=[ENTITY], sources=[view.source], views=[view.definition])
    grown, there = SparkEngine(engine.session, base), repository.views[view.name]
    history = History(base / "history", project="drawn", environment="test")
    draft = history.draft(there, early, 0).begin()
    done = materialize(grown, there, early, now=early + view.meaning.lateness, sink=draft.sink(swallow))
    entry = draft.written(done.counters, snapshot=done.snapshot).save().finish(visible_from=early, completed_at=early)
    found = {"history": (early, python_rows(grown.to_arrow(history.read(grown, there, entry))))}
    if rest := [row for row in log if not landed(row, view, early)]:
        write_rows(folder / "1.parquet", view.columns, rest)
    if late > early:
        with all_may_be_touched():
            rows = incremental_frame(grown, there, late, entry, history.read(grown, there, entry))
        if rows.frame is not None:
            found["incremental"] = (late, python_rows(grown.to_arrow(rows.frame)))
    return found


def landed(row: Row, view: DrawnView, as_of: int) -> bool:
    """Return whether a row is in the source when a refresh runs; what says no such time always was."""
    created = reference.read(row, view.meaning.source)[CREATED]
    return view.meaning.source.created is None or created is None or created <= as_of + view.meaning.lateness


@contextmanager
def all_may_be_touched() -> Iterator[None]:
    """Have a refresh computed from the one before, also where one in full is no more work: here all entities change."""
    most, incremental.MOST_TOUCHED = incremental.MOST_TOUCHED, 100.0  # type: ignore[misc]
    try:
        yield
    finally:
        incremental.MOST_TOUCHED = most  # type: ignore[misc]


def swallow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        pass
    yield from ()

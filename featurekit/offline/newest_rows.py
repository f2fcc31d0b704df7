"""A view of latest rows from Parquet on this machine, without a shuffle: keys and times alone say which rows count.

    here:       keys and times of all events ──▶ the newest row of each entity ──▶ parts: file, row group, places
    executors:  a part ──▶ the columns of these rows, batch by batch (`newest_reader`) ──▶ the sink

The rows and bits are those that `materialize_steps` has in SQL; there, whole rows are sorted twice and sent once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from featurekit.arrow_types import to_arrow
from featurekit.clock import Instant
from featurekit.compiled import CompiledView, SlotFunction
from featurekit.expr.nodes import columns as columns_of
from featurekit.offline.arrow_columns import by_bits, canonical_column, computed, ranks_as_spark, whole_column
from featurekit.offline.direct_source import DirectSource, direct_source
from featurekit.offline.engine import BatchEngine
from featurekit.offline.intervals import Ints
from featurekit.offline.join_shape import is_in_reach
from featurekit.offline.newest_reader import NewestReader, Part, Written, read_places, written
from featurekit.offline.outputs_in_memory import is_feature_computed_here

MOST_EVENTS: Final = 8_000_000
"""So many keys and times are some 300 MB here; Spark sorts more than that on its disks."""
MOST_TIED: Final = 50_000
"""Rows of entities whose newest row is not told by its times alone: these are read whole, here."""
FEW_ROWS: Final = 20_000  # for a task of its own


def direct_view(engine: BatchEngine, view: CompiledView) -> DirectSource | str:
    """Return the source of a view whose newest rows can be read directly, or why Spark has to compute them."""
    if not engine.is_local:
        return "the executors run on other machines"
    if any(slot.function is not SlotFunction.LATEST for slot in view.slots):
        return "it has aggregates"
    if not view.columns or not all(is_feature_computed_here(feature) for feature in view.features):
        return "a feature is computed row by row"
    if view.where is not None and not columns_of(view.where):
        return "its where names no column"
    return direct_source(view, engine.root)


def events_in_reach(source: DirectSource, as_of: Instant) -> int:
    """Return how many rows the row groups have that can hold an event which counts as of an instant."""
    return sum(group.rows for group in _groups(source, as_of))


def newest_rows(engine: BatchEngine, source: DirectSource, as_of: Instant) -> NewestReader | str:
    """Return what reads the newest row of each entity as of an instant, or why Spark has to find them."""
    groups = tuple(_groups(source, as_of))
    if sum(group.rows for group in groups) > MOST_EVENTS:
        return f"more than {MOST_EVENTS:,} events are in reach"
    if not groups:
        return NewestReader.of(source, as_of, ((),))
    found = [_candidates(source, group, as_of) for group in groups]
    candidates = _Candidates.joined(found, len(source.view.keys))
    newest = candidates.newest()
    if isinstance(newest, str):
        return newest
    chosen, tied = newest
    if len(tied):
        chosen = np.concatenate([chosen, _first_of_tied(source, groups, candidates, tied)])
    chosen.sort()  # candidates come in the order of groups and places
    stretches = max(1, min(engine.parallelism, len(chosen) // FEW_ROWS))
    parts = [
        tuple(_parts(groups, candidates.group[stretch], candidates.place[stretch]))
        for stretch in np.array_split(chosen, stretches)
    ]
    return NewestReader.of(source, as_of, tuple(parts))


@dataclass(frozen=True, slots=True)
class _Group:
    """A row group of a file, as it was `written`."""

    path: str
    written: Written
    number: int
    rows: int


def _groups(source: DirectSource, as_of: Instant) -> Iterator[_Group]:
    event, since = source.view.source.event_timestamp, source.view.since(as_of)
    for path in source.files:
        was = written(str(path))
        metadata = pq.read_metadata(path)
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            if group.num_rows and is_in_reach(group, event, since, as_of):
                yield _Group(str(path), was, number, group.num_rows)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Visible rows: their keys, times in microseconds, and which group and place they are in."""

    keys: tuple[pa.ChunkedArray, ...]
    event: Ints
    created: Ints
    group: Ints
    place: Ints

    @staticmethod
    def joined(found: Sequence[tuple[tuple[pa.Array, ...], Ints, Ints, Ints]], keys: int) -> _Candidates:
        """Return the candidates of all groups as one; each has keys, event, created and places."""
        return _Candidates(
            tuple(pa.chunked_array([one[0][at] for one in found]) for at in range(keys)),
            np.concatenate([one[1] for one in found]),
            np.concatenate([one[2] for one in found]),
            np.repeat(np.arange(len(found)), [len(one[3]) for one in found]),
            np.concatenate([one[3] for one in found]),
        )

    def newest(self) -> tuple[Ints, Ints] | str:
        """Return the newest row of each entity where times tell it, and all rows that are the newest where not."""
        entities = _entities(self.keys)
        order = np.argsort(entities, kind="stable")
        if _changes(entities[order]).all():
            return order, np.zeros(0, np.int64)
        order = np.lexsort((self.created, self.event, entities))
        is_last = np.append(_changes(entities[order])[1:], True)
        same = (np.diff(entities[order]) == 0) & (np.diff(self.event[order]) == 0) & (np.diff(self.created[order]) == 0)
        runs = np.cumsum(np.append(True, ~same)) - 1  # of rows that times do not tell apart
        is_tied = np.zeros(runs[-1] + 1, bool)
        newest_runs = runs[is_last]
        is_tied[newest_runs] = np.bincount(runs)[newest_runs] > 1
        in_tie = is_tied[runs]
        if in_tie.sum() > MOST_TIED:
            return f"more than {MOST_TIED:,} rows share their entity and times with another"
        return order[is_last & ~in_tie], order[in_tie]


def _changes(sorted_numbers: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    changes = np.ones(len(sorted_numbers), bool)
    changes[1:] = np.diff(sorted_numbers) != 0
    return changes


def _entities(keys: Sequence[pa.ChunkedArray]) -> Ints:
    """Return a number for each row, the same for rows of the same keys and no others."""
    numbers: Ints | None = None
    for key in keys:
        codes = _codes(key)
        if numbers is not None:
            codes = np.unique(numbers * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
        numbers = codes
    assert numbers is not None
    return numbers


def _codes(key: pa.ChunkedArray) -> Ints:
    if not len(key):
        return np.zeros(0, np.int64)  # encoded, it has no chunk
    encoded = pc.dictionary_encode(key)
    codes: Ints = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded.chunks])
    return codes.astype(np.int64)


def _candidates(source: DirectSource, group: _Group, as_of: Instant) -> tuple[tuple[pa.Array, ...], Ints, Ints, Ints]:
    """Return keys, event, created and place of a row group's rows that are visible and pass the view's `where`."""
    view = source.view
    conditions = [] if view.where is None else [view.where]
    asked = {column.name for condition in conditions for column in columns_of(condition)}
    names = dict.fromkeys((*(key.source_column for key in view.keys), *view.source.time_columns, *sorted(asked)))
    table = pq.ParquetFile(group.path).read_row_group(group.number, columns=list(names))
    columns = {name: canonical_column(whole_column(table[name], source.columns[name])) for name in names}
    event = columns[view.source.event_timestamp].cast(pa.int64())
    created = (
        event if view.source.created_timestamp is None else columns[view.source.created_timestamp].cast(pa.int64())
    )
    kept = pc.and_(pc.less(event, as_of), pc.less_equal(created, as_of + view.view.allowed_lateness))
    if (since := view.since(as_of)) is not None:
        kept = pc.and_(kept, pc.greater_equal(event, since))
    inputs = [column for column in view.columns if column.name in asked]
    for found in computed(conditions, columns, inputs, table.num_rows):
        kept = pc.and_(kept, found)
    for key in view.keys:
        kept = pc.and_(kept, columns[key.source_column].is_valid())
    kept = kept.fill_null(False)
    places = np.flatnonzero(kept.to_numpy(zero_copy_only=False))
    keys = [by_bits(columns[key.source_column].cast(to_arrow(key.type))) for key in view.keys]
    if len(places) < group.rows:
        keys, event, created = [key.filter(kept) for key in keys], event.filter(kept), created.filter(kept)
    return tuple(keys), event.to_numpy(), created.to_numpy(), places


def _first_of_tied(source: DirectSource, groups: Sequence[_Group], candidates: _Candidates, tied: Ints) -> Ints:
    """Return of each entity's tied rows the greatest by the view's columns (DESIGN T4)."""
    tied = np.sort(tied)
    names = [column.name for column in source.view.columns]
    batches = [
        batch
        for part in _parts(groups, candidates.group[tied], candidates.place[tied])
        for batch in read_places(part, names)
    ]
    table = pa.Table.from_batches(batches)
    entities = _entities([key.take(pa.array(tied)) for key in candidates.keys])
    ranks = [ranks_as_spark(canonical_column(whole_column(table[name], source.columns[name]))) for name in names]
    order = np.lexsort((*reversed(ranks), entities))
    chosen: Ints = tied[order[np.append(_changes(entities[order])[1:], True)]]
    return chosen


def _parts(groups: Sequence[_Group], group: Ints, place: Ints) -> Iterator[Part]:
    """Yield what to read of each group, for rows in the order of groups and places."""
    for number in np.unique(group):
        places = place[np.searchsorted(group, number) : np.searchsorted(group, number, side="right")]
        its = groups[number]
        yield Part(its.path, its.written, its.number, places.astype(np.int32))

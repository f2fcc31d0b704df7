"""A view as of many instants in this process: the same sweep, over events that Arrow reads, without Spark's shuffle.

Events of entities that nobody asks about are dropped before anything is sorted. Each request is told where its answer
is, so that nothing is joined back by keys and times.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.compiled import CompiledView
from featurekit.offline.arrow_columns import by_bits, ranks_as_spark
from featurekit.offline.as_of import Span
from featurekit.offline.direct_source import DirectSource, read_events
from featurekit.offline.intervals import Ints
from featurekit.offline.rows_sql import is_ordered
from featurekit.offline.sweep import Sweep
from featurekit.offline.sweep_slots import Events

NOBODY: Final = -1
LABEL_KEY: Final = "$label key"
_CHUNK_ROWS: Final = 200_000
_PACKED_BITS: Final = 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A view in one role: which columns of the labels have its keys and as-of, and what its slots are called."""

    source: DirectSource
    sweep: Sweep
    between: Span | None
    keys: tuple[str, ...]
    as_of: str
    names: dict[str, str]
    zero: frozenset[str]
    """The slots that are 0 for an entity without rows, not NULL."""


def joined_in_memory(labels: pa.Table, roles: Sequence[Role]) -> pa.Table:
    """Return label rows with the slots of each role, each row at its own as-of; the keys of roles are left out."""
    columns = {name: labels[name] for name in labels.column_names if not name.startswith(LABEL_KEY)}
    views = dict.fromkeys(role.source.view.name for role in roles)
    for view in views:
        same = [role for role in roles if role.source.view.name == view]
        keys = [
            pa.concat_arrays([labels[role.keys[at]].combine_chunks() for role in same])
            for at in range(len(same[0].keys))
        ]
        at = np.concatenate([labels[role.as_of].to_numpy() for role in same])
        slots, places = slots_in_memory(same[0].source, same[0].sweep, keys, at, same[0].between)
        for number, role in enumerate(same):
            rows = places[number * labels.num_rows : (number + 1) * labels.num_rows]
            taken = slots.take(pa.array(rows, pa.int64(), mask=rows == NOBODY))
            for name, label in role.names.items():
                columns[label] = taken[name].fill_null(0) if name in role.zero else taken[name]
    return pa.table(columns)


def slots_in_memory(
    source: DirectSource, sweep: Sweep, keys: Sequence[pa.Array], at: Ints, between: Span | None
) -> tuple[pa.Table, Ints]:
    """Return the slots of the distinct requests, and for each request the row of its answer, NOBODY for a null key.

    `keys` are the join keys that are asked about, as entity keys are, `at` the as-of of each.
    """
    view = source.view
    since, until = (None, None) if between is None else (view.since(between.earliest), between.latest)
    return slots_of_events(view, sweep, read_events(source, since=since, until=until), keys, at)


def slots_of_events(
    view: CompiledView,
    sweep: Sweep,
    read: tuple[Sequence[pa.Array], pa.Table],
    keys: Sequence[pa.Array],
    at: Ints,
) -> tuple[pa.Table, Ints]:
    """Return the same of events that are here: their keys, and their inputs as `read_events` has them."""
    event_keys, events = read
    asked, entities = _entities(keys, event_keys)
    rows = np.flatnonzero(entities != NOBODY)
    entities = entities[rows]
    order = _order(entities, events["$event"].to_numpy()[rows])
    rows, entities = rows[order], entities[order]
    if is_ordered(view):
        rows = _ties_in_order(events, rows, entities, [f"$.{column.name}" for column in view.columns])
    # Distinct requests, in order of entity and time: the marks.
    answerable = np.flatnonzero(asked != NOBODY)
    order = answerable[_order(asked[answerable], at[answerable])]
    mark_entities, mark_times = asked[order], at[order]
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(mark_entities) != 0) | (np.diff(mark_times) != 0)
    places = np.full(len(at), NOBODY, np.int64)
    places[order] = np.cumsum(new) - 1
    mark_entities, mark_times = mark_entities[new], mark_times[new]
    events = events.select([name for name in events.column_names if not name.startswith("$.")]).combine_chunks()

    def part(bounds: tuple[int, int, int, int]) -> pa.Table:
        low, high, first, stop = bounds
        marks = mark_entities[first:stop], mark_times[first:stop]
        return sweep.slots_of(Events(events, entities[low:high], sweep.lateness, *marks, rows=rows[low:high]))

    bounds = _parts(entities, mark_entities)
    if len(bounds) == 1:  # threads take longer to start than little takes
        return part(bounds[0]).combine_chunks(), places
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        parts = list(pool.map(part, bounds))
    return pa.concat_tables(parts).combine_chunks(), places


def _entities(keys: Sequence[pa.Array], event_keys: Sequence[pa.Array]) -> tuple[Ints, Ints]:
    """Return the number of each request's entity, and of each event's; NOBODY for null keys and who is not asked about.

    Numbers are made of the places of the keys among those that are asked about, one key after the other.
    """
    asked, found = np.zeros(len(keys[0]), np.int64), np.zeros(len(event_keys[0]), np.int64)
    for key, event_key in zip(keys, event_keys, strict=True):
        key, event_key = by_bits(key), by_bits(event_key)
        values = key.unique().drop_null()
        codes = np.unique(asked[asked != NOBODY])  # renumbered with each key, so that numbers stay small
        asked = _combined(_renumbered(asked, codes), _places(key, values), len(values))
        found = _combined(_renumbered(found, codes), _places(event_key, values), len(values))
    codes = np.unique(asked[asked != NOBODY])
    return _renumbered(asked, codes), _renumbered(found, codes)


def _places(key: pa.Array, values: pa.Array) -> Ints:
    found = pc.index_in(key, value_set=values)
    places: Ints = found.fill_null(NOBODY).to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def _renumbered(numbers: Ints, codes: Ints) -> Ints:
    if not len(codes):
        return np.full(len(numbers), NOBODY, np.int64)
    places = np.minimum(np.searchsorted(codes, numbers), len(codes) - 1)
    return np.where(codes[places] == numbers, places, NOBODY)


def _combined(numbers: Ints, places: Ints, count: int) -> Ints:
    return np.where((numbers == NOBODY) | (places == NOBODY), NOBODY, numbers * count + places)


def _order(entities: Ints, times: Ints) -> Ints:
    """Return the order by entity, then time; rows that are alike in both are in any order."""
    if not len(times):
        return np.zeros(0, np.int64)
    low = int(times.min())
    bits = (int(times.max()) - low).bit_length()
    if bits + int(entities.max()).bit_length() > _PACKED_BITS:
        return np.lexsort((times, entities))
    return np.argsort((entities << bits) | (times - low))


def _ties_in_order(events: pa.Table, rows: Ints, entities: Ints, columns: list[str]) -> Ints:
    """Return rows with those of one entity and time in their total order (DESIGN T4): few are, as a rule."""
    times = events["$event"].to_numpy()[rows]
    same = (np.diff(entities) == 0) & (np.diff(times) == 0)
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    if not len(tied):
        return rows
    group = np.cumsum(np.append(True, ~same))[tied]
    table = events.take(pa.array(rows[tied]))
    codes = [ranks_as_spark(table[label].combine_chunks()) for label in ("$created", *columns)]
    rows = rows.copy()
    rows[tied] = rows[tied][np.lexsort((*reversed(codes), group))]
    return rows


def _parts(entities: Ints, mark_entities: Ints) -> list[tuple[int, int, int, int]]:
    """Return stretches of rows and of marks, of whole entities and about _CHUNK_ROWS of both; one at least."""
    numbers = np.arange(1, int(mark_entities[-1]) + 2 if len(mark_entities) else 1)
    rows, marks = np.searchsorted(entities, numbers), np.searchsorted(mark_entities, numbers)
    cuts = np.flatnonzero(np.diff((rows + marks) // _CHUNK_ROWS))
    row_cuts, mark_cuts = [0, *rows[cuts].tolist(), len(entities)], [0, *marks[cuts].tolist(), len(mark_entities)]
    return list(zip(row_cuts[:-1], row_cuts[1:], mark_cuts[:-1], mark_cuts[1:], strict=True))

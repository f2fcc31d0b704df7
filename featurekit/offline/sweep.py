"""Events and as-ofs of the same entities, side by side -> slots: the pass in the executors behind `point_in_time`.

A row decides an as-of g exactly while g is in [enter, exit):

    enter = max(event + 1 µs, created - lateness)      it happened before g, and was known by g + lateness
    exit  = min(leaving, superseded - lateness)        it is in the window, and still the newest version

where an event leaves a window of 7d at event + 7d + 1 µs, and one of the calendar when its unit is too long ago
(`leaving`). So an aggregate as of g is one over the rows whose interval holds g (`intervals`); of last rows, over
those among them that fewer than so many greater ones cover (`last_rows`). Nothing here knows SQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import to_arrow
from featurekit.offline.engine import Batches
from featurekit.offline.intervals import NONE, Ints
from featurekit.offline.sweep_slots import Events, SweepSlot
from featurekit.types import Field, Int64, Schema, Timestamp
from featurekit.windows import Window

KIND: Final = "$kind"
AS_OF: Final = "$as_of"
IS_EVENT: Final = 0
IS_AS_OF: Final = 1
_CHUNK_ROWS: Final = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Makes of sorted batches one row per entity and as-of: keys, `$as_of`, `last`, slots.

    The batches hold whole entities, each one's events before its as-ofs, events in their total order.
    """

    keys: tuple[Field, ...]
    slots: tuple[SweepSlot, ...]
    last: str
    reach: tuple[Window, ...] | None
    lateness: int

    @property
    def schema(self) -> Schema:
        return Schema(
            (
                *self.keys,
                Field(AS_OF, Int64()),
                Field(self.last, Timestamp()),
                *(Field(slot.name, slot.type) for slot in self.slots),
            )
        )

    def __call__(self, batches: Batches) -> Batches:
        for chunk in _whole_entities(batches, [key.name for key in self.keys]):
            yield from self._slots(chunk).to_batches()

    def _slots(self, chunk: pa.Table) -> pa.Table:
        entities = _entity_numbers(chunk, [key.name for key in self.keys])
        is_event = chunk[KIND].to_numpy() == IS_EVENT
        asked = np.flatnonzero(~is_event)
        at = chunk["$event"].to_numpy()[asked]
        # Sorted by entity and as-of; the same one asked for twice is answered once.
        new = np.ones(len(asked), bool)
        new[1:] = (np.diff(entities[asked]) != 0) | (np.diff(at) != 0)
        asked, at = asked[new], at[new]
        events = Events(chunk.filter(pa.array(is_event)), entities[is_event], self.lateness, entities[asked], at)
        columns = [chunk[key.name].take(pa.array(asked)) for key in self.keys]
        columns += [pa.array(at, pa.int64()), *self.slots_of(events).columns]
        return pa.table(columns, schema=_arrow_schema(self.schema.fields))

    def slots_of(self, events: Events) -> pa.Table:
        """Return `last` and the slots, one row for each mark of some events."""
        newest = events.newest(self.reach)
        last = pc.take(events.column("$event"), pa.array(newest, pa.int64(), mask=newest == NONE))
        columns = [last.cast(pa.timestamp("us", tz="UTC")), *(events.slot(slot, newest) for slot in self.slots)]
        return pa.table(columns, schema=_arrow_schema(self.schema.fields[len(self.keys) + 1 :]))


def _arrow_schema(fields: Sequence[Field]) -> pa.Schema:
    return pa.schema([pa.field(field.name, to_arrow(field.type)) for field in fields])


def _whole_entities(batches: Iterator[pa.RecordBatch], keys: list[str]) -> Iterator[pa.Table]:
    """Yield tables of about _CHUNK_ROWS rows that end where an entity ends; one large entity is a table of its own."""
    held: list[pa.RecordBatch] = []
    rows, enough = 0, _CHUNK_ROWS
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows < enough:
            continue
        table = pa.Table.from_batches(held)
        entities = _entity_numbers(table, keys)
        start = int(np.searchsorted(entities, entities[-1]))
        if start == 0:  # one entity so far: look again when there is twice as much
            enough = 2 * rows
            continue
        yield table.slice(0, start)
        held, rows, enough = table.slice(start).to_batches(), rows - start, _CHUNK_ROWS
    if rows:
        yield pa.Table.from_batches(held)


def _entity_numbers(table: pa.Table, keys: list[str]) -> Ints:
    """Return for each row the number of its entity, counting from 0 in the table's order."""
    changed = np.zeros(table.num_rows, bool)
    for key in keys:
        column = table[key].combine_chunks()
        if pa.types.is_floating(column.type):  # keys are canonical: one NaN, which equals itself as bits, and one zero
            column = column.view(pa.int64() if pa.types.is_float64(column.type) else pa.int32())
        if len(column) > 1:
            changed[1:] |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return np.cumsum(changed, dtype=np.int64)

"""Events and as-ofs of the same entities, side by side -> slots: the pass in the executors behind `point_in_time`.

A row decides an as-of g exactly while g is in [enter, exit):

    enter = max(event + 1 µs, created - lateness)              it happened before g, and was known by g + lateness
    exit  = min(event + window + 1 µs, superseded - lateness)  it is in [g - window, g), and still the newest version

so an aggregate as of g is one over the rows whose interval holds g (`intervals`). Nothing here knows SQL.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import to_arrow
from featurekit.compiled import SlotFunction
from featurekit.exact import divide_half_up
from featurekit.offline.engine import Batches
from featurekit.offline.intervals import (
    NONE,
    Flags,
    Ints,
    counts,
    float_sums,
    greatest,
    integer_sums,
    marks_before,
    wide_sums,
)
from featurekit.types import DataType, Decimal, Field, Int64, Schema, Timestamp, integer_range, is_float, is_integer

KIND: Final = "$kind"
AS_OF: Final = "$as_of"
IS_EVENT: Final = 0
IS_AS_OF: Final = 1
_CHUNK_ROWS: Final = 200_000
# Far outside of any timestamp, and far enough inside int64 to add windows to.
_FOR_EVER: Final = 1 << 62
_LARGEST_DECIMAL: Final = 10**38


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSlot:
    """A slot by the names of its columns: what it takes of a row, and which rows."""

    name: str
    function: SlotFunction
    argument: str | None
    argument_type: DataType | None
    filter: str | None
    window: int | None
    type: DataType


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Makes of sorted batches one row per entity and as-of: keys, `$as_of`, `last`, slots.

    The batches hold whole entities, each one's events before its as-ofs, events in their total order.
    """

    keys: tuple[Field, ...]
    slots: tuple[SweepSlot, ...]
    last: str
    lookback: int | None
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
        events = _Events(chunk.filter(pa.array(is_event)), entities[is_event], self.lateness, entities[asked], at)
        newest = events.greatest(np.arange(len(events.first)), self.lookback, None)
        last = pc.take(events.column("$event"), _indices(newest)).cast(pa.timestamp("us", tz="UTC"))
        columns = [chunk[key.name].take(pa.array(asked)) for key in self.keys]
        columns += [pa.array(at, pa.int64()), last]
        columns += [events.slot(slot, newest) for slot in self.slots]
        arrow = pa.schema([pa.field(field.name, to_arrow(field.type)) for field in self.schema.fields])
        return pa.table(columns, schema=arrow)


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


class _Events:
    """The events of a chunk with the marks that each covers, per window."""

    def __init__(self, table: pa.Table, entities: Ints, lateness: int, mark_entities: Ints, mark_times: Ints) -> None:
        self._table = table.combine_chunks()
        self._entities, self._marks = entities, (mark_entities, mark_times)
        self.count = len(mark_times)
        self._event = _clipped(table["$event"])
        superseded = table["$superseded"]
        self._until = np.where(superseded.is_null().to_numpy(), _FOR_EVER, _clipped(superseded.fill_null(0)) - lateness)
        enter = np.maximum(self._event + 1, _clipped(table["$created"]) - lateness)
        self.first = marks_before(entities, enter, mark_entities, mark_times)
        self._stops: dict[int | None, Ints] = {}

    def column(self, name: str) -> pa.Array:
        column = self._table[name]
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

    def stop(self, window: int | None) -> Ints:
        if window not in self._stops:
            leave = self._until if window is None else np.minimum(self._event + window + 1, self._until)
            self._stops[window] = marks_before(self._entities, leave, *self._marks)
        return self._stops[window]

    def greatest(self, ranks: Ints, window: int | None, counted: Flags | None) -> Ints:
        """Return for each mark the row of the greatest rank that covers it; `ranks` are a permutation of the rows."""
        first, stop = self.first, self.stop(window)
        rows = np.empty(len(ranks), np.int64)
        rows[ranks] = np.arange(len(ranks))
        if counted is not None:
            ranks, first, stop = ranks[counted], first[counted], stop[counted]
        found = greatest(ranks, first, stop, self.count)
        return np.where(found == NONE, NONE, rows[found] if len(rows) else NONE)

    def slot(self, slot: SweepSlot, newest: Ints) -> pa.Array:
        if slot.function is SlotFunction.LATEST:
            assert slot.argument is not None
            return pc.take(self.column(slot.argument), _indices(newest))
        counted = np.ones(len(self.first), bool)
        if slot.filter is not None:
            counted &= self.column(slot.filter).fill_null(False).to_numpy(zero_copy_only=False)
        if slot.argument is not None:
            counted &= self.column(slot.argument).is_valid().to_numpy(zero_copy_only=False)
        stop = self.stop(slot.window)
        # A version that was superseded before it was known covers nothing.
        counted &= stop > self.first
        if slot.function in (SlotFunction.MIN, SlotFunction.MAX):
            return self._extreme(slot, counted)
        first, stop = self.first[counted], stop[counted]
        numbers = counts(first, stop, self.count)
        if slot.function is SlotFunction.COUNT:
            return pa.array(numbers, pa.int64())
        assert slot.argument is not None
        assert slot.argument_type is not None
        values = self.column(slot.argument).filter(pa.array(counted))
        totals = _totals(values, slot.argument_type, first, stop, self.count)
        finish = _finish(slot)
        rows = zip(totals, numbers.tolist(), strict=True)
        return pa.array([finish(total, number) if number else None for total, number in rows], to_arrow(slot.type))

    def _extreme(self, slot: SweepSlot, counted: Flags) -> pa.Array:
        assert slot.argument is not None
        column = self.column(slot.argument)
        # Arrow sorts as Spark does: numbers by value with NaN last, text by bytes.
        order = pc.sort_indices(column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column)
        ranks = np.empty(len(column), np.int64)
        ranks[order.to_numpy()] = np.arange(len(column))
        if slot.function is SlotFunction.MIN:
            ranks = len(ranks) - 1 - ranks
        return pc.take(column, _indices(self.greatest(ranks, slot.window, counted)))


def _clipped(column: pa.ChunkedArray) -> Ints:
    found: Ints = np.clip(column.to_numpy(), -_FOR_EVER, _FOR_EVER)
    return found


def _indices(rows: Ints) -> pa.Array:
    return pa.array(rows, pa.int64(), mask=rows == NONE)


def _totals(values: pa.Array, kind: DataType, first: Ints, stop: Ints, marks: int) -> list[Any]:
    """Return for each mark the exact sum: a float rounded once, or an int; of a decimal, its unscaled digits."""
    if is_float(kind):
        return float_sums(values.cast(pa.float64()).to_numpy(zero_copy_only=False), first, stop, marks)
    if is_integer(kind):
        return integer_sums(values.cast(pa.int64()).to_numpy(zero_copy_only=False), first, stop, marks)
    halves = np.frombuffer(values.buffers()[1], np.uint64).reshape(-1, 2)[values.offset : values.offset + len(values)]
    return wide_sums(halves[:, 0], halves[:, 1].astype(np.int64), first, stop, marks)


def _finish(slot: SweepSlot) -> Callable[[Any, int], Any]:
    """Return what makes a slot's value of an exact sum and a count; None where its type has none such (DESIGN V2)."""
    if isinstance(slot.type, Decimal):
        assert isinstance(slot.argument_type, Decimal)
        return _decimal_finish(slot.type, slot.argument_type.scale, slot.function is SlotFunction.AVG)
    if slot.function is SlotFunction.AVG:
        return lambda total, number: float(total) / number
    if is_integer(slot.type):
        low, high = integer_range(slot.type)
        return lambda total, _: total if low <= total <= high else None
    return lambda total, _: total


def _decimal_finish(result: Decimal, scale: int, is_average: bool) -> Callable[[Any, int], Any]:
    """Return the same for decimals, whose sums come as unscaled digits."""
    wider, limit = 10 ** (result.scale - scale), 10**result.precision
    context = decimal.Context(prec=80)

    def finish(total: int, number: int) -> decimal.Decimal | None:
        if is_average:
            # The sum narrows once, to 38 digits, before it is divided.
            if abs(total) >= _LARGEST_DECIMAL:
                return None
            total = divide_half_up(total * wider, number)
        return decimal.Decimal(total).scaleb(-result.scale, context) if abs(total) < limit else None

    return finish

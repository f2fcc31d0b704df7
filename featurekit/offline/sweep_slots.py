"""Slots of one chunk of events, for many as-ofs at once: what `sweep` computes, function by function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featurekit.aggregates.finish import finish_total
from featurekit.aggregates.hyperloglog import HASH_BITS, estimate
from featurekit.aggregates.moments import SPREADS
from featurekit.arrow_types import to_arrow
from featurekit.compiled import SlotFunction
from featurekit.offline.intervals import (
    NONE,
    Flags,
    Ints,
    counts,
    distinct,
    float_moments,
    greatest,
    greatest_many,
    integer_squares,
    integer_sums,
    marks_before,
    wide_squares,
    wide_sums,
)
from featurekit.offline.last_rows import last_rows
from featurekit.offline.leaving import FOR_EVER, leaving, leaving_all
from featurekit.offline.running_sums import RunningSums, running_floats, running_integers
from featurekit.types import DataType, Decimal, Float64, Int64, is_float, is_integer
from featurekit.windows import LastRows, Window


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSlot:
    """A slot by the names of its columns: what it takes of a row, and which rows.

    `argument` holds floats with one zero and one NaN; of APPROX_COUNT_DISTINCT it holds hashes.
    """

    name: str
    function: SlotFunction
    argument: str | None
    argument_type: DataType | None
    filter: str | None
    window: Window | None
    type: DataType
    by: str | None = None
    parameter: int | None = None


_Totals = tuple[NDArray[Any], Flags, Ints]


@dataclass(frozen=True, slots=True)
class _Kept:
    """What several slots of one chunk need: places in a column's order, sums by (argument, filter), and by window."""

    ranks: dict[str, Ints] = field(default_factory=dict)
    sums: dict[tuple[str, str | None], tuple[Flags, RunningSums]] = field(default_factory=dict)
    totals: dict[tuple[tuple[str, str | None], Window | None], _Totals] = field(default_factory=dict)


class Events:
    """The events of a chunk, in their total order, with the marks that each covers, per window.

    Where `rows` are given, the events are those rows of the table, in that order.
    """

    def __init__(
        self,
        table: pa.Table,
        entities: Ints,
        lateness: int,
        mark_entities: Ints,
        mark_times: Ints,
        *,
        rows: Ints | None = None,
    ) -> None:
        self._table, self._rows = table.combine_chunks(), rows
        self._columns: dict[str, pa.Array] = {}
        self.entities, self._marks = entities, (mark_entities, mark_times)
        self.count = len(mark_times)
        self._event = _clipped(self.column("$event"))
        superseded = self.column("$superseded")
        until = _clipped(superseded.fill_null(0)) - lateness
        self._until = np.where(superseded.is_null().to_numpy(zero_copy_only=False), FOR_EVER, until)
        enter = np.maximum(self._event + 1, _clipped(self.column("$created")) - lateness)
        self.first = marks_before(entities, enter, mark_entities, mark_times)
        self._stops: dict[Window | None, Ints] = {}
        self._last: dict[LastRows, LastEvents] = {}
        self._kept = _Kept()

    def column(self, name: str) -> pa.Array:
        """Return a column of the events, in their order."""
        if name not in self._columns:
            column = _whole(self._table[name])
            self._columns[name] = column if self._rows is None else column.take(pa.array(self._rows))
        return self._columns[name]

    def _values_of(self, name: str, newest: Ints) -> pa.Array:
        """Return a column's values in some of the events, NULL for NONE: no other value is looked at."""
        if self._rows is not None and len(self._rows):
            newest = np.where(newest == NONE, NONE, self._rows[newest])
        return pc.take(_whole(self._table[name]), _indices(newest))

    def stop(self, window: Window | None) -> Ints:
        """Return for each row the mark at which it is in a window no more; of last rows, in their stretch of time."""
        if window not in self._stops:
            self._stops[window] = self._marks_before(leaving(window, self._event))
        return self._stops[window]

    def _marks_before(self, leave: Ints) -> Ints:
        return marks_before(self.entities, np.minimum(leave, self._until), *self._marks)

    def newest(self, reach: tuple[Window, ...] | None) -> Ints:
        """Return for each mark the last row that covers it in any of some windows; None is one without a bound."""
        stop = self._marks_before(leaving_all(reach, self._event))
        return greatest(np.arange(len(self.first)), self.first, stop, self.count)

    def slot(self, slot: SweepSlot, newest: Ints) -> pa.Array:
        """Return a slot's value for each mark; `newest` is the row that LATEST takes."""
        if slot.function is SlotFunction.LATEST:
            assert slot.argument is not None
            return self._values_of(slot.argument, newest)
        if isinstance(slot.window, LastRows):
            if slot.window not in self._last:
                self._last[slot.window] = LastEvents(self, slot.window)
            return self._last[slot.window].slot(replace(slot, window=None), newest)
        counted = self._counted(slot)
        if slot.argument is None:
            return pa.array(counts(self.first[counted], self.stop(slot.window)[counted], self.count), pa.int64())
        return _SLOTS[slot.function](self, slot, counted)

    def _counted(self, slot: SweepSlot) -> Flags:
        """Return which rows the slot is about."""
        # A version that was superseded before it was known covers nothing.
        counted: Flags = self.stop(slot.window) > self.first
        if slot.filter is not None:
            counted &= self.column(slot.filter).fill_null(False).to_numpy(zero_copy_only=False)
        if slot.argument is not None and slot.function not in (SlotFunction.MIN_BY, SlotFunction.MAX_BY):
            counted &= self.column(slot.argument).is_valid().to_numpy(zero_copy_only=False)
        return counted

    def spans(self, slot: SweepSlot, counted: Flags) -> tuple[Ints, Ints, int]:
        return self.first[counted], self.stop(slot.window)[counted], self.count

    def values(self, slot: SweepSlot, counted: Flags) -> pa.Array:
        assert slot.argument is not None
        return self.column(slot.argument).filter(pa.array(counted))

    def _greatest(self, ranks: Ints, window: Window | None, counted: Flags) -> Ints:
        """Return for each mark the row of the greatest rank that covers it; `ranks` are a permutation of the rows."""
        found = greatest(ranks[counted], self.first[counted], self.stop(window)[counted], self.count)
        return _rows_of(ranks, found)

    def extreme(self, slot: SweepSlot, counted: Flags) -> pa.Array:
        """min, max, and by another column; of rows that tie, the greatest in the total order is the greatest."""
        assert slot.argument is not None
        by = slot.by if slot.function in (SlotFunction.MIN_BY, SlotFunction.MAX_BY) else slot.argument
        ranks = np.arange(len(self.first)) if by is None else self._ranks(by)
        if slot.function in (SlotFunction.MIN, SlotFunction.MIN_BY):
            ranks = len(ranks) - 1 - ranks
        return pc.take(self.column(slot.argument), _indices(self._greatest(ranks, slot.window, counted)))

    def _ranks(self, name: str) -> Ints:
        if name not in self._kept.ranks:
            self._kept.ranks[name] = _ranks(self.column(name))
        return self._kept.ranks[name]

    def many(self, slot: SweepSlot, counted: Flags) -> pa.Array:
        """The largest values, or those of the last rows; NULL where there is none."""
        assert slot.argument is not None
        assert slot.parameter is not None
        column = self.column(slot.argument)
        is_largest = slot.function is SlotFunction.TOP_K
        ranks = self._ranks(slot.argument) if is_largest else np.arange(len(column))
        lists = greatest_many(ranks[counted], *self.spans(slot, counted), slot.parameter)
        flat = np.array([rank for ranks in lists for rank in (ranks if is_largest else ranks[::-1])], np.int64)
        sizes = np.array([len(ranks) for ranks in lists], np.int64)
        offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32())
        values = pc.take(column, pa.array(_rows_of(ranks, flat)))
        return pa.ListArray.from_arrays(offsets, values, type=to_arrow(slot.type), mask=pa.array(sizes == 0))

    def counted(self, slot: SweepSlot, counted: Flags) -> pa.Array:
        return pa.array(counts(*self.spans(slot, counted)), pa.int64())

    def total(self, slot: SweepSlot, counted: Flags) -> pa.Array:
        """Sums and averages, each finished once."""
        kind = slot.argument_type
        assert kind is not None
        average = slot.function is SlotFunction.AVG
        if not isinstance(kind, Decimal):
            totals, beyond, rows = self._totals(slot, kind)
            if average and not beyond.any():
                # Of integers too: the double nearest to the sum, divided once.
                return pa.array(totals / np.maximum(rows, 1), pa.float64(), mask=rows == 0)
            if not average and slot.type in (Int64(), Float64()):
                return pa.array(totals, to_arrow(slot.type), mask=(rows == 0) | beyond)
        spans = self.spans(slot, counted)
        wide = _wide_totals(self.values(slot, counted), kind, *spans)
        finish = finish_total(slot.type, kind, average=average)
        found = zip(wide, counts(*spans).tolist(), strict=True)
        return pa.array([finish(total, number) if number else None for total, number in found], to_arrow(slot.type))

    def _totals(self, slot: SweepSlot, kind: DataType) -> _Totals:
        """Return for each mark the sum of floats or integers, whether it is beyond 64 bits, and of how many rows."""
        assert slot.argument is not None
        which = (slot.argument, slot.filter)
        if (which, slot.window) in self._kept.totals:
            return self._kept.totals[which, slot.window]
        if which not in self._kept.sums:
            # Whatever the window: rows that are in it nowhere leave before they enter, and add nothing.
            counted = self.column(slot.argument).is_valid().to_numpy(zero_copy_only=False)
            if slot.filter is not None:
                counted &= self.column(slot.filter).fill_null(False).to_numpy(zero_copy_only=False)
            values = self.values(slot, counted).cast(pa.float64() if is_float(kind) else pa.int64()).to_numpy()
            sums = (running_floats if is_float(kind) else running_integers)(values, self.first[counted], self.count)
            self._kept.sums[which] = counted, sums
        counted, sums = self._kept.sums[which]
        stop = self.stop(slot.window)[counted]
        found = (*sums.totals(stop), sums.counts(stop))
        self._kept.totals[which, slot.window] = found
        return found

    def spread(self, slot: SweepSlot, counted: Flags) -> pa.Array:
        """Variances and deviations."""
        assert slot.argument_type is not None
        spans = self.spans(slot, counted)
        totals, squares, unit, special = _moments(self.values(slot, counted), slot.argument_type, *spans)
        spread = SPREADS[slot.function]
        rows = zip(counts(*spans).tolist(), totals, squares, special.tolist(), strict=True)
        found = [
            np.nan if is_special and number > spread.sample else spread.finish(number, total, square, unit * unit)
            for number, total, square, is_special in rows
        ]
        return pa.array(found, pa.float64())

    def distinct(self, slot: SweepSlot, counted: Flags) -> pa.Array:
        values = self.values(slot, counted)
        if pa.types.is_floating(values.type):  # by their bits: NaN is one value
            values = values.view(pa.int64() if pa.types.is_float64(values.type) else pa.int32())
        groups = values.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
        return pa.array(distinct(groups, *self.spans(slot, counted)), pa.int64())

    def sketch(self, slot: SweepSlot, counted: Flags) -> pa.Array:
        """HyperLogLog++ of hashes: for each rank, how many registers have one as large; then each mark's estimate."""
        assert slot.parameter is not None
        first, stop, marks = self.spans(slot, counted)
        hashes = self.values(slot, counted).to_numpy(zero_copy_only=False).view(np.uint64)
        registers, ranks = _registers_and_ranks(hashes, slot.parameter)
        levels = int(ranks.max(initial=0))
        reached = np.zeros((levels + 2, marks), np.int64)
        reached[0] = 1 << slot.parameter
        for rank in range(1, levels + 1):
            high = ranks >= rank
            reached[rank] = distinct(registers[high], first[high], stop[high], marks)
        holding, of_mark = np.unique((reached[:-1] - reached[1:]).T, axis=0, return_inverse=True)
        estimates = np.array([estimate(slot.parameter, row) for row in holding.tolist()], np.int64)
        return pa.array(estimates[of_mark.reshape(-1)], pa.int64())


class LastEvents(Events):
    """The last rows of each mark: an event stands here once for each stretch of marks in which it is one of them."""

    def __init__(self, events: Events, window: LastRows) -> None:
        self._events, self.count = events, events.count
        self._rows, self.first, self._stop = last_rows(events.entities, events.first, events.stop(window), window.rows)
        self._kept = _Kept()

    def column(self, name: str) -> pa.Array:
        return self._events.column(name).take(pa.array(self._rows))

    def stop(self, window: Window | None) -> Ints:
        assert window is None
        return self._stop


_SLOTS: Final[dict[SlotFunction, Callable[[Events, SweepSlot, Flags], pa.Array]]] = {
    SlotFunction.COUNT: Events.counted,
    SlotFunction.SUM: Events.total,
    SlotFunction.AVG: Events.total,
    SlotFunction.VAR_POP: Events.spread,
    SlotFunction.VAR_SAMP: Events.spread,
    SlotFunction.STDDEV_POP: Events.spread,
    SlotFunction.STDDEV_SAMP: Events.spread,
    SlotFunction.MIN: Events.extreme,
    SlotFunction.MAX: Events.extreme,
    SlotFunction.MIN_BY: Events.extreme,
    SlotFunction.MAX_BY: Events.extreme,
    SlotFunction.TOP_K: Events.many,
    SlotFunction.COLLECT_LAST: Events.many,
    SlotFunction.COUNT_DISTINCT: Events.distinct,
    SlotFunction.APPROX_COUNT_DISTINCT: Events.sketch,
}


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _clipped(column: pa.Array) -> Ints:
    found: Ints = np.clip(column.to_numpy(), -FOR_EVER, FOR_EVER)
    return found


def _ranks(column: pa.Array) -> Ints:
    """Return each row's place when sorted by a column; rows that tie keep their order."""
    # Arrow sorts as Spark does, and stably: numbers by value with NaN last, text by bytes.
    order = pc.sort_indices(column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column)
    ranks = np.empty(len(column), np.int64)
    ranks[order.to_numpy()] = np.arange(len(column))
    return ranks


def _rows_of(ranks: Ints, found: Ints) -> Ints:
    """Return the rows that have the ranks; NONE for NONE."""
    rows = np.empty(len(ranks), np.int64)
    rows[ranks] = np.arange(len(ranks))
    return np.where(found == NONE, NONE, rows[found]) if len(rows) else np.full(len(found), NONE, np.int64)


def _indices(rows: Ints) -> pa.Array:
    return pa.array(rows, pa.int64(), mask=rows == NONE)


def _wide_totals(values: pa.Array, kind: DataType, first: Ints, stop: Ints, marks: int) -> list[int]:
    """Return for each mark the exact sum, of any size; of a decimal, of its unscaled digits."""
    if is_integer(kind):
        return integer_sums(values.cast(pa.int64()).to_numpy(zero_copy_only=False), first, stop, marks)
    return wide_sums(*_halves(values), first, stop, marks)


def _moments(
    values: pa.Array, kind: DataType, first: Ints, stop: Ints, marks: int
) -> tuple[list[int], list[int], int, Flags]:
    """Return for each mark the exact sums of values and squares, what they count in, and whether one is not finite."""
    if is_float(kind):
        return float_moments(values.cast(pa.float64()).to_numpy(zero_copy_only=False), first, stop, marks)
    finite = np.zeros(marks, bool)
    if isinstance(kind, Decimal):
        halves = _halves(values)
        sums = wide_sums(*halves, first, stop, marks), wide_squares(*halves, first, stop, marks)
        return *sums, 10**kind.scale, finite
    whole = values.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return integer_sums(whole, first, stop, marks), integer_squares(whole, first, stop, marks), 1, finite


def _halves(values: pa.Array) -> tuple[NDArray[np.uint64], Ints]:
    """Return the unscaled digits of decimals, as the two halves of 128 bits that Arrow holds."""
    halves = np.frombuffer(values.buffers()[1], np.uint64).reshape(-1, 2)[values.offset : values.offset + len(values)]
    return halves[:, 0], halves[:, 1].astype(np.int64)


def _registers_and_ranks(hashes: NDArray[np.uint64], precision: int) -> tuple[Ints, Ints]:
    """Return what `hyperloglog.register_and_rank` does, for many hashes."""
    registers = hashes >> np.uint64(HASH_BITS - precision)
    rest = (hashes << np.uint64(precision)) | np.uint64(1 << (precision - 1))
    high, low = rest >> np.uint64(32), rest & np.uint64((1 << 32) - 1)
    # frexp of an integer of 32 bits is exact: its exponent is the number of bits.
    bits = np.where(high > 0, 32 + np.frexp(high.astype(np.float64))[1], np.frexp(low.astype(np.float64))[1])
    return registers.astype(np.int64), HASH_BITS + 1 - bits.astype(np.int64)

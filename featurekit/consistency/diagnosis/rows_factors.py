"""What other source rows would have said: late ones known or lost, doubled ones, other times, other keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.clock import DAY, HOUR, format_duration
from featurekit.compiled import ORDERED, CompiledView
from featurekit.consistency.diagnosis.as_of_factors import previous
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.source_rows import SourceRows
from featurekit.consistency.diagnosis.visible import order_of, ranks_of
from featurekit.consistency.diagnosis.zones import (
    offsets_around,
    read_as_local,
    read_as_utc,
    without_saving,
)
from featurekit.definitions.source import SourceKind
from featurekit.errors import TimeError
from featurekit.expr.nodes import columns
from featurekit.grid import Grid
from featurekit.offline.source import CREATED, EVENT, ID, column_name, key_names
from featurekit.types import Int64, String

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
_KNOWN_EARLY: Final = -(1 << 61)
STEPS: Final = (1, 2, 3, 7)
"""By how many refreshes a copy of the source is old, or rows are doubled."""
_NEVER: Final = 1 << 61
_COMMON_ZONES: Final = ("America/New_York", "Europe/Berlin")
"""Zones that change their clocks, tried where the view names none that does."""


def rows_factors(view: CompiledView, rows: SourceRows, as_ofs: Ints) -> Iterator[Factor]:
    """Yield the ways in which the pipeline may have seen other rows; those that change none are left out."""
    for factor in (*_landing(view, as_ofs), *_copies(view, as_ofs), *_ties(view), *_times(view, rows), *_keys(view)):
        assert factor.rows is not None
        if factor.rows(rows) is not None:
            yield factor


def _landing(view: CompiledView, as_ofs: Ints) -> Iterator[Factor]:
    told = "Rows at the very as-of are counted too."
    yield Factor(cause=Cause.BOUND_CLOSED, told=told, rows=partial(bound_closed, as_ofs))
    for steps in STEPS:
        told = f"The source is a copy from before the last {_refreshes(steps)}: rows that landed since are missing."
        change = partial(copied_before, previous(view.view.grid, steps, as_ofs))
        yield Factor(cause=Cause.OTHER_SNAPSHOT, told=told, rows=change, extra=(steps - 1).bit_length())
    if view.source.created_timestamp is None:
        return
    told = "Rows are counted that landed only after the refresh knew."
    yield Factor(cause=Cause.LATE_ROWS_COUNTED, told=told, rows=all_known)
    told = "Rows are missing that landed after the first refresh behind them."
    yield Factor(cause=Cause.LATE_ROWS_LOST, told=told, rows=partial(late_lost, view))
    told = "Rows are dated by when they landed, not by when they happened."
    yield Factor(cause=Cause.EVENT_TIME_SHIFTED, told=told, rows=partial(dated_by_landing, view))


def _copies(view: CompiledView, as_ofs: Ints) -> Iterator[Factor]:
    if view.source.kind is SourceKind.CHANGES:
        return  # the same said twice says no more
    if view.source.event_id is not None:
        told = "All versions of an event are counted, not the newest alone."
        yield Factor(cause=Cause.VERSIONS_COUNTED, told=told, rows=versions_counted)
    yield Factor(cause=Cause.DUPLICATE_EVENTS, told="Each row is counted twice.", rows=partial(doubled, None))
    for steps in STEPS:
        told = f"Each row of the last {_refreshes(steps)} is counted twice."
        since = previous(view.view.grid, steps, as_ofs)
        change = partial(doubled, (since, as_ofs))
        yield Factor(cause=Cause.DUPLICATE_EVENTS, told=told, rows=change, extra=steps.bit_length())


def _refreshes(steps: int) -> str:
    return "refresh" if steps == 1 else f"{steps} refreshes"


def _ties(view: CompiledView) -> Iterator[Factor]:
    ordered = {slot.name for slot in view.slots if slot.function in ORDERED}
    fields = frozenset(
        feature.name
        for feature in view.features
        if any(column.name in ordered for column in columns(feature.expression))
    )
    if fields:
        for by, told in (
            (EVENT, "Of rows of one instant the first is taken, not the last."),
            (CREATED, "Of rows that happened and landed at one instant another is taken."),
        ):
            yield Factor(cause=Cause.TIE_ORDER, told=told, rows=partial(first_of_ties, view, by), fields=fields)


def _times(view: CompiledView, rows: SourceRows) -> Iterator[Factor]:
    def factor(cause: Cause, told: str, change: Callable[[Ints], Ints], extra: int = 0) -> Factor:
        return Factor(cause=cause, told=told, rows=partial(event_times, view, change), extra=extra)

    event = _instants(rows.table, EVENT)
    zones = [zone for zone in dict.fromkeys((view.source.timezone, view.view.refresh.timezone)) if zone is not None]
    for zone in zones:
        told = f"Event times are clock readings of {zone} that were taken for UTC."
        yield factor(Cause.EVENT_TIME_SHIFTED, told, partial(read_as_utc, zone=zone))
        told = f"Event times are in UTC and were taken for clock readings of {zone}."
        yield factor(Cause.EVENT_TIME_SHIFTED, told, partial(read_as_local, zone=zone))
    saving = [zone for zone in zones if len(event) and len(offsets_around(int(event.max()), zone)) > 1]
    for zone in saving or _COMMON_ZONES:
        extra = 0 if saving else 3
        for way in (1, -1):
            told = f"Event times in {zone}'s summer are {'ahead' if way > 0 else 'behind'} by its hour."
            yield factor(Cause.EVENT_TIME_DST, told, partial(_saving, zone=zone, way=way), extra)
    for hours in (1, -1):
        told = f"Event times are {format_duration(HOUR)} {'late' if hours > 0 else 'early'}."
        yield factor(Cause.EVENT_TIME_SHIFTED, told, partial(_moved, by=hours * HOUR), 2)
    if view.source.event_timestamp in {column.name for column in view.columns}:
        for hours in (each for size in range(2, 15) for each in (size, -size)):
            told = f"Event times are {format_duration(abs(hours) * HOUR)} {'late' if hours > 0 else 'early'}."
            yield factor(Cause.EVENT_TIME_SHIFTED, told, partial(_moved, by=hours * HOUR), 4)
    for per, unit in ((1_000, "ms"), (1_000_000, "s")):
        told = f"Event times are epoch {unit} that were taken for µs: the rows are of 1970."
        yield factor(Cause.TIME_UNIT, told, partial(_divided, per=per))
    told = "Event times are in another unit, far in the future: the rows are in no window yet."
    yield factor(Cause.TIME_UNIT, told, partial(_multiplied, by=1_000))


def _keys(view: CompiledView) -> Iterator[Factor]:
    for cause, told, change in (
        (Cause.SOURCE_KEY_TRIMMED, "without blanks around them", pc.utf8_trim_whitespace),
        (Cause.SOURCE_KEY_LOWER_CASED, "in lower case", pc.utf8_lower),
        (Cause.SOURCE_KEY_NORMALISED, "in Unicode's form NFC", partial(pc.utf8_normalize, form="NFC")),
    ):
        told = f"The source's keys are read {told}, and rows of several became one entity's."
        yield Factor(cause=cause, told=told, rows=partial(respelled, view, String(), change))
    told = "The source's keys are cut to their low 32 bits, and rows of several became one entity's."
    yield Factor(cause=Cause.SOURCE_KEY_INT32, told=told, rows=partial(respelled, view, Int64(), _low_bits))


def bound_closed(as_ofs: Ints, rows: SourceRows) -> SourceRows | None:
    """Return the rows with those at the very as-of just before it."""
    event = _instants(rows.table, EVENT)
    at = np.isin(event, as_ofs)
    return _with(rows, EVENT, np.where(at, event - 1, event)) if at.any() else None


def all_known(rows: SourceRows) -> SourceRows | None:
    """Return the rows as known since ever, in the order in which they landed."""
    created = _instants(rows.table, CREATED)
    if not (created > _instants(rows.table, EVENT)).any():
        return None
    return _with(rows, CREATED, _KNOWN_EARLY + np.unique(created, return_inverse=True)[1].reshape(-1))


def copied_before(instants: Ints, rows: SourceRows) -> SourceRows | None:
    """Return the rows that had landed before an instant; of several, before the last of them."""
    lost = _instants(rows.table, CREATED) >= instants.max(initial=0)
    return _kept(rows, ~lost) if lost.any() else None


def late_lost(view: CompiledView, rows: SourceRows) -> SourceRows | None:
    """Return the rows without those that the first refresh after they happened did not know yet."""
    event = _instants(rows.table, EVENT)
    late = _instants(rows.table, CREATED) > _next_refreshes(view.view.grid, event) + view.view.allowed_lateness
    return _kept(rows, ~late) if late.any() else None


def _next_refreshes(grid: Grid, event: Ints) -> Ints:
    """Return the first grid instant after each event; one that never comes at the ends of the calendar."""
    if grid.timezone is None:
        return event - event % grid.every + grid.every
    found = {_NEVER}
    for day in np.unique(event // DAY).tolist():  # of the days that there are: one odd row must not cost millennia
        with suppress(TimeError, OverflowError):
            found.update((*grid.between(day * DAY, (day + 1) * DAY), grid.next((day + 1) * DAY - 1)))
    instants = np.array(sorted(found), np.int64)
    return instants[np.searchsorted(instants, event, side="right")]


def dated_by_landing(view: CompiledView, rows: SourceRows) -> SourceRows | None:
    """Return the rows as if they had happened when they landed."""
    created = _instants(rows.table, CREATED)
    return event_times(view, lambda _: created, rows)


def versions_counted(rows: SourceRows) -> SourceRows | None:
    """Return the rows as events of their own, each version one."""
    identities = rows.table[ID]
    named = len(identities) - identities.null_count
    if named == pc.count_distinct(identities).as_py():
        return None
    return replace(rows, table=_set(rows.table, ID, pa.nulls(rows.table.num_rows, identities.type)))


def doubled(between: tuple[Ints, Ints] | None, rows: SourceRows) -> SourceRows | None:
    """Return the rows with a copy of each; with instants, of those alone that happened between any two of them."""
    event = _instants(rows.table, EVENT)
    chosen = np.ones(len(event), np.bool_)
    if between is not None:
        starts, ends = (np.unique(each) for each in between)
        chosen = np.searchsorted(starts, event, side="right") > np.searchsorted(ends, event, side="right")
    if not chosen.any():
        return None
    table = rows.table
    if ID in table.column_names:  # a copy is another event, and has its own versions
        codes = table[ID].combine_chunks().dictionary_encode()
        table = _set(table, ID, codes.indices.cast(pa.int64()))
        copies = table.filter(pa.array(chosen))
        copies = _set(copies, ID, pc.add(copies[ID], len(codes.dictionary)))
    else:
        copies = table.filter(pa.array(chosen))
    return replace(rows, table=pa.concat_tables([table, copies]).combine_chunks())


def first_of_ties(view: CompiledView, by: str, rows: SourceRows) -> SourceRows | None:
    """Return of rows of one entity that tie up to a time the first alone."""
    table = rows.table
    keys = [ranks_of(table[label]) for label in key_names(view)]
    times = [_instants(table, label) for label in ((EVENT,) if by == EVENT else (EVENT, CREATED))]
    order = order_of([*keys, *times], table, (CREATED, *map(column_name, view.columns)))
    same = np.logical_and.reduce([numbers[order][1:] == numbers[order][:-1] for numbers in (*keys, *times)])
    if not same.any():
        return None
    kept = np.ones(table.num_rows, np.bool_)
    kept[order[1:][same]] = False
    return _kept(rows, kept)


def event_times(view: CompiledView, change: Callable[[Ints], Ints], rows: SourceRows) -> SourceRows | None:
    """Return the rows as if they had happened at other times; their landing too, where it is taken from that."""
    event = _instants(rows.table, EVENT)
    valid = np.asarray(rows.table[EVENT].is_valid().to_numpy(), np.bool_)
    times = np.where(valid, change(event), event)
    if (times == event).all():
        return None
    table = _set(rows.table, EVENT, pa.array(times, pa.int64(), mask=~valid))
    if view.source.created_timestamp is None:
        table = _set(table, CREATED, table[EVENT])
    for column in view.columns:
        label = column_name(column)
        if column.name == view.source.event_timestamp and pa.types.is_timestamp(table[label].type):
            table = _set(table, label, table[EVENT].cast(table[label].type))
    return replace(rows, table=table)


def respelled(
    view: CompiledView, kind: object, change: Callable[[pa.ChunkedArray], pa.ChunkedArray], rows: SourceRows
) -> SourceRows | None:
    """Return the rows with the keys of a type in another spelling."""
    table, any_changed = rows.table, False
    for key, label in zip(view.keys, key_names(view), strict=True):
        if key.type == kind:
            column = change(table[label])
            any_changed |= not column.equals(table[label])
            table = _set(table, label, column)
    return replace(rows, table=table) if any_changed else None


def _saving(at: Ints, zone: str, way: int) -> Ints:
    return at + way * (without_saving(at, zone) - at)


def _moved(at: Ints, by: int) -> Ints:
    return at + by


def _divided(at: Ints, per: int) -> Ints:
    return at // per


def _multiplied(at: Ints, by: int) -> Ints:
    most = (1 << 61) // by
    return np.clip(at, -most, most) * by


def _low_bits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.subtract(pc.bit_wise_and(pc.add(column, 1 << 31), (1 << 32) - 1), 1 << 31)


def _instants(table: pa.Table, label: str) -> Ints:
    found: Ints = table[label].fill_null(0).to_numpy().astype(np.int64)
    return found


def _with(rows: SourceRows, label: str, values: Ints) -> SourceRows:
    valid = np.asarray(rows.table[label].is_valid().to_numpy(), np.bool_)
    return replace(rows, table=_set(rows.table, label, pa.array(values, pa.int64(), mask=~valid)))


def _kept(rows: SourceRows, kept: Flags) -> SourceRows:
    return replace(rows, table=rows.table.filter(pa.array(kept)))


def _set(table: pa.Table, label: str, values: Any) -> pa.Table:
    return table.set_column(table.column_names.index(label), label, values)

"""One row per entity as of one grid instant: what goes to the online store. Plain Spark SQL, grouped by key."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from featurekit.arrow_types import from_arrow_schema
from featurekit.clock import Instant, format_duration, format_instant
from featurekit.compiled import ORDERED, SPREADS, CompiledView
from featurekit.counters import COUNTERS, add_counters, counter_batch
from featurekit.definitions.source import SourceKind
from featurekit.errors import TimeError
from featurekit.expr.nodes import Column
from featurekit.offline.engine import BatchEngine, Batches, BatchFunction
from featurekit.offline.moments_sql import half_columns, moment_digit_columns, square_columns
from featurekit.offline.rows_sql import (
    LAST,
    RowExpressions,
    feature_columns,
    latest_slots,
    row_conditions,
    window_slots,
)
from featurekit.offline.slots_sql import ROW_ORDER, digit_columns, fits_column, needs_digits, slot_sql
from featurekit.offline.snapshot import SourceSnapshot, check_unchanged, pinned, snapshot_source
from featurekit.offline.source import (
    CREATED,
    EVENT,
    column_name,
    count_invisible,
    event_steps,
    frame_name,
    key_names,
    read_source,
)
from featurekit.offline.sql import Query, Select, Sql, before, call, instant, name, over, render_query
from featurekit.offline.visible_rows import newest_snapshot, rows_as_of
from featurekit.rows import LAST_EVENT, offline_schema
from featurekit.targets.spark import render
from featurekit.types import is_float
from featurekit.windows import Calendar, Elapsed, LastRows, Lifetime, Window, start_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Sink = Callable[[Batches], Batches]
"""Takes a partition's rows and yields counters: batches of `counters.COUNTERS`, summed over all partitions."""

ROWS: Final = "$rows"  # apart from the counters of any sink
_LATEST: Final = "$latest"
_PLACE: Final = "$place"  # of a row among its entity's, the greatest is 1


@dataclass(frozen=True, slots=True)
class OfflineRows:
    """A view's rows, before anything runs: those of a frame, or what `read` makes of its batches in the executors."""

    frame: DataFrame
    read: BatchFunction | None = None


Compute = Callable[[BatchEngine, CompiledView, Instant], OfflineRows]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterializeResult:
    """What a refresh did: how many rows there are, what its sink counted, and what it read."""

    view: str
    as_of: Instant
    rows: int
    counters: Mapping[str, int]
    invisible_rows: int
    snapshot: SourceSnapshot
    sql: str
    seconds: Mapping[str, float] = field(default_factory=dict)
    """How long it took to find what to compute, and to compute and write it."""


def materialize(
    engine: BatchEngine,
    view: CompiledView,
    as_of: Instant,
    *,
    now: Instant,
    sink: Sink | None = None,
    compute: Compute | None = None,
) -> MaterializeResult:
    """Compute a view as of a grid instant and hand its rows to `sink`, partition by partition, in the executors.

    Raises TimeError for an instant off the grid, and for one whose rows may still arrive at `now`. Run again at any
    later time it gives the same rows: what lands later counts from the next refresh on. SourceError for a source that
    changed while it was read: what the sink was given is then of no known source. `compute` is another way to the same
    rows than `materialized_frame`.
    """
    check_as_of(view, as_of, now)
    started = time.monotonic()
    snapshot = snapshot_source(engine, view)
    view = pinned(view, snapshot)
    invisible = count_invisible(engine, view, as_of)
    rows = OfflineRows(materialized_frame(engine, view, as_of)) if compute is None else compute(engine, view, as_of)
    found = time.monotonic()
    counted = engine.to_arrow(
        engine.map_batches(rows.frame, _CountedSink(sink, rows.read), from_arrow_schema(COUNTERS))
    )
    written = time.monotonic()
    check_unchanged(view, snapshot, snapshot_source(engine, view))
    counters = add_counters(counted.to_batches())
    return MaterializeResult(
        view=view.name,
        as_of=as_of,
        rows=counters.pop(ROWS, 0),
        counters=counters,
        invisible_rows=invisible,
        snapshot=snapshot,
        sql=explain_sql(view, as_of),
        seconds={"plan": found - started, "write": written - found},
    )


def check_as_of(view: CompiledView, as_of: Instant, now: Instant) -> None:
    """Raise TimeError where a view has no value as of the instant, or not yet one that will stay."""
    grid = view.view.grid
    if not grid.contains(as_of):
        before = grid.floor(as_of)
        raise TimeError(
            f"{view.name} has no refresh at {format_instant(as_of)}",
            why=f"it is refreshed {grid}",
            try_=f"{format_instant(before)} or {format_instant(grid.next(before))}",
        )
    ready = as_of + view.view.allowed_lateness
    if now < ready:
        latest = grid.floor(now - view.view.allowed_lateness)
        raise TimeError(
            f"{view.name} can't be computed as of {format_instant(as_of)} yet",
            why=f"rows may land until {format_instant(ready)}, and it is {format_instant(now)}",
            try_=f"{format_instant(latest)}, the latest that is complete",
        )


def materialized_frame(engine: BatchEngine, view: CompiledView, as_of: Instant) -> DataFrame:
    """Return a view's rows as of an instant, with the columns of `rows.offline_schema`; nothing runs yet.

    Of snapshots it is asked first which one it is, over the time columns alone, so that no other is read.
    """
    snapshot = newest_snapshot(engine, view, as_of) if view.source.kind is SourceKind.SNAPSHOTS else None
    text = render_query(materialize_steps(view, as_of, snapshot=snapshot))
    frame = engine.query(text, {frame_name(view): read_source(engine, view)})
    check_frame(view, frame)
    return frame


def check_frame(view: CompiledView, frame: DataFrame) -> None:
    """Hold a frame's columns and types against `rows.offline_schema`."""
    expected = [(field.name, field.type.name) for field in offline_schema(view).fields]
    found = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
    assert found == expected, f"Spark's types differ from the compiler's: {set(found) ^ set(expected)}"


def explain_sql(view: CompiledView, as_of: Instant) -> Sql:
    """Return the SQL that materializes a view: each step once, with what it is for."""
    return render_query(materialize_steps(view, as_of))


def materialize_steps(view: CompiledView, as_of: Instant, *, snapshot: Instant | None = None) -> Query:
    """Return the steps that materialize a view; `events` has the source's rows, `rows` the result.

    `snapshot` is the one that is visible, where the caller knows: readers can skip the others.
    """
    known_at = as_of + view.view.allowed_lateness
    expressions = RowExpressions.of(view)
    since, until = (view.since(as_of), as_of) if snapshot is None else (snapshot, snapshot + 1)
    query = event_steps(view, known_by=known_at, since=since, until=until)
    query, conditions = rows_as_of(view, query, as_of)
    query = query.then("visible", _visible(view, as_of, query.last, expressions, conditions))
    if floats := _float_arguments(view, expressions):
        fits = tuple(fits_column(argument) for argument in floats)
        split = tuple(column for argument in floats for column in digit_columns(argument))
        note = "floats as integers of 32 bits, so that their sums are exact"
        query = query.then("fits", Select(columns=(("*", "*"), *fits), source=query.last))
        query = query.then("digits", Select(columns=(("*", "*"), *split), source=query.last, note=note))
    if spread := _spread_arguments(view, expressions):
        for label, columns, note in (
            ("halves", half_columns, "doubles in two halves, whose products are exact"),
            ("squares", square_columns, ""),
            ("moments", moment_digit_columns, "values and squares as integers of 32 bits"),
        ):
            found = tuple(column for argument in spread for column in columns(argument))
            query = query.then(label, Select(columns=(("*", "*"), *found), source=query.last, note=note))
    query = query.then("slots", _slots(view, as_of, query.last, expressions))
    if latest_slots(view):
        query = query.then("latest", _latest(view))
    return query.then("rows", _rows(view, as_of, query.last))


def _visible(
    view: CompiledView, as_of: Instant, source: str, expressions: RowExpressions, conditions: tuple[Sql, ...]
) -> Select:
    columns = [*key_names(view), EVENT]
    if latest_slots(view):
        columns += [CREATED, *(column_name(column) for column in view.columns)]
    start = view.since(as_of)
    since = () if start is None else (f"{name(EVENT)} >= {instant(start)}",)
    windows = [(label, f"{name(EVENT)} >= {instant(at)}") for label, at in _starts(view, as_of).values()]
    if any(isinstance(slot.window, LastRows) for slot in view.slots):
        latest_first = [f"{part} DESC" for part in _total_order(view)]
        windows.append((_PLACE, over("row_number()", partition_by=map(name, key_names(view)), order_by=latest_first)))
    order: tuple[tuple[str, Sql], ...] = ()
    if any(slot.function in ORDERED for slot in window_slots(view)):
        order = ((ROW_ORDER, call("struct", *_total_order(view))),)
    return Select(
        columns=(*((column, name(column)) for column in columns), *windows, *order, *expressions.columns()),
        source=source,
        where=(*conditions, *since, before(name(EVENT), as_of), *row_conditions(view)),
        note="rows that count, with what the aggregates take of each",
    )


def _float_arguments(view: CompiledView, expressions: RowExpressions) -> tuple[str, ...]:
    arguments = [expressions.arguments[slot.argument] for slot in view.slots if slot.argument and needs_digits(slot)]
    return tuple(dict.fromkeys(arguments))


def _spread_arguments(view: CompiledView, expressions: RowExpressions) -> tuple[str, ...]:
    slots = [slot for slot in view.slots if slot.function in SPREADS]
    floats = [slot.argument for slot in slots if slot.argument is not None and is_float(slot.argument.type)]
    return tuple(dict.fromkeys(expressions.arguments[argument] for argument in floats))


def _starts(view: CompiledView, as_of: Instant) -> dict[Elapsed | Calendar, tuple[str, Instant]]:
    """Return the condition's name and the start of each window that begins after all that the view looks back on."""
    bounds = {bound for slot in window_slots(view) if (bound := _bound(slot.window)) is not None}
    starts = {bound: start_of(bound, as_of) for bound in bounds}
    since = view.since(as_of)
    later = {bound: start for bound, start in starts.items() if start is not None and start != since}
    labels = {bound: f"$in {_short(bound)}" for bound in sorted(later, key=lambda each: (-later[each], _short(each)))}
    return {bound: (label, later[bound]) for bound, label in labels.items()}


def _bound(window: Window | None) -> Elapsed | Calendar | None:
    """Return the window by whose start alone rows can be in it or not."""
    match window:
        case LastRows(_, within):
            return None if within is None else Elapsed(within)
        case Lifetime() | None:
            return None
        case _:
            return window


def _short(window: Elapsed | Calendar) -> str:
    return format_duration(window.length) if isinstance(window, Elapsed) else f"calendar {window.count}{window.unit}"


def _total_order(view: CompiledView) -> tuple[Sql, ...]:
    """Return what orders rows. Structs compare field by field, NULL smallest and NaN largest: DESIGN T4."""
    return tuple(map(name, (EVENT, CREATED, *(column_name(column) for column in view.columns))))


def _slots(view: CompiledView, as_of: Instant, source: str, expressions: RowExpressions) -> Select:
    keys = key_names(view)
    latest, starts = latest_slots(view), _starts(view, as_of)
    columns: list[tuple[str, Sql]] = [(key, name(key)) for key in keys]
    if latest:
        columns.append((_LATEST, f"max({call('struct', *_total_order(view))})"))
    else:
        columns.append((LAST, f"max({name(EVENT)})"))
    for slot in window_slots(view):
        argument = None if slot.argument is None else expressions.arguments[slot.argument]
        conditions = []
        if (bound := _bound(slot.window)) in starts:
            conditions.append(name(starts[bound][0]))
        if isinstance(slot.window, LastRows):
            conditions.append(f"{name(_PLACE)} <= {slot.window.rows}")
        if slot.filter is not None:
            conditions.append(name(expressions.filters[slot.filter]))
        by = None if slot.by is None else expressions.arguments[slot.by]
        columns.append((slot.name, slot_sql(slot, argument, by, tuple(conditions))))
    return Select(columns=tuple(columns), source=source, group_by=tuple(map(name, keys)), note="one row per entity")


def _latest(view: CompiledView) -> Select:
    kept = [*key_names(view), *(slot.name for slot in window_slots(view))]
    columns = [(label, name(label)) for label in kept]
    columns.append((LAST, name(_LATEST, EVENT)))
    for slot in latest_slots(view):
        assert slot.argument is not None
        columns.append((slot.name, render(slot.argument, _in_latest)))
    return Select(columns=tuple(columns), source="slots", note="what the latest row says")


def _in_latest(column: Column) -> tuple[str, str]:
    return (_LATEST, column_name(column))


def _rows(view: CompiledView, as_of: Instant, source: str) -> Select:
    keys = [(key.name, name(label)) for key, label in zip(view.keys, key_names(view), strict=True)]

    def within(age: int) -> Sql:
        return f"{name(LAST)} >= {instant(as_of - age)}"

    return Select(
        columns=(*keys, (LAST_EVENT, name(LAST)), *feature_columns(view, within)),
        source=source,
        note=f"{view.name} as of {format_instant(as_of)}",
    )


class _CountedSink:
    """A sink that also counts rows: those it is given, or what `read` makes of them; without a sink it only counts."""

    def __init__(self, sink: Sink | None, read: BatchFunction | None) -> None:
        self._sink = sink
        self._read = read

    def __call__(self, batches: Batches) -> Batches:
        rows = 0

        def counting() -> Batches:
            nonlocal rows
            for batch in batches if self._read is None else self._read(batches):
                rows += batch.num_rows
                yield batch

        if self._sink is not None:
            yield from self._sink(counting())
        else:
            for _ in counting():
                pass
        yield counter_batch({ROWS: rows})

"""Tiles: what the aggregates need of an entity's rows of one refresh step, in one row. Merged, they are its slots.

Reading an entity's whole reach again because of one new row is most of an incremental refresh's work. Tiles stand for
those rows: one per entity and *bucket* (from one instant of the view's grid to the next), with parts that add up
exactly, in whatever order (`aggregates`): counts, sums of integers, of decimals and of floats' digits, extremes, the
greatest row. The parts don't know of windows: a window takes the buckets from its start on.

That is right where rows only ever come, and windows begin where buckets do (`can_tile`, `begins_with_buckets`).
Versions also go, and what they leave is made anew (`corrections`). It is not for states, nor for the last n rows, and
what orders or lists rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from featurekit.clock import Instant
from featurekit.compiled import CompiledView, Slot, SlotFunction
from featurekit.definitions.source import SourceKind
from featurekit.offline.materialize import materialize_steps
from featurekit.offline.rows_sql import LAST, RowExpressions, latest_slots, window_slots
from featurekit.offline.slots_sql import digit_names, rest_name
from featurekit.offline.source import CREATED, EVENT, column_name, key_names
from featurekit.offline.sql import (
    Query,
    Select,
    Sql,
    call,
    canonical,
    case,
    cast,
    filtered,
    instant,
    long,
    name,
    try_cast,
)
from featurekit.types import DataType, Decimal, Float64, is_float, is_integer
from featurekit.windows import Calendar, Elapsed, start_of

TILES: Final = "featurekit_tiles"
BUCKET: Final = "$bucket"
MADE: Final = "$made"  # as of which refresh, where tiles can be void
ROWS: Final = "featurekit_rows"
ALL_EVENTS: Final = "events of all"
_NEWEST: Final = "$newest"
_MOST_BUCKETS: Final = 400  # that are told apart one by one
_ROOMY: Final = 28  # a sum of more digits does not fit a decimal, and is collected (`slots_sql`)
_SUMS: Final = (SlotFunction.SUM, SlotFunction.AVG)
_MERGED: Final = (*_SUMS, SlotFunction.COUNT, SlotFunction.MIN, SlotFunction.MAX, SlotFunction.LATEST)


def can_tile(view: CompiledView, as_of: Instant) -> bool:
    """Return whether a view's slots can be merged from tiles, if its windows begin where buckets do."""
    is_state = view.source.kind is not SourceKind.EVENTS
    if is_state or view.since(as_of) is None or not all(map(_can_merge, view.slots)):
        return False
    return len(_buckets(view, as_of)) <= _MOST_BUCKETS


def _can_merge(slot: Slot) -> bool:
    kind = None if slot.argument is None else slot.argument.type
    if slot.function in _SUMS and isinstance(kind, Decimal) and kind.precision > _ROOMY:
        return False
    return slot.function in _MERGED and (slot.window is None or isinstance(slot.window, Elapsed | Calendar))


def begins_with_buckets(view: CompiledView, as_of: Instant) -> bool:
    """Return whether each window as of an instant begins where a bucket does; by local days it can be an hour off."""
    starts = (start_of(slot.window, as_of) for slot in view.slots if slot.window is not None)
    return all(start is not None and view.view.grid.contains(start) for start in starts)


def first_bucket(view: CompiledView, as_of: Instant) -> Instant:
    """Return the bucket in which the reach of a view begins."""
    since = view.since(as_of)
    assert since is not None
    return view.view.grid.floor(since)


def _buckets(view: CompiledView, as_of: Instant) -> tuple[Instant, ...]:
    """Return the buckets of a zone's grid; those of UTC follow from arithmetic."""
    grid = view.view.grid
    return () if grid.timezone is None else grid.between(first_bucket(view, as_of), as_of)


def bucket_sql(view: CompiledView, as_of: Instant) -> Sql:
    grid = view.view.grid
    if grid.timezone is None:
        micros = call("unix_micros", name(EVENT))
        return call("timestamp_micros", f"{micros} - {call('pmod', micros, long(grid.every))}")
    newest_first = [(f"{name(EVENT)} >= {instant(at)}", instant(at)) for at in reversed(_buckets(view, as_of))]
    return case(*newest_first, otherwise="CAST(NULL AS TIMESTAMP)")


def tile_steps(view: CompiledView, as_of: Instant, raw: tuple[Sql, ...], where: tuple[Sql, ...]) -> Query:
    """Return the steps that make tiles of the rows visible as of an instant which satisfy conditions on events.

    `raw` are conditions on raw rows that none of them fails.
    """
    steps: list[tuple[str, Select]] = []
    for label, step in materialize_steps(view, as_of).steps:
        match label:
            case "slots":
                break
            case "source":
                steps.append((label, replace(step, where=(*step.where, *raw))))
            case "events":
                chosen = Select(columns=(("*", "*"),), source=ALL_EVENTS, where=where, note="that came since")
                steps += [(ALL_EVENTS, step), (label, chosen)]
            case _:
                steps.append((label, step))
    return _tiled(view, as_of, Query(steps=tuple(steps)))


def tiles_of_rows(view: CompiledView, as_of: Instant) -> Query:
    """Return the steps that make tiles of ROWS, in which each event is once, in its newest version."""
    labels, chosen = zip(*materialize_steps(view, as_of).steps, strict=True)
    first, end = labels.index("versions"), labels.index("slots")
    newest = Select(columns=(("*", "*"), ("$version", "1")), source=ROWS)
    steps = (("versions", newest), *zip(labels[first + 1 : end], chosen[first + 1 : end], strict=True))
    return _tiled(view, as_of, Query(steps=steps))


def _tiled(view: CompiledView, as_of: Instant, rows: Query) -> Query:
    keys = tuple((key, name(key)) for key in key_names(view))
    made = ((MADE, instant(as_of)),) if view.source.event_id is not None else ()
    bucket = Select(columns=(("*", "*"), (BUCKET, bucket_sql(view, as_of))), source=rows.last)
    tiles = Select(
        columns=(*keys, (BUCKET, name(BUCKET)), *made, *_parts(view).values()),
        source="buckets",
        group_by=(*map(name, key_names(view)), name(BUCKET)),
        note="one row per entity and bucket",
    )
    return rows.then("buckets", bucket).then("tiles", tiles)


def slots_from_tiles(view: CompiledView, as_of: Instant, where: tuple[Sql, ...]) -> Query:
    """Return the steps that compute a view's rows as of an instant from tiles that satisfy conditions."""
    steps = materialize_steps(view, as_of).steps
    position = [label for label, _ in steps].index("slots")
    labels = [label for label, _ in steps[position][1].columns]
    from_start = f"{name(BUCKET)} >= {instant(first_bucket(view, as_of))}"
    merged = Select(
        columns=tuple(_slot_column(view, label, as_of) for label in labels),
        source=TILES,
        where=(from_start, *where),
        group_by=tuple(map(name, key_names(view))),
        note="one row per entity",
    )
    known = {*key_names(view), *(slot.name for slot in view.slots)}
    (newest,) = (label for label in labels if label not in known)
    last = name(newest) if newest == LAST else name(newest, EVENT)
    since = view.since(as_of)
    assert since is not None
    # The first bucket may begin before the reach does.
    found = Select(columns=(("*", "*"),), source="merged", where=(f"{last} >= {instant(since)}",))
    return Query(steps=(("merged", merged), ("slots", found), *steps[position + 1 :]))


def _slot_column(view: CompiledView, label: str, as_of: Instant) -> tuple[str, Sql]:
    if label in key_names(view):
        return label, name(label)
    slot = next((slot for slot in window_slots(view) if slot.name == label), None)
    return label, f"max({name(_NEWEST)})" if slot is None else _merged(view, slot, as_of)


def _parts(view: CompiledView) -> dict[str, tuple[str, Sql]]:
    """Return the columns of a tile, by name: each an aggregate over rows."""
    if latest_slots(view):
        order = (EVENT, CREATED, *(column_name(column) for column in view.columns))
        newest = f"max({call('struct', *map(name, order))})"
    else:
        newest = f"max({name(EVENT)})"
    parts = {_NEWEST: (_NEWEST, newest)}
    expressions = RowExpressions.of(view)
    for slot in window_slots(view):
        argument = None if slot.argument is None else expressions.arguments[slot.argument]
        conditions = () if slot.filter is None else (name(expressions.filters[slot.filter]),)
        for part, aggregate in _aggregates(slot, argument):
            label = _part(view, slot, part)
            parts[label] = (label, filtered(aggregate, conditions))
    return parts


def _part(view: CompiledView, slot: Slot, part: str) -> str:
    """Return the column of a slot's part: slots that differ in their windows alone share it."""
    expressions = RowExpressions.of(view)
    argument = "" if slot.argument is None else expressions.arguments[slot.argument]
    only = "" if slot.filter is None else expressions.filters[slot.filter]
    return f"{part}{argument}{only}"


def _aggregates(slot: Slot, argument: str | None) -> list[tuple[str, Sql]]:
    counted = ("$count", "count(*)" if argument is None else f"count({name(argument)})")
    if argument is None or slot.argument is None or slot.function is SlotFunction.COUNT:
        return [counted]
    kind = slot.argument.type
    if slot.function in _SUMS:
        return [*_sum_parts(argument, kind), counted]
    return [(f"${slot.function.value}", f"{slot.function.value}({canonical(name(argument), kind)})")]


def _sum_parts(argument: str, kind: DataType) -> list[tuple[str, Sql]]:
    if is_float(kind):
        digits = [(f"$sum{number}", f"sum({name(digit)})") for number, digit in enumerate(digit_names(argument))]
        return [*digits, ("$rest", f"collect_list({name(rest_name(argument))})")]
    return [("$sum", f"sum({cast(name(argument), Decimal(38, 0)) if is_integer(kind) else name(argument)})")]


def _merged(view: CompiledView, slot: Slot, as_of: Instant) -> Sql:
    """Return a slot's aggregate over tiles: what `slots_sql` has over rows, with parts in their place."""
    assert slot.window is not None
    start = start_of(slot.window, as_of)
    assert start is not None
    inside = (f"{name(BUCKET)} >= {instant(start)}",)

    def over(function: str, part: str) -> Sql:
        return filtered(f"{function}({name(_part(view, slot, part))})", inside)

    counted = call("coalesce", over("sum", "$count"), "0L")
    if slot.argument is None or slot.function is SlotFunction.COUNT:
        return counted
    if slot.function not in _SUMS:
        return over(slot.function.value, f"${slot.function.value}")
    kind, result = slot.argument.type, slot.type
    if is_float(kind):
        expressions = RowExpressions.of(view)
        count = len(digit_names(expressions.arguments[slot.argument]))
        digits = call("array", *(over("sum", f"$sum{number}") for number in range(count)))
        total = call("featurekit_sum", digits, call("flatten", over("collect_list", "$rest")), counted)
    else:
        total = over("sum", "$sum")
    if slot.function is SlotFunction.SUM:
        return total if is_float(kind) else try_cast(total, result)
    if isinstance(kind, Decimal):
        assert isinstance(result, Decimal)
        text = f"CAST({cast(total, Decimal(38, kind.scale))} AS STRING)"
        return try_cast(call("featurekit_decimal_average", text, counted, str(result.scale)), result)
    return call("try_divide", total if is_float(kind) else cast(total, Float64()), cast(counted, Float64()))

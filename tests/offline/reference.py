"""What a view's rows are, in slow plain Python: DESIGN T1 to T6 and V2 to V4 once more, from the text alone.

Nothing of featurekit's computation is used. Rows are dicts in memory, a feature is a Python function, and for each
entity every row is looked at for every feature. The parts: `reference_time` (clocks, grids, windows),
`reference_numbers` (aggregates of values), `reference_hash`, `reference_training` (label rows).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.offline.reference_numbers import aggregate, canonical, typed
from tests.offline.reference_time import Window, day_start, inside, instant_of, start_of

Row = dict[str, Any]
PRESENT, NULL, MISSING, EXPIRED = range(4)
EVENTS, CHANGES, SNAPSHOTS = "events", "changes", "snapshots"
EVENT, CREATED, UNTIL = "$event", "$created", "$until"


@dataclass(frozen=True, kw_only=True)
class Source:
    """What rows of a log are: events, changes of things, or the whole table again and again.

    Columns of `clocks` are readings of clocks in `zone`, those of `dates` days since 1970: instants at the day's start.
    """

    kind: str = EVENTS
    event: str = "event"
    created: str | None = "created"
    version_of: str | None = None
    thing: tuple[str, ...] = ()
    until: str | None = None
    deleted: Callable[[Row], Any] = lambda _: False
    known_from: int | None = None
    lag: int = 0
    zone: str | None = None
    clocks: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """An aggregate over the rows that `over` holds (None: all, of a state) and for which `only` is true."""

    function: str
    over: Window | None = None
    value: Callable[[Row], Any] = lambda row: row
    only: Callable[[Row], Any] = lambda _: True
    scale: int | None = None  # of a decimal average
    by: Callable[[Row], Any] | None = None
    limit: int = 1
    kind: str = ""  # the type of what is hashed
    place: int | None = None  # in a result that is a list


@dataclass(frozen=True, kw_only=True)
class Latest:
    value: Callable[[Row], Any]
    ttl: int | None = None


@dataclass(frozen=True, kw_only=True)
class Combined:
    """What an expression makes of several aggregates."""

    parts: tuple[Aggregate, ...]
    meaning: Callable[..., Any]


Feature = Aggregate | Latest | Combined


@dataclass(frozen=True, kw_only=True)
class View:
    """`order` are the columns that break ties, by name: what features, `where` and `deleted` refer to."""

    keys: tuple[str, ...]
    features: dict[str, Feature]
    order: tuple[str, ...]
    source: Source = Source()
    where: Callable[[Row], Any] = lambda _: True
    lateness: int = 0


@dataclass(frozen=True)
class Expected:
    last_event: int
    values: dict[str, Any] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)


def rows_as_of(log: Iterable[Row], view: View, as_of: int) -> dict[tuple[Any, ...], Expected]:
    """Return the row of each entity that has one."""
    entities: dict[tuple[Any, ...], list[Row]] = {}
    for row in visible([read(row, view.source) for row in log], view, as_of):
        key = key_of(row, view)
        if None not in key and view.where(row) is True:
            entities.setdefault(key, []).append(row)
    starts = [start for feature in view.features.values() for start in starts_of(feature, as_of)]
    bounds = [start for start in starts if start is not None]
    since = min(bounds) if len(bounds) == len(starts) else -math.inf
    return {
        key: entity_row(rows, view, as_of) for key, rows in entities.items() if any(row[EVENT] >= since for row in rows)
    }


def nothing(view: View, as_of: int) -> Expected:
    """Return what the features of an entity without any row are."""
    row = Expected(0)
    for name, feature in view.features.items():
        if isinstance(feature, Latest):
            row.values[name], row.statuses[name] = None, MISSING
        else:
            row.values[name] = value_of(feature, [], view, as_of)
    return row


def read(row: Row, source: Source) -> Row:
    """Return a row with its times as instants: when it happened, when it was known, until when it holds."""

    def at(column: str) -> int | None:
        value: int | None = row[column]
        if value is None or (column not in source.clocks and column not in source.dates):
            return value
        assert source.zone is not None
        return day_start(value, source.zone) if column in source.dates else instant_of(value, source.zone)

    event = at(source.event)
    created = event if source.created is None else at(source.created)
    if created is not None and source.known_from is not None and created < source.known_from:
        created = None if event is None else event + source.lag
    times = {name: at(name) for name in (*source.clocks, *source.dates)}
    return row | times | {EVENT: event, CREATED: created, UNTIL: None if source.until is None else at(source.until)}


def key_of(row: Row, view: View) -> tuple[Any, ...]:
    return tuple(canonical(row[name]) for name in view.keys)


def happened(row: Row, as_of: int) -> bool:
    return row[EVENT] is not None and row[EVENT] < as_of


def known(row: Row, view: View, as_of: int) -> bool:
    return row[CREATED] is not None and row[CREATED] <= as_of + view.lateness


def visible(rows: list[Row], view: View, as_of: int) -> list[Row]:
    """Return the rows that say something as of an instant."""
    candidates = [row for row in rows if known(row, view, as_of)]
    if view.source.kind == SNAPSHOTS:
        return newest_snapshot(candidates, as_of)
    if view.source.kind == CHANGES:
        return states([row for row in candidates if happened(row, as_of)], view, as_of)
    return [row for row in newest_versions(candidates, view) if happened(row, as_of)]


def newest_versions(rows: list[Row], view: View) -> list[Row]:
    if view.source.version_of is None:
        return rows
    newest: dict[Any, Row] = {}
    alone = []
    for row in rows:
        event = row[view.source.version_of]
        if event is None:
            alone.append(row)
        elif event not in newest or version_key(row, view) > version_key(newest[event], view):
            newest[event] = row
    return [*newest.values(), *alone]


def version_key(row: Row, view: View) -> tuple[Any, ...]:
    return tuple(typed(row[name]) for name in (CREATED, EVENT, *view.keys, *view.order))


def states(rows: list[Row], view: View, as_of: int) -> list[Row]:
    """Return how each thing is: its greatest row, unless that one deletes it or has ended."""
    things: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        thing = tuple(canonical(row[name]) for name in view.source.thing or view.keys)
        if None not in thing and (thing not in things or state_key(row, view) > state_key(things[thing], view)):
            things[thing] = row
    return [row for row in things.values() if view.source.deleted(row) is not True and holds(row, as_of)]


def state_key(row: Row, view: View) -> tuple[Any, ...]:
    return tuple(typed(row[name]) for name in (EVENT, CREATED, *view.keys, UNTIL, *view.order))


def holds(row: Row, as_of: int) -> bool:
    return row[UNTIL] is None or row[UNTIL] >= as_of


def newest_snapshot(rows: list[Row], as_of: int) -> list[Row]:
    """Return the rows of the last time that any row is of."""
    taken = [row[EVENT] for row in rows if happened(row, as_of)]
    return [row for row in rows if row[EVENT] == max(taken)] if taken else []


def starts_of(feature: Feature, as_of: int) -> list[int | None]:
    """Return from when on a row decides a feature; None for ever."""
    if isinstance(feature, Combined):
        return [start for part in feature.parts for start in starts_of(part, as_of)]
    if isinstance(feature, Latest):
        return [None if feature.ttl is None else as_of - 2 * feature.ttl]
    return [None if feature.over is None else start_of(feature.over, as_of)]


def entity_row(rows: list[Row], view: View, as_of: int) -> Expected:
    rows = sorted(rows, key=lambda row: place(row, view))
    found = Expected(rows[-1][EVENT])
    for name, feature in view.features.items():
        if isinstance(feature, Latest):
            found.values[name], found.statuses[name] = latest(rows[-1], feature, as_of)
        else:
            found.values[name] = value_of(feature, rows, view, as_of)
    return found


def place(row: Row, view: View) -> tuple[Any, ...]:
    """Return a row's place in the total order."""
    return tuple(typed(row[name]) for name in (EVENT, CREATED, *view.order))


def latest(newest: Row, feature: Latest, as_of: int) -> tuple[Any, int]:
    age = as_of - newest[EVENT]
    if feature.ttl is not None and age > 2 * feature.ttl:
        return None, MISSING
    if feature.ttl is not None and age > feature.ttl:
        return None, EXPIRED
    value = feature.value(newest)
    if isinstance(value, float) and math.isnan(value):
        value = math.nan
    return value, NULL if value is None else PRESENT


def value_of(feature: Aggregate | Combined, rows: list[Row], view: View, as_of: int) -> Any:
    """Return what a feature is over an entity's rows, given in their total order."""
    if isinstance(feature, Combined):
        return feature.meaning(*(value_of(part, rows, view, as_of) for part in feature.parts))
    held = rows if feature.over is None else inside(rows, feature.over, as_of, EVENT)
    held = [row for row in held if feature.only(row) is True]
    if feature.function in ("min_by", "max_by", "collect_last"):
        value = by_order(feature, held)
    else:
        values = [feature.value(row) for row in held]
        value = aggregate(feature.function, values, kind=feature.kind, limit=feature.limit, scale=feature.scale)
    return value if feature.place is None else ((value or []) + [None] * feature.limit)[feature.place]


def by_order(feature: Aggregate, rows: list[Row]) -> Any:
    """Return what the first or the last row says."""
    if feature.function == "collect_last":
        present = [canonical(value) for row in rows if (value := feature.value(row)) is not None]
        return present[-feature.limit :] or None
    by = feature.by
    if by is not None:
        rows = sorted((row for row in rows if by(row) is not None), key=lambda row: typed(by(row)))
    if not rows:
        return None
    return canonical(feature.value(rows[0 if feature.function == "min_by" else -1]))

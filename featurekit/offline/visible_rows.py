"""Which rows of a source are visible, beyond when each happened and was known: what other rows say about them.

    events      the newest known version of each event
    changes     of each thing the newest known row, unless it says that the thing is gone or has ended
    snapshots   the known rows of the newest snapshot of which any row is known

Each rule is here twice, in two shapes that don't share their SQL, so that each can check the other: as of one instant
(`rows_as_of`, by ranks), and for all instants at once (`rows_over_time`, by when each row comes and goes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.definitions.source import SourceKind
from featurekit.offline.engine import BatchEngine
from featurekit.offline.rows_sql import row_sql
from featurekit.offline.source import (
    CREATED,
    EVENT,
    ID,
    SUPERSEDED,
    VALID_TO,
    column_name,
    event_steps,
    frame_name,
    key_names,
    newest_version,
    read_source,
    row_key_names,
    superseded_at,
)
from featurekit.offline.sql import (
    Join,
    Query,
    Select,
    Sql,
    before,
    call,
    case,
    instant,
    long,
    name,
    over,
    render_query,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KNOWN: Final = "$known"
BEATEN: Final = "$beaten"
ENDED: Final = "$ended"
_COMES: Final = "$comes"
_SNAPSHOT: Final = "$snapshot"
_EARLIER: Final = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"


def rows_as_of(view: CompiledView, query: Query, as_of: Instant) -> tuple[Query, tuple[Sql, ...]]:
    """Return the query over `events` with what tells the rows visible as of an instant, and what those satisfy.

    `events` has what was known by then. When rows happened is for the caller to ask, but where it decides about others.
    """
    match view.source.kind:
        case SourceKind.EVENTS:
            return _newest_versions(view, query)
        case SourceKind.CHANGES:
            return _newest_states(view, query, as_of)
        case SourceKind.SNAPSHOTS:
            return _newest_snapshot(query, as_of)


def _newest_versions(view: CompiledView, query: Query) -> tuple[Query, tuple[Sql, ...]]:
    if view.source.event_id is None:
        return query, ()
    versions = Select(
        columns=(("*", "*"), ("$version", newest_version(view))),
        source=query.last,
        note="of each event, the versions; the newest known one is 1",
    )
    return query.then("versions", versions), (f"({name('$version')} = 1 OR {name(ID)} IS NULL)",)


def _newest_states(view: CompiledView, query: Query, as_of: Instant) -> tuple[Query, tuple[Sql, ...]]:
    newest = over("row_number()", partition_by=_row_key(view), order_by=_newest_first(view))
    states = Select(
        columns=(("*", "*"), ("$state", newest)),
        source=query.last,
        where=(before(name(EVENT), as_of), *_is_a_thing(view)),
        note="of each thing, what was said about it; what holds is 1",
    )
    conditions = [f"{name('$state')} = 1", *is_there(view)]
    if view.source.valid_to is not None:
        conditions.append(f"coalesce({name(VALID_TO)} >= {instant(as_of)}, true)")
    return query.then("states", states), tuple(conditions)


def _newest_snapshot(query: Query, as_of: Instant) -> tuple[Query, tuple[Sql, ...]]:
    events = query.last
    newest = Select(
        columns=((_SNAPSHOT, call("max", name(EVENT))),),
        source=events,
        where=(before(name(EVENT), as_of),),
        note="the newest snapshot of which a row is known",
    )
    both = Select(columns=(("*", "*"),), source=events, note="the rows of all of them")
    query = query.then("newest", newest).then("rows of snapshots", both)
    return query, (f"{name(EVENT)} = (SELECT {name(_SNAPSHOT)} FROM {name('newest')})",)


def rows_over_time(view: CompiledView, query: Query) -> Query:
    """Return the query over `events` with two columns more, known-ats in microseconds.

    `$known` is when a row could be known. `$superseded` is from when on it holds no more (NULL: it does for ever). So a
    row is visible as of g while `$known` <= g + allowed_lateness < `$superseded`, if it happened before and `is_there`.

    One stretch of as-ofs is enough for each row, whatever arrives late. What can be known, and what has happened, only
    ever grows with g. So a row is beaten from the first g on at which any greater row can be seen, by that one or by a
    greater one still, and never comes back. When it ends (`valid_to`) is said by the row itself. A row of a snapshot is
    beaten by the first row of any later snapshot; the others of its own beat it never, whenever they land.
    """
    match view.source.kind:
        case SourceKind.EVENTS:
            return _versions_over_time(view, query)
        case SourceKind.CHANGES:
            return _states_over_time(view, query)
        case SourceKind.SNAPSHOTS:
            return _snapshots_over_time(view, query)


def _versions_over_time(view: CompiledView, query: Query) -> Query:
    versioned = view.source.event_id is not None
    superseded = call("unix_micros", superseded_at(view)) if versioned else "CAST(NULL AS BIGINT)"
    step = Select(
        columns=(("*", "*"), (KNOWN, call("unix_micros", name(CREATED))), (SUPERSEDED, superseded)),
        source=query.last,
        note="until when each version was the newest one known" if versioned else "each row is known for ever",
    )
    return query.then("versions", step)


def _states_over_time(view: CompiledView, query: Query) -> Query:
    known = call("unix_micros", name(CREATED))
    step = Select(
        columns=(("*", "*"), (KNOWN, known), (_COMES, _comes(view, known)), (ENDED, _ended(view))),
        source=query.last,
        where=_is_a_thing(view),
        note="from when on each row can decide",
    )
    beaten = over(f"min({name(_COMES)})", partition_by=_row_key(view), order_by=_newest_first(view), rows=_EARLIER)
    states = Select(columns=(("*", "*"), (BEATEN, beaten)), source="comes", note="until a later row about it comes")
    holds = Select(
        columns=(("*", "*"), (SUPERSEDED, call("least", name(BEATEN), name(ENDED)))),
        source="states",
        note="until that, or until what it says has ended",
    )
    return query.then("comes", step).then("states", states).then("holds", holds)


def _snapshots_over_time(view: CompiledView, query: Query) -> Query:
    known = Select(
        columns=(("*", "*"), (KNOWN, call("unix_micros", name(CREATED)))),
        source=query.last,
        note="when each row is known",
    )
    snapshots = Select(
        columns=((_SNAPSHOT, name(EVENT)), (_COMES, _comes(view, call("min", name(KNOWN))))),
        source="known",
        group_by=(name(EVENT),),
        note="from when on a row of each snapshot can decide",
    )
    beaten = over(f"min({name(_COMES)})", partition_by=["true"], order_by=[f"{name(_SNAPSHOT)} DESC"], rows=_EARLIER)
    turns = Select(
        columns=((_SNAPSHOT, name(_SNAPSHOT)), (SUPERSEDED, beaten)),
        source="snapshots",
        note="until when: a row of a later one comes first",
    )
    on = (f"{name('known', EVENT)} = {name('turns', _SNAPSHOT)}",)
    step = Select(columns=(("*", "*"),), source="known", joins=(Join(source="turns", alias="turns", on=on),))
    query = query.then("known", known).then("snapshots", snapshots)
    return query.then("turns", turns).then("rows of snapshots", step)


def _comes(view: CompiledView, known: Sql) -> Sql:
    """Return the known-at of the first as-of that a row is visible at: it happened before it, and is known."""
    # NULL where the as-of is beyond all timestamps: such a row never comes.
    happened = _known_at_after(view, name(EVENT))
    return case((f"{happened} IS NOT NULL", call("greatest", happened, known)))


def _ended(view: CompiledView) -> Sql:
    return "CAST(NULL AS BIGINT)" if view.source.valid_to is None else _known_at_after(view, name(VALID_TO))


def _known_at_after(view: CompiledView, time: Sql) -> Sql:
    """Return the known-at of the first as-of after an instant."""
    return call("try_add", call("unix_micros", time), long(view.view.allowed_lateness + 1))


def is_there(view: CompiledView) -> tuple[Sql, ...]:
    """Return what a row satisfies that does not say that a thing is gone."""
    return () if view.deleted is None else (f"coalesce(NOT {row_sql(view.deleted)}, true)",)


def _is_a_thing(view: CompiledView) -> tuple[Sql, ...]:
    return (*(f"{part} IS NOT NULL" for part in _row_key(view)), f"{name(EVENT)} IS NOT NULL")


def _row_key(view: CompiledView) -> tuple[Sql, ...]:
    return tuple(map(name, row_key_names(view)))


def _newest_first(view: CompiledView) -> tuple[Sql, ...]:
    # The exact reverse of the order of rows (DESIGN T4): Spark puts NULL last where it sorts downwards.
    ends = () if view.source.valid_to is None else (VALID_TO,)  # else two ends of one row would be a toss-up
    rest = (*key_names(view), *ends, *(column_name(column) for column in view.columns))
    return tuple(f"{name(part)} DESC" for part in (EVENT, CREATED, *rest))


def newest_snapshot(engine: BatchEngine, view: CompiledView, as_of: Instant) -> Instant | None:
    """Return which snapshot is visible as of an instant, None where none is: a query over the two time columns.

    Rows of earlier ones need not be read then, and none later than it can be visible at an earlier instant.
    """
    known_at = as_of + view.view.allowed_lateness
    query = event_steps(view, known_by=known_at, since=None, until=as_of)
    query, _ = rows_as_of(view, query, as_of)
    steps = query.steps[:-1]
    assert steps[-1][0] == "newest"
    table: pa.Table = engine.to_arrow(_frame(engine, view, Query(steps=steps)))
    found = table[_SNAPSHOT].cast(pa.int64())[0].as_py()
    return None if found is None else int(found)


def _frame(engine: BatchEngine, view: CompiledView, query: Query) -> DataFrame:
    return engine.query(render_query(query), {frame_name(view): read_source(engine, view)})

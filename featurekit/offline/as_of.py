"""A view as of many instants at once: the path of `point_in_time`, of the check and of `trace`.

Another shape than `materialize`, so that each can check the other: events and as-ofs of one entity are brought
together and swept once (`sweep`). The cost grows as events + as-ofs, whatever the skew of the keys.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from featurekit.clock import Instant
from featurekit.compiled import CompiledView, Slot, SlotFunction
from featurekit.definitions.source import SourceKind
from featurekit.expr.nodes import Node
from featurekit.offline.engine import BatchEngine
from featurekit.offline.rows_sql import (
    LAST,
    RowExpressions,
    feature_columns,
    is_ordered,
    latest_arguments,
    row_conditions,
    row_sql,
)
from featurekit.offline.source import (
    CREATED,
    EVENT,
    SUPERSEDED,
    column_name,
    entity_key,
    event_steps,
    frame_name,
    key_names,
    read_source,
)
from featurekit.offline.sql import (
    Query,
    Select,
    Sql,
    before,
    call,
    canonical,
    case,
    cast,
    instant,
    long,
    name,
    render_query,
)
from featurekit.offline.sweep import AS_OF, IS_AS_OF, IS_EVENT, KIND, Sweep
from featurekit.offline.sweep_slots import SweepSlot
from featurekit.offline.visible_rows import KNOWN, is_there, newest_snapshot, rows_over_time
from featurekit.rows import LAST_EVENT
from featurekit.types import Boolean, DataType, Field, Int64

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REQUESTS: Final = "featurekit_requests"
_SLOTS: Final = "featurekit_slots"
FOUND: Final = "found"


@dataclass(frozen=True, slots=True)
class Span:
    """The earliest and the latest as-of that is asked for: what lies outside of their reach is not read."""

    earliest: Instant
    latest: Instant


def as_of_rows(
    engine: BatchEngine,
    view: CompiledView,
    requests: DataFrame,
    *,
    between: Span | None = None,
    labelled: bool = False,
) -> DataFrame:
    """Return a view's rows at explicit as-ofs: one per distinct entity and as-of of `requests`, seen or not.

    `requests` has the view's join keys and `as_of` (timestamp). The result has the columns of `rows.offline_schema`
    (`__last_event` NULL where no event is visible), then `as_of` and `found`. A request with a null key has no row.
    With `labelled`, events of entities that no request names are dropped before they are sorted.
    """
    keys = [(label, entity_key(key, name(key.name))) for label, key in zip(key_names(view), view.keys, strict=True)]
    columns = (*keys, (AS_OF, call("unix_micros", name("as_of"))))
    step = Select(columns=columns, source=REQUESTS)
    asked = engine.query(render_query(Query(steps=(("requests", step),))), {REQUESTS: requests})
    slots = as_of_slots(engine, view, asked, between or span_of(engine, asked), labelled=labelled)

    def within(age: int) -> Sql:
        return f"unix_micros({name(LAST)}) >= {name(AS_OF)} - {long(age)}"

    rows = Select(
        columns=(
            *((key.name, name(label)) for key, label in zip(view.keys, key_names(view), strict=True)),
            (LAST_EVENT, name(LAST)),
            *feature_columns(view, within),
            ("as_of", call("timestamp_micros", name(AS_OF))),
            (FOUND, f"{name(LAST)} IS NOT NULL"),
        ),
        source=_SLOTS,
    )
    return engine.query(render_query(Query(steps=(("rows", rows),))), {_SLOTS: slots})


def span_of(engine: BatchEngine, requests: DataFrame) -> Span | None:
    """Return the span of the as-ofs in `$as_of`, or None where there is none: runs a query."""
    columns = (("low", call("min", name(AS_OF))), ("high", call("max", name(AS_OF))))
    step = Select(columns=columns, source=REQUESTS)
    found = engine.to_arrow(engine.query(render_query(Query(steps=(("span", step),))), {REQUESTS: requests}))
    low, high = found["low"][0].as_py(), found["high"][0].as_py()
    return None if low is None else Span(low, high)


def as_of_slots(
    engine: BatchEngine, view: CompiledView, requests: DataFrame, between: Span | None, *, labelled: bool = False
) -> DataFrame:
    """Return the slots frame of a view for `requests` (`$key0` …, `$as_of` as bigint): one row per distinct request.

    With `labelled`, events of entities that no request names are dropped before they are sorted.
    """
    frames = {frame_name(view): read_source(engine, view), REQUESTS: requests}
    snapshot = None
    if view.source.kind is SourceKind.SNAPSHOTS and between is not None:
        snapshot = newest_snapshot(engine, view, between.earliest)
    together = engine.query(render_query(_query(view, between, snapshot, labelled=labelled)), frames)
    return engine.map_batches(together, sweep_of(view), sweep_of(view).schema)


def explain_as_of_sql(view: CompiledView, between: Span | None) -> Sql:
    """Return the SQL that brings events and as-ofs together for the sweep."""
    return render_query(_query(view, between))


def sweep_of(view: CompiledView) -> Sweep:
    expressions = RowExpressions.of(view)
    latest = latest_arguments(view)
    return Sweep(
        keys=tuple(Field(label, key.type) for label, key in zip(key_names(view), view.keys, strict=True)),
        slots=tuple(_sweep_slot(slot, expressions, latest) for slot in view.slots),
        last=LAST,
        reach=view.reach,
        lateness=view.view.allowed_lateness,
    )


def _sweep_slot(slot: Slot, expressions: RowExpressions, latest: dict[Node, str]) -> SweepSlot:
    is_latest = slot.function is SlotFunction.LATEST
    arguments = latest if is_latest else expressions.arguments
    if slot.function is SlotFunction.APPROX_COUNT_DISTINCT:
        arguments = _hashed(expressions, (slot,))
    return SweepSlot(
        name=slot.name,
        function=slot.function,
        argument=None if slot.argument is None else arguments[slot.argument],
        argument_type=None if slot.argument is None else slot.argument.type,
        filter=None if slot.filter is None else expressions.filters[slot.filter],
        window=slot.window,
        type=slot.type,
        by=None if slot.by is None else arguments[slot.by],
        parameter=slot.parameter,
    )


def _hashed(expressions: RowExpressions, slots: tuple[Slot, ...]) -> dict[Node, str]:
    """Return the columns of hashes, by what is hashed, for the slots that count by them."""
    counting = [slot for slot in slots if slot.function is SlotFunction.APPROX_COUNT_DISTINCT]
    arguments = [slot.argument for slot in counting if slot.argument is not None]
    return {node: f"{expressions.arguments[node]}_hash" for node in arguments}


def _hash(value: Sql) -> Sql:
    """Return Spark's 64-bit hash, which is what its approx_count_distinct takes of a value; NULL of NULL."""
    return case((f"{value} IS NOT NULL", call("xxhash64", value)))


def _query(
    view: CompiledView, between: Span | None, snapshot: Instant | None = None, *, labelled: bool = False
) -> Query:
    """Return the steps; no snapshot before `snapshot` is visible at any of the as-ofs."""
    known_by = None if between is None else between.latest + view.view.allowed_lateness
    since = None if between is None else view.since(between.earliest)
    until = None if between is None else between.latest
    query = event_steps(view, known_by=known_by, since=since if snapshot is None else snapshot, until=until)
    query = rows_over_time(view, query)
    inputs = _inputs(view)
    events = _event_rows(view, query.last, inputs, since, until)
    if labelled:
        query = query.then("labelled", _labelled(view, query.last))
        events = replace(events, source="labelled")
    query = query.then("together", events)
    order = [*key_names(view), KIND, EVENT]
    if is_ordered(view):
        # The order of rows: DESIGN T4. Spark sorts NULL first and NaN last, as struct comparison does.
        order += [CREATED, *(f"$o{position}" for position in range(len(view.columns)))]
    return query.then(
        "sorted",
        Select(
            columns=(("*", "*"),),
            source="together",
            distribute_by=tuple(map(name, key_names(view))),
            sort_by=tuple(map(name, order)),
            note="each entity's events in order, then its as-ofs",
        ),
    )


def _inputs(view: CompiledView) -> tuple[tuple[str, Sql, DataType], ...]:
    """Return what the sweep takes of each row, and what orders rows: (column, expression, type)."""
    expressions = RowExpressions.of(view)
    inputs: list[tuple[str, Sql, DataType]] = [
        (label, canonical(row_sql(node), node.type), node.type) for node, label in expressions.arguments.items()
    ]
    hashed = _hashed(expressions, view.slots)
    inputs += [(label, _hash(canonical(row_sql(node), node.type)), Int64()) for node, label in hashed.items()]
    inputs += [(label, row_sql(node), Boolean()) for node, label in expressions.filters.items()]
    inputs += [(label, row_sql(node), node.type) for node, label in latest_arguments(view).items()]
    if is_ordered(view):
        inputs += [
            (f"$o{position}", name(column_name(column)), column.type) for position, column in enumerate(view.columns)
        ]
    return tuple(inputs)


def _labelled(view: CompiledView, source: str) -> Select:
    same = " AND ".join(f"{name(REQUESTS, label)} = {name(source, label)}" for label in key_names(view))
    asked = f"EXISTS (SELECT 1 FROM {name(REQUESTS)} WHERE {same})"
    return Select(columns=(("*", "*"),), source=source, where=(asked,), note="of the entities that are asked about")


def _event_rows(
    view: CompiledView, source: str, inputs: tuple[tuple[str, Sql, DataType], ...], since: int | None, until: int | None
) -> Select:
    keys = [(label, name(label)) for label in key_names(view)]
    asked = Select(
        columns=(
            *keys,
            (KIND, f"{IS_AS_OF}Y"),
            (EVENT, name(AS_OF)),
            (CREATED, "CAST(NULL AS BIGINT)"),
            (SUPERSEDED, "CAST(NULL AS BIGINT)"),
            *((label, cast("NULL", kind)) for label, _, kind in inputs),
        ),
        source=REQUESTS,
        where=tuple(f"{name(label)} IS NOT NULL" for label in key_names(view)),
    )
    lower = () if since is None else (f"{name(EVENT)} >= {instant(since)}",)
    upper = (f"{name(EVENT)} IS NOT NULL",) if until is None else (before(name(EVENT), until),)
    return Select(
        columns=(
            *keys,
            (KIND, f"{IS_EVENT}Y"),
            (EVENT, call("unix_micros", name(EVENT))),
            (CREATED, name(KNOWN)),
            (SUPERSEDED, name(SUPERSEDED)),
            *((label, expression) for label, expression, _ in inputs),
        ),
        source=source,
        where=(*lower, *upper, *is_there(view), *row_conditions(view)),
        union=asked,
        note="events, then the as-ofs that are asked for",
    )


def known_entities(engine: BatchEngine, view: CompiledView) -> DataFrame:
    """Return the distinct entities that have any row in a view's source, by their join keys; nulls are no entity."""
    query = event_steps(view, known_by=None, since=None, until=None)
    keys = [(key.name, name(label)) for key, label in zip(view.keys, key_names(view), strict=True)]
    step = Select(
        columns=tuple(keys),
        source="events",
        where=tuple(f"{name(label)} IS NOT NULL" for label in key_names(view)),
        group_by=tuple(map(name, key_names(view))),
    )
    return engine.query(render_query(query.then("entities", step)), {frame_name(view): read_source(engine, view)})


def at_instants(engine: BatchEngine, entities: DataFrame, instants: tuple[Instant, ...]) -> DataFrame:
    """Return each entity at each instant: requests for `as_of_rows`."""
    times = call("array", *(call("timestamp_micros", long(at)) for at in instants))
    step = Select(columns=(("*", "*"), ("as_of", call("explode", times))), source="featurekit_entities")
    return engine.query(render_query(Query(steps=(("requests", step),))), {"featurekit_entities": entities})

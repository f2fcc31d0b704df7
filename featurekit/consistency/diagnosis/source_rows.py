"""The source rows of some entities, brought here once: what every counterfactual world is computed from.

They are rows of an events step (`offline.source`) before anything is said about which of them are visible, with all
columns of the source, so that another definition can be computed from them too. Beside the rows of the entities
themselves there are those that decide about them: of each event all versions and of each thing all that is said about
it, whoever's it is; of each snapshot one row without keys, which says that it is there. And there are the rows that
another spelling of a key would bring in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Final

import numpy as np
import pyarrow as pa

from featurekit.clock import DAY
from featurekit.compile_features import RowScope
from featurekit.compiled import CompiledView, KeyColumn
from featurekit.consistency.cells import Flags
from featurekit.consistency.entity_keys import key_table
from featurekit.consistency.population import view_keys
from featurekit.definitions.source import SourceKind
from featurekit.expr.nodes import Column
from featurekit.key_sample import key_hash
from featurekit.offline.as_of import Span
from featurekit.offline.engine import BatchEngine
from featurekit.offline.rows_sql import row_sql
from featurekit.offline.source import (
    CREATED,
    EVENT,
    ID,
    VALID_TO,
    column_name,
    entity_key,
    event_steps,
    frame_name,
    key_names,
    read_source,
    row_key_names,
)
from featurekit.offline.sql import (
    Query,
    Select,
    Sql,
    before,
    call,
    case,
    cast,
    filtered,
    instant,
    name,
    over,
    render_query,
)
from featurekit.targets.spark import render_string
from featurekit.types import Float64, Int64, String, is_nested, is_numeric

ROW: Final = "$row"
MOST_ROWS: Final = 150_000
"""A world of so many rows takes a quarter of a second, and there are hundreds of worlds."""
REFRESHES_BEFORE: Final = 7
REFRESHES_AFTER: Final = 3
"""How many refreshes before and after those that are asked about the rows reach."""
_MOST_COLUMNS: Final = 60
_SLACK: Final = 2 * DAY  # zones are half a day apart at most, and a window may be meant a day longer
_ASKED: Final = "featurekit_asked"
_AGE: Final = "$age"
_ROWS: Final = "featurekit_rows"
_BLANKS: Final = r"^[\s\p{Z}]+|[\s\p{Z}]+$"
_BEYOND_ASCII: Final = r"[^\x00-\x7F]"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRows:
    """Rows of a view's source: `$key0` …, `$event`, `$created` (microseconds), `$id` and the like, source columns.

    All rows from `since` on are here (None: all), up to a few refreshes behind the last as-of, and where latest values
    expire the newest before it. `whole` says which of the entities that were asked about have all their rows here: all
    of them, but where there are more rows than are held; then the rows of some entities are left out. `means` has of
    each numeric column that the view reads its mean over the rows of all entities, and over those that happened before
    the last as-of.
    """

    table: pa.Table
    whole: Flags
    since: int | None
    means: Mapping[str, tuple[float, ...]]


def fetch_rows(
    engine: BatchEngine,
    view: CompiledView,
    entities: Sequence[Sequence[Any]],
    span: Span,
    *,
    most: int = MOST_ROWS,
) -> SourceRows:
    """Return the source rows of the entities, and those near them, for as-ofs in a span and a few refreshes around it.

    `entities` are join-key values, held as `types` says. Runs one query, and another where there are more than `most`
    rows. SourceError and BatchEngineError as reading the source does.
    """
    wide = replace(view, columns=_all_columns(view))
    since, until = _reach(view, span)
    keys = key_table([tuple(entity) for entity in entities], view_keys(view))
    frames = {frame_name(view): read_source(engine, wide), _ASKED: engine.from_arrow(keys)}
    # An old version may be of any time, and so may a latest value without its ttl.
    everything = view.source.event_id is not None or _forgets(view)
    events = event_steps(wide, known_by=None, since=None if everything else since, until=None if everything else until)
    frame, count = engine.held(engine.query(render_query(_near(wide, events, since, until)), frames))
    whole = np.ones(len(entities), np.bool_)
    if count > most:
        whole = _affordable(engine.to_arrow(engine.query(_counts(view), {_ROWS: frame})), keys, most)
        frames = {_ROWS: frame, _ASKED: engine.from_arrow(keys.filter(pa.array(whole)))}
        labels = [label for label, _ in dict(events.steps)["events"].columns]
        held = Query(steps=(("events", _columns(labels, _ROWS)),))
        frame = engine.query(render_query(_near(wide, held, since, until)), frames)
    table = engine.to_arrow(frame).combine_chunks()
    for label in (EVENT, CREATED, VALID_TO):
        if label in table.column_names:
            table = table.set_column(table.column_names.index(label), label, table[label].cast(pa.int64()))
    means = _means(engine, view, span.latest)
    return SourceRows(table=with_places(table), whole=whole, since=since, means=means)


def with_places(table: pa.Table) -> pa.Table:
    """Return rows with ROW: their places, which they keep whatever is changed about them."""
    return table.append_column(ROW, pa.array(np.arange(table.num_rows, dtype=np.int64)))


def _means(engine: BatchEngine, view: CompiledView, before: int) -> dict[str, tuple[float, ...]]:
    numbers = [column for column in view.columns if is_numeric(column.type) and column.nullable]
    if not numbers:
        return {}
    columns = []
    for at, column in enumerate(numbers):
        mean = call("avg", cast(name(column_name(column)), Float64()))
        columns += [(f"all{at}", mean), (f"before{at}", filtered(mean, [f"{name(EVENT)} < {instant(before)}"]))]
    query = event_steps(view, known_by=None, since=None, until=None)
    query = query.then("means", Select(columns=tuple(columns), source=query.last))
    frames = {frame_name(view): read_source(engine, view)}
    (found,) = engine.to_arrow(engine.query(render_query(query), frames)).to_pylist()
    both = {column.name: (found[f"all{at}"], found[f"before{at}"]) for at, column in enumerate(numbers)}
    return {
        label: tuple(dict.fromkeys(mean for mean in means if mean is not None and isfinite(mean)))
        for label, means in both.items()
    }


def _all_columns(view: CompiledView) -> tuple[Column, ...]:
    """Return the view's source columns, then the others that are not too wide, as far as there is room."""
    others = [
        column
        for column in RowScope.of(view.source, view.source_schema).columns.values()
        if column not in view.columns and not is_nested(column.type)
    ]
    return (*view.columns, *others[: max(_MOST_COLUMNS - len(view.columns), 0)])


def _reach(view: CompiledView, span: Span) -> tuple[int | None, int | None]:
    """Return the instants between which the rows of entities can matter; None where any can."""
    if view.source.kind is not SourceKind.EVENTS:
        return None, None
    start = view.since(span.earliest)
    before, after = (steps * view.view.refresh.every + _SLACK for steps in (REFRESHES_BEFORE, REFRESHES_AFTER))
    # A window may have been meant as long again.
    return None if start is None else start - max(before, span.earliest - start), span.latest + after


def _forgets(view: CompiledView) -> bool:
    """Return whether a latest value expires: without its ttl it may be of any age."""
    return any(feature.is_latest and feature.ttl is not None for feature in view.features)


def _near(view: CompiledView, query: Query, since: int | None, until: int | None) -> Query:
    """Return the query of `events` cut to the rows that are of the entities, or decide about rows that are."""
    labels = [label for label, _ in dict(query.steps)["events"].columns]
    asked = [(f"$a{at}", _folded(key, entity_key(key, name(key.name)))) for at, key in enumerate(view.keys)]
    query = query.then("asked", Select(columns=tuple(asked), source=_ASKED, note="keys, whatever their spelling"))
    same = [
        f"{name('asked', f'$a{at}')} = {_folded(key, name('events', label))}"
        for at, (key, label) in enumerate(zip(view.keys, key_names(view), strict=True))
    ]
    upper = () if until is None else (before(name(EVENT), until),)
    own = replace(_columns(labels, "events"), where=(_exists("asked", same), *upper))
    query = query.then("own", own)
    if since is not None:
        query = _recent(view, query, labels, since)
    if parts := _deciding(view):
        return _with_things(query, labels, parts)
    if view.source.kind is SourceKind.SNAPSHOTS:
        both = replace(_columns(labels, query.last), union=_snapshots(labels))
        return query.then("near", both)
    return query


def _recent(view: CompiledView, query: Query, labels: Sequence[str], since: int) -> Query:
    """Return the query without rows before an instant; where a latest value expires, with the newest of those."""
    recent = f"{name(EVENT)} >= {instant(since)}"
    if not _forgets(view):
        return query.then("recent", replace(_columns(labels, query.last), where=(recent,)))
    wanted = "true" if view.where is None else f"coalesce({row_sql(view.where)}, false)"
    parts = [*map(name, key_names(view)), recent, wanted]
    rank = over("rank()", partition_by=parts, order_by=[f"{name(EVENT)} DESC"])
    ranked = Select(columns=(("*", "*"), (_AGE, rank)), source=query.last, note="the newest of the old rows is 1")
    kept = f"({recent} OR ({wanted} AND {name(_AGE)} = 1))"
    return query.then("ranked", ranked).then("recent", replace(_columns(labels, "ranked"), where=(kept,)))


def _with_things(query: Query, labels: Sequence[str], parts: Sequence[str]) -> Query:
    """Return the query with all rows, whoever's, about what its rows are about; those about nothing stay."""
    own = query.last
    named = tuple(f"{name(part)} IS NOT NULL" for part in parts)
    things = Select(
        columns=tuple((part, name(part)) for part in parts),
        source=own,
        where=named,
        group_by=tuple(map(name, parts)),
        note="what the rows of the entities are about",
    )
    same = [f"{name('things', part)} = {name('events', part)}" for part in parts]
    nameless = replace(_columns(labels, own), where=(f"NOT ({' AND '.join(named)})",))
    about = replace(_columns(labels, "events"), where=(_exists("things", same),), union=nameless)
    return query.then("things", things).then("near", about)


def _columns(labels: Sequence[str], source: str) -> Select:
    return Select(columns=tuple((label, name(label)) for label in labels), source=source)


def _deciding(view: CompiledView) -> tuple[str, ...]:
    """Return the columns by which rows of other entities decide about rows of one."""
    if view.source.event_id is not None:
        return (ID,)
    parts = row_key_names(view) if view.source.kind is SourceKind.CHANGES else ()
    return () if parts == key_names(view) else parts


def _snapshots(labels: Sequence[str]) -> Select:
    """Return one row without keys for each snapshot: when it was taken, and when its first row was known."""
    values = {EVENT: name(EVENT), CREATED: call("min", name(CREATED))}
    return Select(
        columns=tuple((label, values.get(label, "NULL")) for label in labels),
        source="events",
        group_by=(name(EVENT),),
        note="that each snapshot is there, whoever is in it",
    )


def _exists(source: str, conditions: Sequence[Sql]) -> Sql:
    return f"EXISTS (SELECT 1 FROM {name(source)} WHERE {' AND '.join(conditions)})"


def _folded(key: KeyColumn, value: Sql) -> Sql:
    """Return a key in a form that all its spellings share; texts beyond ASCII share one."""
    match key.type:
        case String():
            trimmed = call("lower", call("regexp_replace", value, render_string(_BLANKS), "''"))
            return case((f"{trimmed} RLIKE {render_string(_BEYOND_ASCII)}", "''"), otherwise=trimmed)
        case Int64():
            return f"({value} & 4294967295L)"
        case _:
            return value


def _counts(view: CompiledView) -> Sql:
    labels = key_names(view)
    columns = (*((label, name(label)) for label in labels), ("$rows", "count(*)"))
    step = Select(columns=columns, source=_ROWS, group_by=tuple(map(name, labels)))
    return render_query(Query(steps=(("counts", step),)))


def _affordable(counts: pa.Table, keys: pa.Table, most: int) -> Flags:
    """Return which of the entities to keep, in the order of their hashes, so that at most so many rows are theirs."""
    rows = {tuple(key): count for *key, count in zip(*(column.to_pylist() for column in counts.columns), strict=True)}
    asked = list(zip(*(column.to_pylist() for column in keys.columns), strict=True))
    placed = key_hash()
    kept = np.zeros(len(asked), np.bool_)
    for at in sorted(range(len(asked)), key=lambda at: placed(repr(asked[at]).encode())):
        most -= rows.get(asked[at], 0)
        kept[at] = most >= 0
    return kept

"""The source rows behind a leak: those that a row's value was computed from and that serving could not see yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.consistency.leakage.table import Ints
from featurekit.consistency.leakage.values import variant
from featurekit.consistency.population import view_keys
from featurekit.consistency.recompute import InPlace
from featurekit.offline.engine import BatchEngine
from featurekit.offline.rows_sql import row_conditions
from featurekit.offline.source import EVENT, SUPERSEDED, entity_key, event_steps, frame_name, key_names, read_source
from featurekit.offline.sql import Join, Query, Select, call, long, name, render_query
from featurekit.offline.visible_rows import KNOWN, rows_over_time
from featurekit.types import Field, Int64, Schema

SHOWN_ROWS: Final = 3
_ASKED: Final = "featurekit_asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """Rows of a source that a cell's value needs and serving had not: how many, when the last happened and landed.

    `rows` are some of them, the last to land first, as (event, created); no row at all where the value differs because
    others had left its window.
    """

    count: int
    last_event: Instant | None
    last_created: Instant | None
    rows: tuple[tuple[Instant, Instant], ...]


def hidden_rows(
    engine: BatchEngine, view: CompiledView, keys: pa.Table, served: Ints, as_of: Ints, *, knows_all: bool
) -> list[Hidden]:
    """Return for each cell the rows that count as of an instant, and did not as of the refresh that served it."""
    until = np.maximum(served, as_of)
    starts = [view.since(int(at)) for at in np.minimum(served, as_of)]
    fields = (*view_keys(view), *(Field(label, Int64()) for label in ("$cell", "$served", "$until", "$since")))
    since = pa.array(starts, pa.int64())
    columns = [*keys.columns, pa.array(np.arange(len(served))), pa.array(served), pa.array(until), since]
    asked = pa.table(columns, names=[field.name for field in fields])
    frame = engine.map_batches(engine.query("SELECT 1 AS one"), InPlace(table=asked), Schema(fields))
    frames = {_ASKED: frame, frame_name(view): read_source(engine, view)}
    known = [start for start in starts if start is not None]
    seen = variant(view, knows_all=knows_all, no_ttl=False)
    query = event_steps(
        seen,
        known_by=None,
        since=min(known) if len(known) == len(starts) and known else None,
        until=int(until.max()),
    )
    query = rows_over_time(seen, query)
    query = query.then("counting", Select(columns=(("*", "*"),), source=query.last, where=row_conditions(view)))
    found = engine.to_arrow(engine.query(render_query(_joined(query, view, seen)), frames)).to_pylist()
    cells = {row["cell"]: row for row in found}
    return [_hidden(cells[place]) for place in range(len(served))]


def _joined(query: Query, view: CompiledView, seen: CompiledView) -> Query:
    event, created, superseded = call("unix_micros", name("e", EVENT)), name("e", KNOWN), name("e", SUPERSEDED)
    late, waited = (long(each.view.allowed_lateness) for each in (view, seen))
    served, until, since = (name("a", label) for label in ("$served", "$until", "$since"))
    on = [
        f"{name('e', label)} = {entity_key(key, name('a', key.name))}"
        for label, key in zip(key_names(view), view.keys, strict=True)
    ]
    on += [f"{event} < {until}", f"({since} IS NULL OR {event} >= {since})"]
    on.append(f"({event} >= {served} OR {created} > {served} + {late})")
    on += [f"{created} <= {until} + {waited}", f"coalesce({superseded} > {until} + {waited}, true)"]
    pair = f"named_struct('created', {created}, 'event', {event})"
    some = f"collect_list({pair}) FILTER (WHERE {event} IS NOT NULL)"
    columns = (
        ("cell", name("a", "$cell")),
        ("count", call("count", event)),
        ("last_event", call("max", event)),
        ("last_created", call("max", created)),
        ("rows", call("slice", call("sort_array", some, "false"), "1", str(SHOWN_ROWS))),
    )
    step = Select(
        columns=columns,
        source=_ASKED,
        alias="a",
        joins=(Join(source="counting", alias="e", on=tuple(on)),),
        group_by=(name("a", "$cell"),),
    )
    return query.then("hidden", step)


def _hidden(row: dict[str, object]) -> Hidden:
    rows = row["rows"]
    assert isinstance(rows, list)
    return Hidden(
        count=row["count"],  # type: ignore[arg-type]
        last_event=row["last_event"],  # type: ignore[arg-type]
        last_created=row["last_created"],  # type: ignore[arg-type]
        rows=tuple((each["event"], each["created"]) for each in rows),
    )

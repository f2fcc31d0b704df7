"""What puts an entity into strata: how many rows it has and when, asked of the source in one query.

The rows are those of the shape that the check recomputes by (`rows_over_time`), not of the one that wrote the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.consistency.strata import HASHED, Stratum
from featurekit.offline.rows_sql import row_conditions
from featurekit.offline.source import EVENT, SUPERSEDED, event_steps, key_names
from featurekit.offline.sql import Query, Select, Sql, before, call, filtered, instant, long, name
from featurekit.offline.visible_rows import KNOWN, is_there, rows_over_time
from featurekit.windows import start_of

BITS: Final = "$bits"
ROWS: Final = "$rows"
_COLD_REFRESHES: Final = 10
_EDGE_PART: Final = 8  # of a short window everything were its edge


def activity_query(view: CompiledView, as_of: Instant, snapshot: Instant | None) -> Query:
    """Return the query for each entity with rows before an as-of: its keys, its strata as bits, its visible rows.

    `snapshot` is the one that is visible, of a source of snapshots.
    """
    known_at = as_of + view.view.allowed_lateness
    since = view.since(as_of)
    edges = tuple(_edges(view, as_of))
    earliest = None if since is None else min([since, *(low for low, _ in edges)])
    if snapshot is not None:
        earliest = snapshot
    query = rows_over_time(view, event_steps(view, known_by=None, since=earliest, until=as_of))
    # The source is pruned as far as its files allow: rows that were read by chance must not decide.
    lower = () if earliest is None else (f"{name(EVENT)} >= {instant(earliest)}",)
    holds = [f"{name(KNOWN)} <= {long(known_at)}", f"coalesce({name(SUPERSEDED)} > {long(known_at)}, true)"]
    rows = Select(
        columns=(
            *((label, name(label)) for label in key_names(view)),
            (EVENT, name(EVENT)),
            (KNOWN, name(KNOWN)),
            ("$holds", " AND ".join(holds)),
            ("$reached", " AND ".join(holds if since is None else [*holds, f"{name(EVENT)} >= {instant(since)}"])),
        ),
        source=query.last,
        where=(*lower, before(name(EVENT), as_of), *is_there(view), *row_conditions(view)),
        note="rows that happened before the as-of, whether known by then or later",
    )
    bits = " + ".join(
        f"CASE WHEN {condition} THEN {1 << HASHED.index(stratum)} ELSE 0 END"
        for stratum, condition in _conditions(view, as_of, since, edges)
    )
    entities = Select(
        columns=(
            *((key.name, name(label)) for key, label in zip(view.keys, key_names(view), strict=True)),
            (BITS, f"CAST({bits} AS INT)"),
            (ROWS, filtered("count(*)", [name("$reached")])),
        ),
        source="before",
        group_by=tuple(map(name, key_names(view))),
        note="one row per entity",
    )
    return query.then("before", rows).then("entities", entities)


def _conditions(
    view: CompiledView, as_of: Instant, since: Instant | None, edges: tuple[tuple[Instant, Instant], ...]
) -> Iterator[tuple[Stratum, Sql]]:
    refresh = as_of - view.view.grid.floor(as_of - 1)
    reached = name("$reached")
    last = filtered(call("max", name(EVENT)), [reached])
    yield Stratum.RECENT, f"{last} >= {instant(as_of - refresh)}"
    cold = _COLD_REFRESHES * refresh
    if since is not None:
        cold = max(refresh, min(cold, (as_of - since) // 2))
    yield Stratum.COLD, f"{last} < {instant(as_of - cold)}"
    if edges:
        near = [f"{name(EVENT)} >= {instant(low)} AND {before(name(EVENT), high)}" for low, high in edges]
        either = " OR ".join(f"({each})" for each in near)
        yield Stratum.EDGE, call("bool_or", f"{name('$holds')} AND ({either})")
    landed = f"{name(KNOWN)} - unix_micros({name(EVENT)}) > {long(refresh)}"
    unknown_yet = f"{name(KNOWN)} > {long(as_of + view.view.allowed_lateness)}"
    yield Stratum.LATE, call("bool_or", f"({landed}) OR ({unknown_yet})")


def _edges(view: CompiledView, as_of: Instant) -> Iterator[tuple[Instant, Instant]]:
    """Yield what lies around each instant at which rows leave a window or expire."""
    refresh = as_of - view.view.grid.floor(as_of - 1)
    windows = dict.fromkeys(slot.window for slot in view.slots if slot.window is not None)
    starts = [start_of(window, as_of) for window in windows]
    starts += [as_of - feature.ttl for feature in view.features if feature.ttl is not None]
    for start in dict.fromkeys(start for start in starts if start is not None):
        around = min(refresh, (as_of - start) // _EDGE_PART)
        yield start - around, start + around

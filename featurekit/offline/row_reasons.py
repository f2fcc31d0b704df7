"""How many rows of an entity count as of an instant, and why the others don't."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.source import SourceKind
from featurekit.expr.nodes import Literal
from featurekit.offline.engine import BatchEngine
from featurekit.offline.rows_sql import row_conditions
from featurekit.offline.source import EVENT, SUPERSEDED, event_steps, frame_name, key_names, read_source, row_key_names
from featurekit.offline.sql import Select, Sql, filtered, instant, long, name, render_query
from featurekit.offline.visible_rows import BEATEN, ENDED, KNOWN, is_there, rows_over_time
from featurekit.targets.spark import render_literal
from featurekit.types import DataType


class Reason(StrEnum):
    """Why a row does not count, in the order in which people are told."""

    LATE = "late"
    SUPERSEDED = "superseded"
    DELETED = "deleted"
    ENDED = "ended"
    NAMELESS = "nameless"
    UNWANTED = "not wanted"
    LATER = "later"


_SUPERSEDED: Final = {
    SourceKind.EVENTS: "superseded by a newer version",
    SourceKind.CHANGES: "superseded by a newer row of the same row key",
    SourceKind.SNAPSHOTS: "of earlier snapshots than the newest",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """`counted` rows decide the entity's values; `excluded` are the others in the view's reach, by reason."""

    counted: int
    excluded: dict[Reason, int]


def count_rows(engine: BatchEngine, view: CompiledView, keys: tuple[Any, ...], as_of: Instant) -> RowCounts:
    """Return the counts for an entity, named by values as `types` holds them: a query over the whole source."""
    query = rows_over_time(view, event_steps(view, known_by=None, since=None, until=None))
    conditions = _conditions(view, as_of)
    start = view.since(as_of)
    since = () if start is None else (f"{name(EVENT)} >= {instant(start)}",)
    own = [
        f"{name(label)} = {_literal(key.type, value)}"
        for label, key, value in zip(key_names(view), view.keys, keys, strict=True)
    ]
    where = (f"{name(EVENT)} IS NOT NULL", *own)
    counts: list[tuple[str, Sql]] = [(Reason.NAMELESS, _nameless(view, (*where, *since)))]
    passed: tuple[Sql, ...] = ()
    for reason, condition in conditions.items():
        reach = () if reason is Reason.LATER else since
        counts.append((reason, filtered("count(*)", (*passed, f"NOT {condition}", *reach))))
        passed = (*passed, condition)
    counts.append(("counted", filtered("count(*)", (*passed, *since))))
    text = render_query(query.then("counts", Select(columns=tuple(counts), source=query.last, where=where)))
    (row,) = engine.to_arrow(engine.query(text, {frame_name(view): read_source(engine, view)})).to_pylist()
    excluded = {reason: int(row[reason]) for reason in Reason if row[reason]}
    return RowCounts(counted=int(row["counted"]), excluded=excluded)


def _nameless(view: CompiledView, where: tuple[Sql, ...]) -> Sql:
    """Return how many of an entity's rows are about nothing: those that `rows_over_time` leaves out."""
    parts = row_key_names(view) if view.row_key else ()
    if not parts:
        return "0"
    missing = " OR ".join(f"{name(part)} IS NULL" for part in parts)
    return f"(SELECT count(*) FROM {name('events')} WHERE {' AND '.join(where)} AND ({missing}))"


def _conditions(view: CompiledView, as_of: Instant) -> dict[Reason, Sql]:
    """Return what a row has to satisfy, none of it NULL, by the reason that it does not count.

    Each is asked of the rows that those before it left.
    """
    known_at = long(as_of + view.view.allowed_lateness)
    there = " AND ".join(is_there(view)) or "true"
    changes = view.source.kind is SourceKind.CHANGES
    beaten = BEATEN if changes else SUPERSEDED
    return {
        Reason.LATER: f"({name(EVENT)} < {instant(as_of)})",
        Reason.LATE: f"coalesce({name(KNOWN)} <= {known_at}, false)",
        Reason.SUPERSEDED: f"coalesce({name(beaten)} > {known_at}, true)",
        Reason.DELETED: f"({there})",
        Reason.ENDED: f"coalesce({name(ENDED)} > {known_at}, true)" if changes else "true",
        Reason.UNWANTED: f"coalesce({' AND '.join(row_conditions(view))}, false)",
    }


def show_reason(view: CompiledView, reason: Reason, as_of: Instant) -> str:
    """Return a reason in words that stand behind a number of rows."""
    match reason:
        case Reason.LATER:
            return f"at or after {format_instant(as_of)}"
        case Reason.LATE:
            return f"known only after {format_instant(as_of + view.view.allowed_lateness)}"
        case Reason.SUPERSEDED:
            return _SUPERSEDED[view.source.kind]
        case Reason.DELETED:
            return "say by `deleted` that it is gone"
        case Reason.ENDED:
            return f"ended before {format_instant(as_of)}"
        case Reason.NAMELESS:
            return "with a NULL in the row key"
        case Reason.UNWANTED:
            return "not wanted by `where`"


def _literal(kind: DataType, value: Any) -> Sql:
    return render_literal(Literal(type=kind, nullable=False, value=value))

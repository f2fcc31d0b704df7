"""How the numbers of checks went: one point for each day, of the run that found the most on it, read as such."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, and_, func, select

from featurekit.clock import DAY, Instant
from featurekit.registry.check_tables import CHECK_FIELDS, CHECK_RUNS, CHECK_VIEWS


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDay:
    """One field on one day (`start`, UTC): what was compared, what differed, its share of the population, the run."""

    start: Instant
    cells: int
    differing: int
    share: float
    run: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewDay:
    """One view on one day: the least coverage, by how much the served as-of was behind the promised one at most (µs).

    `run` is the last one of the day.
    """

    start: Instant
    coverage: float | None
    behind: int | None
    run: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """One view's days and those of its fields, oldest first; a day without a run has no point."""

    days: tuple[ViewDay, ...] = ()
    fields: Mapping[str, tuple[FieldDay, ...]]

    def of(self, field: str) -> tuple[FieldDay, ...]:
        """Return one field's days."""
        return self.fields.get(field, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Runs of one kind whose lookups asked from `since` to `until`, both included, as far as they are of `views`."""

    kind: str
    views: Collection[str]
    since: Instant
    until: Instant


def read_trends(connection: Connection, namespace: str, period: Period) -> dict[str, Trend]:
    """Return the trend of each view that a run of the period checked.

    The database picks the day's run: of hourly checks of thousands of fields all others would be read for nothing.
    """
    fields: dict[str, dict[str, list[FieldDay]]] = {}
    for row in connection.execute(_field_days(namespace, period)):
        point = FieldDay(start=row.day * DAY, cells=row.cells, differing=row.differing, share=row.share, run=row.run)
        fields.setdefault(row.view, {}).setdefault(row.field, []).append(point)
    days: dict[str, list[ViewDay]] = {}
    for row in connection.execute(_view_days(namespace, period)):
        behind = None if row.behind is None else max(0, row.behind)
        point_ = ViewDay(start=row.day * DAY, coverage=row.coverage, behind=behind, run=row.run)
        days.setdefault(row.view, []).append(point_)
    return {
        view: Trend(days=tuple(found), fields={name: tuple(points) for name, points in fields.get(view, {}).items()})
        for view, found in days.items()
    }


def _field_days(namespace: str, period: Period) -> Any:
    table, day = CHECK_FIELDS, (CHECK_RUNS.c.at // DAY).label("day")
    place = func.row_number().over(
        partition_by=(table.c.view, table.c.field, CHECK_RUNS.c.at // DAY),
        order_by=(table.c.share.desc(), CHECK_RUNS.c.at.desc(), table.c.run.desc()),
    )
    ranked = _of(table, select(table, day, place.label("place")), namespace, period).where(table.c.cells > 0).subquery()
    return select(ranked).where(ranked.c.place == 1).order_by(ranked.c.view, ranked.c.field, ranked.c.day)


def _view_days(namespace: str, period: Period) -> Any:
    table, day = CHECK_VIEWS, CHECK_RUNS.c.at // DAY
    query = select(
        table.c.view,
        day.label("day"),
        func.min(table.c.coverage).label("coverage"),
        func.max(table.c.promised_as_of - table.c.as_of).label("behind"),
        func.max(table.c.run).label("run"),
    )
    return _of(table, query, namespace, period).group_by(table.c.view, day).order_by(table.c.view, day)


def _of(table: Table, query: Any, namespace: str, period: Period) -> Any:
    joined = and_(CHECK_RUNS.c.namespace == table.c.namespace, CHECK_RUNS.c.run == table.c.run)
    return query.join(CHECK_RUNS, joined).where(
        table.c.namespace == namespace,
        table.c.view.in_(period.views),
        CHECK_RUNS.c.kind == period.kind,
        CHECK_RUNS.c.at.between(period.since, period.until),
    )

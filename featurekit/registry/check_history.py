"""What checks found, run by run: numbers per field and their causes for a history, and each whole report, compressed.

A run's number is one more than the newest; the newest run is never dropped, so no number is given twice. What a field's
cells differ for is kept with the as-of since when it is known: the next run that finds the same cause takes that over,
so it outlives the runs that saw it first.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, func, insert, or_, select

from featurekit.clock import Instant
from featurekit.registry.check_run import CheckedField, CheckedView, CheckRun, KeptCause, Retention
from featurekit.registry.check_tables import CHECK_FIELDS, CHECK_RUNS, CHECK_TABLES, CHECK_VIEWS
from featurekit.registry.check_trend import Period, Trend, read_trends
from featurekit.registry.database import Database


class CheckHistory:
    """The kept runs of one namespace; every method is one transaction."""

    def __init__(self, database: Database, namespace: str) -> None:
        self._database = database
        self._namespace = namespace

    def record(self, found: CheckRun, document: Callable[[CheckRun], str], retention: Retention) -> CheckRun:
        """Keep a run, and drop those that are too old; return it with its number and since when causes are known.

        `document` makes the report's JSON of what is returned: the kept report says of itself which run it is.
        """
        with self._database.writing() as connection:
            newest = connection.scalar(select(func.max(CHECK_RUNS.c.run)).where(self._own(CHECK_RUNS)))
            kept = replace(found, run=(newest or 0) + 1)
            kept = replace(kept, views=tuple(self._with_since(connection, kept, view) for view in kept.views))
            self._write(connection, kept, zlib.compress(document(kept).encode(), 9))
            self._drop(connection, kept, retention)
        return kept

    def runs(
        self,
        *,
        view: str | None = None,
        field: str | None = None,
        kind: str | None = None,
        last: int | None = None,
    ) -> tuple[CheckRun, ...]:
        """Return the kept runs, the newest first, with what they found of `view` and `field` only, where given."""
        with self._database.reading() as connection:
            query = select(CHECK_RUNS).where(self._own(CHECK_RUNS))
            if kind is not None:
                query = query.where(CHECK_RUNS.c.kind == kind)
            if view is not None or field is not None:
                of_it = CHECK_VIEWS if field is None else CHECK_FIELDS
                query = query.where(CHECK_RUNS.c.run.in_(select(of_it.c.run).where(self._about(of_it, view, field))))
            query = query.order_by(CHECK_RUNS.c.at.desc(), CHECK_RUNS.c.run.desc())
            found = connection.execute(query if last is None else query.limit(last)).all()
            numbers = [row.run for row in found]
            views = self._read_views(connection, numbers, view, field)
        return tuple(_run(row, tuple(views.get(row.run, ()))) for row in found)

    def trends(self, period: Period) -> dict[str, Trend]:
        """Return how the numbers of each view went day by day."""
        with self._database.reading() as connection:
            return read_trends(connection, self._namespace, period)

    def document(self, run: int | None = None) -> str | None:
        """Return a run's report as JSON, of the newest without a number; None where it is not kept."""
        newest = select(func.max(CHECK_RUNS.c.run)).where(self._own(CHECK_RUNS)).scalar_subquery()
        wanted = CHECK_RUNS.c.run == (newest if run is None else run)
        with self._database.reading() as connection:
            found = connection.scalar(select(CHECK_RUNS.c.document).where(self._own(CHECK_RUNS), wanted))
        return None if found is None else zlib.decompress(found).decode()

    def _own(self, table: Table) -> ColumnElement[bool]:
        return table.c.namespace == self._namespace

    def _about(self, table: Table, view: str | None, field: str | None) -> ColumnElement[bool]:
        asked = [table.c[name] == value for name, value in (("view", view), ("field", field)) if value is not None]
        return and_(self._own(table), *asked)

    def _with_since(self, connection: Connection, run: CheckRun, view: CheckedView) -> CheckedView:
        """Return the view's causes with since when: as the run before says, if it found the same; else from now on."""
        of_view = CHECK_VIEWS.c.view == view.view
        before = self._before(connection, run, CHECK_VIEWS, of_view) if view.causes else {}
        fields = []
        for each in view.fields:
            of_it = and_(CHECK_FIELDS.c.view == view.view, CHECK_FIELDS.c.field == each.field)
            known = self._before(connection, run, CHECK_FIELDS, of_it) if each.causes else {}
            fields.append(replace(each, causes=_since(each.causes, known, view.as_of)))
        return replace(view, causes=_since(view.causes, before, view.as_of), fields=tuple(fields))

    def _before(self, connection: Connection, run: CheckRun, table: Table, of_it: ColumnElement[bool]) -> _Since:
        """Return since when causes were known to the last run before that compared something of it."""
        compared = table.c.sampled > 0 if table is CHECK_VIEWS else table.c.cells > 0
        is_earlier = or_(CHECK_RUNS.c.at < run.at, and_(CHECK_RUNS.c.at == run.at, CHECK_RUNS.c.run < run.run))
        query = (
            select(table.c.causes)
            .join(CHECK_RUNS, and_(CHECK_RUNS.c.namespace == table.c.namespace, CHECK_RUNS.c.run == table.c.run))
            .where(self._own(table), of_it, compared, CHECK_RUNS.c.kind == run.kind, is_earlier)
            .order_by(CHECK_RUNS.c.at.desc(), CHECK_RUNS.c.run.desc())
            .limit(1)
        )
        found = connection.scalar(query)
        return {} if found is None else {each.cause: each.since for each in _causes(found)}

    def _write(self, connection: Connection, run: CheckRun, document: bytes) -> None:
        own: dict[str, Any] = {"namespace": self._namespace, "run": run.run}
        connection.execute(insert(CHECK_RUNS).values(**own, **_values(run, _RUN_COLUMNS), document=document))
        for view in run.views:
            causes = _causes_text(view.causes)
            connection.execute(insert(CHECK_VIEWS).values(**own, **_values(view, _VIEW_COLUMNS), causes=causes))
            rows = [
                {**own, "view": view.view, **_values(each, _FIELD_COLUMNS), "causes": _causes_text(each.causes)}
                for each in view.fields
            ]
            if rows:
                connection.execute(insert(CHECK_FIELDS), rows)

    def _drop(self, connection: Connection, run: CheckRun, retention: Retention) -> None:
        table = CHECK_RUNS
        beyond = (
            select(table.c.run).where(self._own(table)).order_by(table.c.run.desc()).offset(retention.runs).limit(1)
        )
        too_many = func.coalesce(beyond.scalar_subquery(), 0)
        too_old = table.c.recorded_at < run.recorded_at - retention.age
        gone = (table.c.run < run.run) & (too_old | (table.c.run <= too_many))
        numbers = connection.scalars(select(table.c.run).where(self._own(table), gone)).all()
        for one in CHECK_TABLES if numbers else ():
            connection.execute(delete(one).where(self._own(one), one.c.run.in_(numbers)))

    def _read_views(
        self, connection: Connection, runs: Sequence[int], view: str | None, field: str | None
    ) -> dict[int, list[CheckedView]]:
        if not runs:
            return {}
        fields: dict[tuple[int, str], list[CheckedField]] = {}
        table = CHECK_FIELDS
        query = select(table).where(self._about(table, view, field), table.c.run.between(min(runs), max(runs)))
        for row in connection.execute(query.order_by(table.c.view, table.c.field)):
            fields.setdefault((row.run, row.view), []).append(_field(row))
        found: dict[int, list[CheckedView]] = {}
        table = CHECK_VIEWS
        query = select(table).where(self._about(table, view, None), table.c.run.between(min(runs), max(runs)))
        for row in connection.execute(query.order_by(table.c.view)):
            own = tuple(fields.get((row.run, row.view), ()))
            if field is None or own:
                found.setdefault(row.run, []).append(_view(row, own))
        return found


_Since = dict[str, Instant | None]
_RUN_COLUMNS: Final = ("kind", "at", "recorded_at", "passed", "summary", "cells", "differing", "breaches")
_VIEW_COLUMNS: Final = ("view", "fingerprint", "outcome", "as_of", "promised_as_of", "sampled", "coverage")
_FIELD_COLUMNS: Final = ("field", "cells", "differing", "indeterminate", "share")


def _values(found: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(found, name) for name in names}


def _since(causes: Sequence[KeptCause], before: _Since, as_of: Instant | None) -> tuple[KeptCause, ...]:
    found = []
    for each in causes:
        known = [at for at in (each.since, before.get(each.cause), as_of) if at is not None]
        found.append(replace(each, since=min(known, default=None)))
    return tuple(found)


def _causes_text(causes: Sequence[KeptCause]) -> str:
    return json.dumps([[each.cause, each.count, each.since] for each in causes])


def _causes(text: str) -> tuple[KeptCause, ...]:
    return tuple(KeptCause(cause=cause, count=count, since=since) for cause, count, since in json.loads(text))


def _run(row: Any, views: tuple[CheckedView, ...]) -> CheckRun:
    return CheckRun(run=row.run, **_values(row, _RUN_COLUMNS), views=views)


def _view(row: Any, fields: tuple[CheckedField, ...]) -> CheckedView:
    return CheckedView(**_values(row, _VIEW_COLUMNS), causes=_causes(row.causes), fields=fields)


def _field(row: Any) -> CheckedField:
    return CheckedField(**_values(row, _FIELD_COLUMNS), causes=_causes(row.causes))

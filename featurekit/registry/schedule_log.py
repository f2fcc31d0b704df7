"""What the schedule has begun and ended, so that one that was killed knows where it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import delete, func, insert, select, update

from featurekit.clock import DAY, Instant
from featurekit.registry.database import Database
from featurekit.registry.operations_tables import SCHEDULED_RUNS

_KEEP: Final = 14 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledRun:
    """One thing that was due, and how far it is: not ended, it runs or was killed; `failure` says why it failed."""

    job: str
    due_at: Instant
    started_at: Instant
    attempts: int
    ended_at: Instant | None = None
    failure: str | None = None

    @property
    def is_done(self) -> bool:
        return self.ended_at is not None and self.failure is None


class ScheduleLog:
    """The runs of one namespace; every method is one transaction."""

    def __init__(self, database: Database, namespace: str) -> None:
        self._database = database
        self._namespace = namespace

    def latest(self) -> dict[str, ScheduledRun]:
        """Return the run of each job that was due last."""
        table, own = SCHEDULED_RUNS, SCHEDULED_RUNS.c.namespace == self._namespace
        newest = (
            select(table.c.job, func.max(table.c.due_at).label("due_at")).where(own).group_by(table.c.job).subquery()
        )
        is_newest = (table.c.job == newest.c.job) & (table.c.due_at == newest.c.due_at)
        with self._database.reading() as connection:
            found = connection.execute(select(table).join(newest, is_newest).where(own)).all()
        return {row.job: _run(row) for row in found}

    def last_successes(self) -> dict[str, Instant]:
        """Return when each job ended well last."""
        table = SCHEDULED_RUNS
        query = (
            select(table.c.job, func.max(table.c.ended_at).label("ended_at"))
            .where(table.c.namespace == self._namespace, table.c.failure.is_(None), table.c.ended_at.is_not(None))
            .group_by(table.c.job)
        )
        with self._database.reading() as connection:
            found = connection.execute(query).all()
        return {row.job: row.ended_at for row in found}

    def begin(self, job: str, due_at: Instant, *, at: Instant) -> ScheduledRun:
        """Record that a job begins, once more where it did not end well; drop what is older than two weeks."""
        table = SCHEDULED_RUNS
        of_it = (table.c.namespace == self._namespace, table.c.job == job)
        with self._database.writing() as connection:
            before = connection.execute(select(table).where(*of_it, table.c.due_at == due_at)).first()
            run = ScheduledRun(job=job, due_at=due_at, started_at=at, attempts=1 + (before.attempts if before else 0))
            connection.execute(delete(table).where(*of_it, (table.c.due_at == due_at) | (table.c.due_at < at - _KEEP)))
            connection.execute(
                insert(table).values(
                    namespace=self._namespace, job=job, due_at=due_at, started_at=at, attempts=run.attempts
                )
            )
        return run

    def end(self, run: ScheduledRun, *, at: Instant, failure: str | None = None) -> None:
        """Record how a job ended."""
        table = SCHEDULED_RUNS
        of_it = (table.c.namespace == self._namespace, table.c.job == run.job, table.c.due_at == run.due_at)
        with self._database.writing() as connection:
            connection.execute(update(table).where(*of_it).values(ended_at=at, failure=failure))


def _run(row: object) -> ScheduledRun:
    names = ("job", "due_at", "started_at", "attempts", "ended_at", "failure")
    return ScheduledRun(**{name: getattr(row, name) for name in names})

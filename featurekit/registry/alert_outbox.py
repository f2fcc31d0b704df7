"""Alerts that are to be sent, and the conditions they are about: what changed and what is sent are one transaction.

A process that dies after an alert was recorded loses nothing: whoever looks next sends it. One that dies between
sending and recording that sends it once more, under the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, and_, delete, func, insert, select, update

from featurekit.clock import DAY, HOUR, MINUTE, Instant
from featurekit.registry.database import Database
from featurekit.registry.operations_tables import ALERT_CONDITIONS, ALERTS

GIVE_UP: Final = 7 * DAY
_KEEP_SENT: Final = 30 * DAY
_CLAIM: Final = 5 * MINUTE  # longer than all tries of one sink take


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCondition:
    """How something stood when it was last looked at, and since when."""

    state: str
    since: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAlert:
    """An alert that a sink has not taken yet; `body` is the notification as JSON."""

    number: int
    sink: str
    body: str
    created_at: Instant
    tries: int


Decide = Callable[[Mapping[str, KeptCondition], int], tuple[Mapping[str, KeptCondition], str | None]]
"""Of the conditions known and the next alert's number: the conditions from now on, and what is to be sent, if any."""


class AlertOutbox:
    """The alerts of one namespace; every method is one transaction."""

    def __init__(self, database: Database, namespace: str) -> None:
        self._database = database
        self._namespace = namespace

    def record(self, decide: Decide, sinks: Sequence[str], *, at: Instant) -> int | None:
        """Keep what `decide` says, and an alert for each sink where it says one; return that alert's number."""
        with self._database.writing() as connection:
            rows = connection.execute(select(ALERT_CONDITIONS).where(self._of(ALERT_CONDITIONS.c.namespace))).all()
            known = {row.subject: KeptCondition(state=row.state, since=row.since) for row in rows}
            newest = connection.scalar(select(func.max(ALERTS.c.number)).where(self._of(ALERTS.c.namespace)))
            number = (newest or 0) + 1
            conditions, body = decide(known, number)
            for subject, one in conditions.items():
                of_it = and_(self._of(ALERT_CONDITIONS.c.namespace), ALERT_CONDITIONS.c.subject == subject)
                connection.execute(delete(ALERT_CONDITIONS).where(of_it))
                connection.execute(
                    insert(ALERT_CONDITIONS).values(
                        namespace=self._namespace, subject=subject, state=one.state, since=one.since
                    )
                )
            if body is None or not sinks:
                return None
            row = {"namespace": self._namespace, "number": number, "body": body, "created_at": at}
            row |= {"is_sent": False, "claimed_until": 0, "tries": 0}
            connection.execute(insert(ALERTS), [{**row, "sink": sink} for sink in sinks])
            # Never the newest: its number would be given twice.
            old = ALERTS.c.is_sent & (ALERTS.c.created_at < at - _KEEP_SENT) & (ALERTS.c.number < number)
            connection.execute(delete(ALERTS).where(self._of(ALERTS.c.namespace), old))
        return number

    def pending(self, *, at: Instant) -> tuple[PendingAlert, ...]:
        """Return the alerts that are to be sent still, oldest first; those older than a week are nobody's any more."""
        query = select(ALERTS).where(self._open(at)).order_by(ALERTS.c.number, ALERTS.c.sink)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return tuple(
            PendingAlert(number=row.number, sink=row.sink, body=row.body, created_at=row.created_at, tries=row.tries)
            for row in rows
        )

    def claim(self, alert: PendingAlert, *, at: Instant) -> bool:
        """Return whether the alert is the caller's to send; not where another process is sending it or has."""
        free = self._one(alert) & self._open(at) & (ALERTS.c.claimed_until <= at)
        taken = update(ALERTS).where(free).values(claimed_until=at + _CLAIM, tries=ALERTS.c.tries + 1)
        with self._database.writing() as connection:
            return bool(connection.execute(taken).rowcount)

    def sent(self, alert: PendingAlert) -> None:
        with self._database.writing() as connection:
            connection.execute(update(ALERTS).where(self._one(alert)).values(is_sent=True, failure=None))

    def failed(self, alert: PendingAlert, failure: str, *, at: Instant) -> None:
        """Record why a sink did not take it; who looks later tries again: a minute later, then two, up to an hour."""
        values = {"failure": failure, "claimed_until": at + min(2 ** min(alert.tries, 6) * MINUTE, HOUR)}
        with self._database.writing() as connection:
            connection.execute(update(ALERTS).where(self._one(alert)).values(**values))

    def _of(self, column: ColumnElement[str]) -> ColumnElement[bool]:
        return column == self._namespace

    def _open(self, at: Instant) -> ColumnElement[bool]:
        return and_(self._of(ALERTS.c.namespace), ~ALERTS.c.is_sent, ALERTS.c.created_at >= at - GIVE_UP)

    def _one(self, alert: PendingAlert) -> ColumnElement[bool]:
        return and_(self._of(ALERTS.c.namespace), ALERTS.c.number == alert.number, ALERTS.c.sink == alert.sink)

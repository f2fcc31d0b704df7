"""Refresh records between rows and values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, insert, select, update

from featurekit.clock import Instant
from featurekit.registry.state import RefreshKind, RefreshRecord, RefreshStatus, Watermark
from featurekit.registry.tables import REFRESHES, VIEW_VERSIONS
from featurekit.registry.versions import read_grid


def write_start(
    connection: Connection,
    namespace: str,
    *,
    view: str,
    fingerprint: str,
    as_of: Instant,
    started_at: Instant,
    snapshot: str,
    kind: RefreshKind = RefreshKind.FULL,
    reason: str | None = None,
) -> RefreshRecord:
    """Write and return the record of a run that begins, with a restatement no run of this as-of has had."""
    table = REFRESHES
    before = select(func.max(table.c.restatement)).where(
        table.c.namespace == namespace,
        table.c.view == view,
        table.c.fingerprint == fingerprint,
        table.c.as_of == as_of,
    )
    last = connection.execute(before).scalar()
    restatement = 0 if last is None else last + 1
    values = {
        "view": view,
        "fingerprint": fingerprint,
        "as_of": as_of,
        "restatement": restatement,
        "started_at": started_at,
        "snapshot": snapshot,
        "counters": "{}",
        "status": RefreshStatus.RUNNING.value,
        "kind": kind.value,
        "online": kind is not RefreshKind.BACKFILL,
        "reason": reason,
    }
    id_ = connection.execute(insert(table).values(namespace=namespace, **values).returning(table.c.id)).scalar_one()
    return _record(connection.execute(select(table).where(table.c.id == id_)).one())


def write_end(
    connection: Connection, namespace: str, id_: int, *, of: Sequence[RefreshStatus], **values: Any
) -> RefreshRecord | None:
    """Write how a refresh ended and return its record; None where there is none in one of the states `of`."""
    table = REFRESHES
    found = (table.c.namespace == namespace) & (table.c.id == id_) & table.c.status.in_([each.value for each in of])
    if connection.execute(update(table).where(found).values(**values)).rowcount == 0:
        return None
    return _record(connection.execute(select(table).where(table.c.id == id_)).one())


def write_listed(
    connection: Connection,
    namespace: str,
    *,
    view: str,
    fingerprint: str,
    as_of: Instant,
    restatement: int,
    completed_at: Instant,
    visible_from: Instant,
    rows: int,
    kind: RefreshKind,
) -> None:
    """Write that a refresh is complete, whatever its record says: running, failed, or nothing because it is lost."""
    table = REFRESHES
    run = {"view": view, "fingerprint": fingerprint, "as_of": as_of, "restatement": restatement}
    of_it = and_(table.c.namespace == namespace, *(table.c[name] == value for name, value in run.items()))
    done = {
        "status": RefreshStatus.COMPLETE.value,
        "completed_at": completed_at,
        "visible_from": visible_from,
        "rows": rows,
        "failure": None,
    }
    status = connection.execute(select(table.c.status).where(of_it)).scalar()
    if status is None:
        lost: dict[str, Any] = {"started_at": completed_at, "snapshot": "{}", "counters": "{}"}
        lost |= {"kind": kind.value, "online": kind is not RefreshKind.BACKFILL}
        connection.execute(insert(table).values(namespace=namespace, **run, **lost, **done))
    elif status != RefreshStatus.COMPLETE.value:
        connection.execute(update(table).where(of_it).values(**done))


def write_withdrawn(connection: Connection, namespace: str, ids: Sequence[int], at: Instant) -> None:
    """Write that lookups see these refreshes no more from `at` on; of one that is withdrawn the time stays."""
    table = REFRESHES
    seen = (table.c.namespace == namespace, table.c.id.in_(ids), table.c.withdrawn_at.is_(None))
    connection.execute(update(table).where(*seen).values(withdrawn_at=at))


def write_returned(connection: Connection, namespace: str, records: Sequence[RefreshRecord], at: Instant) -> None:
    """Write that lookups see these refreshes again from `at` on; what was in between stays on record."""
    table = REFRESHES
    for record in records:
        if record.withdrawn_at is not None:
            absences = json.dumps([*record.absences, (record.withdrawn_at, at)])
            of_it = (table.c.namespace == namespace, table.c.id == record.id)
            connection.execute(update(table).where(*of_it).values(withdrawn_at=None, absences=absences))


def write_dropped(connection: Connection, namespace: str, view: str, fingerprint: str, at: Instant) -> None:
    """Write that the rows of all refreshes of a view version are dropped from the online store."""
    table = REFRESHES
    of_it = (table.c.namespace == namespace, table.c.view == view, table.c.fingerprint == fingerprint)
    connection.execute(update(table).where(*of_it, table.c.dropped_at.is_(None)).values(dropped_at=at))


def read_refreshes(
    connection: Connection, namespace: str, *, view: str | None, fingerprint: str | None, limit: int | None
) -> tuple[RefreshRecord, ...]:
    """Return the refreshes of a view or of all, the latest begun first."""
    table = REFRESHES
    query = select(table).where(table.c.namespace == namespace).order_by(table.c.id.desc())
    if view is not None:
        query = query.where(table.c.view == view)
    if fingerprint is not None:
        query = query.where(table.c.fingerprint == fingerprint)
    if limit is not None:
        query = query.limit(limit)
    return tuple(_record(row) for row in connection.execute(query))


def read_watermarks(connection: Connection, namespace: str, at: Instant | None = None) -> dict[str, Watermark]:
    """Return how far the complete refreshes of each view fingerprint reach, by fingerprint.

    With `at` also the latest as-of that lookups can see then, however many later ones there are.
    """
    latest = _latest(connection, namespace)
    visible: dict[str, Any] = {}
    if at is not None:
        for delay, fingerprints in _by_delay(connection, namespace).items():
            seen = REFRESHES.c.as_of <= at - delay
            visible |= _latest(connection, namespace, seen, REFRESHES.c.fingerprint.in_(fingerprints))
    return {
        fingerprint: Watermark(
            view=row.view,
            fingerprint=fingerprint,
            as_ofs=tuple(dict.fromkeys([row.as_of, visible.get(fingerprint, row).as_of])),
        )
        for fingerprint, row in latest.items()
    }


def _latest(connection: Connection, namespace: str, *conditions: ColumnElement[bool]) -> dict[str, Any]:
    """Return view and latest complete as-of by fingerprint."""
    table = REFRESHES
    query = (
        select(table.c.view, table.c.fingerprint, func.max(table.c.as_of).label("as_of"))
        .where(table.c.namespace == namespace, table.c.status == RefreshStatus.COMPLETE.value, table.c.online)
        .where(table.c.withdrawn_at.is_(None), table.c.dropped_at.is_(None))
        .where(*conditions)
        .group_by(table.c.view, table.c.fingerprint)
        .order_by(table.c.fingerprint)
    )
    return {row.fingerprint: row for row in connection.execute(query)}


def _by_delay(connection: Connection, namespace: str) -> dict[int, Select[Any]]:
    """Return a query of the view fingerprints of each availability delay there is: few, whatever the views."""
    table = VIEW_VERSIONS
    grids: dict[int, list[str]] = {}
    for text in connection.scalars(select(table.c.grid).where(table.c.namespace == namespace).distinct()):
        grids.setdefault(read_grid(text).availability_delay, []).append(text)
    of_it = select(table.c.data_fingerprint).where(table.c.namespace == namespace)
    return {delay: of_it.where(table.c.grid.in_(texts)) for delay, texts in grids.items()}


def read_last_completion(connection: Connection, namespace: str) -> Instant:
    table = REFRESHES
    complete = (table.c.namespace == namespace) & (table.c.status == RefreshStatus.COMPLETE.value)
    return connection.execute(select(func.max(table.c.completed_at)).where(complete)).scalar() or 0


def _record(row: Row[Any]) -> RefreshRecord:
    return RefreshRecord(
        id=row.id,
        view=row.view,
        fingerprint=row.fingerprint,
        as_of=row.as_of,
        restatement=row.restatement,
        started_at=row.started_at,
        status=RefreshStatus(row.status),
        completed_at=row.completed_at,
        rows=row.rows,
        bytes=row.bytes,
        snapshot=row.snapshot,
        counters=row.counters,
        failure=row.failure,
        kind=RefreshKind(row.kind),
        online=row.online,
        reason=row.reason,
        computed=row.computed,
        visible_from=row.visible_from,
        withdrawn_at=row.withdrawn_at,
        absences=tuple((gone, back) for gone, back in json.loads(row.absences)),
        dropped_at=row.dropped_at,
    )

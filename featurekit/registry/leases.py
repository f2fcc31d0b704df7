"""Leases: who computes which refreshes. They run by the database's own clock, so no machine's clock takes part."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select, text, update

from featurekit.clock import Instant
from featurekit.registry.state import Lease
from featurekit.registry.tables import LEASES

_SQLITE_NOW = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
_POSTGRES_NOW = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"


def write_lease(connection: Connection, namespace: str, lease: Lease, length: int) -> Lease | None:
    """Take the lease for `length` microseconds and return None, or return another holder's that still runs."""
    now = _now(connection)
    connection.execute(delete(LEASES).where(LEASES.c.namespace == namespace, LEASES.c.until <= now))
    found = connection.execute(
        select(LEASES).where(_of(namespace, lease), LEASES.c.holder != lease.holder).order_by(LEASES.c.as_of)
    ).first()
    if found is not None:
        return Lease(
            view=found.view,
            fingerprint=found.fingerprint,
            as_ofs=(found.as_of,),
            holder=found.holder,
            since=found.since,
            until=found.until,
        )
    connection.execute(delete(LEASES).where(_of(namespace, lease)))
    row = {"namespace": namespace, "view": lease.view, "fingerprint": lease.fingerprint, "holder": lease.holder}
    rows = [{**row, "as_of": as_of, "since": now, "until": now + length} for as_of in lease.as_ofs]
    connection.execute(insert(LEASES), rows)
    return None


def renew_lease(connection: Connection, namespace: str, lease: Lease, length: int) -> bool:
    """Let the lease run for `length` microseconds from now; False where it ran out and may be another's by now."""
    now = _now(connection)
    held = and_(_of(namespace, lease), LEASES.c.holder == lease.holder, LEASES.c.until > now)
    return connection.execute(update(LEASES).where(held).values(until=now + length)).rowcount == len(lease.as_ofs)


def end_lease(connection: Connection, namespace: str, lease: Lease) -> None:
    connection.execute(delete(LEASES).where(_of(namespace, lease), LEASES.c.holder == lease.holder))


def read_leased(connection: Connection, namespace: str, view: str, fingerprint: str) -> Sequence[Instant]:
    """Return the as-ofs of a view version that somebody computes now."""
    of_it = (LEASES.c.namespace == namespace, LEASES.c.view == view, LEASES.c.fingerprint == fingerprint)
    query = select(LEASES.c.as_of).where(*of_it, LEASES.c.until > _now(connection)).order_by(LEASES.c.as_of)
    return connection.scalars(query).all()


def _of(namespace: str, lease: Lease) -> ColumnElement[bool]:
    return and_(
        LEASES.c.namespace == namespace,
        LEASES.c.view == lease.view,
        LEASES.c.fingerprint == lease.fingerprint,
        LEASES.c.as_of.in_(lease.as_ofs),
    )


def _now(connection: Connection) -> Instant:
    is_sqlite = connection.dialect.name == "sqlite"
    query = text(f"SELECT {_SQLITE_NOW if is_sqlite else _POSTGRES_NOW}")
    return int(connection.execute(query).scalar_one())

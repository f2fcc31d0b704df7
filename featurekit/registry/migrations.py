"""What leads a registry of an earlier version to this one, step by step, in one transaction and without loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection, select, text, update
from sqlalchemy.schema import CreateColumn

from featurekit.registry.tables import LEASES, REFRESHES, SCHEMA, SCHEMA_VERSION, VIEW_VERSIONS
from featurekit.registry.versions import read_grid


def migrate(connection: Connection, found: int) -> int:
    """Take the tables from version `found` as far as there are steps; return the version they have then."""
    while found < SCHEMA_VERSION and (step := _STEPS.get(found)):
        step(connection)
        found += 1
        connection.execute(update(SCHEMA).values(version=found))
    return found


def _keep_history(connection: Connection) -> None:
    """1 to 2: refreshes say how and why they were computed and when lookups saw them; runs hold leases."""
    for name in ("kind", "online", "reason", "computed", "visible_from", "withdrawn_at"):
        column = CreateColumn(REFRESHES.c[name]).compile(connection)
        connection.execute(text(f"ALTER TABLE {REFRESHES.name} ADD COLUMN {column}"))
    LEASES.create(connection)
    versions = VIEW_VERSIONS
    query = select(versions.c.namespace, versions.c.data_fingerprint, versions.c.grid).distinct()
    for namespace, fingerprint, grid in connection.execute(query).all():
        table = REFRESHES
        of_it = (table.c.namespace == namespace) & (table.c.fingerprint == fingerprint)
        done = select(table.c.id, table.c.as_of, table.c.completed_at).where(of_it & (table.c.status == "complete"))
        delay = read_grid(grid).availability_delay
        for id_, as_of, completed_at in connection.execute(done).all():
            seen = max(as_of + delay, completed_at)
            connection.execute(update(table).where(table.c.id == id_).values(visible_from=seen))


_STEPS: Final[dict[int, Callable[[Connection], None]]] = {1: _keep_history}

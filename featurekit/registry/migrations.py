"""What leads a registry of an earlier version to this one, step by step, in one transaction and without loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sqlalchemy import Connection, Table, select, text, update
from sqlalchemy.schema import CreateColumn

from featurekit.registry.check_tables import CHECK_TABLES
from featurekit.registry.models import newest_number
from featurekit.registry.operations_tables import OPERATIONS_TABLES
from featurekit.registry.tables import (
    LEASES,
    MODELS,
    MOVES,
    PINS,
    REFRESHES,
    SCHEMA,
    SCHEMA_VERSION,
    SERVICE_VERSIONS,
    VIEW_VERSIONS,
)
from featurekit.registry.tombstones import ERASURE_TABLES
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
    _add_columns(connection, REFRESHES, ("kind", "online", "reason", "computed", "visible_from", "withdrawn_at"))
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


def _keep_versions(connection: Connection) -> None:
    """2 to 3: who pins which version, which way readers moved, what was dropped; models name their service's version.

    Which version served before the moves that were made until now is not known: those can't be rolled back.
    """
    for table, names in (
        (VIEW_VERSIONS, ("collected_at",)),
        (SERVICE_VERSIONS, ("collected_at",)),
        (REFRESHES, ("absences", "dropped_at")),
        (MODELS, ("service_number", "deleted_at")),
    ):
        _add_columns(connection, table, names)
    PINS.create(connection)
    MOVES.create(connection)
    connection.execute(update(MODELS).values(service_number=newest_number()))


def _add_columns(connection: Connection, table: Table, names: Sequence[str]) -> None:
    for name in names:
        column = CreateColumn(table.c[name]).compile(connection)
        connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {column}"))


def _keep_tombstones(connection: Connection) -> None:
    """3 to 4: what was forgotten is refused from then on."""
    for table in ERASURE_TABLES:
        table.create(connection)


def _keep_checks(connection: Connection) -> None:
    """4 to 5: what checks found, run by run; what the schedule ran, and the alerts that are to be sent."""
    for table in (*CHECK_TABLES, *OPERATIONS_TABLES):
        table.create(connection)


_STEPS: Final[dict[int, Callable[[Connection], None]]] = {
    1: _keep_history,
    2: _keep_versions,
    3: _keep_tombstones,
    4: _keep_checks,
}

"""Versions and registrations between rows and values."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from sqlalchemy import Connection, Row, Table, and_, delete, func, insert, select, update

from featurekit.clock import Instant
from featurekit.compiled import Fingerprint
from featurekit.grid import Grid
from featurekit.registry.state import (
    Definition,
    Deployed,
    DesiredService,
    DesiredView,
    Registration,
    RegistrationStatus,
    ServiceVersion,
    ViewVersion,
)
from featurekit.registry.tables import REGISTRATIONS, SERVICE_VERSIONS, SERVING, VIEW_VERSIONS


def read_deployed(connection: Connection, namespace: str) -> Deployed:
    """Return the state of a namespace."""
    views = [_view(row) for row in _deployed_rows(connection, VIEW_VERSIONS, namespace)]
    services = [_service(row) for row in _deployed_rows(connection, SERVICE_VERSIONS, namespace)]
    pending = read_registrations(connection, namespace, RegistrationStatus.PENDING)
    last = select(func.max(REGISTRATIONS.c.id)).where(REGISTRATIONS.c.namespace == namespace)
    return Deployed(
        views={view.name: view for view in views},
        services={service.name: service for service in services},
        serving=_serving(connection, namespace),
        pending=pending,
        view_numbers=_numbers(connection, VIEW_VERSIONS, namespace),
        service_numbers=_numbers(connection, SERVICE_VERSIONS, namespace),
        registration=connection.execute(last).scalar() or 0,
    )


def read_registrations(
    connection: Connection, namespace: str, status: RegistrationStatus | None = None
) -> tuple[Registration, ...]:
    """Return the registrations of a namespace, or those of one status, oldest first."""
    query = select(REGISTRATIONS).where(REGISTRATIONS.c.namespace == namespace).order_by(REGISTRATIONS.c.id)
    if status is not None:
        query = query.where(REGISTRATIONS.c.status == status.value)
    return tuple(
        Registration(
            id=row.id,
            at=row.at,
            changes=tuple(json.loads(row.changes)),
            services=tuple(json.loads(row.services)),
            status=RegistrationStatus(row.status),
        )
        for row in connection.execute(query)
    )


def write_registration(connection: Connection, namespace: str, registration: Registration) -> None:
    connection.execute(
        insert(REGISTRATIONS).values(
            namespace=namespace,
            id=registration.id,
            at=registration.at,
            changes=_json(registration.changes),
            services=_json(registration.services),
            status=registration.status.value,
        )
    )


def write_registration_status(connection: Connection, namespace: str, id_: int, status: RegistrationStatus) -> None:
    table = REGISTRATIONS
    of_it = and_(table.c.namespace == namespace, table.c.id == id_)
    connection.execute(update(table).where(of_it).values(status=status.value))


def write_version(
    connection: Connection,
    namespace: str,
    version: DesiredView | DesiredService,
    *,
    number: int,
    registration: int,
    at: Instant,
) -> None:
    """Write a new version; the ones before it stay, with their definitions."""
    connection.execute(
        insert(_table(version)).values(
            namespace=namespace,
            name=version.name,
            number=number,
            data_fingerprint=version.fingerprint.data,
            registration=registration,
            registered_at=at,
            **_metadata(version),
        )
    )


def write_metadata(
    connection: Connection, namespace: str, version: DesiredView | DesiredService, *, number: int
) -> None:
    """Replace what a version says about itself; its data fingerprint stays."""
    table = _table(version)
    of_it = and_(table.c.namespace == namespace, table.c.name == version.name, table.c.number == number)
    connection.execute(update(table).where(of_it).values(**_metadata(version)))


def remove_view(connection: Connection, namespace: str, name: str, *, registration: int) -> None:
    _remove(connection, VIEW_VERSIONS, namespace, name, registration)


def remove_service(connection: Connection, namespace: str, name: str, *, registration: int) -> None:
    """Mark a service as removed; nobody is served it any more."""
    _remove(connection, SERVICE_VERSIONS, namespace, name, registration)
    write_not_serving(connection, namespace, name)


def write_serving(connection: Connection, namespace: str, service: str, number: int) -> None:
    """Say which version a service's unpinned readers get."""
    of_it = and_(SERVING.c.namespace == namespace, SERVING.c.service == service)
    if connection.execute(update(SERVING).where(of_it).values(number=number)).rowcount == 0:
        connection.execute(insert(SERVING).values(namespace=namespace, service=service, number=number))


def write_not_serving(connection: Connection, namespace: str, service: str) -> None:
    """Say that a service's unpinned readers get nothing."""
    connection.execute(delete(SERVING).where(SERVING.c.namespace == namespace, SERVING.c.service == service))


def write_collected(connection: Connection, namespace: str, version: ViewVersion | ServiceVersion, at: Instant) -> None:
    """Say that the online store keeps nothing of a version any more."""
    table = VIEW_VERSIONS if isinstance(version, ViewVersion) else SERVICE_VERSIONS
    of_it = (table.c.namespace == namespace, table.c.name == version.name, table.c.number == version.number)
    connection.execute(update(table).where(*of_it).values(collected_at=at))


def read_views(connection: Connection, namespace: str) -> tuple[ViewVersion, ...]:
    """Return all versions of all views, also of removed ones, by name and number."""
    table = VIEW_VERSIONS
    query = select(table).where(table.c.namespace == namespace).order_by(table.c.name, table.c.number)
    return tuple(_view(row) for row in connection.execute(query))


def read_services(connection: Connection, namespace: str) -> tuple[ServiceVersion, ...]:
    """Return all versions of all services, also of removed ones, by name and number."""
    table = SERVICE_VERSIONS
    query = select(table).where(table.c.namespace == namespace).order_by(table.c.name, table.c.number)
    return tuple(_service(row) for row in connection.execute(query))


def read_lookup_plans(connection: Connection, namespace: str) -> tuple[bytes, ...]:
    """Return the lookup plans of all service versions there ever were, each once."""
    table = SERVICE_VERSIONS
    query = select(table.c.lookup_plan).where(table.c.namespace == namespace).distinct()
    return tuple(connection.scalars(query))


def _deployed_rows(connection: Connection, table: Table, namespace: str) -> list[Row[Any]]:
    """Return the rows of the newest versions that are not removed, in the order of their first registration."""
    newest = (
        select(table.c.name, func.max(table.c.number).label("number"), func.min(table.c.registration).label("first"))
        .where(table.c.namespace == namespace)
        .group_by(table.c.name)
        .subquery()
    )
    query = (
        select(table)
        .join(newest, and_(table.c.name == newest.c.name, table.c.number == newest.c.number))
        .where(table.c.namespace == namespace, table.c.removed_in.is_(None))
        .order_by(newest.c.first, table.c.name)
    )
    return list(connection.execute(query))


def _serving(connection: Connection, namespace: str) -> dict[str, ServiceVersion]:
    versions = SERVICE_VERSIONS
    query = (
        select(versions)
        .join(
            SERVING,
            and_(
                versions.c.namespace == SERVING.c.namespace,
                versions.c.name == SERVING.c.service,
                versions.c.number == SERVING.c.number,
            ),
        )
        .where(versions.c.namespace == namespace)
        .order_by(versions.c.name)
    )
    return {row.name: _service(row) for row in connection.execute(query)}


def _numbers(connection: Connection, table: Table, namespace: str) -> dict[str, int]:
    highest = func.max(table.c.number).label("highest")
    query = select(table.c.name, highest).where(table.c.namespace == namespace).group_by(table.c.name)
    return {row.name: row.highest for row in connection.execute(query)}


def _remove(connection: Connection, table: Table, namespace: str, name: str, registration: int) -> None:
    live = and_(table.c.namespace == namespace, table.c.name == name, table.c.removed_in.is_(None))
    connection.execute(update(table).where(live).values(removed_in=registration))


def _table(version: DesiredView | DesiredService) -> Table:
    return VIEW_VERSIONS if isinstance(version, DesiredView) else SERVICE_VERSIONS


def _metadata(version: DesiredView | DesiredService) -> dict[str, Any]:
    definition = version.definition
    values: dict[str, Any] = {
        "metadata_fingerprint": version.fingerprint.metadata,
        "definition": _json({"data": definition.data, "written": definition.written}),
    }
    if isinstance(version, DesiredView):
        values |= {"grid": _grid_text(version.grid)}
    else:
        values |= {"views": _json(version.views), "is_own": version.is_own, "lookup_plan": version.lookup_plan}
    return values


def _view(row: Row[Any]) -> ViewVersion:
    return ViewVersion(
        name=row.name,
        number=row.number,
        fingerprint=_fingerprint(row),
        definition=_definition(row),
        grid=read_grid(row.grid),
        registration=row.registration,
        registered_at=row.registered_at,
        collected_at=row.collected_at,
    )


def _service(row: Row[Any]) -> ServiceVersion:
    return ServiceVersion(
        name=row.name,
        number=row.number,
        fingerprint=_fingerprint(row),
        definition=_definition(row),
        views=json.loads(row.views),
        is_own=row.is_own,
        lookup_plan=row.lookup_plan,
        registration=row.registration,
        registered_at=row.registered_at,
        collected_at=row.collected_at,
    )


def _fingerprint(row: Row[Any]) -> Fingerprint:
    return Fingerprint(data=row.data_fingerprint, metadata=row.metadata_fingerprint)


def _definition(row: Row[Any]) -> Definition:
    content = json.loads(row.definition)
    return Definition(data=content["data"], written=content["written"])


def _grid_text(grid: Grid) -> str:
    anchor = grid.anchor and grid.anchor.isoformat()
    return _json([grid.every, grid.availability_delay, grid.timezone, anchor])


def read_grid(text: str) -> Grid:
    """Return a grid as a view version's row holds it."""
    every, availability_delay, timezone, anchor = json.loads(text)
    return Grid(every, availability_delay, timezone, anchor and date.fromisoformat(anchor))


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

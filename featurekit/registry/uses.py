"""Who needs which version, and since when nobody does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from featurekit.clock import Instant
from featurekit.registry import pins, versions
from featurekit.registry.models import bound_number
from featurekit.registry.state import ServiceVersion, ViewVersion
from featurekit.registry.tables import MODELS, PINS, REGISTRATIONS, SERVICE_VERSIONS, VIEW_VERSIONS

Number = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A version and who needs it, in words; where nobody does, not since `idle_since` or earlier."""

    version: ViewVersion | ServiceVersion
    by: tuple[str, ...]
    idle_since: Instant

    @property
    def is_needed(self) -> bool:
        return bool(self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """All versions that were not collected, by name and number; two of one fingerprint are needed where one is."""

    views: tuple[Use, ...]
    services: tuple[Use, ...]

    @property
    def needed_views(self) -> dict[str, Use]:
        """The view versions that somebody needs, by data fingerprint; of several the last."""
        return {use.version.fingerprint.data: use for use in self.views if use.is_needed}


def read_uses(connection: Connection, namespace: str) -> Uses:
    """Return what is needed: what is deployed, what serves, what is pinned, and what a model is bound to.

    A view version is needed where a service version is that reads it.
    """
    deployed = versions.read_deployed(connection, namespace)
    by = _holders(connection, namespace)
    ended = _events(connection, namespace)
    for service in deployed.services.values():
        by[_number(service)].insert(0, "deployed")
    for service in deployed.serving.values():
        by[_number(service)].insert(0, "serving")
    services = tuple(
        Use(version=each, by=tuple(by[_number(each)]), idle_since=max(ended["service"][_number(each)]))
        for each in versions.read_services(connection, namespace)
        if each.collected_at is None
    )
    found = []
    for view in versions.read_views(connection, namespace):
        if view.collected_at is None:
            readers = [use for use in services if use.version.views.get(view.name) == view.fingerprint.data]  # type: ignore[union-attr]
            is_deployed = (now := deployed.views.get(view.name)) is not None and now.number == view.number
            words = [f"{_shown(use.version)}, {word}" for use in readers for word in use.by]
            since = [*ended["view"][_number(view)], *(use.idle_since for use in readers)]
            found.append(
                Use(version=view, by=(*["deployed"] * is_deployed, *words), idle_since=max(since)),
            )
    return Uses(views=tuple(found), services=services)


def _holders(connection: Connection, namespace: str) -> dict[Number, list[str]]:
    """Return who is bound to which service version: pins, and models."""
    found: dict[Number, list[str]] = defaultdict(list)
    for pin in pins.read_pins(connection, namespace):
        found[(pin.service, pin.number)].append(f"pinned by {pin.holder}")
    table = MODELS
    columns = (table.c.name, table.c.version, table.c.service, bound_number().label("number"))
    bound = select(*columns).where(table.c.namespace == namespace, table.c.deleted_at.is_(None))
    for row in connection.execute(bound.order_by(table.c.name, table.c.version)):
        found[(row.service, row.number)].append(f"model {row.name} v{row.version}")
    return found


def _events(connection: Connection, namespace: str) -> Mapping[str, Mapping[Number, list[Instant]]]:
    """Return the times at which something began or ended to need a version: the last is when the last need ended."""
    registered = dict(
        connection.execute(
            select(REGISTRATIONS.c.id, REGISTRATIONS.c.at).where(REGISTRATIONS.c.namespace == namespace)
        ).all()
    )
    found: dict[str, dict[Number, list[Instant]]] = {"view": defaultdict(list), "service": defaultdict(list)}
    for kind, table in (("view", VIEW_VERSIONS), ("service", SERVICE_VERSIONS)):
        columns = (table.c.name, table.c.number, table.c.registered_at, table.c.removed_in)
        for name, number, at, removed_in in connection.execute(select(*columns).where(table.c.namespace == namespace)):
            found[kind][(name, number)].append(at)
            found[kind][(name, number - 1)].append(at)  # the one after it took its place
            if removed_in is not None:
                found[kind][(name, number)].append(registered[removed_in])
    services = found["service"]
    for move in pins.read_moves(connection, namespace):
        for moved in {move.before, move.number} - {None}:
            services[(move.service, moved)].append(move.at)  # type: ignore[index]
    for row in connection.execute(select(PINS).where(PINS.c.namespace == namespace, PINS.c.released_at.is_not(None))):
        services[(row.service, row.number)].append(row.released_at)
    deleted = select(MODELS.c.service, bound_number().label("number"), MODELS.c.deleted_at)
    for row in connection.execute(deleted.where(MODELS.c.namespace == namespace, MODELS.c.deleted_at.is_not(None))):
        services[(row.service, row.number)].append(row.deleted_at)
    return found


def _number(version: ViewVersion | ServiceVersion) -> Number:
    return version.name, version.number


def _shown(version: ViewVersion | ServiceVersion) -> str:
    return f"{version.name}@{version.number}"

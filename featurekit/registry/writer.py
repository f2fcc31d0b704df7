"""The writes of one change set of the registry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from featurekit.clock import Instant
from featurekit.registry import leases, models, pins, refreshes, uses, versions
from featurekit.registry.model_record import ModelRecord
from featurekit.registry.state import (
    Deployed,
    DesiredService,
    DesiredView,
    Pin,
    RefreshRecord,
    Registration,
    RegistrationStatus,
    ServiceMove,
    ServiceVersion,
    ViewVersion,
    Watermark,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """The writes of one change set, inside its transaction."""

    connection: Connection
    namespace: str

    def deployed(self) -> Deployed:
        return versions.read_deployed(self.connection, self.namespace)

    def watermarks(self, at: Instant) -> dict[str, Watermark]:
        return refreshes.read_watermarks(self.connection, self.namespace, at)

    def models(self) -> tuple[ModelRecord, ...]:
        """Return the versions of all models, by name, newest first."""
        return models.read_models(self.connection, self.namespace)

    def last_completion(self) -> Instant:
        """Return when the latest refresh was complete, 0 where none was."""
        return refreshes.read_last_completion(self.connection, self.namespace)

    def add_registration(self, registration: Registration) -> None:
        versions.write_registration(self.connection, self.namespace, registration)

    def end_registration(self, id_: int, status: RegistrationStatus) -> None:
        versions.write_registration_status(self.connection, self.namespace, id_, status)

    def add_version(
        self, version: DesiredView | DesiredService, *, number: int, registration: int, at: Instant
    ) -> None:
        versions.write_version(
            self.connection, self.namespace, version, number=number, registration=registration, at=at
        )

    def update_metadata(self, version: DesiredView | DesiredService, *, number: int) -> None:
        versions.write_metadata(self.connection, self.namespace, version, number=number)

    def remove_view(self, name: str, *, registration: int) -> None:
        versions.remove_view(self.connection, self.namespace, name, registration=registration)

    def remove_service(self, name: str, *, registration: int) -> None:
        versions.remove_service(self.connection, self.namespace, name, registration=registration)

    def serve(self, service: str, number: int) -> None:
        """Say that a service's unpinned readers get version `number`."""
        versions.write_serving(self.connection, self.namespace, service, number)

    def stop_serving(self, service: str) -> None:
        """Say that a service's unpinned readers get nothing."""
        versions.write_not_serving(self.connection, self.namespace, service)

    def services(self) -> tuple[ServiceVersion, ...]:
        """Return all versions of all services, by name and number."""
        return versions.read_services(self.connection, self.namespace)

    def views(self) -> tuple[ViewVersion, ...]:
        """Return all versions of all views, by name and number."""
        return versions.read_views(self.connection, self.namespace)

    def uses(self) -> uses.Uses:
        return uses.read_uses(self.connection, self.namespace)

    def add_moves(self, moves: Iterable[ServiceMove]) -> None:
        pins.write_moves(self.connection, self.namespace, moves)

    def moves(self, registration: int) -> tuple[ServiceMove, ...]:
        """Return which way a registration moved readers, the oldest move first."""
        return pins.read_moves(self.connection, self.namespace, registration)

    def registrations(self) -> tuple[Registration, ...]:
        return versions.read_registrations(self.connection, self.namespace)

    def pin(self, pin: Pin) -> None:
        pins.write_pin(self.connection, self.namespace, pin)

    def unpin(self, service: str, number: int, holder: str, at: Instant) -> bool:
        """Release a pin; return whether there was one."""
        return pins.write_released(self.connection, self.namespace, service, number, holder, at)

    def collect(self, version: ViewVersion | ServiceVersion, at: Instant, *, with_refreshes: bool) -> None:
        """Say that a version is kept no more, of a view also that the online store keeps none of its refreshes."""
        versions.write_collected(self.connection, self.namespace, version, at)
        if with_refreshes and isinstance(version, ViewVersion):
            refreshes.write_dropped(self.connection, self.namespace, version.name, version.fingerprint.data, at)

    def leased(self, view: str, fingerprint: str) -> frozenset[Instant]:
        """Return the as-ofs of a view version that some run computes now."""
        return frozenset(leases.read_leased(self.connection, self.namespace, view, fingerprint))

    def refreshes(self, view: str, *, fingerprint: str) -> tuple[RefreshRecord, ...]:
        """Return the refreshes of a view version, the latest begun first."""
        return refreshes.read_refreshes(self.connection, self.namespace, view=view, fingerprint=fingerprint, limit=None)

    def withdraw(self, records: Iterable[RefreshRecord], at: Instant) -> None:
        """Say that lookups see these refreshes no more from `at` on."""
        refreshes.write_withdrawn(self.connection, self.namespace, [one.id for one in records], at)

    def bring_back(self, records: Sequence[RefreshRecord], at: Instant) -> None:
        """Say that lookups see these withdrawn refreshes again from `at` on."""
        refreshes.write_returned(self.connection, self.namespace, records, at)

"""The registry of one project and environment: what is deployed, what was refreshed, which models there are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from featurekit.clock import Instant
from featurekit.errors import NotRegisteredError, RegistryError
from featurekit.registry import leases, models, pins, refreshes, tombstones, uses, versions
from featurekit.registry.alert_outbox import AlertOutbox
from featurekit.registry.check_evidence import count_check_texts
from featurekit.registry.check_history import CheckHistory
from featurekit.registry.database import LOCK_WAIT_S, Database
from featurekit.registry.model_record import ModelRecord
from featurekit.registry.operations_texts import count_operation_texts
from featurekit.registry.schedule_log import ScheduleLog
from featurekit.registry.state import (
    Deployed,
    Lease,
    Pin,
    RefreshKind,
    RefreshRecord,
    RefreshStatus,
    Registration,
    ServiceMove,
    ServiceVersion,
    ViewVersion,
    Watermark,
)
from featurekit.registry.tombstones import Random
from featurekit.registry.writer import Writer
from featurekit.tombstones import Scope, Tombstones

_NEWEST: Final = None


class Registry:
    """Reads and writes one namespace of the registry's database, which is made on first use.

    Every method is one transaction. Nothing here reads a clock: instants are handed in. Model files lie in `models`.
    `secret` is the one by which entities are forgotten, where the settings give it; else the registry keeps its own.
    """

    def __init__(
        self,
        url: str,
        *,
        project: str,
        environment: str,
        models: Path,
        lock_wait_s: float = LOCK_WAIT_S,
        secret: bytes | None = None,
    ) -> None:
        self._database = Database(url, lock_wait_s=lock_wait_s)
        self._namespace = f"{project}:{environment}"
        self._secret = secret
        self.models_folder = models

    def __str__(self) -> str:
        return str(self._database)

    @property
    def checks(self) -> CheckHistory:
        """What checks of this namespace found, run by run."""
        return CheckHistory(self._database, self._namespace)

    @property
    def schedule(self) -> ScheduleLog:
        """What the schedule has run."""
        return ScheduleLog(self._database, self._namespace)

    @property
    def alerts(self) -> AlertOutbox:
        """The alerts that are to be sent, and the conditions they are about."""
        return AlertOutbox(self._database, self._namespace)

    def deployed(self) -> Deployed:
        """Return what is deployed now."""
        with self._database.reading() as connection:
            return versions.read_deployed(connection, self._namespace)

    def registrations(self) -> tuple[Registration, ...]:
        """Return all registrations, oldest first."""
        with self._database.reading() as connection:
            return versions.read_registrations(connection, self._namespace)

    def watermarks(self, at: Instant | None = None) -> dict[str, Watermark]:
        """Return how far the complete refreshes of each view version reach, by data fingerprint.

        With `at` they also tell what lookups can see then.
        """
        with self._database.reading() as connection:
            return refreshes.read_watermarks(connection, self._namespace, at)

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """One change set: no other writer's overlaps it, and it is written as a whole or, on an error, not at all."""
        with self._database.writing() as connection:
            yield Writer(connection=connection, namespace=self._namespace)

    def start_refresh(
        self,
        *,
        view: str,
        fingerprint: str,
        as_of: Instant,
        started_at: Instant,
        snapshot: str = "{}",
        kind: RefreshKind = RefreshKind.FULL,
        reason: str | None = None,
    ) -> RefreshRecord:
        """Return the record of a refresh that begins now; its restatement no other run has or had."""
        with self._database.writing() as connection:
            return refreshes.write_start(
                connection,
                self._namespace,
                view=view,
                fingerprint=fingerprint,
                as_of=as_of,
                started_at=started_at,
                snapshot=snapshot,
                kind=kind,
                reason=reason,
            )

    def start_backfill(
        self, *, view: str, fingerprint: str, as_ofs: Sequence[Instant], started_at: Instant, reason: str | None
    ) -> dict[Instant, RefreshRecord]:
        """Return the records of refreshes that begin now in one job, by as-of, as `start_refresh` does of one."""
        with self._database.writing() as connection:
            return {
                as_of: refreshes.write_start(
                    connection,
                    self._namespace,
                    view=view,
                    fingerprint=fingerprint,
                    as_of=as_of,
                    started_at=started_at,
                    snapshot="{}",
                    kind=RefreshKind.BACKFILL,
                    reason=reason,
                )
                for as_of in as_ofs
            }

    def complete_backfill(self, ended: Iterable[RefreshRecord]) -> None:
        """Write that refreshes of one job are complete: their records as they are now."""
        with self._database.writing() as connection:
            for record in ended:
                refreshes.write_end(
                    connection,
                    self._namespace,
                    record.id,
                    of=(RefreshStatus.RUNNING, RefreshStatus.COMPLETE),
                    status=RefreshStatus.COMPLETE.value,
                    completed_at=record.completed_at,
                    visible_from=record.visible_from,
                    rows=record.rows,
                    bytes=record.bytes,
                    snapshot=record.snapshot,
                    counters=record.counters,
                )

    def complete_refresh(
        self,
        refresh: RefreshRecord,
        *,
        completed_at: Instant,
        rows: int,
        bytes_: int,
        visible_from: Instant | None = None,
        snapshot: str | None = None,
        counters: str = "{}",
        kind: RefreshKind = RefreshKind.FULL,
        reason: str | None = None,
        computed: int | None = None,
    ) -> RefreshRecord:
        """Return the record of a running refresh as complete; `snapshot` where the run knows it only now.

        Another process may have found it in the store's head and said so before: this run knows more about it.
        How it was computed is known only now, too; a `reason` that it began with stays where there is no other.
        """
        return self._end_refresh(
            refresh,
            (RefreshStatus.RUNNING, RefreshStatus.COMPLETE),
            status=RefreshStatus.COMPLETE.value,
            completed_at=completed_at,
            rows=rows,
            bytes=bytes_,
            visible_from=visible_from,
            snapshot=refresh.snapshot if snapshot is None else snapshot,
            counters=counters,
            kind=kind.value,
            online=kind is not RefreshKind.BACKFILL,
            reason=refresh.reason if reason is None else reason,
            computed=computed,
        )

    def fail_refresh(self, refresh: RefreshRecord, *, completed_at: Instant, failure: str) -> RefreshRecord:
        """Return the record of a running refresh as failed, with the reason."""
        return self._end_refresh(
            refresh,
            (RefreshStatus.RUNNING,),
            status=RefreshStatus.FAILED.value,
            completed_at=completed_at,
            failure=failure,
        )

    def confirm_refresh(
        self,
        *,
        view: str,
        fingerprint: str,
        as_of: Instant,
        restatement: int,
        completed_at: Instant,
        visible_from: Instant,
        rows: int,
        kind: RefreshKind = RefreshKind.FULL,
    ) -> None:
        """Record as complete what the online store's head or the history lists, however its run ended.

        `kind` is for a record that was lost.
        """
        with self._database.writing() as connection:
            refreshes.write_listed(
                connection,
                self._namespace,
                view=view,
                fingerprint=fingerprint,
                as_of=as_of,
                restatement=restatement,
                completed_at=completed_at,
                visible_from=visible_from,
                rows=rows,
                kind=kind,
            )

    def take_lease(self, lease: Lease, *, length: int) -> Lease | None:
        """Take the lease for `length` microseconds of the database's clock and return None; else who has it."""
        with self._database.writing() as connection:
            return leases.write_lease(connection, self._namespace, lease, length)

    def renew_lease(self, lease: Lease, *, length: int) -> bool:
        """Return whether the lease still ran; it then runs for `length` microseconds from now."""
        with self._database.writing() as connection:
            return leases.renew_lease(connection, self._namespace, lease, length)

    def end_lease(self, lease: Lease) -> None:
        with self._database.writing() as connection:
            leases.end_lease(connection, self._namespace, lease)

    def leased(self, view: str, fingerprint: str) -> frozenset[Instant]:
        """Return the as-ofs of a view version that some run computes now."""
        with self._database.reading() as connection:
            return frozenset(leases.read_leased(connection, self._namespace, view, fingerprint))

    def live_views(self) -> frozenset[str]:
        """Return the fingerprints of the view versions that somebody needs."""
        return frozenset(self.uses().needed_views)

    def uses(self) -> uses.Uses:
        """Return all versions that were not collected, and who needs them."""
        with self._database.reading() as connection:
            return uses.read_uses(connection, self._namespace)

    def view_versions(self) -> tuple[ViewVersion, ...]:
        """Return all versions of all views, also removed and collected ones, by name and number."""
        with self._database.reading() as connection:
            return versions.read_views(connection, self._namespace)

    def service_versions(self) -> tuple[ServiceVersion, ...]:
        """Return all versions of all services, also removed and collected ones, by name and number."""
        with self._database.reading() as connection:
            return versions.read_services(connection, self._namespace)

    def pins(self) -> tuple[Pin, ...]:
        """Return all pins, by service, number and holder."""
        with self._database.reading() as connection:
            return pins.read_pins(connection, self._namespace)

    def moves(self, registration: int | None = None) -> tuple[ServiceMove, ...]:
        """Return which way readers were moved, by all registrations or one, the oldest move first."""
        with self._database.reading() as connection:
            return pins.read_moves(connection, self._namespace, registration)

    def refreshes(
        self, view: str | None = None, *, fingerprint: str | None = None, limit: int | None = None
    ) -> tuple[RefreshRecord, ...]:
        """Return the refreshes of a view, or of all views, the latest begun first."""
        with self._database.reading() as connection:
            return refreshes.read_refreshes(
                connection, self._namespace, view=view, fingerprint=fingerprint, limit=limit
            )

    def tombstones(self) -> Tombstones:
        """Return what is forgotten now."""
        with self._database.reading() as connection:
            return tombstones.read_tombstones(connection, self._namespace, self._secret)

    def forget(self, scope: Scope, texts: Collection[bytes], *, at: Instant, random: Random) -> int:
        """Refuse entities from now on, by their key texts in the scope's order; return how many were not yet."""
        with self._database.writing() as connection:
            return tombstones.write_forgotten(connection, self._namespace, scope, texts, at, random, given=self._secret)

    def remember(self, scope: Scope, texts: Collection[bytes], *, at: Instant) -> int:
        """Refuse entities no longer; return how many were."""
        with self._database.writing() as connection:
            return tombstones.write_remembered(connection, self._namespace, scope, texts, at, given=self._secret)

    def texts_that(self, hold: Callable[[str], bool], *, instead: str | None = None) -> int:
        """Return how many texts of refreshes, jobs and alerts, and pieces of evidence in kept reports, hold something.

        Where `instead` is given, it takes their place.
        """
        with self._database.writing() as connection:
            found = tombstones.count_texts(connection, self._namespace, hold, instead)
            found += count_operation_texts(connection, self._namespace, hold, instead)
            return found + count_check_texts(connection, self._namespace, hold, instead)

    def add_erasure(self, report: str, *, entity: str, at: Instant) -> int:
        """Keep the proof of an erasure; return its number."""
        with self._database.writing() as connection:
            return tombstones.write_erasure(connection, self._namespace, at=at, entity=entity, report=report)

    def lookup_plans(self) -> tuple[bytes, ...]:
        """Return the lookup plans of all service versions there ever were."""
        with self._database.reading() as connection:
            return versions.read_lookup_plans(connection, self._namespace)

    def add_model(self, record: ModelRecord, draft: models.DraftModel) -> ModelRecord:
        """Return the record as the next version of its model; its file is one of the folder's from here on."""
        with self._database.writing() as connection:
            models.keep(draft, self.models_folder)
            version = models.last_version(connection, self._namespace, record.name) + 1
            record = replace(record, version=version)
            models.write_model(connection, self._namespace, record)
            return record

    def models(self, name: str | None = None) -> tuple[ModelRecord, ...]:
        """Return the versions of all models or of one, by name, newest first."""
        with self._database.reading() as connection:
            return models.read_models(connection, self._namespace, name)

    def model(self, name: str, version: int | None = _NEWEST) -> ModelRecord:
        """Return a model's version, the newest where none is named; NotRegisteredError where there is none."""
        found = self.models(name)
        for record in found:
            if version is _NEWEST or record.version == version:
                return record
        there = ", ".join(f"v{record.version}" for record in found)
        raise NotRegisteredError(
            f"there is no model {name!r}" if not found else f"model {name!r} has no version {version}",
            where=str(self),
            try_=f"one of {there}" if found else f"featurekit model register {name} --onnx FILE --service SERVICE",
        )

    def delete_model(self, record: ModelRecord, at: Instant) -> None:
        """Delete a model's version, and its file where no other has it; its number is given to no later one."""
        with self._database.writing() as connection:
            models.write_deleted(connection, self._namespace, record, at)
        # Only now: where that is undone, the model is still there. And alone: nobody adds one with this file meanwhile.
        with self._database.writing() as connection:
            models.drop_unused(connection, record, self.models_folder)

    def model_path(self, record: ModelRecord) -> Path:
        return self.models_folder / record.file

    def _end_refresh(self, refresh: RefreshRecord, of: tuple[RefreshStatus, ...], **values: Any) -> RefreshRecord:
        with self._database.writing() as connection:
            ended = refreshes.write_end(connection, self._namespace, refresh.id, of=of, **values)
        if ended is None:
            raise RegistryError(
                f"refresh {refresh.id} of {refresh.view} is not running",
                where=str(self),
                why="it has ended already",
                try_="materialize again: a new run has a key space of its own",
            )
        return ended

"""Readers of all services that a registration moved go back to what served before, in one switch; and forward again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from featurekit.apply import switch_ready
from featurekit.clock import Instant
from featurekit.errors import RollbackError
from featurekit.online.keys import Namespace, pinned_name
from featurekit.online.refresh import served_as_of
from featurekit.online.store import OnlineStore
from featurekit.registry.registry import Registry
from featurekit.registry.state import (
    MoveKind,
    Registration,
    RegistrationStatus,
    ServiceMove,
    ServiceVersion,
    Watermark,
)
from featurekit.registry.switch import waits_of
from featurekit.registry.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRolledBack:
    """Which services' readers moved, and which stayed: those that were new with the registration have no way back."""

    registration: int
    moves: tuple[ServiceMove, ...]
    stayed: tuple[str, ...]


def rollback_registration(
    number: int,
    *,
    is_forward: bool = False,
    registry: Registry,
    store: OnlineStore,
    namespace: Namespace,
    now: Instant,
) -> RegistrationRolledBack:
    """Move the readers of what registration `number` moved back to what they had before it, or forward again.

    RollbackError, and nobody moves, where it moved nobody, where readers were moved on since, or where what they would
    get is not there or older than what they have: then it says what to materialize.
    """
    try:
        done = _recorded(number, is_forward, registry, store, namespace, now)
    except RollbackError:
        # One before it, to the same end, may have died when the registry had it, and not the store yet.
        switch_ready(registry, store, namespace, now)
        raise
    switch_ready(registry, store, namespace, now)
    return done


def _recorded(
    number: int, is_forward: bool, registry: Registry, store: OnlineStore, namespace: Namespace, now: Instant
) -> RegistrationRolledBack:
    """Write into the registry which way readers move: the store follows what it says."""
    with registry.writing() as writer:
        registration = _registration(number, is_forward, writer, registry)
        own = [move for move in writer.moves(number) if move.kind is MoveKind.SWITCH]
        if not own:
            raise RollbackError(
                f"registration {number} can't be rolled back",
                where=str(registry),
                why="it moved no readers, or an earlier featurekit kept no record of it",
            )
        moves = tuple(_back(move, now) for move in own if move.before is not None)
        if is_forward:
            moves = tuple(
                replace(move, before=move.number, number=move.before, kind=MoveKind.FORWARD) for move in moves
            )
        _check(moves, writer, store, namespace, now, where=str(registry))
        for move in moves:
            if move.number is None:
                writer.stop_serving(move.service)
            else:
                writer.serve(move.service, move.number)
        writer.add_moves(moves)
        status = RegistrationStatus.SWITCHED if is_forward else RegistrationStatus.ROLLED_BACK
        writer.end_registration(registration.id, status)
    stayed = tuple(move.service for move in own if move.before is None)
    return RegistrationRolledBack(registration=number, moves=moves, stayed=stayed)


def _registration(number: int, is_forward: bool, writer: Writer, registry: Registry) -> Registration:
    found = {one.id: one for one in writer.registrations()}
    if number not in found:
        there = ", ".join(map(str, found)) or "none"
        raise RollbackError(f"there is no registration {number}", where=str(registry), try_=f"one of {there}")
    wanted = RegistrationStatus.ROLLED_BACK if is_forward else RegistrationStatus.SWITCHED
    status = found[number].status
    if status is not wanted:
        raise RollbackError(
            f"registration {number} can't be rolled {'forward' if is_forward else 'back'}",
            where=str(registry),
            why={
                RegistrationStatus.PENDING: "its readers have not all moved yet: what served before serves",
                RegistrationStatus.SUPERSEDED: "a later registration took its services over",
                RegistrationStatus.SWITCHED: "it is not rolled back",
                RegistrationStatus.ROLLED_BACK: "it is rolled back already",
            }[status],
        )
    return found[number]


def _back(move: ServiceMove, now: Instant) -> ServiceMove:
    return replace(move, before=move.number, number=move.before, at=now, kind=MoveKind.ROLLBACK)


def _check(
    moves: tuple[ServiceMove, ...], writer: Writer, store: OnlineStore, namespace: Namespace, now: Instant, where: str
) -> None:
    """Raise RollbackError unless each service is where its move begins, and what it leads to can be read."""
    serving = writer.deployed().serving
    versions = {(version.name, version.number): version for version in writer.services()}
    waits: dict[str, None] = {}
    for move in moves:
        now_serving = serving.get(move.service)
        if (None if now_serving is None else now_serving.number) != move.before:
            raise RollbackError(
                f"readers of {move.service} were moved on since, to {_name(now_serving)}",
                where=where,
                why=f"registration {move.registration} is not the last that moved them",
                try_="roll the later one back first",
            )
        if move.number is None:
            continue
        version = versions[(move.service, move.number)]
        if version.collected_at is not None:
            raise RollbackError(
                f"{pinned_name(version.name, version.number)} was collected: nobody had needed it",
                where=where,
                try_="register the definitions as they were then: that is a new version with the old meaning",
            )
        waits |= dict.fromkeys(_waits(version, now_serving, writer, store, namespace, now))
    if waits:
        raise RollbackError(
            f"what served before is not there, or older than what serves: {', '.join(waits)}",
            where=where,
            why="nobody is moved to values that are not there, or back in time",
            try_=f"featurekit materialize {' '.join(waits)}, then again",
        )


def _waits(
    version: ServiceVersion,
    serving: ServiceVersion | None,
    writer: Writer,
    store: OnlineStore,
    namespace: Namespace,
    now: Instant,
) -> list[str]:
    """Return the view versions to materialize before readers can get a service version."""
    views = {(view.name, view.fingerprint.data): view for view in writer.views()}
    grids = {name: views[(name, fingerprint)].grid for name, fingerprint in version.views.items()}
    marks = writer.watermarks(now)
    for name, fingerprint in version.views.items():
        as_of = served_as_of(store, namespace, name, fingerprint, now)  # whatever the registry has recorded
        marks.pop(fingerprint, None)
        if as_of is not None:
            marks[fingerprint] = Watermark(view=name, fingerprint=fingerprint, as_ofs=(as_of,))
    lacking = waits_of(version.views, serving, grids, marks, now)
    return [pinned_name(name, views[(name, version.views[name])].number) for name in lacking]


def _name(version: ServiceVersion | None) -> str:
    return "nothing" if version is None else pinned_name(version.name, version.number)

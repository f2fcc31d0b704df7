"""When readers move to a new version: all services of a registration at once, when what they need is there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from featurekit.clock import Instant
from featurekit.grid import Grid
from featurekit.registry.state import Deployed, Registration, ServiceVersion, Watermark

Watermarks = Mapping[str, Watermark]
"""By data fingerprint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Services whose readers move now; `is_whole` when nothing of the registration is left to move after that."""

    registration: Registration
    services: tuple[ServiceVersion, ...]
    is_whole: bool


def waits_of(
    views: Mapping[str, str],
    serving: ServiceVersion | None,
    grids: Mapping[str, Grid],
    watermarks: Watermarks,
    now: Instant,
) -> tuple[str, ...]:
    """Return the views that must be materialized before readers of a service can move; in order of their names.

    `views` are the fingerprints of the version they would move to, `grids` are those of its views. What serves already
    is there. Of what does not, lookups must see a refresh, and one that is not older than what they see of the view
    now, unless its own grid says so: nobody is moved to values that are not there, or back in time.
    """
    before = serving.views if serving is not None else {}
    return tuple(
        name
        for name, fingerprint in sorted(views.items())
        if fingerprint != before.get(name)
        and not _is_ready(grids[name], watermarks.get(fingerprint), watermarks.get(before.get(name, "")), now)
    )


def _is_ready(grid: Grid, new: Watermark | None, old: Watermark | None, now: Instant) -> bool:
    visible = new.visible(grid, now) if new is not None else None
    if visible is None or old is None:
        return visible is not None
    return visible >= min(grid.served_at(now), grid.floor(old.as_of))


def moves(deployed: Deployed, watermarks: Watermarks, now: Instant) -> tuple[Move, ...]:
    """Return what can move at `now`.

    A service that serves nobody yet moves at once, its lookups say UNAVAILABLE until its views are materialized;
    the others of a registration move together, when the last view that any of them waits for is there.
    """
    found = (_move(registration, deployed, watermarks, now) for registration in deployed.pending)
    return tuple(move for move in found if move is not None)


def _move(registration: Registration, deployed: Deployed, watermarks: Watermarks, now: Instant) -> Move | None:
    left = [
        version
        for name in registration.services
        if (version := deployed.services.get(name)) is not None and not _is_served(version, deployed)
    ]
    new = [version for version in left if version.name not in deployed.serving]
    others = [version for version in left if version.name in deployed.serving]
    grids = {name: view.grid for name, view in deployed.views.items()}
    waiting = any(waits_of(v.views, deployed.serving[v.name], grids, watermarks, now) for v in others)
    if waiting and not new:
        return None
    # Where nothing is left to move, that is a move too: it ends the registration.
    return Move(registration=registration, services=tuple(new if waiting else left), is_whole=not waiting)


def _is_served(version: ServiceVersion, deployed: Deployed) -> bool:
    serving = deployed.serving.get(version.name)
    return serving is not None and serving.number == version.number


def taken_over(services: Iterable[str], pending: Iterable[Registration]) -> tuple[Registration, ...]:
    """Return the pending registrations that one which changes `services` takes over.

    So a service waits in one registration at most, and what was registered together still moves together.
    """
    changed = set(services)
    return tuple(registration for registration in pending if changed & set(registration.services))

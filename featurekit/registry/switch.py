"""When readers move to a new version: all services of a registration at once, when what they need is there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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
    views: Mapping[str, str], serving: ServiceVersion | None, registered: Mapping[str, int], watermarks: Watermarks
) -> tuple[str, ...]:
    """Return the views that must be materialized before readers of a service can move; in order of their names.

    `views` are the fingerprints of the version they would move to, `registered` is the registration that made each
    view's version. What already serves is there. Of what does not, a refresh must have begun after the view was
    registered: a definition that comes back after a pause may have old refreshes, and those are stale or dropped.
    """
    served = set(serving.views.values()) if serving is not None else set()
    return tuple(
        name
        for name, fingerprint in sorted(views.items())
        if fingerprint not in served and not _is_refreshed(watermarks.get(fingerprint), registered[name])
    )


def moves(deployed: Deployed, watermarks: Watermarks) -> tuple[Move, ...]:
    """Return what can move now.

    A service that serves nobody yet moves at once, its lookups say UNAVAILABLE until its views are materialized;
    the others of a registration move together, when the last view that any of them waits for is complete.
    """
    return tuple(
        move for registration in deployed.pending if (move := _move(registration, deployed, watermarks)) is not None
    )


def _move(registration: Registration, deployed: Deployed, watermarks: Watermarks) -> Move | None:
    left = [
        version
        for name in registration.services
        if (version := deployed.services.get(name)) is not None and not _is_served(version, deployed)
    ]
    new = [version for version in left if version.name not in deployed.serving]
    others = [version for version in left if version.name in deployed.serving]
    registered = {name: view.registration for name, view in deployed.views.items()}
    waiting = any(waits_of(v.views, deployed.serving[v.name], registered, watermarks) for v in others)
    if waiting and not new:
        return None
    # Where nothing is left to move, that is a move too: it ends the registration.
    return Move(registration=registration, services=tuple(new if waiting else left), is_whole=not waiting)


def _is_served(version: ServiceVersion, deployed: Deployed) -> bool:
    serving = deployed.serving.get(version.name)
    return serving is not None and serving.number == version.number


def _is_refreshed(watermark: Watermark | None, registration: int) -> bool:
    return watermark is not None and watermark.registration >= registration


def taken_over(services: Iterable[str], pending: Iterable[Registration]) -> tuple[Registration, ...]:
    """Return the pending registrations that one which changes `services` takes over.

    So a service waits in one registration at most, and what was registered together still moves together.
    """
    changed = set(services)
    return tuple(registration for registration in pending if changed & set(registration.services))

"""The lease of a run: no two runs compute one refresh at a time, and a run that was killed frees it by itself.

A lease runs out unless it is renewed, which a thread does while the run works. Two runs that hold one all the same (the
machine slept, the registry was away) end in a key space and a folder each, so the values stay whole: a lease saves
work, and the order of restatements.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final

from featurekit.clock import MINUTE, SECOND, Instant, format_instant
from featurekit.errors import OutsideError, RefreshRunningError, RegistryError
from featurekit.registry.registry import Registry
from featurekit.registry.state import Lease
from featurekit.tombstones import Tombstones

LEASE_DEFAULT: Final = 2 * MINUTE
IN_PLACE: Final = -1  # a lease beside those of as-ofs: on the rows of a view that is written in place
_RENEWALS: Final = 4  # so many in a lease's time: three may fail
_POLL_S: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenancy:
    """A lease that is held; `tombstones` are what was forgotten when it was taken."""

    registry: Registry
    lease: Lease
    length: int
    tombstones: Tombstones = field(default_factory=Tombstones)

    def check(self) -> None:
        """Raise RefreshRunningError where the run may not end as it began.

        The lease has run out, and another run may compute the refresh by now; or an entity was forgotten or remembered
        since, and its rows were let through or refused.
        """
        if not self.registry.renew_lease(self.lease, length=self.length):
            raise RefreshRunningError(
                f"the lease on {_of(self.lease)} ran out while it was computed",
                where=str(self.registry),
                why="this machine slept, or the registry could not be reached for as long; another run may have begun",
                try_="run it again: what is complete is not computed twice",
            )
        if self.registry.tombstones().changes != self.tombstones.changes:
            raise RefreshRunningError(
                f"entities were forgotten or remembered while {_of(self.lease)} was computed",
                where=str(self.registry),
                why="what was computed may hold rows that must not be kept, or lack some",
                try_="run it again: nothing of it was published",
            )


@contextmanager
def leased(
    registry: Registry,
    view: str,
    fingerprint: str,
    as_ofs: tuple[Instant, ...],
    *,
    holder: str,
    length: int = LEASE_DEFAULT,
    wait: bool = False,
) -> Iterator[Tenancy]:
    """Hold the lease on some refreshes of a view version while the block runs.

    Where another run holds it, RefreshRunningError says who and since when, unless it is to be waited for.
    """
    lease = Lease(view=view, fingerprint=fingerprint, as_ofs=as_ofs, holder=holder)
    while (other := registry.take_lease(lease, length=length)) is not None:
        if not wait:
            raise _running(other, registry)
        time.sleep(_POLL_S)
    ended = threading.Event()
    tenancy = Tenancy(registry=registry, lease=lease, length=length)
    renewal = threading.Thread(target=_renew, args=(tenancy, ended), name=f"lease of {view}", daemon=True)
    renewal.start()
    try:
        # Only now: what is forgotten from here on waits for this run to end, or finds it by its lease.
        yield replace(tenancy, tombstones=registry.tombstones())
    finally:
        ended.set()
        renewal.join()
        with suppress(OutsideError):  # it runs out by itself
            registry.end_lease(lease)


def _renew(tenancy: Tenancy, ended: threading.Event) -> None:
    while not ended.wait(tenancy.length / SECOND / _RENEWALS):
        with suppress(RegistryError):  # tried again; the run itself looks before it publishes
            if not tenancy.registry.renew_lease(tenancy.lease, length=tenancy.length):
                return


def _running(other: Lease, registry: Registry) -> RefreshRunningError:
    return RefreshRunningError(
        f"{_of(other)} is being computed by another run",
        where=f"{other.holder}; {registry}",
        why=f"it runs since {format_instant(other.since - other.since % SECOND)}; if it was killed, it frees the"
        f" refresh at {format_instant(other.until - other.until % SECOND + SECOND)}",
        try_="wait for it with --wait, or run it again later",
    )


def _of(lease: Lease) -> str:
    as_ofs = [as_of for as_of in lease.as_ofs if as_of != IN_PLACE]
    if not as_ofs:
        return f"{lease.view}, which is written in place,"
    more = f" and {len(as_ofs) - 1} more" if len(as_ofs) > 1 else ""
    return f"{lease.view} as of {format_instant(as_ofs[0])}{more}"

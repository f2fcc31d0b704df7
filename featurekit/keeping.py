"""The history's upkeep: what is kept and what lacks, small files joined, what is too old dropped.

The registry's record of a refresh stays for ever; only rows go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from featurekit.clock import HOUR, Instant
from featurekit.errors import RefreshRunningError
from featurekit.grid import Grid
from featurekit.leasing import leased
from featurekit.offline.history import BrokenRefresh, History, HistoryEntry, served_at
from featurekit.offline.history_compaction import compacted, without_retired
from featurekit.offline.history_folder import read_entry, written_here
from featurekit.registry.registry import Registry

GRACE: Final = HOUR  # for readers that listed a refresh's files before they were joined
Keep = Callable[[str], int]
"""For how long the refreshes of a view are kept, by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Grid instants from `first` to `last`, both in it, of which nothing is kept."""

    first: Instant
    last: Instant
    refreshes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewHistory:
    """What is kept of one view version; `gaps` lie between its first refresh and its last."""

    view: str
    fingerprint: str
    is_live: bool
    entries: tuple[HistoryEntry, ...]
    broken: tuple[BrokenRefresh, ...]
    gaps: tuple[Gap, ...]

    @property
    def rows(self) -> int:
        return sum(entry.rows for entry in self.entries)

    @property
    def bytes(self) -> int:
        return sum(entry.bytes for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What an upkeep did to one refresh: its bytes before and after; after dropping it there are none."""

    entry: HistoryEntry
    bytes_before: int
    bytes_after: int


def view_histories(history: History, registry: Registry) -> tuple[ViewHistory, ...]:
    """Return what is kept, by view, those that somebody reads first."""
    versions = history.versions()
    if not versions:
        return ()  # looking makes no registry
    grids = {view.fingerprint.data: view.grid for view in registry.deployed().views.values()}
    live = registry.live_views()
    found = []
    for view, fingerprint in versions:
        entries = history.entries(view, fingerprint)
        found.append(
            ViewHistory(
                view=view,
                fingerprint=fingerprint,
                is_live=fingerprint in live,
                entries=entries,
                broken=history.broken(view, fingerprint),
                gaps=gaps(entries, grids[fingerprint]) if fingerprint in grids else (),
            )
        )
    return tuple(sorted(found, key=lambda one: (one.view, not one.is_live, one.fingerprint)))


def gaps(entries: Iterable[HistoryEntry], grid: Grid) -> tuple[Gap, ...]:
    """Return where the grid has instants between the first entry and the last that nothing is kept of."""
    kept = sorted({entry.as_of for entry in entries if entry.withdrawn_at is None})
    found = []
    for before, after in pairwise(kept):
        if (first := grid.next(before)) < after:
            missing = grid.between(first, after)
            found.append(Gap(first=first, last=missing[-1], refreshes=len(missing)))
    return tuple(found)


def expired(entries: tuple[HistoryEntry, ...], *, now: Instant, keep: int, is_live: bool) -> tuple[HistoryEntry, ...]:
    """Return which refreshes of a view version are too old: written longer than `keep` ago, and not needed.

    Of a version that somebody reads, the one that serves now, all later ones and the newest are needed.
    """
    needed: set[HistoryEntry] = set()
    if is_live and entries:
        first = served_at(entries, now) or entries[-1]
        needed = {entry for entry in entries if entry.as_of >= first.as_of}
    return tuple(entry for entry in entries if entry.completed_at + keep <= now and entry not in needed)


def expire(
    history: History,
    registry: Registry,
    *,
    now: Instant,
    keep: Keep,
    views: Iterable[str] | None = None,
    dry_run: bool = False,
) -> tuple[Changed, ...]:
    """Drop what is too old, and what runs that died have left behind; return the refreshes that went, or would go."""
    live = registry.live_views()
    wanted = None if views is None else frozenset(views)
    dropped = []
    for view, fingerprint in history.versions():
        if wanted is not None and view not in wanted:
            continue
        entries = history.entries(view, fingerprint)
        for entry in expired(entries, now=now, keep=keep(view), is_live=keep(view) > 0 and fingerprint in live):
            if not dry_run:
                with written_here(entry.path):
                    history.drop(entry)
            dropped.append(Changed(entry=entry, bytes_before=entry.bytes, bytes_after=0))
        running = registry.leased(view, fingerprint)
        if not dry_run:
            history.drop_leftovers(view, fingerprint, running=running, older_than=now - keep(view))
    return tuple(dropped)


def compact(
    history: History, registry: Registry, *, now: Instant, holder: str, views: Iterable[str] | None = None
) -> tuple[Changed, ...]:
    """Join each refresh's files into one, and delete files that were joined an hour ago; return what was joined.

    Rows and their bytes stay the same, and so does a reader that is at work: its files are still there.
    """
    wanted = None if views is None else frozenset(views)
    found = []
    for view, fingerprint in history.versions():
        if wanted is not None and view not in wanted:
            continue
        for listed in history.entries(view, fingerprint):
            if len(listed.files) < 2 and all(file.retired_at > now - GRACE for file in listed.retired):
                continue
            with suppress(RefreshRunningError), leased(registry, view, fingerprint, (listed.as_of,), holder=holder):
                # Who held the lease before may have written other files, or dropped it.
                entry = read_entry(listed.path)
                if isinstance(entry, BrokenRefresh):
                    continue
                with written_here(entry.path):
                    entry = without_retired(entry, before=now - GRACE)
                if len(entry.files) > 1:
                    after = compacted(entry, now=now)
                    found.append(Changed(entry=after, bytes_before=entry.bytes, bytes_after=after.bytes))
    return tuple(found)

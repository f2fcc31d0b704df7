"""How a refresh's rows come about: from the refresh before and what has changed since, or in full."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.offline.direct_source import DirectSource
from featurekit.offline.engine import BatchEngine
from featurekit.offline.history import History, HistoryEntry
from featurekit.offline.incremental import incremental_frame
from featurekit.offline.materialize import OfflineRows, materialized_frame
from featurekit.offline.newest_rows import direct_view, events_in_reach, newest_rows
from featurekit.registry.state import RefreshKind
from featurekit.tombstones import Tombstones

FEW_EVENTS: Final = 4
"""Events for each kept row up to which all are read. A choice: a kept row goes through Spark whole, an event's key and
times do not go through Spark at all."""


@dataclass(slots=True, kw_only=True)
class Computation:
    """Makes the rows of a refresh when it is called, and tells then how: the bytes are the same in each way.

    Never from a refresh that was `rolled_back`, whatever the history says of it: it follows the registry.
    `reason` says what an incremental run started from, or why there was none; `computed` is how many entities were
    computed and not taken from the refresh before, None for all.
    """

    history: History | None
    rolled_back: frozenset[tuple[Instant, int]] = frozenset()
    forgotten: Tombstones = field(default_factory=Tombstones)
    kind: RefreshKind = RefreshKind.FULL
    reason: str | None = None
    computed: int | None = None

    def __call__(self, engine: BatchEngine, view: CompiledView, as_of: Instant) -> OfflineRows:
        base = None if self.history is None else self.history.latest(view, before=as_of, without=self.rolled_back)
        has_all = base is None or base.remembered == self.forgotten.times_remembered
        if not has_all:
            base = None
        source = direct_view(engine, view)
        if base is not None and not _is_less_than_kept(source, as_of, base):
            assert self.history is not None
            kept = self.history.read(engine, view, base)
            # Tiles would hold what the rows may not.
            found = incremental_frame(engine, view, as_of, base, kept, by_tiles=not self.forgotten)
            self.reason = found.reason
            if found.frame is not None:
                self.kind, self.computed = RefreshKind.INCREMENTAL, found.changed
                return OfflineRows(found.frame)
        elif base is not None:
            self.reason = "reading each newest row is less work than what is kept of all"
        elif not has_all:
            self.reason = "an entity is remembered since, which the kept rows lack"
        elif self.history is not None:
            self.reason = "no earlier refresh is kept"
        newest = source if isinstance(source, str) else newest_rows(engine, source, as_of)
        if isinstance(newest, str):
            return OfflineRows(materialized_frame(engine, view, as_of))
        return OfflineRows(engine.numbered(len(newest.parts)), newest)


def _is_less_than_kept(source: DirectSource | str, as_of: Instant, base: HistoryEntry) -> bool:
    """Return whether all of a source's events are so few that reading them beats a merge with the rows of the base."""
    return not isinstance(source, str) and events_in_reach(source, as_of) <= FEW_EVENTS * base.rows

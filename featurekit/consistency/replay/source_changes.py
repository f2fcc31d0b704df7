"""Sources that are another one by now: what differs there is no mismatch, for nobody knows any more (DESIGN T2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledView
from featurekit.consistency.replay.logic import Replayed, as_ofs_that_differ, without_proof
from featurekit.offline.engine import BatchEngine
from featurekit.offline.snapshot import SourceSnapshot, change_since, snapshot_source
from featurekit.registry.registry import Registry
from featurekit.registry.state import RefreshRecord, RefreshStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Why what a refresh was computed from can't be had any more; of answers `until` then, None: of all."""

    why: str
    until: Instant | None = None


class SourceChanges:
    """Says of refreshes whether their source is still the one they read; a source is looked at once."""

    def __init__(self, registry: Registry, engine: BatchEngine) -> None:
        self._registry = registry
        self._engine = engine

    def of(self, view: CompiledView, as_ofs: Iterable[Instant]) -> dict[Instant, Change]:
        """Return which refreshes of a view can't be computed again."""
        records = self._registry.refreshes(view.name, fingerprint=view.fingerprint.data)
        complete = [one for one in records if one.status is RefreshStatus.COMPLETE and one.online]
        now: SourceSnapshot | None = None
        if view.source.created_timestamp is None:
            now = snapshot_source(self._engine, view)
        found = {}
        for as_of in as_ofs:
            of_it = sorted((one for one in complete if one.as_of == as_of), key=lambda one: one.restatement)
            change = restated(of_it) if now is None else _changed(of_it, now)
            if change is not None:
                found[as_of] = change
        return found


def restated(records: Sequence[RefreshRecord]) -> Change | None:
    """Return why what was answered before a refresh was computed again can't be told: its source was mended for that.

    `records` are the runs of one as-of, in order. A source that says when rows landed gives the last one's rows.
    """
    if len(records) < 2:
        return None
    last = records[-1]
    why = f"the refresh as of {format_instant(last.as_of)} was restated: {last.reason or 'no reason was given'}"
    return Change(why=why, until=last.visible_from or last.completed_at)


def _changed(records: Sequence[RefreshRecord], now: SourceSnapshot) -> Change | None:
    if not records:
        return Change(why="nothing is recorded of the source that the refresh read")
    for record in records:
        if (why := change_since(record.snapshot, lambda: now)) is not None:
            return Change(why=why)
    return None


def with_changes(replayed: Sequence[Replayed], changes: SourceChanges) -> list[Replayed]:
    """Return what was replayed of one view, with what comes of changed sources indeterminate."""
    as_ofs = as_ofs_that_differ(replayed)
    found = changes.of(replayed[0].asked.view, as_ofs) if as_ofs else {}
    return [_with_changes(each, found) for each in replayed] if found else list(replayed)


def _with_changes(replayed: Replayed, changes: dict[Instant, Change]) -> Replayed:
    as_ofs, times = replayed.asked.as_ofs, replayed.asked.logged.times[replayed.asked.rows]
    unproven = np.zeros(len(as_ofs), np.bool_)
    why = None
    for as_of, change in changes.items():
        of_it = as_ofs == as_of
        if change.until is not None:
            of_it &= times < change.until
        if of_it.any():
            unproven |= of_it
            why = why or change.why
    return replayed if why is None else without_proof(replayed, unproven, why)

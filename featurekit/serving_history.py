"""What was really served: the registry's runs, beside the history that keeps their rows."""

from __future__ import annotations

from collections.abc import Sequence

from featurekit.clock import Instant
from featurekit.compiled import CompiledService, CompiledView
from featurekit.offline.history import History, HistoryEntry
from featurekit.offline.served_join import ServedHistory
from featurekit.offline.served_refreshes import ServedRefresh, ServedView
from featurekit.offline.snapshot import read_snapshot
from featurekit.registry.registry import Registry
from featurekit.registry.state import RefreshRecord, RefreshStatus


def served_history(service: CompiledService, history: History, registry: Registry) -> ServedHistory:
    """Return what is on record of the service's views: which refreshes lookups could see, and where their rows are."""
    views = {part.view.name: part.view for part in service.views}
    return ServedHistory(
        history=history, views={name: _served_view(view, history, registry) for name, view in views.items()}
    )


def _served_view(view: CompiledView, history: History, registry: Registry) -> ServedView:
    found: dict[bool, list[ServedRefresh]] = {True: [], False: []}
    records = [one for one in registry.refreshes(view.name) if one.status is RefreshStatus.COMPLETE and one.online]
    for fingerprint in dict.fromkeys(one.fingerprint for one in records):
        of_it = [one for one in records if one.fingerprint == fingerprint]
        found[fingerprint == view.fingerprint.data] += _refreshes(view, fingerprint, of_it, history)
    return ServedView(refreshes=tuple(found[True]), others=tuple(found[False]))


def _refreshes(
    view: CompiledView, fingerprint: str, records: Sequence[RefreshRecord], history: History
) -> list[ServedRefresh]:
    kept = {(entry.as_of, entry.restatement): entry for entry in history.entries(view.name, fingerprint)}
    refreshes = []
    for one in records:
        entry = kept.get((one.as_of, one.restatement))
        for visible_from, gone_at in _seen(one, entry, view.view.availability_delay):
            refreshes.append(
                ServedRefresh(
                    as_of=one.as_of,
                    restatement=one.restatement,
                    visible_from=visible_from,
                    withdrawn_at=gone_at,
                    snapshot=read_snapshot(one.snapshot),
                    entry=entry,
                )
            )
    return refreshes


def _seen(record: RefreshRecord, entry: HistoryEntry | None, delay: int) -> list[tuple[Instant, Instant | None]]:
    """Return from when until when lookups could see a refresh: once, unless it was rolled back and forward again."""
    visible_from = record.visible_from
    if visible_from is None:  # the record of a registry from before it was written down
        visible_from = max(record.as_of + delay, record.completed_at or record.as_of)
    told = (record.withdrawn_at, record.dropped_at, None if entry is None else entry.withdrawn_at)
    gone_at = min((at for at in told if at is not None), default=None)
    begins = [visible_from, *(back for _, back in record.absences)]
    ends = [*(gone for gone, _ in record.absences), gone_at]
    return [(max(begin, visible_from), end) for begin, end in zip(begins, ends, strict=True)]

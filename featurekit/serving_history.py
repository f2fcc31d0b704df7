"""What was really served: the registry's runs, beside the history that keeps their rows."""

from __future__ import annotations

from collections.abc import Sequence

from featurekit.compiled import CompiledService, CompiledView
from featurekit.offline.history import History
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
        told = (one.withdrawn_at, None if entry is None else entry.withdrawn_at)
        withdrawn = [at for at in told if at is not None]
        visible_from = one.visible_from
        if visible_from is None:  # the record of a registry from before it was written down
            visible_from = max(one.as_of + view.view.availability_delay, one.completed_at or one.as_of)
        refreshes.append(
            ServedRefresh(
                as_of=one.as_of,
                restatement=one.restatement,
                visible_from=visible_from,
                withdrawn_at=min(withdrawn, default=None),
                snapshot=read_snapshot(one.snapshot),
                entry=entry,
            )
        )
    return refreshes

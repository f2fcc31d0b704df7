"""A view's readers go back to the refresh before, and forward again: by what the registry says of each refresh.

The registry says first which refreshes are withdrawn; the store's head follows, in one change, and then the history. A
run that died in between is brought to its end by the next, which then does nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from featurekit.clock import Instant, format_instant
from featurekit.errors import NotRegisteredError, RollbackError
from featurekit.offline.history import History
from featurekit.offline.history_folder import written_here
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.refresh import read_head
from featurekit.online.store import Head, HeadEntry, OnlineStore, Value, decode_head, encode_head
from featurekit.registered_views import wanted_versions
from featurekit.registry.registry import Registry
from featurekit.registry.state import RefreshRecord, RefreshStatus, ViewVersion
from featurekit.registry.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack:
    """What a rollback did to a view version: the refreshes it took away or brought back, and what lookups get now."""

    view: str
    number: int
    changed: tuple[tuple[Instant, int], ...]
    serves: tuple[Instant, int]
    is_forward: bool
    is_resumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """One view version, and where its refreshes are on record, served and kept."""

    version: ViewVersion
    space: KeySpace
    registry: Registry
    store: OnlineStore
    history: History

    @property
    def name(self) -> str:
        return f"{self.version.name}@{self.version.number}"

    def records(self, registry: Registry | Writer) -> dict[tuple[Instant, int], RefreshRecord]:
        found = registry.refreshes(self.version.name, fingerprint=self.version.fingerprint.data)
        return {(one.as_of, one.restatement): one for one in found}

    def markers(self, spaces: Sequence[KeySpace]) -> list[bool]:
        return [marker is not None for marker in self.store.read([space.marker for space in spaces])] if spaces else []


def rollback_view(
    view: str,
    *,
    to: Instant | None = None,
    is_forward: bool = False,
    registry: Registry,
    store: OnlineStore,
    namespace: Namespace,
    history: History,
    now: Instant,
) -> RolledBack:
    """Take the refresh that serves, and all after it, from the readers of a view; the one before serves then.

    With `to` the one of that as-of serves. `is_forward` brings back what was rolled back last. `view@number` is that
    version, without a number it is the one that serves. RollbackError where there is nothing to go to.
    """
    version = _version(view, registry)
    fingerprint = version.fingerprint.data
    space = KeySpace(namespace=namespace, view=version.name, fingerprint=fingerprint, as_of=0)
    place = _Place(version=version, space=space, registry=registry, store=store, history=history)
    resumed = _follow(place)
    if resumed:
        return _outcome(place, resumed, now, is_forward=is_forward, is_resumed=True)
    chosen = _to_bring_back(place) if is_forward else _to_withdraw(place, to, now)
    with registry.writing() as writer:
        if is_forward:
            writer.bring_back(chosen, now)
        else:
            writer.withdraw(chosen, now)
    _follow(place)
    changed = [(record.as_of, record.restatement) for record in chosen]
    return _outcome(place, changed, now, is_forward=is_forward)


def _version(view: str, registry: Registry) -> ViewVersion:
    if "@" in view:
        (version,) = wanted_versions(view, registry)
        return version
    serving = {service.views.get(view) for service in registry.deployed().serving.values()} - {None}
    found = {one.fingerprint.data: one for one in registry.view_versions() if one.name == view}
    versions = [found[fingerprint] for fingerprint in serving if fingerprint in found]
    if len(versions) == 1:
        return versions[0]
    if not versions:
        raise NotRegisteredError(f"no version of a view {view!r} serves", where=str(registry), try_="featurekit status")
    names = " or ".join(sorted(f"{one.name}@{one.number}" for one in versions))
    raise RollbackError(
        f"several versions of {view} serve", where=str(registry), why="its services read others", try_=names
    )


def _to_withdraw(place: _Place, to: Instant | None, now: Instant) -> list[RefreshRecord]:
    """Return the records of the refreshes to take away: all behind the one that is to serve."""
    head = read_head(place.store, place.space)
    serving = head.at(now)
    if serving is None:
        raise RollbackError(f"nothing of {place.name} serves", where=place.store.name, try_="featurekit materialize")
    if serving.live is not None:
        raise RollbackError(
            f"{place.name} can't go back",
            where=place.store.name,
            why="it is written in place: each refresh takes the place of the one before",
            try_="materialize it again once its source is right; views without `write: in_place` can go back",
        )
    target = _target(place, head, serving, to, now)
    (is_there,) = place.markers([place.space.at(target.as_of, target.restatement, target.live)])
    if not is_there:
        raise RollbackError(
            f"{place.name} can't go back to {_shown(target)}",
            where=place.store.name,
            why="its rows have expired",
            try_="materialize it again with --restate REASON once its source is right",
        )
    entries = head.entries[head.entries.index(target) + 1 :]
    for entry in entries:  # one that a run has just listed is on record as running
        place.registry.confirm_refresh(
            view=place.version.name,
            fingerprint=place.version.fingerprint.data,
            as_of=entry.as_of,
            restatement=entry.restatement,
            completed_at=entry.completed_at,
            visible_from=entry.visible_from,
            rows=entry.rows,
        )
    records = place.records(place.registry)
    return [records[(entry.as_of, entry.restatement)] for entry in entries]


def _target(place: _Place, head: Head, serving: HeadEntry, to: Instant | None, now: Instant) -> HeadEntry:
    before = [each for each in head.entries[: head.entries.index(serving)] if each.visible_from <= now]
    found = before if to is None else [entry for entry in before if entry.as_of == to]
    if found:
        return found[-1]
    there = ", ".join(dict.fromkeys(format_instant(entry.as_of) for entry in reversed(before)))
    wanted = "" if to is None else f" to {format_instant(to)}"
    raise RollbackError(
        f"{place.name} can't go back{wanted}",
        where=place.store.name,
        why="that refresh is not kept" if there else "no refresh before the one that serves is kept",
        try_=f"--to one of {there}" if there else "materialize it again with --restate REASON once its source is right",
    )


def _to_bring_back(place: _Place) -> list[RefreshRecord]:
    """Return the records of what was rolled back last and can still be read and listed."""
    gone = [
        one for one in place.records(place.registry).values() if one.withdrawn_at is not None and one.dropped_at is None
    ]
    if not gone:
        raise RollbackError(f"nothing of {place.name} was rolled back", where=str(place.registry))
    last = max(one.withdrawn_at or 0 for one in gone)
    records = sorted((one for one in gone if one.withdrawn_at == last), key=lambda one: (one.as_of, one.restatement))
    there = place.markers([place.space.at(one.as_of, one.restatement) for one in records])
    oldest = _oldest(read_head(place.store, place.space))
    found = [one for one, is_there in zip(records, there, strict=True) if is_there and one.as_of >= oldest]
    if not found:
        raise RollbackError(
            f"{place.name} can't go forward to {format_instant(records[-1].as_of)}",
            where=place.store.name,
            why=f"it is older than all that can serve: {format_instant(oldest)} is the oldest"
            if any(there)
            else "its rows have expired, or were collected",
            try_="materialize it again with --restate REASON",
        )
    return found


def _follow(place: _Place) -> list[tuple[Instant, int]]:
    """Make the head, then the history, what the registry says; return the refreshes that this changed in the head."""
    before, after = Head(), Head()

    def as_recorded(content: Value) -> Value:
        nonlocal before, after
        before = after = decode_head(content)
        for entry in before.entries:
            record = records.get((entry.as_of, entry.restatement))
            if record is not None and record.withdrawn_at is not None:
                after = after.without(entry.as_of, entry.restatement)
        for record in _lacking(place, records, before):
            after = after.with_entry(_entry(place, record))
        return content if after == before else encode_head(after)

    # Inside the registry's transaction: two that roll back and forward can't undo each other.
    with place.registry.writing() as writer:
        records = place.records(writer)
        place.store.change(place.space.head, as_recorded)
    for kept in place.history.entries(place.version.name, place.version.fingerprint.data):
        record = records.get((kept.as_of, kept.restatement))
        if record is not None and record.online and kept.withdrawn_at != record.withdrawn_at:
            with written_here(kept.path):
                place.history.withdraw(kept, record.withdrawn_at)
    changed = {(one.as_of, one.restatement) for one in before.entries} ^ {
        (one.as_of, one.restatement) for one in after.entries
    }
    return sorted(changed)


def _lacking(place: _Place, records: dict[tuple[Instant, int], RefreshRecord], head: Head) -> list[RefreshRecord]:
    """Return the records of refreshes that were brought back and that the head does not list, where it may."""
    oldest = _oldest(head)
    found = [
        one
        for key, one in records.items()
        if one.absences
        and one.withdrawn_at is None
        and one.dropped_at is None
        and one.status is RefreshStatus.COMPLETE
        and one.as_of >= oldest
        and head.get(*key) is None
    ]
    there = place.markers([place.space.at(one.as_of, one.restatement) for one in found])
    return [one for one, is_there in zip(found, there, strict=True) if is_there]


def _oldest(head: Head) -> Instant:
    """Return the oldest as-of of a head: what is older was let go of, and is not listed again."""
    return min((entry.as_of for entry in head.entries), default=0)


def _entry(place: _Place, record: RefreshRecord) -> HeadEntry:
    back = record.absences[-1][1]
    return HeadEntry(
        as_of=record.as_of,
        restatement=record.restatement,
        visible_from=max(back, record.as_of + place.version.grid.availability_delay),
        completed_at=back if record.completed_at is None else record.completed_at,
        rows=record.rows or 0,
    )


def _outcome(
    place: _Place, changed: Sequence[tuple[Instant, int]], now: Instant, *, is_forward: bool, is_resumed: bool = False
) -> RolledBack:
    serving = read_head(place.store, place.space).at(now)
    assert serving is not None, "there is one before what was withdrawn"
    return RolledBack(
        view=place.version.name,
        number=place.version.number,
        changed=tuple(changed),
        serves=(serving.as_of, serving.restatement),
        is_forward=is_forward,
        is_resumed=is_resumed,
    )


def _shown(entry: HeadEntry) -> str:
    again = f" (restatement {entry.restatement})" if entry.restatement else ""
    return f"the refresh of {format_instant(entry.as_of)}{again}"

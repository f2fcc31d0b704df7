"""What nothing needs any more is dropped from the online store: versions, refreshes, plans, and what dead runs left.

    walk all keys, count ─▶ registry's lock: decide, record, take away pointers, heads, markers, plans
        ─▶ readers in flight end ─▶ walk the rows again: those without a marker go, step by step

What is needed can't change while it is decided, and what leads to rows goes before them: a run that died anywhere is
completed by the next, which decides the same and finds rows without a marker. Nobody reads those, whoever wrote them:
a marker is there before the first row.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from featurekit.clock import HOUR, Instant
from featurekit.errors import NotRegisteredError, RefreshRunningError
from featurekit.leasing import IN_PLACE, leased
from featurekit.online.keys import KeySpace, Namespace, is_in_place, pinned_name, pointer_text, version_text
from featurekit.online.publish import published_services, withdraw_services
from featurekit.online.refresh import let_readers_finish, read_head, spaces_of
from featurekit.online.store import OnlineStore
from featurekit.registry.registry import Registry
from featurekit.registry.state import RefreshRecord, RefreshStatus, ServiceVersion, ViewVersion
from featurekit.registry.uses import Use, Uses
from featurekit.registry.writer import Writer

GRACE: Final = HOUR
STEP: Final = 1000
PAUSE_S: Final = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A version that nobody needs since `since`; it goes when the grace has passed."""

    name: str
    since: Instant


@dataclass(slots=True, kw_only=True)
class Collected:
    """What went, or would go: versions by name and number, key spaces and plans by their keys, rows by their count.

    `waiting` are within the grace; `unknown` is in the store and not in this registry, and stays.
    """

    services: list[str] = field(default_factory=list)
    views: list[str] = field(default_factory=list)
    spaces: list[str] = field(default_factory=list)
    plans: list[str] = field(default_factory=list)
    rows: int = 0
    waiting: list[Waiting] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    is_dry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What lies in the store: the texts of key spaces with a marker, keys of plans, rows by their space's text."""

    markers: set[str]
    plans: set[bytes]
    rows: Counter[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """Collects in one project and environment; at most `step` keys at once, with a pause after each step.

    `holder` names who holds the lease on rows in place while they go; no run has this name.
    """

    registry: Registry
    store: OnlineStore
    namespace: Namespace
    grace: int = GRACE
    step: int = STEP
    pause_s: float = PAUSE_S
    sleep: Callable[[float], None] = time.sleep
    holder: str = "gc"

    def collect(self, now: Instant, *, dry_run: bool = False) -> Collected:
        """Drop what nobody has needed since `grace` before `now`; with `dry_run` only tell what would go.

        NotRegisteredError where the registry knows nothing: then nothing can be told to be needed by nobody.
        """
        done = Collected(is_dry=dry_run)
        found = self._walk()
        with self.registry.writing() as writer:
            if not writer.views():
                raise NotRegisteredError(
                    "nothing is registered here",
                    where=str(self.registry),
                    why="what the online store has could not be told to be needed by nobody",
                    try_="look at the settings of the registry, the project and the environment",
                )
            dropped = self._drop_versions(writer, now, done)
            self._drop_spaces(writer, found, dropped, now, done)
            self._drop_plans(writer, found, done)
            views = writer.views()
        orphans = {text for text in found.rows if text not in found.markers or text in done.spaces}
        if dry_run:
            done.rows = sum(found.rows[text] for text in orphans)
        elif orphans:
            let_readers_finish(self.store)
            in_place = {text for text in orphans if is_in_place(text)}
            done.rows = self._drop_rows(orphans - in_place) + self._drop_in_place(in_place, views)
        return done

    def _walk(self) -> _Found:
        found = _Found(markers=set(), plans=set(), rows=Counter())
        prefix = self.namespace.prefix
        markers, plans, rows = prefix + b"space:", self.namespace.plans, self.namespace.row_prefix()
        seen: Counter[str] = Counter()
        for keys in _steps(self.store.find(prefix), self.step):
            for key in keys:
                if key.startswith(rows):
                    seen[_space_of(key)] += 1
                elif key.startswith(markers):
                    found.markers.add(_marked(key.removeprefix(markers)))
                elif key.startswith(plans):
                    found.plans.add(key)
            self.sleep(self.pause_s)
        found.rows.update(seen)
        return found

    def _drop_versions(self, writer: Writer, now: Instant, done: Collected) -> set[str]:
        """Take versions' pointers and heads away, and record it; return all collected view versions, by their texts."""
        uses = writer.uses()
        services = self._idle(uses.services, now, done)
        views = [
            use for use in self._idle(uses.views, now, done) if not writer.leased(use.version.name, _data(use.version))
        ]
        done.services = [_name(use.version) for use in services]
        done.views = [_name(use.version) for use in views]
        kept = _kept_views(uses, views)
        if not done.is_dry:
            for use in (*services, *views):
                writer.collect(use.version, now, with_refreshes=_text(use.version) not in kept)
        gone = {
            _text(view): view
            for view in writer.views()
            if _text(view) not in kept and (view.collected_at is not None or _name(view) in done.views)
        }
        if not done.is_dry:
            pinned = [pinned_name(one.name, one.number) for one in writer.services() if one.collected_at is not None]
            withdraw_services(self.store, self.namespace, self._there(pinned))
            for view in gone.values():
                self.store.change(self._space(view).head, lambda _: None)
        return set(gone)

    def _idle(self, uses: Sequence[Use], now: Instant, done: Collected) -> list[Use]:
        idle = [use for use in uses if not use.is_needed]
        done.waiting += [
            Waiting(name=_name(use.version), since=use.idle_since) for use in idle if use.idle_since + self.grace > now
        ]
        return [use for use in idle if use.idle_since + self.grace <= now]

    def _there(self, services: Sequence[str]) -> list[str]:
        pointers = self.store.read([self.namespace.pointer(name) for name in services]) if services else []
        return [name for name, pointer in zip(services, pointers, strict=True) if pointer is not None]

    def _drop_spaces(self, writer: Writer, found: _Found, dropped: set[str], now: Instant, done: Collected) -> None:
        """Take away the markers of what no head lists and no run writes; the rest of `found` was there before it."""
        views = {_text(view): view for view in writer.views()}
        by_version: dict[str, list[str]] = {}
        for text in sorted(found.markers):
            by_version.setdefault(text.partition(":")[0], []).append(text)
        for version, texts in by_version.items():
            if version not in views:
                done.unknown += texts
            elif version in dropped:
                done.spaces += texts
            else:
                done.spaces += self._stale(writer, views[version], texts, now, done)
        if not done.is_dry:
            for text in done.spaces:
                self.store.change(self.namespace.prefix + b"space:" + text.encode(), lambda _: None)

    def _stale(
        self, writer: Writer, view: ViewVersion, texts: Sequence[str], now: Instant, done: Collected
    ) -> list[str]:
        # Leases before the head: a run that ended in between has its refresh in the head.
        running, space = writer.leased(view.name, _data(view)), self._space(view)
        listed = {str(one) for one in spaces_of(read_head(self.store, space), space)}
        left = [text for text in texts if text not in listed]
        if not left:
            return []
        runs = writer.refreshes(view.name, fingerprint=_data(view))
        ended = {str(space.at(one.as_of, one.restatement)): (one.as_of, _ended(one)) for one in runs}
        # Whichever run wrote it, one after the last leaves it alone, or takes it up under a lease.
        in_place = (IN_PLACE, max((one.completed_at or one.started_at for one in runs), default=now))
        stale = []
        for text in left:
            lease, last = in_place if runs and is_in_place(text) else ended.get(text, (None, now))
            if lease is None:
                done.unknown.append(text)
            elif lease not in running and last + self.grace <= now:
                stale.append(text)
        return stale

    def _drop_plans(self, writer: Writer, found: _Found, done: Collected) -> None:
        """Take away the plans of versions that are gone; one that a pointer leads to stays."""
        versions = writer.services()
        names = {version.name for version in versions}
        kept = {
            self.namespace.plan(one.name, pointer_text(one.fingerprint.data, one.lookup_plan))
            for one in versions
            if one.collected_at is None and _name(one) not in done.services
        }
        published = published_services(self.store, self.namespace)
        pointers = self.store.read([self.namespace.pointer(name) for name in published]) if published else []
        kept |= {
            self.namespace.plan(name, pointer)
            for name, pointer in zip(published, pointers, strict=True)
            if pointer is not None
        }
        left = sorted(found.plans - kept)
        mine = [key for key in left if _service_of(key, self.namespace) in names]
        done.plans = [key.decode() for key in mine]
        done.unknown += [key.decode() for key in left if key not in mine]
        if mine and not done.is_dry:
            self.store.remove(mine)

    def _drop_rows(self, orphans: set[str]) -> int:
        """Delete the rows of key spaces without a marker; before each step that is looked at again."""
        count = 0
        prefix = self.namespace.prefix + b"space:"
        rows = (key for key in self.store.find(self.namespace.row_prefix()) if _space_of(key) in orphans)
        for keys in _steps(rows, self.step):
            spaces = sorted({_space_of(key) for key in keys})
            markers = self.store.read([prefix + text.encode() for text in spaces])
            opened = {text for text, marker in zip(spaces, markers, strict=True) if marker is not None}
            count += self.store.remove([key for key in keys if _space_of(key) not in opened])
            self.sleep(self.pause_s)
        return count

    def _drop_in_place(self, orphans: set[str], views: Sequence[ViewVersion]) -> int:
        """Delete rows in place that no marker stands for, while no run can begin: it might take up their space again.

        Where one has begun, they stay: what it has no row for, it deletes itself.
        """
        known, count = {_text(view): view for view in views}, 0
        for version in sorted({text.partition(":")[0] for text in orphans}):
            texts = {text for text in orphans if text.startswith(f"{version}:")}
            view = known.get(version)
            if view is None:
                count += self._drop_rows(texts)
                continue
            with (
                suppress(RefreshRunningError),
                leased(self.registry, view.name, _data(view), (IN_PLACE,), holder=self.holder),
            ):
                count += self._drop_rows(texts)
        return count

    def _space(self, view: ViewVersion) -> KeySpace:
        return KeySpace(namespace=self.namespace, view=view.name, fingerprint=_data(view), as_of=0)


def _kept_views(uses: Uses, gone: Sequence[Use]) -> set[str]:
    """Return the texts of the view versions that stay: of two versions with one meaning, both keep their rows."""
    names = {_name(use.version) for use in gone}
    return {_text(use.version) for use in uses.views if _name(use.version) not in names}


def _ended(record: RefreshRecord) -> Instant:
    """Return when a refresh that no head lists stopped being needed.

    One that others have pushed out of the head was let go of with a grace of its own, then.
    """
    if record.withdrawn_at is not None:
        return record.withdrawn_at
    if record.status is not RefreshStatus.COMPLETE:
        return record.started_at if record.completed_at is None else record.completed_at
    return max((back for _, back in record.absences), default=record.completed_at or record.started_at)


def _space_of(row: bytes) -> str:
    """Return the text of a row's key space, from its key."""
    return row.rpartition(b"}:")[2].decode()


def _marked(text: bytes) -> str:
    return text.partition(b"{")[0].decode()  # a cluster keeps copies, with a hash tag behind


def _service_of(plan: bytes, namespace: Namespace) -> str:
    return plan.removeprefix(namespace.plans).partition(b"@")[0].decode()


def _data(version: ViewVersion | ServiceVersion) -> str:
    return version.fingerprint.data


def _text(version: ViewVersion | ServiceVersion) -> str:
    return version_text(version.name, version.fingerprint.data)


def _name(version: ViewVersion | ServiceVersion) -> str:
    return pinned_name(version.name, version.number)


def _steps(keys: Iterator[bytes], size: int) -> Iterator[list[bytes]]:
    while step := list(islice(keys, size)):
        yield step

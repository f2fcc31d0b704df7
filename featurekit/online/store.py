"""What featurekit needs of an online store, and the values it keeps there beside the rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from featurekit.clock import Instant
from featurekit.errors import NewerWireVersionError, OnlineStoreError

HEAD_FORMAT: Final = 1
LIVE_FORMAT: Final = 2  # of a head with refreshes that are written in place: a client that knows none must not read it
# How long a read may take where it is not one instant: for so long, rows outlive the taking away of what led to them.
READ_SPAN_S: Final = 10

Value = bytes | None


class ReadableStore(Protocol):
    """What a lookup needs. Every method raises OnlineStoreError where the store does not answer as it should."""

    @property
    def name(self) -> str:
        """The store's address as it may be shown: without a password."""

    @property
    def reads_at_once(self) -> bool:
        """Whether one read sees one instant: not where the keys lie on several servers."""

    def read(self, keys: Sequence[bytes], *, timeout_s: float | None = None) -> list[Value]:
        """Return the value of each key, None where there is none, all in one round trip.

        OnlineStoreTimeoutError where there is no answer within `timeout_s`; None: the store's own timeout.
        """

    def find(self, prefix: bytes) -> Iterator[bytes]:
        """Yield the keys that begin with `prefix`, in bounded steps, in no order; a key can come twice."""

    def close(self) -> None: ...


class AsyncReadableStore(Protocol):
    """What a lookup under asyncio needs; as ReadableStore."""

    @property
    def name(self) -> str: ...

    @property
    def reads_at_once(self) -> bool: ...

    async def read(self, keys: Sequence[bytes], *, timeout_s: float | None = None) -> list[Value]: ...

    async def close(self) -> None: ...


class OnlineStore(ReadableStore, Protocol):
    """What writing, publishing and dropping need, but for the rows themselves: those go by a pipeline of their own."""

    def write(self, values: Mapping[bytes, bytes], *, expires_at_ms: int | None = None) -> None:
        """Set the values; they expire by the store's own clock.

        A reader sees all of them or none, in a cluster of those whose keys share a hash tag. Acknowledged is what a
        replica has too, where there is one: so it is for `change` and `extend`.
        """

    def change(self, key: bytes, to: Callable[[Value], Value]) -> Value:
        """Set `key` to what `to` makes of its value and return that; nobody else's change is lost.

        `to` may be called more than once. None means no value: the key is deleted, or stays away.
        """

    def extend(self, key: bytes, *, expires_at_ms: int) -> bool:
        """Let `key` expire no earlier than that; False where it is gone already."""

    def delete(self, pattern: bytes, *, endings: tuple[bytes, ...] = (b"",)) -> int:
        """Delete the keys that match a glob pattern and have one of the endings; return how many there were.

        All keys of the store are walked once, in bounded steps.
        """

    def delete_older(self, pattern: bytes, *, ending: bytes, before: Instant) -> int:
        """Delete the rows whose keys match and end so and whose as-of lies before an instant; return how many."""

    def remove(self, keys: Sequence[bytes]) -> int:
        """Delete keys, some thousands at most; return how many there were. A replica has it too, where there is one."""

    def now_ms(self) -> int:
        """Return the store's clock: what expiry is measured by. Where there are several, the one that is behind."""

    def generation(self) -> str:
        """Return a text that changes when a server restarts, or another takes its place.

        What was written over other connections before that may be lost, acknowledged or not.
        """

    def check_keeps_rows(self) -> None:
        """Raise EvictingStoreError where the store may drop rows before they expire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadEntry:
    """A complete refresh: lookups at `visible_from` and later may be answered from its key space.

    `live` is the number of the space that a refresh in place was written into, None of one that has its own.
    """

    as_of: Instant
    restatement: int
    visible_from: Instant
    completed_at: Instant
    rows: int
    live: int | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The complete refreshes of a view version, the oldest as-of first."""

    entries: tuple[HeadEntry, ...] = ()

    def at(self, instant: Instant) -> HeadEntry | None:
        """Return the entry that serves a request at `instant`: the newest one visible by then."""
        for entry in reversed(self.entries):
            if entry.visible_from <= instant:
                return entry
        return None

    def get(self, as_of: Instant, restatement: int) -> HeadEntry | None:
        wanted = (as_of, restatement)
        return next((entry for entry in self.entries if (entry.as_of, entry.restatement) == wanted), None)

    def with_entry(self, entry: HeadEntry) -> Head:
        """Return the head with `entry`, in place of one of the same as-of and restatement."""
        others = self.without(entry.as_of, entry.restatement).entries
        return Head(tuple(sorted((*others, entry), key=lambda one: (one.as_of, one.restatement))))

    def without(self, as_of: Instant, restatement: int) -> Head:
        return Head(tuple(one for one in self.entries if (one.as_of, one.restatement) != (as_of, restatement)))

    def trimmed(self, *, at: Instant, keep: int, grace: int) -> Head:
        """Return the head without the refreshes that nobody needs at `at` any more.

        What serves at `at` stays, and all that comes after it. Of those before, the newest `keep` stay, and those that
        stopped serving less than `grace` microseconds ago.
        """
        serving = self.at(at)
        if serving is None:
            return self
        first = place = self.entries.index(serving)
        # An entry stops serving when any of those after it becomes visible.
        stopped_at = min(entry.visible_from for entry in self.entries[place:])
        while first and (place - first < keep or stopped_at + grace > at):
            first -= 1
            stopped_at = min(stopped_at, self.entries[first].visible_from)
        return Head(self.entries[first:])


def encode_head(head: Head) -> bytes:
    """Return the head as JSON bytes; equal heads give equal bytes.

    >>> decode_head(encode_head(Head())) == Head()
    True
    """
    entries = [
        [entry.as_of, entry.restatement, entry.visible_from, entry.completed_at, entry.rows]
        + ([] if entry.live is None else [entry.live])
        for entry in head.entries
    ]
    form = HEAD_FORMAT if all(entry.live is None for entry in head.entries) else LIVE_FORMAT
    return json.dumps({"format": form, "entries": entries}, separators=(",", ":")).encode()


def decode_head(content: bytes | None) -> Head:
    """Return the head that `encode_head` wrote; an empty one where there is none.

    NewerWireVersionError where another version of featurekit wrote it, OnlineStoreError where nobody can have.
    """
    if content is None:
        return Head()
    try:
        return _head_of(json.loads(content))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise OnlineStoreError(
            "a view's head can't be read",
            why=f"it was damaged, or overwritten by hand: {error}",
            try_="delete its key (docs/formats.md), then featurekit materialize",
        ) from error


def _head_of(head: dict[str, Any]) -> Head:
    if head.get("format") not in (HEAD_FORMAT, LIVE_FORMAT):
        raise NewerWireVersionError(
            f"the view's head has format {head.get('format')!r}; this featurekit reads {HEAD_FORMAT} and {LIVE_FORMAT}",
            why="it was written by another version of featurekit",
            try_="upgrade this client",
        )
    return Head(
        tuple(
            HeadEntry(
                as_of=as_of,
                restatement=again,
                visible_from=visible,
                completed_at=completed,
                rows=rows,
                live=live[0] if live else None,
            )
            for as_of, again, visible, completed, rows, *live in head["entries"]
        )
    )

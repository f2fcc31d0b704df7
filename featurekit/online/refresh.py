"""A refresh from begin to end, as the online store sees it: a key space of its own, then an entry in the view's head.

A lookup is answered from a key space only when the head lists it and the space's marker is there. The marker is written
before the first row and expires no later than any row: where it is gone, rows may be gone, and nobody may take that for
entities without rows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from featurekit.clock import MINUTE, Instant, format_instant
from featurekit.errors import KeySpaceDroppedError, TimeError
from featurekit.grid import Grid
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.store import (
    READ_SPAN_S,
    Head,
    HeadEntry,
    OnlineStore,
    ReadableStore,
    Value,
    decode_head,
    encode_head,
)

KEEP_DEFAULT: Final = 7  # with the one that serves: a week of daily refreshes to go back to
GRACE_DEFAULT: Final = 10 * MINUTE  # for clocks that are behind; the newest kept are what there is to go back to
MARKER_MARGIN_S: Final = 60
"""For so much longer live rows than the marker of their space: the clocks of a cluster's nodes differ."""
_FILLING: Final = b"filling"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """A refresh that has begun; its rows expire at `expires_at_ms` of the store's clock or later."""

    space: KeySpace
    expires_at_ms: int
    generation: str  # of the store, when it began


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What completing a refresh did: its head entry, and the key spaces that the head lists no longer."""

    entry: HeadEntry
    retired: tuple[KeySpace, ...]


def begin_refresh(store: OnlineStore, space: KeySpace, *, expires_in_s: int) -> Refresh:
    """Open the key space, before any row is written into it: with this expiry and MARKER_MARGIN_S more."""
    store.check_keeps_rows()
    generation = store.generation()
    expires_at_ms = store.now_ms() + expires_in_s * 1000
    content, marker = store.read([space.head, space.marker])
    listed = [one for one in spaces_of(decode_head(content), space) if one.marker == space.marker]
    if listed and marker is None:
        # A marker now would make lookups take rows that expired, and are not written again yet, for missing entities.
        for one in listed:
            withdraw_refresh(store, one)
        let_readers_finish(store)
    if not (listed and marker is not None):
        store.write({space.marker: _FILLING}, expires_at_ms=expires_at_ms)
    # A space in use keeps its marker as it is until every row has been written again: `complete_refresh` extends it.
    return Refresh(space=space, expires_at_ms=expires_at_ms, generation=generation)


def complete_refresh(
    store: OnlineStore,
    refresh: Refresh,
    *,
    grid: Grid,
    completed_at: Instant,
    rows: int,
    keep: int = KEEP_DEFAULT,
    grace: int = GRACE_DEFAULT,
) -> Completion:
    """List the refresh in its view's head: lookups see it from max(as-of + delay, completion) on, all entities at once.

    The head keeps this one, the one that serves and all after it; of those that served before, the newest `keep` and
    those that did until less than `grace` (microseconds) ago. KeySpaceDroppedError when the key space was dropped or
    has expired meanwhile, or a server restarted or was replaced: rows may be lost then that it had acknowledged.
    """
    space = refresh.space
    is_live = space.live is not None
    if store.generation() != refresh.generation:
        raise KeySpaceDroppedError(
            f"the key space {space} may have lost rows",
            where=store.name,
            why="a server of the online store restarted, or another took its place, since the refresh began",
            try_="run the refresh again",
        )
    if not store.extend(space.marker, expires_at_ms=refresh.expires_at_ms):
        raise KeySpaceDroppedError(
            f"the key space {space} is gone",
            where=space.marker.decode(),
            why="it was dropped, or expired before the refresh was complete",
            try_="run the refresh again; if it takes that long, let its rows live longer",
        )
    entry = HeadEntry(
        as_of=space.as_of,
        restatement=space.restatement,
        # What was written in place is served from now on: what was there before is not there any more.
        visible_from=completed_at if is_live else max(space.as_of + grid.availability_delay, completed_at),
        completed_at=completed_at,
        rows=rows,
        live=space.live,
    )
    before = Head()

    def with_entry(content: Value) -> Value:
        nonlocal before
        before = decode_head(content)
        old = before.get(entry.as_of, entry.restatement)
        # A rerun wrote the same bytes again: what was visible stays visible.
        added = replace(old, rows=rows) if old else entry
        trimmed = before.with_entry(added).trimmed(at=completed_at, keep=0 if is_live else keep, grace=grace)
        # What was just computed stays where it is older than all that is kept: its run says that it is there.
        return encode_head(trimmed.with_entry(added))

    head = decode_head(store.change(space.head, with_entry))
    kept = {one.marker for one in spaces_of(head, space)}
    return Completion(
        entry=head.get(entry.as_of, entry.restatement) or entry,
        retired=tuple({one.marker: one for one in spaces_of(before, space) if one.marker not in kept}.values()),
    )


def spaces_of(head: Head, space: KeySpace) -> tuple[KeySpace, ...]:
    """Return the key space of each refresh that a head lists, of the view version that `space` belongs to."""
    return tuple(space.at(entry.as_of, entry.restatement, entry.live) for entry in head.entries)


def space_in_place(store: ReadableStore, space: KeySpace, *, is_restated: bool) -> KeySpace:
    """Return the one space of a view that is written in place, for a refresh; a restatement has the next one."""
    entries = read_head(store, space).entries
    last = max((entry.live for entry in entries if entry.live is not None), default=-1)
    # Where the head's last refresh has a space of its own, rows of the last one in place may be of any time.
    goes_on = bool(entries) and entries[-1].live is not None and not is_restated
    return space.at(space.as_of, space.restatement, last if goes_on else last + 1)


def check_goes_forward(store: ReadableStore, space: KeySpace) -> None:
    """Raise TimeError where a later refresh in place has overwritten what one of the space's as-of would write."""
    entries = read_head(store, space).entries
    newest = max((entry.as_of for entry in entries if entry.live is not None), default=space.as_of)
    if newest > space.as_of:
        raise TimeError(
            f"{space.view} can't go back to {format_instant(space.as_of)}",
            where=store.name,
            why=f"it is written in place, and {format_instant(newest)} has overwritten what was there before",
            try_="materialize --from --to keeps earlier refreshes in the history; or leave out `write: in_place`",
        )


def sweep_space(store: OnlineStore, space: KeySpace) -> int:
    """Delete what a complete refresh in place has no row for; return how many rows that were."""
    let_readers_finish(store)
    return store.delete_older(space.row_pattern, ending=space.row_suffix, before=space.as_of)


def withdraw_refresh(store: OnlineStore, space: KeySpace) -> bool:
    """Take the refresh out of its view's head, so that the one before answers lookups; False if it was not listed."""
    was_listed = False

    def without(content: Value) -> Value:
        nonlocal was_listed
        head = decode_head(content)
        was_listed = head.get(space.as_of, space.restatement) is not None
        return encode_head(head.without(space.as_of, space.restatement)) if was_listed else content

    store.change(space.head, without)
    return was_listed


def read_head(store: ReadableStore, space: KeySpace) -> Head:
    """Return the head of the view version that the space belongs to."""
    (content,) = store.read([space.head])
    return decode_head(content)


def served_as_of(store: OnlineStore, namespace: Namespace, view: str, fingerprint: str, at: Instant) -> Instant | None:
    """Return the as-of that lookups of a view version get at an instant; None where they get UNAVAILABLE."""
    space = KeySpace(namespace=namespace, view=view, fingerprint=fingerprint, as_of=0)
    entry = read_head(store, space).at(at)
    if entry is None:
        return None
    (marker,) = store.read([space.at(entry.as_of, entry.restatement, entry.live).marker])
    return None if marker is None else entry.as_of


def drop_space(store: OnlineStore, space: KeySpace) -> int:
    """Delete one key space; return how many rows there were."""
    return drop_spaces(store, [space])


def drop_spaces(store: OnlineStore, spaces: Sequence[KeySpace]) -> int:
    """Delete key spaces of one view version, in one walk over the store; return how many rows there were.

    Lookups of them say UNAVAILABLE.
    """
    if not spaces:
        return 0
    for space in spaces:
        # First: while rows go, no reader may take the rest for all.
        store.change(space.marker, lambda _: None)
    let_readers_finish(store)
    return store.delete(spaces[0].row_pattern, endings=tuple(space.row_suffix for space in spaces))


def let_readers_finish(store: ReadableStore) -> None:
    """Wait until no reader can still hold on to what was just taken away, where a read is not one instant."""
    if not store.reads_at_once:
        time.sleep(READ_SPAN_S)

"""Rows that were read before, by key and by the head they were read beside: bounded in bytes and in age."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Final

from featurekit.online.store import Value

Kept = tuple[Value, float]
"""A row, or that there is none, and when it was read."""

_Generation = dict[bytes, dict[bytes, Kept]]

# What a row takes beside its key and its bytes: two objects' headers, the pair, and its place in a dict.
ENTRY_BYTES: Final = 200
_NONE: Final[Mapping[bytes, Kept]] = {}


class RowCache:
    """Keeps what was used last, up to `max_bytes`, and no row longer than `max_age_s`; safe to share by threads.

    Rows come into a young generation, and again when they are used; when that is full, or `max_age_s` old, it becomes
    the old one and what was the old one goes. So nothing is moved or searched for each row that is used, and what goes
    was not used for a while.
    """

    def __init__(self, max_bytes: int, max_age_s: float) -> None:
        self._half = max_bytes // 2
        self._max_age_s = max_age_s
        self.clear_unshared()

    def clear_unshared(self) -> None:
        """Begin anew where no other thread can be: in a child process, whose parent's threads held the lock."""
        self._lock = threading.Lock()
        self.clear()

    @property
    def kept_bytes(self) -> int:
        """How much is kept, about."""
        return self._young_bytes + self._old_bytes

    def clear(self) -> None:
        with self._lock:
            self._begin(0.0)
            self._old: _Generation = {}
            self._old_bytes = 0

    def get(self, beside: bytes, keys: Sequence[bytes], *, now_s: float) -> list[Kept | None]:
        """Return what is kept of each key, read beside that head not longer ago than rows are kept; else None."""
        old = self._old  # before the young one: a row may move meanwhile, and is then found twice and never missed
        found = list(map(self._young.get(beside, _NONE).get, keys))
        oldest = now_s - self._max_age_s
        if None in found and beside in old:
            self._look_back(old, beside, keys, found, oldest)
        return [None if kept is None or kept[1] < oldest else kept for kept in found]

    def put(self, beside: bytes, keys: Sequence[bytes], rows: Sequence[Value], *, read_s: float) -> None:
        """Keep rows that were read beside a head; not those of a read that would push out most of the others."""
        size = _size(keys, rows)
        if size > self._half:
            return
        with self._lock:
            self._make_room(size, read_s)
            self._young.setdefault(beside, {}).update(zip(keys, [(row, read_s) for row in rows], strict=True))

    def _look_back(
        self, old: _Generation, beside: bytes, keys: Sequence[bytes], found: list[Kept | None], oldest: float
    ) -> None:
        earlier = old[beside].get
        again: dict[bytes, Kept] = {}
        for i, kept in enumerate(found):
            if kept is None and (kept := earlier(keys[i])) is not None and kept[1] >= oldest:
                found[i] = again[keys[i]] = kept
        size = _size(list(again), [row for row, _ in again.values()])
        with self._lock:
            if again and size <= self._half and self._old is old:  # else it was cleared, perhaps since a row was erased
                self._make_room(size, oldest + self._max_age_s)
                young = self._young.setdefault(beside, {})
                for key, kept in again.items():
                    young.setdefault(key, kept)

    def _make_room(self, size: int, now_s: float) -> None:
        if self._young_bytes + size > self._half or now_s - self._began_s > self._max_age_s:
            self._old, self._old_bytes = self._young, self._young_bytes
            self._begin(now_s)
        self._young_bytes += size

    def _begin(self, now_s: float) -> None:
        self._young: _Generation = {}
        self._young_bytes = 0
        self._began_s = now_s


def _size(keys: Sequence[bytes], rows: Sequence[Value]) -> int:
    return ENTRY_BYTES * len(keys) + sum(map(len, keys)) + sum(len(row) for row in rows if row is not None)

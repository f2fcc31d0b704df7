"""A client's own memory of what it read: lookups of what was just looked up take no round trip.

The promise: every answer is the one that the store would have given at one instant of the last `max_staleness`, and
never a mix. For what is believed is of two kinds.

- *What says which rows count*: the pointer, the heads and the markers that a lookup reads. They are believed together
  or not at all, as one read gave them: so no lookup puts a head of one instant beside a pointer of another.
- *Rows*. A refresh's rows never change; each is used only beside the very head that it was read beside (which names
  when each refresh was complete), and only where that read found the marker: so an entity that seemed to have no row
  in a space that was lost, or is written anew, is not remembered as one.

What is asked for rows asks for all that says which rows count in the same read, and where a head is another one than
was believed, nothing that was kept is used. Both kinds are older than `max_staleness` never, by a clock that also runs
while the machine sleeps, and counted from before the read was sent: whatever becomes of the pushes, of the connection
or of the server, that bound stands. What the store does not have (no pointer, no head, no marker) is not believed.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, NamedTuple, TypeVar

from featurekit.clock import parse_duration
from featurekit.errors import OnlineStoreError, SettingsError
from featurekit.online.breaker import Elapsed
from featurekit.online.forking import renew_in_children
from featurekit.online.keys import Namespace
from featurekit.online.row_cache import Kept, RowCache
from featurekit.online.store import Value

Result = TypeVar("Result")
Reads = Generator[list[bytes], list[Value], Result]

_MAX_BELIEFS: Final = 4096  # one for each service and combination of refreshes that were asked for lately


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """What a client keeps of what it read: rows of up to `max_bytes`, and nothing for longer than `max_staleness`.

    `max_staleness` is a duration such as `5s`, or a timedelta: no answer is older than that, whatever happens. With
    `tracking`, servers that can (Redis 6 and later, Valkey) say what was changed, over one more connection to each:
    then answers are seldom older than milliseconds, and `max_staleness` may be longer. SettingsError for nonsense.
    """

    max_bytes: int = 64 << 20
    max_staleness: str | timedelta = "5s"
    tracking: bool = True

    def __post_init__(self) -> None:
        if self.max_bytes < 1 or self.max_staleness_s <= 0:
            raise SettingsError("a cache has some bytes, and keeps things for some time", try_="leave it away for none")

    @property
    def max_staleness_s(self) -> float:
        stale = self.max_staleness
        return stale.total_seconds() if isinstance(stale, timedelta) else parse_duration(stale) / 1_000_000


class KeptValues(list[Value]):
    """Values that were not all read just now; `age_s`: how long ago the oldest was."""

    age_s: float = 0.0


class _Run(NamedTuple):
    """Which rows are read beside which head: those whose key ends so."""

    suffix: bytes
    head: int


class _Belief(NamedTuple):
    """What one read said of which rows count, with the markers all there."""

    values: list[Value]
    read_s: float
    runs: tuple[_Run, ...]


def since_boot() -> float:
    """Return the seconds since the machine started, those included in which it slept."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()


class CachedReads:
    """Answers what lookups read from what was read before, and remembers; safe to share by threads, and fork-safe."""

    def __init__(self, cache: Cache, namespace: Namespace, elapsed: Elapsed = since_boot) -> None:
        prefix = namespace.prefix
        self.rows = RowCache(cache.max_bytes, cache.max_staleness_s)
        self._max_age_s = cache.max_staleness_s
        self._elapsed = elapsed
        self._pointers, self._heads, self._spaces = prefix + b"service:", prefix + b"head:", prefix + b"space:"
        self._names, self._row_prefix, self._erased = namespace.names, namespace.row_prefix(), namespace.erased
        self.begin_in_child()
        renew_in_children(self)

    @property
    def prefixes(self) -> tuple[bytes, ...]:
        """How the keys begin whose changes must be known."""
        return self._pointers, self._heads, self._spaces, self._erased

    def begin_in_child(self) -> None:
        self._lock = threading.Lock()
        self._changes = 0
        self._beliefs: dict[tuple[bytes, ...], _Belief] = {}
        self._seen: dict[bytes, tuple[Value, float]] = {}
        self.rows.clear_unshared()

    def steps(self, steps: Reads[Result]) -> Reads[Result]:
        """Return the same steps, without the reads that need not be made."""
        try:
            keys = next(steps)
            while True:
                try:
                    values = yield from self._values(keys)
                except OnlineStoreError as error:
                    keys = steps.throw(error)
                else:
                    keys = steps.send(values)
        except StopIteration as done:
            result: Result = done.value
            return result

    def forget(self, changed: Sequence[bytes] | None) -> None:
        """Believe nothing of what was changed any more; None: nothing at all. What is on its way is not kept either."""
        with self._lock:
            self._changes += 1
            if changed is None or any(key.startswith(self._erased) for key in changed):
                self._beliefs.clear()
                self._seen.clear()
                self.rows.clear()
                return
            for key in changed:
                # In a cluster a marker has copies, whose keys go on with a tag.
                self._drop(key.partition(b"{")[0] if key.startswith(self._spaces) else key)

    def _values(self, keys: list[bytes]) -> Reads[list[Value]]:
        now, changes = self._elapsed(), self._changes
        if not keys[0].startswith(self._pointers):
            return (yield keys)
        count = self._count(keys)
        if keys[-1] == self._names:  # a service is loaded: by what is published now
            values = yield keys
            self._believe(tuple(keys[:1]), values[:1], now, changes, only_seen=True)
            return values
        controls, wanted = tuple(keys[:count]), keys[count:]
        belief = self._beliefs.get(controls)
        if belief is not None and belief.read_s >= now - self._max_age_s:
            found = self._found(belief, wanted, now)
            if None not in found:
                return self._kept(belief.values, found, now, belief.read_s)
            lacking = [key for key, kept in zip(wanted, found, strict=True) if kept is None]
            if len(lacking) < len(wanted):
                read = yield [*controls, *lacking]
                self._learn(controls, lacking, read, now, changes)
                if all(read[run.head] == belief.values[run.head] for run in belief.runs):
                    each = iter(read[count:])
                    rows = [(next(each), now) if kept is None else kept for kept in found]
                    return self._kept(read[:count], rows, now, now)
                now, changes = self._elapsed(), self._changes
        values = yield keys
        self._learn(controls, wanted, values, now, changes)
        return values

    def _count(self, keys: Sequence[bytes]) -> int:
        """Return how many keys come before the rows'."""
        prefix = self._row_prefix
        for count, key in enumerate(keys):
            if key.startswith(prefix):
                return count
        return len(keys)

    def _kept(self, controls: list[Value], rows: list[Any], now: float, read_s: float) -> KeptValues:
        values = KeptValues(controls)
        values += [row for row, _ in rows]
        values.age_s = now - min([read_s, *[at for _, at in rows]])
        return values

    def _found(self, belief: _Belief, keys: list[bytes], now: float) -> list[Kept | None]:
        found: list[Kept | None] = []
        for head, mine in _by_head(belief.runs, keys):
            found += self.rows.get(belief.values[head] or b"", mine, now_s=now)
        return found

    def _learn(
        self, controls: tuple[bytes, ...], keys: list[bytes], values: list[Value], read_s: float, changes: int
    ) -> None:
        count = len(controls)
        belief = self._believe(controls, values[:count], read_s, changes)
        if belief is None:
            return
        at = count
        for head, mine in _by_head(belief.runs, keys):
            rows = values[at : at + len(mine)]
            at += len(mine)
            with self._lock:
                if changes == self._changes:
                    self.rows.put(belief.values[head] or b"", mine, rows, read_s=read_s)

    def _believe(
        self,
        controls: tuple[bytes, ...],
        values: list[Value],
        read_s: float,
        changes: int,
        *,
        only_seen: bool = False,
    ) -> _Belief | None:
        """Believe what was just read, where nothing speaks against it; return that."""
        with self._lock:
            if changes != self._changes:
                return None  # something was changed meanwhile, and this may be from before
            is_latest = True
            for key, value in zip(controls, values, strict=True):
                seen = self._seen.get(key)
                if seen is None and only_seen:
                    continue  # nothing is believed of it, and callers can make up any number of names
                if seen is not None and seen[0] != value:
                    if seen[1] > read_s:
                        is_latest = False  # a read that was sent later has been answered otherwise
                        continue
                    self._drop(key)
                self._seen[key] = (value, read_s)
            if only_seen or not is_latest or None in values:
                return None
            before = self._beliefs.get(controls)
            belief = _Belief(values, read_s, self._runs(controls) if before is None else before.runs)
            if len(self._beliefs) >= _MAX_BELIEFS or len(self._seen) >= 2 * _MAX_BELIEFS:
                self._beliefs.clear()
                self._seen.clear()
            self._beliefs[controls] = belief
            return belief

    def _drop(self, key: bytes) -> None:
        if self._seen.pop(key, None) is not None:
            for controls in [controls for controls in self._beliefs if key in controls]:
                del self._beliefs[controls]

    def _runs(self, controls: tuple[bytes, ...]) -> tuple[_Run, ...]:
        runs = []
        for marker in controls:
            if marker.startswith(self._spaces):
                space = marker[len(self._spaces) :]
                head = controls.index(self._heads + space.rpartition(b":")[0])
                runs.append(_Run(b"}:" + space, head))
        return tuple(runs)


def _by_head(runs: tuple[_Run, ...], keys: list[bytes]) -> list[tuple[int, list[bytes]]]:
    """Return the rows' keys in their order, cut into those that are read beside one head, and which that is."""
    if len({run.head for run in runs}) == 1:
        return [(runs[0].head, keys)]
    pieces = []
    begin = 0
    for run in runs:
        end = begin
        while end < len(keys) and keys[end].endswith(run.suffix):
            end += 1
        if end > begin:
            pieces.append((run.head, keys[begin:end]))
        begin = end
    return pieces

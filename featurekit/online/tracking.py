"""A thread that hears what the servers push about changed keys, and has a cache forget them.

The cache's age bound stands without it: what is not heard, late or lost makes no answer older than that. Losses are
counted, and it is tried again; where one is a mistake of our own, what was kept until then is forgotten besides.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Sequence
from enum import Enum
from typing import Final, Protocol, runtime_checkable

from featurekit.errors import FeaturekitError
from featurekit.online.cache import Cache, CachedReads
from featurekit.online.forking import renew_in_children

# Between tries to hear the servers again.
_PAUSES_S: Final = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_STEADY_S: Final = 10.0  # so long heard, it is tried again soon


class Pushes(Protocol):
    """What servers say by themselves about keys; `wait` gives what was changed, None where anything may have been."""

    def open(self) -> None: ...

    def wait(self) -> list[bytes] | None: ...

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


@runtime_checkable
class PushingStore(Protocol):
    """A store whose servers can say what was changed."""

    def pushes(self, prefixes: Sequence[bytes]) -> Pushes:
        """Return what waits for changes of keys that begin so; both raise OnlineStoreError where nothing is heard."""


class Hearing(Enum):
    """What is heard of the servers."""

    OFF = "off"  # nobody listens (yet)
    ON = "on"
    LOST = "lost"  # they can't be reached, or can't say or may not: it is tried again


def tracking(cache: Cache, cached: CachedReads, store: object) -> Tracking | None:
    """Return what listens to a store's servers for a cache, where it should and the store has a way to."""
    return Tracking(store, cached) if cache.tracking and isinstance(store, PushingStore) else None


class Tracking:
    """Listens from the first `begin` on, until it is closed or the cache is gone; fork-safe."""

    def __init__(self, store: PushingStore, cached: CachedReads) -> None:
        self._store = store
        self._prefixes = cached.prefixes
        self._forget = weakref.WeakMethod(cached.forget)
        self._is_closed = False
        self.begin_in_child()
        renew_in_children(self)

    def begin_in_child(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._pushes: Pushes | None = None
        self._wake = threading.Event()
        self.hearing = Hearing.OFF
        self.why: str | None = None
        self.losses = 0

    def begin(self) -> None:
        """Listen, where nobody does so yet."""
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._listen, name="featurekit-tracking", daemon=True)
                self._thread.start()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            thread = self._thread
        self._wake.set()
        if thread is not None:
            if self._pushes is not None:
                self._pushes.interrupt()
            thread.join()

    def _listen(self) -> None:
        pushes = self._pushes = self._store.pushes(self._prefixes)
        tries = 0
        try:
            while not self._is_over():
                begun_s = time.monotonic()
                try:
                    self._hear(pushes)
                except FeaturekitError as error:
                    self._lost(str(error))
                except Exception as error:  # noqa: BLE001 - nobody would miss a thread that is gone
                    self._lost(repr(error))
                    self._tell(None)
                tries = 0 if time.monotonic() - begun_s > _STEADY_S else min(tries + 1, len(_PAUSES_S))
                self._wake.wait(_PAUSES_S[max(tries - 1, 0)])
        finally:
            pushes.close()
            self.hearing = Hearing.OFF

    def _hear(self, pushes: Pushes) -> None:
        pushes.open()
        self._tell(None)  # of what was changed while nobody listened, nothing is known
        self.hearing, self.why = Hearing.ON, None
        while not self._is_over():
            changed = pushes.wait()
            if changed is None or changed:
                self._tell(changed)

    def _lost(self, why: str) -> None:
        self.hearing, self.why = Hearing.LOST, why
        self.losses += 1

    def _tell(self, changed: list[bytes] | None) -> None:
        forget = self._forget()
        if forget is not None:
            forget(changed)

    def _is_over(self) -> bool:
        return self._is_closed or self._forget() is None

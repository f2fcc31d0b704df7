"""A circuit breaker: a store that fails again and again is left alone for a while, then tried by one read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from enum import Enum
from typing import Final

from featurekit.errors import SettingsError
from featurekit.online.forking import renew_in_children

Elapsed = Callable[[], float]
"""A clock for measuring what passes, in seconds: it never jumps, and its zero means nothing."""


class Admission(Enum):
    """What a read may do."""

    PASS = "pass"
    TRIAL = "trial"  # alone: what becomes of it decides
    REFUSED = "refused"


# By names of their own: to look a member up takes as long as the rest of what a lookup does here.
PASS: Final = Admission.PASS
TRIAL: Final = Admission.TRIAL
REFUSED: Final = Admission.REFUSED


class Breaker:
    """Opens after `failures` reads in a row have failed: then none is sent for `open_ms`, and after that one.

    If that one is answered all may go again, else it stays open as long once more. Safe to share by threads, and by the
    clients of one store; fork-safe.
    """

    def __init__(self, *, failures: int = 5, open_ms: int = 1000, elapsed: Elapsed = time.monotonic) -> None:
        if failures < 1 or open_ms < 1:
            raise SettingsError("a breaker opens after one failure or more, for a millisecond or more")
        self.open_ms = open_ms
        self._limit = failures
        self._elapsed = elapsed
        self._failures = 0  # in a row
        self._opened_at: float | None = None
        self.begin_in_child()
        renew_in_children(self)

    def begin_in_child(self) -> None:
        self._lock = threading.Lock()
        self._on_trial = False

    @property
    def state(self) -> str:
        """`closed`, `open`, or `half-open` from when one read may be tried until it is answered."""
        opened_at = self._opened_at
        if opened_at is None:
            return "closed"
        return "half-open" if self._on_trial or self._is_due(opened_at) else "open"

    def admit(self) -> Admission:
        """Return what a read may do now; one that was admitted must be told as `succeeded`, `failed` or `dropped`."""
        opened_at = self._opened_at
        if opened_at is None:  # nearly always: without the lock
            return PASS
        with self._lock:
            opened_at = self._opened_at
            if opened_at is None:  # meanwhile
                return PASS
            if self._on_trial or not self._is_due(opened_at):
                return REFUSED
            self._on_trial = True
            return TRIAL

    def succeeded(self, admission: Admission) -> None:
        if admission is PASS and not self._failures:
            return
        with self._lock:
            if admission is TRIAL:
                self._opened_at, self._on_trial = None, False
            if self._opened_at is None:  # an answer to what was asked before it opened closes nothing
                self._failures = 0

    def failed(self, admission: Admission) -> None:
        with self._lock:
            self._failures += 1
            if admission is TRIAL:
                self._opened_at, self._on_trial = self._elapsed(), False
            elif self._opened_at is None and self._failures >= self._limit:
                self._opened_at = self._elapsed()

    def dropped(self, admission: Admission) -> None:
        """Take back a read of which nothing can be told, such as one whose caller went away."""
        if admission is TRIAL:
            with self._lock:
                self._on_trial = False

    def _is_due(self, opened_at: float) -> bool:
        return self._elapsed() - opened_at >= self.open_ms / 1000

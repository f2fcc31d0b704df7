"""One call's reads, decided without I/O: how long each may take, whether it may be sent, what a failure leads to.

Clients, sync or not, do what they are told here: they read, they wait, or they give up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from featurekit.errors import BreakerOpenError, InputError, OnlineStoreError, OnlineStoreTimeoutError
from featurekit.online.breaker import PASS, REFUSED, Breaker, Elapsed
from featurekit.online.retries import Retries, RetryBudget
from featurekit.online.store import READ_SPAN_S

Random = Callable[[], float]
"""Returns a number drawn from [0, 1)."""

_LONGEST_READ_S: Final = READ_SPAN_S * 0.9  # rows outlive what leads to them for READ_SPAN_S: a read must end before
_LEAST_TOLD_S: Final = 0.005  # a read that was given less says nothing about the store when it is cut off


class Calls:
    """What all calls of a client share; safe to share by threads."""

    def __init__(
        self, store: str, *, timeout_ms: float, retries: Retries, breaker: Breaker, elapsed: Elapsed, random: Random
    ) -> None:
        self.store = store
        self.timeout_ms = checked_ms(timeout_ms)
        self.retries = retries
        self.last_failure = "another client's reads failed"  # as long as none of ours has, and a breaker is shared
        each_ms = retries.attempt_ms
        self.longest_read_s = _LONGEST_READ_S if each_ms is None else min(_LONGEST_READ_S, each_ms / 1000)
        self.breaker = breaker
        self.budget = RetryBudget(retries, elapsed)
        self.elapsed = elapsed
        self.random = random

    def begin(self, timeout_ms: float | None = None) -> Call:
        """Return a call that may take `timeout_ms`, all reads and pauses together; by default the client's time."""
        return Call(self, self.timeout_ms if timeout_ms is None else checked_ms(timeout_ms))


class Call:
    """One call. Each read is admitted first, and told as `succeeded`, `failed` or `dropped` after."""

    # Here and not in `__init__`: one is made for every lookup, and most of it is asked for where something fails.
    _admission = PASS
    _allowed_s = 0.0
    _tries = 0  # of the read that is under way
    retries = 0  # of all reads of the call
    reads = 0  # that were answered

    def __init__(self, calls: Calls, timeout_ms: float) -> None:
        self._calls = calls
        self._timeout_ms = timeout_ms
        self._until = calls.elapsed() + timeout_ms / 1000

    def admit(self) -> float:
        """Return how many seconds the next read may take.

        BreakerOpenError where the store is left alone, OnlineStoreTimeoutError where the call's time is over.
        """
        calls = self._calls
        left = self._until - calls.elapsed()
        if left <= 0:
            self._admission = REFUSED
            raise OnlineStoreTimeoutError(
                f"the online store did not answer within {self._timeout_ms:g} ms",
                where=calls.store,
                why=f"the time was over after {self._tries + 1} tries"
                if self._tries
                else f"the call's time was over before this read was sent; {self.reads} were answered",
                try_="look at its load (SLOWLOG GET), or allow more time",
            )
        admission = self._admission = calls.breaker.admit()
        if admission is REFUSED:
            raise BreakerOpenError(
                "the online store is not asked: it has failed again and again",
                where=calls.store,
                why=f"{calls.last_failure}; it is left alone for {calls.breaker.open_ms} ms, then tried by one read",
                try_="see why it fails; nothing needs to be done here once it answers",
            )
        if not self._tries:
            calls.budget.add_read()
        self._allowed_s = min(left, calls.longest_read_s)
        return self._allowed_s

    def succeeded(self) -> None:
        self.reads += 1
        if self._tries:
            self._tries = 0
        self._calls.breaker.succeeded(self._admission)

    def failed(self, error: OnlineStoreError) -> float | None:
        """Return how many seconds to wait before the same read is sent again; None: it is not."""
        if self._admission is REFUSED:  # it was not sent
            return None
        calls = self._calls
        calls.last_failure = error.what
        if isinstance(error, OnlineStoreTimeoutError) and self._allowed_s < _LEAST_TOLD_S:
            calls.breaker.dropped(self._admission)
        else:
            calls.breaker.failed(self._admission)
        self._tries += 1
        if self._tries >= calls.retries.tries or calls.breaker.state != "closed":
            return None
        pause = calls.retries.pause_s(self._tries, calls.random())
        if calls.elapsed() + pause >= self._until or not calls.budget.take():
            return None
        self.retries += 1
        return pause

    def spent_s(self) -> float:
        """Return how long the call has taken by now, pauses included."""
        return self._calls.elapsed() - self._until + self._timeout_ms / 1000

    def dropped(self) -> None:
        """Take back a read whose caller went away before its answer."""
        self._calls.breaker.dropped(self._admission)


def checked_ms(timeout_ms: float) -> float:
    """Return the time that a lookup may take; InputError where that is none."""
    if not timeout_ms > 0:
        raise InputError(f"a lookup can't take {timeout_ms:g} ms", try_="timeout_ms above 0")
    return timeout_ms

"""How often a read that failed is sent again: rarely, a little later, and never by all callers at once."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import count

from featurekit.errors import SettingsError
from featurekit.online.breaker import Elapsed
from featurekit.online.forking import renew_in_children


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """A read is sent up to `tries` times, the first one included, as long as the call's time and the budget last.

    Before the second time it waits up to `pause_ms`, at random, and up to twice as long before each further one.
    `attempt_ms` is what one try may take; without it, all that is left. The budget lets no more than `share` of all
    reads be sent again, and beyond that `per_second`; `burst` is what it can save up.
    """

    tries: int = 3
    pause_ms: float = 10
    attempt_ms: float | None = None
    share: float = 0.1
    per_second: float = 1.0
    burst: float = 10

    def __post_init__(self) -> None:
        if self.tries < 1 or min(self.pause_ms, self.share, self.per_second, self.burst) < 0:
            raise SettingsError("retries are one try or more, and pauses and budgets that are not negative")
        if self.attempt_ms is not None and self.attempt_ms <= 0:
            raise SettingsError("a try needs some time", try_="attempt_ms above 0, or leave it away")

    def pause_s(self, tries: int, drawn: float) -> float:
        """Return how long to wait after so many tries, for a number drawn from [0, 1)."""
        return float(self.pause_ms * 2 ** (tries - 1) * drawn / 1000)


class RetryBudget:
    """Tokens for reads that are sent again, earned by reads; safe to share by threads, and fork-safe."""

    def __init__(self, retries: Retries, elapsed: Elapsed) -> None:
        self._retries = retries
        self._elapsed = elapsed
        self._reads = count()
        self._counted = 0
        self._tokens = retries.burst
        self._since = elapsed()
        self.begin_in_child()
        renew_in_children(self)

    def begin_in_child(self) -> None:
        self._lock = threading.Lock()

    def add_read(self) -> None:
        """Count a read that is sent for the first time."""
        next(self._reads)  # no lock: every read comes by here

    def take(self) -> bool:
        """Return whether a read may be sent again now."""
        with self._lock:
            now, reads = self._elapsed(), next(self._reads)
            earned = self._retries.share * (reads - self._counted) + self._retries.per_second * (now - self._since)
            self._tokens = min(self._retries.burst, self._tokens + earned)
            self._counted, self._since = reads + 1, now
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True

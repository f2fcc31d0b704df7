"""What a client counts: lookups by service and outcome, how long they took, what was UNAVAILABLE, statuses by view.

A lookup costs a lock and a few additions whatever its size: statuses are put aside as they are and counted later, many
lookups' at once.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from featurekit.online.forking import renew_in_children
from featurekit.online.reason import Reason
from featurekit.status import Status

LATENCY_S: Final = (0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_PUT_ASIDE: Final = 256
_PUT_ASIDE_CELLS: Final = 1 << 18

Codes = npt.NDArray[np.uint8]


@dataclass(slots=True)
class ServiceCounts:
    """One service's lookups since the client was made; `failed` by the error's name.

    `latencies` says how many took up to each of LATENCY_S, and more than all of them, reads and pauses together; not
    those up to the one before. `from_cache` took no read. `unavailable` is views of lookups, by the view's alias and
    the reason. `ages` are how old each view's values were at the time that the last lookup asked for, in microseconds.
    """

    answered: int = 0
    entities: int = 0
    from_cache: int = 0
    retries: int = 0
    seconds: float = 0.0
    latencies: list[int] = field(default_factory=lambda: [0] * (len(LATENCY_S) + 1))
    failed: Counter[str] = field(default_factory=Counter)
    unavailable: Counter[tuple[str, str]] = field(default_factory=Counter)
    ages: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts as they were at one moment; `statuses` are values by service, view alias and status.

    On-demand features are counted for the view whose name they begin with; what was looked up and never read is not.
    """

    services: Mapping[str, ServiceCounts]
    statuses: Mapping[tuple[str, str, Status], int]


class StatusTally:
    """Counts the statuses of one service's values, by output; as `Counts`."""

    def __init__(self, outputs: int) -> None:
        self._outputs = outputs
        self._firsts = np.arange(outputs)[:, None] * len(Status)
        self.begin_in_child()
        renew_in_children(self)

    def begin_in_child(self) -> None:
        self._lock = threading.Lock()
        self._counts = np.zeros((self._outputs, len(Status)), np.int64)
        self._present_rows = 0
        self._aside: list[Codes] = []
        self._aside_cells = 0

    def add(self, statuses: Codes | None, rows: int) -> None:
        """Count an answer's statuses (outputs × rows); None: all are PRESENT."""
        with self._lock:
            if statuses is None:
                self._present_rows += rows
                return
            self._aside.append(statuses)
            self._aside_cells += statuses.size
            if len(self._aside) >= _PUT_ASIDE or self._aside_cells > _PUT_ASIDE_CELLS:
                self._count()

    def read(self) -> npt.NDArray[np.int64]:
        """Return how many values of each output (a row each) had each status."""
        with self._lock:
            self._count()
            counts = self._counts.copy()
            counts[:, Status.PRESENT] += self._present_rows
            return counts

    def _count(self) -> None:
        if self._aside:
            cells = np.concatenate(self._aside, axis=1) + self._firsts
            self._counts += np.bincount(cells.ravel(), minlength=self._counts.size).reshape(self._counts.shape)
            self._aside, self._aside_cells = [], 0


class Counts:
    """The counts of a client; safe to share by threads, and a forked process begins at zero."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, tuple[str, ...]], StatusTally] = {}  # each renews itself
        self.begin_in_child()
        renew_in_children(self)

    def begin_in_child(self) -> None:
        self._lock = threading.Lock()
        self._services: dict[str, ServiceCounts] = {}

    def answered(
        self,
        service: str,
        entities: int,
        seconds: float,
        *,
        reads: int,
        retries: int,
        unavailable: Sequence[tuple[str, Reason]] = (),
        ages: Mapping[str, int] | None = None,
    ) -> None:
        """Count a lookup that was answered; `unavailable` are its views without rows, `ages` those of the others."""
        bucket = bisect_left(LATENCY_S, seconds)
        with self._lock:
            one = self._services.get(service)
            if one is None:
                one = self._services[service] = ServiceCounts()
            one.answered += 1
            one.entities += entities
            one.seconds += seconds
            one.latencies[bucket] += 1
            if not reads:
                one.from_cache += 1
            if retries:
                one.retries += retries
            if ages:
                one.ages = ages
            if unavailable:
                one.unavailable.update((alias, reason.name) for alias, reason in unavailable)

    def failed(self, service: str, error: BaseException, seconds: float, *, retries: int) -> None:
        """Count a lookup that ended in an error; `service` is one that there is, or empty: never what a caller said."""
        bucket = bisect_left(LATENCY_S, seconds)
        with self._lock:
            one = self._services.setdefault(service, ServiceCounts())
            one.failed[type(error).__name__] += 1
            one.seconds += seconds
            one.latencies[bucket] += 1
            one.retries += retries

    def tally(self, service: str, names: tuple[str, ...]) -> StatusTally:
        """Return what counts the statuses of a service's outputs."""
        with self._lock:
            return self._tallies.setdefault((service, names), StatusTally(len(names)))

    def read(self) -> Counted:
        """Return all counts as they are now; what is returned does not change any more."""
        with self._lock:
            services = {
                name: ServiceCounts(
                    answered=one.answered,
                    entities=one.entities,
                    from_cache=one.from_cache,
                    retries=one.retries,
                    seconds=one.seconds,
                    latencies=list(one.latencies),
                    failed=Counter(one.failed),
                    unavailable=Counter(one.unavailable),
                    ages=one.ages,
                )
                for name, one in self._services.items()
            }
            tallies = dict(self._tallies)
        statuses: Counter[tuple[str, str, Status]] = Counter()
        for (service, names), tally in tallies.items():
            for name, counts in zip(names, tally.read().tolist(), strict=True):
                alias = name.partition(".")[0]
                for status, count in zip(Status, counts, strict=True):
                    if count:
                        statuses[service, alias, status] += count
        return Counted(services, statuses)

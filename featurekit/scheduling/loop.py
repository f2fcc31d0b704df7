"""The schedule as a process: it looks when something becomes due, and at least once a minute, until it is stopped.

APScheduler keeps the time. It holds no job but the next look: what was done and what is due lies in the registry, so
a process that is killed has nothing to lose.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC
from typing import Final

from apscheduler.schedulers.blocking import BlockingScheduler
from apscheduler.triggers.date import DateTrigger

from featurekit.clock import MINUTE, SECOND, Clock, Instant, to_datetime

LOOK_EVERY: Final = MINUTE
_AT_LEAST: Final = SECOND  # between two looks, whatever is due


class Loop:
    """Calls `look` again and again; it returns when something becomes due next, None for nothing known.

    `look` raises nothing that is not a defect. It never overlaps itself, and a machine that slept looks as it wakes.
    """

    def __init__(self, look: Callable[[], Instant | None], *, clock: Clock, every: int = LOOK_EVERY) -> None:
        self._look = look
        self._clock = clock
        self._every = every
        self._defect: BaseException | None = None
        self._looking = threading.Lock()
        self._scheduler = BlockingScheduler(timezone=UTC)

    def run(self) -> None:
        """Look until `stop`, and until the look that is under way has ended; what `look` raises is raised here."""
        self._next(self._clock())
        self._scheduler.start()
        with self._looking:
            pass
        if self._defect is not None:
            raise self._defect

    def stop(self) -> None:
        """End the loop after the look that is under way: from any thread, but not from within a signal handler."""
        self._scheduler.remove_all_jobs()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def _once(self) -> None:
        with self._looking:
            try:
                due_at = self._look()
            except BaseException as error:  # noqa: BLE001 - it is in APScheduler's thread, and is raised in ours
                self._defect = error
                self.stop()
                return
        now = self._clock()
        soonest = now + self._every if due_at is None else min(due_at, now + self._every)
        if self._scheduler.running:
            self._next(max(soonest, now + min(_AT_LEAST, self._every)))

    def _next(self, at: Instant) -> None:
        self._scheduler.add_job(
            self._once,
            DateTrigger(to_datetime(at)),
            id="look",
            replace_existing=True,
            misfire_grace_time=None,  # however late: it is never given up
        )

"""The schedule as a process: it looks what is due, and has it done by a process of its own, until it is stopped.

What the work leaks, breaks or dies of ends with that process: the one that looks holds neither Spark nor anything to
lose.
"""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Collection, Sequence

from featurekit.batch_state import batch_state
from featurekit.clock import Instant
from featurekit.config import Settings
from featurekit.errors import FeaturekitError, OutsideError
from featurekit.feature_store import FeatureStore
from featurekit.monitoring.batch import BatchState
from featurekit.notifying import failure_condition, tell
from featurekit.scheduled_work import ScheduledWork
from featurekit.scheduling.loop import LOOK_EVERY, Loop
from featurekit.scheduling.plan import Job, Plan

_DIED = 70  # the exit code of a defect; signals are negative


class ScheduledLoop:
    """Runs `command` whenever something is due; `show` is told what keeps it from looking."""

    def __init__(
        self,
        settings: Settings,
        command: Sequence[str],
        show: Callable[[FeaturekitError], None],
        *,
        jobs: Collection[Job] = tuple(Job),
        every: int = LOOK_EVERY,
    ) -> None:
        self._settings = settings
        self._command = tuple(command)
        self._show = show
        self._jobs = jobs
        self._loop = Loop(self._look, clock=settings.clock, every=every)
        self._stopped = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Look and work until `stop`."""
        self._loop.run()

    def stop(self) -> None:
        """Let the task at hand end, and begin no other: from any thread, but not from within a signal handler."""
        self._stopped.set()
        child = self._child
        if child is not None:
            child.send_signal(signal.SIGTERM)
        self._loop.stop()

    def state(self) -> BatchState:
        """Return how batch work stands, for metrics."""
        with FeatureStore(self._settings) as store:
            return batch_state(store, ScheduledWork(store).plan())

    def _look(self) -> Instant | None:
        try:
            if self._plan(only_if_free=True).due and not self._stopped.is_set():
                self._work()
            plan = self._plan()
        except FeaturekitError as error:
            self._show(error)
            tell(self._settings, [failure_condition("schedule", error)])
            return None
        tell(self._settings, [failure_condition("schedule", None)])
        return plan.waiting[0].runs_at if plan.waiting else None

    def _plan(self, *, only_if_free: bool = False) -> Plan:
        with FeatureStore(self._settings) as store:
            work = ScheduledWork(store, self._jobs)
            if only_if_free and work.is_running():
                return Plan(at=self._settings.clock(), tasks=())
            return work.plan()

    def _work(self) -> None:
        # A session of its own: Ctrl-C reaches this process alone, which asks the other to end its task.
        with subprocess.Popen(self._command, stdin=subprocess.DEVNULL, start_new_session=True) as child:
            self._child = child
            if self._stopped.is_set():  # since it was looked at
                child.send_signal(signal.SIGTERM)
            code = child.wait()
        self._child = None
        if (code < 0 or code == _DIED) and not self._stopped.is_set():
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise OutsideError(
                f"the process that works ended with {how}",
                where=" ".join(self._command[:4]),
                why="it was killed, ran out of memory or has a defect; what it had done is recorded",
                try_="its output says more; it is tried again, after a pause where it dies again and again",
            )

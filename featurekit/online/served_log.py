"""The served-feature log: what was answered, written down as Parquet by a thread of its own.

A lookup hands over references and goes on. Everything else, from choosing the sampled rows to the file, happens in the
thread; Arrow is loaded there. Whatever becomes of the log, lookups go on: where the thread can't keep up, or its disk
is full or stalled, rows are dropped and counted.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from featurekit.clock import MINUTE, Clock, system_clock
from featurekit.config import Settings
from featurekit.errors import InputError
from featurekit.key_sample import threshold
from featurekit.online.served_answer import Served

if TYPE_CHECKING:
    from featurekit.online.served_log_files import LogFiles

Random = Callable[[int], bytes]
"""Returns so many random bytes."""

MAX_FILE_BYTES: Final = 64 << 20
_LOG: Final = logging.getLogger("featurekit.served_log")
_POLL_S: Final = 0.2  # the lookups' threads wake nobody: that would cost them more than the log's whole work
_CLOSE_S: Final = 10.0
_NUMBER_BYTES: Final = 10  # a number has 74 bits
_COUNTED: Final = (1 << 36) - 1
_LOGS: Final[weakref.WeakSet[ServedLog]] = weakref.WeakSet()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCounts:
    """What became of the rows that were answered so far; what is in none of these is still on its way.

    `outside_sample` are also those of forgotten entities. `dropped` found the queue full or the log closed, `failed`
    could not be decoded or written.
    """

    written: int = 0
    outside_sample: int = 0
    dropped: int = 0
    failed: int = 0

    @property
    def lost(self) -> int:
        return self.dropped + self.failed


class ServedLog:
    """Writes what lookups answered into a folder; safe to share by threads, by processes, and fork-safe.

        with ServedLog(Path("served"), project="flights", environment="prod", sample=0.1) as log:
            client = FeatureClient(url, project="flights", environment="prod", log=log)

    `sample` is the share of entities, 0 to 1, whose every answer is logged: chosen by a hash of their keys, the same
    in all processes. A file is closed after `rotate` microseconds or `max_file_bytes` and only then seen. At most
    `queue` rows wait for the thread. `secret` is the one by which entities are forgotten, where the settings give it
    (`forget.secret`): without it nothing is written once somebody was.
    """

    def __init__(
        self,
        folder: Path,
        *,
        project: str,
        environment: str,
        sample: float = 1.0,
        seed: str = "",
        rotate: int = 5 * MINUTE,
        queue: int = 100_000,
        max_file_bytes: int = MAX_FILE_BYTES,
        clock: Clock = system_clock,
        random: Random = os.urandom,
        secret: bytes | None = None,
    ) -> None:
        threshold(sample)
        if queue < 1 or rotate < 1 or max_file_bytes < 1:
            raise InputError(
                "a log without room for anything", where=str(folder), try_="a queue, a time and a size above 0"
            )
        self.folder = folder
        self._project, self._environment = project, environment
        self._sample, self._seed = sample, seed
        self._rotate, self._max_file_bytes = rotate, max_file_bytes
        self._queue = queue
        self._clock, self._random = clock, random
        self._secret = secret
        self._closed = False
        self.begin()
        _LOGS.add(self)

    def begin(self) -> None:
        """Forget what waits, and the thread: also in a forked child, whose parent writes what it was handed."""
        self._lock = threading.Lock()
        self._counts = LogCounts()
        self._waiting: list[Served] = []
        self._rows = 0
        self._wake = threading.Event()
        self._flushes: list[threading.Event] = []
        self._thread: threading.Thread | None = None
        # Counted: random bytes for each request would cost a lookup as much as all else that the log does to it.
        self._first_number = int.from_bytes(self._random(_NUMBER_BYTES)) >> 6 & ~_COUNTED
        self._numbers = count()

    def new_number(self) -> int:
        """Return the number of a request that was given no id: random for each process, then counted up."""
        return self._first_number + next(self._numbers)

    def add(self, served: Served) -> None:
        """Hand an answer over. Never waits and never raises: what finds no room is dropped and counted."""
        rows = served.columns.length
        with self._lock:
            # One answer of more rows than the queue holds still fits an empty one.
            is_full = self._rows > 0 and self._rows + rows > self._queue
            if is_full or self._closed:
                is_first = not self._counts.dropped
                self._counts = replace(self._counts, dropped=self._counts.dropped + rows)
            else:
                self._rows += rows
                self._waiting.append(served)
                if self._thread is not None:
                    if self._rows > self._queue // 2:  # many rows at once: its next look would come too late
                        self._wake.set()
                    return
                self._start()
                return
        if is_first:
            why = "is closed" if self._closed else f"has {self._queue:,} rows waiting: its disk is slow, or stalled"
            _LOG.warning("rows of the served-feature log are dropped: %s %s", self.folder, why)

    @property
    def counts(self) -> LogCounts:
        with self._lock:
            return self._counts

    @property
    def waiting(self) -> int:
        """How many rows the thread has not taken yet."""
        return self._rows

    def flush(self, timeout_s: float = _CLOSE_S) -> bool:
        """Return whether all that was handed over so far is in files that readers see, or counted as failed."""
        with self._lock:
            if self._thread is None:
                return True
            done = threading.Event()
            self._flushes.append(done)
        self._wake.set()
        return done.wait(timeout_s)

    def close(self, timeout_s: float = _CLOSE_S) -> None:
        """Write what is left and end the thread; what a stalled disk does not take in time is dropped and counted."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
        atexit.unregister(self.close)
        if thread is None:
            return
        self._wake.set()
        thread.join(timeout_s)
        if thread.is_alive():
            with self._lock:
                left, self._waiting, self._rows = self._rows, [], 0
                self._counts = replace(self._counts, dropped=self._counts.dropped + left)
            _LOG.warning("the served-feature log could not be finished in %g s: %s", timeout_s, self.folder)

    def __enter__(self) -> ServedLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        # Arrow needs it, in the thread: there the interpreter may be ending by then, and it refuses to be loaded.
        import concurrent.futures.thread  # noqa: F401

        thread = threading.Thread(target=self._run, name="featurekit-served-log", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter ends, or the machine has no thread left; the next one tries again
            self._counts = replace(self._counts, dropped=self._counts.dropped + self._rows)
            self._waiting, self._rows = [], 0
            return
        self._thread = thread
        atexit.register(self.close)

    def _run(self) -> None:
        # Here and not on top: who logs nothing loads no Arrow.
        from featurekit.online.served_log_files import LogFiles

        files = LogFiles(
            self.folder,
            project=self._project,
            environment=self._environment,
            share=self._sample,
            seed=self._seed,
            rotate=self._rotate,
            max_bytes=self._max_file_bytes,
            clock=self._clock,
            random=self._random,
            secret=self._secret,
        )
        is_last = False
        while not is_last:
            self._wake.wait(_POLL_S)
            self._wake.clear()
            with self._lock:
                served, self._waiting, self._rows = self._waiting, [], 0
                flushes, self._flushes = self._flushes, []
                is_last = self._closed
            self._write(files, served, everything=is_last or bool(flushes))
            for each in flushes:
                each.set()

    def _write(self, files: LogFiles, served: list[Served], *, everything: bool) -> None:
        before = files.failed
        files.add(served)
        files.write_due(everything=everything)
        with self._lock:
            self._counts = replace(
                self._counts, written=files.written, outside_sample=files.outside_sample, failed=files.failed
            )
        if files.failed and not before:
            _LOG.warning("rows of the served-feature log are lost: %s: %s", self.folder, files.problem)


def _begin_in_child() -> None:
    # The thread stayed in the parent, and may have held the lock at that moment.
    for log in list(_LOGS):
        log.begin()


os.register_at_fork(after_in_child=_begin_in_child)


def served_log(settings: Settings) -> ServedLog | None:
    """Return the log that the settings ask for; None where they name no folder for it."""
    if settings.served_log is None:
        return None
    return ServedLog(
        settings.served_log,
        project=settings.project,
        environment=settings.environment,
        sample=settings.served_log_sample,
        rotate=settings.served_log_rotate,
        queue=settings.served_log_queue,
        secret=settings.secret,
    )

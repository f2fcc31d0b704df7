"""Several processes behind one listening socket: run by a parent that starts anew those that die, and stops all.

Each runs the parent's own command again, and finds in its environment that it is a worker: a forked process would take
over the threads of libraries that are not made for that.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NamedTuple

_LOG: Final = logging.getLogger("featurekit.serving")
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_SHORT_LIFE_S: Final = 10.0
_PAUSE_S: Final = 1.0
_VARIABLE: Final = "_FEATUREKIT_WORKER"  # number, listening socket, pipe from the parent


class Worker(NamedTuple):
    """Which worker a process is, from 0 on, and the socket that all of them listen on."""

    number: int
    listening: socket.socket


def as_worker(environ: Mapping[str, str]) -> Worker | None:
    """Return which worker this process is, None for one that is none; a worker stops when its parent is gone."""
    told = environ.get(_VARIABLE)
    if told is None:
        return None
    number, listening, pipe = map(int, told.split(","))

    def watch() -> None:
        os.read(pipe, 1)  # nothing ever comes but its end
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="featurekit-parent", daemon=True).start()
    return Worker(number, socket.socket(fileno=listening))


def run_workers(count: int, command: Sequence[str], listening: socket.socket, environ: Mapping[str, str]) -> int:
    """Run `command` as `count` workers until SIGTERM or SIGINT, and return the exit code that says how it went.

    Both signals are passed on as SIGTERM: each worker drains. One that dies is started again, but for one that ended by
    itself soon after it began: then what keeps it from working keeps the others too, and all are stopped.
    """
    return _Parent(count, command, listening, environ).run()


class _Parent:
    def __init__(
        self, count: int, command: Sequence[str], listening: socket.socket, environ: Mapping[str, str]
    ) -> None:
        self._count = count
        self._command = command
        self._listening = listening
        self._environ = environ
        self._running: dict[int, tuple[int, float]] = {}  # by pid: the worker's number, and when it began
        self._is_stopping = False
        self._exit_code = 0

    def run(self) -> int:
        self._listening.set_inheritable(True)
        reading, writing = os.pipe()
        os.set_inheritable(reading, True)
        before = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        try:
            for number in range(self._count):
                self._start(number, reading)
            while self._running:
                pid, status = os.wait()
                if pid in self._running:
                    number, began = self._running.pop(pid)
                    self._note(number, os.waitstatus_to_exitcode(status), time.monotonic() - began)
                    self._start(number, reading)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(reading)
            os.close(writing)
        return self._exit_code

    def _start(self, number: int, pipe: int) -> None:
        with _held_back():  # a signal that comes meanwhile reaches the new worker too
            if self._is_stopping:
                return
            told = {_VARIABLE: f"{number},{self._listening.fileno()},{pipe}"}
            pid = os.posix_spawn(self._command[0], list(self._command), {**self._environ, **told}, setsigmask=())
            self._running[pid] = (number, time.monotonic())

    def _note(self, number: int, exit_code: int, lived_s: float) -> None:
        if self._is_stopping:
            if exit_code != -signal.SIGTERM:  # one that was still starting ends by the signal itself
                self._exit_code = self._exit_code or abs(exit_code)
            return
        _LOG.error("worker %d ended with %d", number, exit_code)
        if exit_code >= 0 and lived_s < _SHORT_LIFE_S:
            self._exit_code = exit_code or 70
            self._stop()
        elif lived_s < _SHORT_LIFE_S:
            time.sleep(_PAUSE_S)  # what kills it, such as too little memory, may do so again and again

    def _on_signal(self, _: int, __: FrameType | None) -> None:
        self._stop()

    def _stop(self) -> None:
        self._is_stopping = True
        for pid in self._running:
            with suppress(ProcessLookupError):  # it just ended, and `run` is about to take note of that
                os.kill(pid, signal.SIGTERM)


@contextmanager
def _held_back() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

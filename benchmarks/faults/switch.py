"""Registrations, rollbacks and collections under lookups, by a process that is killed again and again.

`python -m benchmarks.faults.switch --lookups 1000000` prints what came of it and exits with 1 where an answer was mixed
of two definitions or two refreshes, was of another refresh than it says, or was none.

A batch is one lookup. Values say which definition and which refresh they are of (`switching`), so that what is mixed is
seen in the values; what answers say of themselves is held against that. Some lookups are of a pinned version: it is
there for as long as it is pinned, whatever is collected.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from benchmarks.faults.switching import PLACE, SERVICE, START, USERS, VIEWS, open_registry, origin_of
from benchmarks.sides import ROOT
from featurekit.clock import DAY, HOUR
from featurekit.errors import FeaturekitError, NotRegisteredError
from featurekit.online.client import FeatureClient
from featurekit.online.result import Features
from featurekit.status import Status
from tests.online.servers import embedded_server

LOOKUPS: Final = 1_000_000
QUICK_LOOKUPS: Final = 4_000
READERS: Final = 2
_LONGEST_S: Final = 6.0  # some twenty things are done in that time
_LATER: Final = START + 3650 * DAY  # whatever a head lists is visible
_LIMIT_S: Final = 1800.0
_REPORT_EACH: Final = 200
_PINNED_EACH: Final = 10
_SHOWN: Final = 20


class Reader:
    """Looks the service up all the while, and judges each answer by its values."""

    def __init__(self, folder: Path, url: str, seed: int) -> None:
        self.registry = open_registry(folder)
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.definitions: dict[str, int] = {}  # by the fingerprint that the answer says it is of
        self.client = FeatureClient(url, project=PLACE.project, environment=PLACE.environment, clock=lambda: _LATER)

    def ask(self) -> None:
        users = self.chance.sample(range(USERS), self.chance.randint(1, USERS))
        pinned = self._pinned() if self.chance.random() * _PINNED_EACH < 1 else None
        name = pinned or SERVICE
        try:
            found = self.client.lookup(name, {"user_id": users})
        except NotRegisteredError as error:
            if pinned is None or self._is_pinned(pinned):
                self._note("unexplained_errors", str(error))
            return
        except FeaturekitError as error:
            self._note("unexplained_errors", f"{name}: {error}")
            return
        self.counts["switch_lookups"] += 1
        self.counts["pinned_lookups"] += pinned is not None
        if (found.statuses != Status.PRESENT).any():
            if pinned is None or self._is_pinned(pinned):
                self._note("unexplained_errors", f"{name}: {found.statuses.tolist()} {found.reasons.tolist()}")
            return
        self._judge(found)

    def _judge(self, found: Features) -> None:
        values = found.matrix("float64").reshape(len(found), len(VIEWS), -1)
        origins = []
        for place, view in enumerate(VIEWS):
            of_view = values[:, place]
            if (of_view != of_view[0, 0]).any():
                self._note("mixed", f"{view}: {sorted(set(of_view.ravel().tolist()))}")
                return
            origins.append(origin_of(float(of_view[0, 0])))
        definitions = {definition for definition, _, _ in origins}
        if len(definitions) > 1:
            self._note("mixed", f"definitions {definitions}")
            return
        (definition,) = definitions
        if self.definitions.setdefault(found.fingerprint, definition) != definition:
            self._note("wrong", f"{found.fingerprint} is of definition {definition}")
        for view, (_, hour, _) in zip(VIEWS, origins, strict=True):
            if found.as_of[view] != START + hour * HOUR:
                self._note("wrong", f"{view}: as of {found.as_of[view]} with values of hour {hour}")

    def _pinned(self) -> str | None:
        pins = self.registry.pins()
        return f"{pins[0].service}@{pins[0].number}" if pins else None

    def _is_pinned(self, name: str) -> bool:
        # Let go of meanwhile, and collected: then there is no promise any more.
        return self._pinned() == name

    def _note(self, what: str, problem: str) -> None:
        self.counts[what] += 1
        if len(self.problems) < _SHOWN:
            self.problems.append(f"{what}: {problem}")


def _read(folder: Path, url: str, seed: int, pipe: Connection, is_over: Any) -> None:
    """Ask until it is over; send the counts now and then, and everything at the end."""
    reader = Reader(folder, url, seed)
    while not is_over.is_set():
        for _ in range(_REPORT_EACH):
            reader.ask()
        pipe.send((dict(reader.counts), reader.problems))
    pipe.close()


class _Switcher:
    """The process that switches, and what it has said it did."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.done: Counter[str] = Counter()
        self.is_ready = threading.Event()

    def start(self, seed: int) -> None:
        command = [sys.executable, "-m", "benchmarks.faults.switching", str(self.folder), self.url, str(seed)]
        self.is_ready.clear()
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def kill(self) -> None:
        """Kill it, wherever it is; RuntimeError where it had ended by itself."""
        if self._process.poll() is not None:
            raise RuntimeError(f"the switching process ended by itself with {self._process.returncode}")
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._listener.join()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip() == "ready":
                self.is_ready.set()
            else:
                self.done[line.strip()] += 1

    def wait_until_ready(self) -> None:
        while not self.is_ready.wait(0.2):
            if self._process.poll() is not None:
                raise RuntimeError(f"the switching process ended by itself with {self._process.returncode}")


def run(
    folder: Path, *, rounds: int, seed: int, quick: bool, lookups: int | None = None, readers: int = READERS
) -> dict[str, int]:
    """Switch and kill at least `rounds` times and until so many lookups were answered; return the counts."""
    wanted = lookups or (QUICK_LOOKUPS if quick else LOOKUPS)
    chance = random.Random(seed)
    context = multiprocessing.get_context("spawn")
    folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    problems: list[str] = []
    with embedded_server(folder / "server") as url:
        switcher = _Switcher(folder, url)
        switcher.start(seed)
        switcher.wait_until_ready()
        is_over = context.Event()
        pipes, processes = [], []
        for number in range(readers):
            here, there = context.Pipe(duplex=False)
            process = context.Process(target=_read, args=(folder, url, seed + number, there, is_over), daemon=True)
            process.start()
            there.close()
            pipes.append(here)
            processes.append(process)
        latest: list[tuple[dict[str, int], list[str]]] = [({}, [])] * readers
        kills, deadline = 0, time.monotonic() + _LIMIT_S
        while kills < rounds or sum(one.get("switch_lookups", 0) for one, _ in latest) < wanted:
            if time.monotonic() > deadline:
                raise RuntimeError(f"not over after {_LIMIT_S:g} s")
            time.sleep(chance.random() * _LONGEST_S)
            switcher.kill()
            kills += 1
            switcher.start(seed + kills)
            switcher.wait_until_ready()
            _receive(pipes, latest)
            answered = sum(one.get("switch_lookups", 0) for one, _ in latest)
            print(f"{kills} kills, {answered:,} lookups", file=sys.stderr, flush=True)
        is_over.set()
        for number, pipe in enumerate(pipes):
            try:
                while True:
                    latest[number] = pipe.recv()
            except EOFError:
                processes[number].join()
        switcher.kill()
    for found, told in latest:
        counts.update(found)
        problems += told
    for problem in problems[:_SHOWN]:
        print(problem, file=sys.stderr)
    names = ("switch_lookups", "pinned_lookups", "mixed", "wrong", "unexplained_errors")
    return {"kills": kills, **{name: counts[name] for name in names}, **dict(sorted(switcher.done.items()))}


def _receive(pipes: list[Connection], latest: list[tuple[dict[str, int], list[str]]]) -> None:
    for number, pipe in enumerate(pipes):
        while pipe.poll():
            latest[number] = pipe.recv()


def main() -> None:
    """Run it alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--lookups", type=int)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="featurekit-switch-") as folder:
        found = run(Path(folder), rounds=given.rounds, seed=given.seed, quick=given.quick, lookups=given.lookups)
    print(json.dumps(found))
    sys.exit(any(found[what] for what in ("mixed", "wrong", "unexplained_errors")))


if __name__ == "__main__":
    main()

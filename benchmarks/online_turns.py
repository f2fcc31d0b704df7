"""Forms of one answer, timed in turns: what else the machine does hits all alike, and only their ratios are trusted.

What one process does with one server is mixed call by call: a server that was asked a moment ago answers in a third of
the time that one takes whose core went to sleep meanwhile, so a form alone is timed by how soon it asks again.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A form's calls in one turn: the microseconds of each, and of CPU time of its process per call."""

    walls: tuple[float, ...]
    cpu_us: float


Form = Callable[[], Turn]


@dataclass(slots=True)
class Timing:
    """One form's turns, by round."""

    rounds: list[list[Turn]] = field(default_factory=list)

    @property
    def medians(self) -> list[float]:
        """The median of each round's calls, in microseconds."""
        return [statistics.median(wall for turn in turns for wall in turn.walls) for turns in self.rounds]

    @property
    def p50_us(self) -> float:
        return statistics.median(self.medians)

    @property
    def p99_us(self) -> float:
        walls = sorted(wall for turns in self.rounds for turn in turns for wall in turn.walls)
        return walls[min(len(walls) - 1, round(len(walls) * 0.99))]

    @property
    def cpus(self) -> list[float]:
        return [statistics.mean(turn.cpu_us for turn in turns) for turns in self.rounds]

    @property
    def cpu_us(self) -> float:
        return statistics.median(self.cpus)

    def over(self, other: Timing) -> float:
        """Return how many times as long as the other it takes: the median of the rounds' ratios."""
        return statistics.median(mine / its for mine, its in zip(self.medians, other.medians, strict=True))

    def cpu_over(self, other: Timing) -> float:
        return statistics.median(mine / its for mine, its in zip(self.cpus, other.cpus, strict=True))


def in_turns(forms: Mapping[str, Form], *, rounds: int, turns: int) -> dict[str, Timing]:
    """Return each form's timing; a first turn of each is left out."""
    for form in forms.values():
        form()
    timings = {name: Timing() for name in forms}
    for _ in range(rounds):
        for timing in timings.values():
            timing.rounds.append([])
        for _ in range(turns):
            for name, form in forms.items():
                timings[name].rounds[-1].append(form())
    return timings


def calling(call: Callable[[Any], Any], requests: Sequence[Any], calls: int) -> Form:
    """Return a turn of so many calls, each with the next request."""
    asked = 0

    def turn() -> Turn:
        nonlocal asked
        walls = []
        cpu = time.process_time()
        for _ in range(calls):
            request = requests[asked % len(requests)]
            asked += 1
            start = time.perf_counter_ns()
            call(request)
            walls.append((time.perf_counter_ns() - start) / 1000)
        return Turn(walls=tuple(walls), cpu_us=(time.process_time() - cpu) * 1e6 / calls)

    return turn


Calls = Mapping[str, tuple[Callable[[Any], Any], Sequence[Any]]]
"""What is called for each form, and the requests that it is called with in turn."""


def mixed(calls: Calls, count: int, seed: int) -> dict[str, Form]:
    """Return a form for each, of `count` calls a turn; those of all forms come one by one, in an order by chance."""
    mix = _Mix(calls, count, seed)

    def run() -> None:
        for name in mix.order():
            call, request = mix.next(name)
            wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
            call(request)
            mix.took(name, time.perf_counter_ns() - wall, time.thread_time_ns() - cpu)

    return {name: mix.form(name, run) for name in calls}


def mixed_awaiting(
    calls: Mapping[str, tuple[Callable[[Any], Awaitable[Any]], Sequence[Any]]],
    count: int,
    seed: int,
    runner: asyncio.Runner,
) -> dict[str, Form]:
    """Return the same of what is awaited, in the runner's event loop."""
    mix = _Mix(calls, count, seed)

    async def run() -> None:
        for name in mix.order():
            call, request = mix.next(name)
            wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
            await call(request)
            mix.took(name, time.perf_counter_ns() - wall, time.thread_time_ns() - cpu)

    return {name: mix.form(name, lambda: runner.run(run())) for name in calls}


class _Mix:
    """One turn of several forms at once; the first that is asked for its turn runs those of all."""

    def __init__(self, calls: Calls, count: int, seed: int) -> None:
        self._calls = calls
        self._count = count
        self._chance = random.Random(seed)
        self._asked = dict.fromkeys(calls, 0)
        self._walls: dict[str, list[float]] = {}
        self._cpus = dict.fromkeys(calls, 0.0)

    def order(self) -> list[str]:
        names = list(self._calls) * self._count
        self._chance.shuffle(names)
        return names

    def next(self, name: str) -> tuple[Callable[[Any], Any], Any]:
        call, requests = self._calls[name]
        self._asked[name] += 1
        return call, requests[self._asked[name] % len(requests)]

    def took(self, name: str, wall_ns: int, cpu_ns: int) -> None:
        self._walls[name].append(wall_ns / 1000)
        self._cpus[name] += cpu_ns / 1000

    def form(self, name: str, run: Callable[[], None]) -> Form:
        def turn() -> Turn:
            if name not in self._walls:
                self._walls = {each: [] for each in self._calls}
                self._cpus = dict.fromkeys(self._calls, 0.0)
                run()
            walls = self._walls.pop(name)
            return Turn(walls=tuple(walls), cpu_us=self._cpus[name] / len(walls))

        return turn

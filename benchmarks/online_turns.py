"""Forms of one answer, timed in turns: what else the machine does hits all alike, and only their ratios are trusted."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
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

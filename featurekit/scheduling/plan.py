"""What is due, what waits for its time, and what is too late to be caught up: a value, made from what is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from featurekit.clock import DAY, HOUR, MINUTE, Instant
from featurekit.grid import Grid
from featurekit.registry.schedule_log import ScheduledRun

_FIRST_PAUSE: Final = 5 * MINUTE
_LONGEST_PAUSE: Final = HOUR
_KILLED_OFTEN: Final = 3  # what dies of its size dies of it again


class Job(StrEnum):
    """What the schedule does, in the order in which it does it."""

    MATERIALIZE = "materialize"
    CHECK = "check"
    GC = "gc"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewCadence:
    """How a view stands against its cadence: `due` are as-ofs to be served that are not, oldest first.

    `missed` are older ones that nobody computed, and that the history may still get; `skipped` are so old that it does
    not. Those of the grid are computed `lateness` after their instant, no earlier.
    """

    view: str
    grid: Grid
    lateness: int
    due: tuple[Instant, ...]
    missed: tuple[Instant, ...] = ()
    skipped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One thing to do: since when it is due, and when it may run, which is later where it failed before.

    A refresh has the as-ofs that are to be served, and those that are missed; `skipped` counts what is given up.
    """

    job: Job
    due_at: Instant
    runs_at: Instant
    view: str | None = None
    as_ofs: tuple[Instant, ...] = ()
    missed: tuple[Instant, ...] = ()
    skipped: int = 0
    failure: str | None = None

    @property
    def name(self) -> str:
        """What the log calls it, and alerts."""
        return self.job.value if self.view is None else f"{self.job}:{self.view}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything the schedule knows of, at one instant: what is due first, then what comes next."""

    at: Instant
    tasks: tuple[Task, ...]

    @property
    def due(self) -> tuple[Task, ...]:
        """What may run now, refreshes before the check that looks at them."""
        order = list(Job)
        ready = [task for task in self.tasks if task.runs_at <= self.at]
        return tuple(sorted(ready, key=lambda task: (order.index(task.job), task.due_at)))

    @property
    def waiting(self) -> tuple[Task, ...]:
        """What comes next, the soonest first."""
        return tuple(sorted((task for task in self.tasks if task.runs_at > self.at), key=lambda task: task.runs_at))


def make_plan(
    views: Iterable[ViewCadence],
    runs: Mapping[str, ScheduledRun],
    *,
    at: Instant,
    check_at: int,
    gc_at: int,
) -> Plan:
    """Return what is due and what comes next; `runs` has the latest of each job, by name.

    `check_at` and `gc_at` are microseconds since midnight, UTC. Days on which neither ran are not made up for: a check
    sees the store as it is, so the one that is due stands for them all. Without a view there is nothing to do.
    """
    refreshes = tuple(_refresh(view, runs, at) for view in views)
    if not refreshes:
        return Plan(at=at, tasks=())
    daily = tuple(_daily(job, of_day, runs.get(job), at) for job, of_day in ((Job.CHECK, check_at), (Job.GC, gc_at)))
    return Plan(at=at, tasks=(*refreshes, *daily))


def _refresh(view: ViewCadence, runs: Mapping[str, ScheduledRun], at: Instant) -> Task:
    wanted = view.due or view.missed
    if not wanted:
        next_at = view.grid.next(at - view.lateness) + view.lateness
        return Task(
            job=Job.MATERIALIZE,
            view=view.view,
            due_at=next_at,
            runs_at=next_at,
            as_ofs=(next_at - view.lateness,),
            skipped=view.skipped,
        )
    # By the newest: with each new one a view that fails is tried at once.
    due_at = wanted[-1] + view.lateness
    last = runs.get(f"{Job.MATERIALIZE}:{view.view}")
    return Task(
        job=Job.MATERIALIZE,
        view=view.view,
        due_at=due_at,
        runs_at=_after_failure(last, due_at),
        as_ofs=view.due,
        missed=view.missed,
        skipped=view.skipped,
        failure=_failure(last, due_at),
    )


def _daily(job: Job, of_day: int, last: ScheduledRun | None, at: Instant) -> Task:
    due_at = (at - of_day) // DAY * DAY + of_day
    if last is not None and last.due_at >= due_at and last.is_done:
        due_at = last.due_at + DAY
        return Task(job=job, due_at=due_at, runs_at=due_at)
    return Task(job=job, due_at=due_at, runs_at=_after_failure(last, due_at), failure=_failure(last, due_at))


def _after_failure(last: ScheduledRun | None, due_at: Instant) -> Instant:
    """Return when a task may run: at once, but for one that failed before, or was killed again and again."""
    if last is None or last.due_at != due_at or (last.ended_at is None and last.attempts < _KILLED_OFTEN):
        return due_at
    since = last.started_at if last.ended_at is None else last.ended_at
    return since + min(_FIRST_PAUSE << min(last.attempts - 1, 10), _LONGEST_PAUSE)


def _failure(last: ScheduledRun | None, due_at: Instant) -> str | None:
    return last.failure if last is not None and last.due_at == due_at else None

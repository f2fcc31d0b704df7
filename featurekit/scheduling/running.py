"""What is due, done: one thing after the other, each recorded as it begins and as it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from featurekit.clock import Clock
from featurekit.errors import FeaturekitError
from featurekit.registry.schedule_log import ScheduleLog
from featurekit.scheduling.plan import Plan, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Performed:
    """What came of a task: one sentence, and whether it is bad news though it was done; or why it was not done."""

    task: Task
    told: str
    is_red: bool = False
    error: FeaturekitError | None = None

    @property
    def exit_code(self) -> int:
        """0 for what is done and well, 1 where a check found something, else the error's own."""
        if self.error is not None:
            return self.error.exit_code
        return 1 if self.is_red else 0


class Work(Protocol):
    """Does one task; FeaturekitError where it can't be done. `is_red`: what was found is bad news."""

    def perform(self, task: Task) -> tuple[str, bool]: ...


def run_due(
    plan: Plan, work: Work, log: ScheduleLog, *, clock: Clock, may_go_on: Callable[[], bool]
) -> Iterator[Performed]:
    """Do what the plan has due and yield what came of each; stop before the next where `may_go_on` says no.

    A task that fails takes no other with it, whatever it fails of.
    """
    for task in plan.due:
        if not may_go_on():
            return
        run = log.begin(task.name, task.due_at, at=clock())
        try:
            told, is_red = work.perform(task)
        except FeaturekitError as error:
            done = Performed(task=task, told=error.what, error=error)
        except Exception as error:  # noqa: BLE001 - a defect in one view must not keep the others from being fresh
            defect = FeaturekitError(f"a defect: {type(error).__name__}: {error}", where=task.name)
            defect.__cause__ = error
            done = Performed(task=task, told=defect.what, error=defect)
        else:
            done = Performed(task=task, told=told, is_red=is_red)
        log.end(run, at=clock(), failure=None if done.error is None else str(done.error))
        yield done

"""The schedule's plan, and what came of what was due, as answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featurekit.alerting.delivery import Delivery
from featurekit.cli.answer import Answer, Cell, Line, Table, Tone, Toned
from featurekit.cli.show_delivery import with_delivery
from featurekit.clock import Instant, format_duration, format_instant
from featurekit.scheduling.plan import Plan, Task
from featurekit.scheduling.running import Performed

_COLUMNS = ("job", "view", "due", "as of", "")


def plan_answer(plan: Plan) -> Answer:
    """Return what is due and what comes next; exits with 0, whatever is due."""
    rows = tuple(_row(task, plan.at) for task in (*plan.due, *plan.waiting))
    document = {
        "at": format_instant(plan.at),
        "due": [_document(task) for task in plan.due],
        "waiting": [_document(task) for task in plan.waiting],
    }
    nothing = Line("nothing to do: no view is registered", Tone.WARNING)
    return Answer(document=document, blocks=(Table(columns=_COLUMNS, rows=rows) if rows else nothing,))


def performed_answer(done: Sequence[Performed], delivery: Delivery) -> Answer:
    """Return what was done; it exits with the worst of what failed, else 1 where a check found something."""
    errors = [one.error for one in done if one.error is not None]
    code = max((one.exit_code for one in done), default=0)
    document = {"done": [_performed(one) for one in done], "exit_code": code}
    rows = tuple((one.task.job.value, one.task.view or "", _told(one)) for one in done)
    blocks = (Table(rows=rows),) if rows else ()
    answer = Answer(document=document, blocks=blocks, exit_code=code, errors=tuple(errors))
    return with_delivery(answer, delivery)


def _told(one: Performed) -> Toned:
    if one.error is not None:
        return Toned(f"failed: {one.told}", Tone.BAD)
    return Toned(one.told, Tone.BAD if one.is_red else Tone.GOOD)


def _row(task: Task, at: Instant) -> tuple[Cell, ...]:
    as_ofs = [*task.missed, *task.as_ofs]
    times = format_instant(as_ofs[0]) if as_ofs else ""
    if len(as_ofs) > 1:
        times += f" and {len(as_ofs) - 1} more"
    return (task.job.value, task.view or "", format_instant(task.due_at), times, _state(task, at))


def _state(task: Task, at: Instant) -> Toned:
    skipped = f"; {task.skipped:,} missed ones are too old" if task.skipped else ""
    if task.failure is not None:
        wait = max(0, task.runs_at - at)
        again = f"again in {format_duration(wait - wait % 1_000_000)}" if wait else "again now"
        return Toned(f"failed, {again}: {task.failure.splitlines()[0]}{skipped}", Tone.BAD)
    if task.runs_at > at:
        return Toned(f"waits{skipped}", Tone.FAINT)
    if task.missed:
        return Toned(f"due, {len(task.missed):,} missed{skipped}", Tone.WARNING)
    return Toned(f"due{skipped}", Tone.WARNING)


def _document(task: Task) -> dict[str, Any]:
    return {
        "job": task.job.value,
        "view": task.view,
        "due_at": format_instant(task.due_at),
        "runs_at": format_instant(task.runs_at),
        "as_ofs": [format_instant(at) for at in task.as_ofs],
        "missed": [format_instant(at) for at in task.missed],
        "skipped": task.skipped,
        "failure": task.failure,
    }


def _performed(one: Performed) -> dict[str, Any]:
    error = None if one.error is None else one.error.parts()
    return {"job": one.task.job.value, "view": one.task.view, "told": one.told, "red": one.is_red, "error": error}

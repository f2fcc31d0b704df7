"""What is due: by the grid and its lateness, once, in order; after pauses where it fails; bounded where it is late."""

from __future__ import annotations

from typing import Any

import pytest

from featurekit.clock import DAY, HOUR, MINUTE, SECOND, Instant
from featurekit.grid import Grid
from featurekit.registry.schedule_log import ScheduledRun
from featurekit.scheduling.plan import Job, Plan, Task, ViewCadence, make_plan
from tests.registry.states import TODAY

GRID = Grid(DAY, 2 * HOUR)
CHECK_AT, GC_AT = 6 * HOUR, 5 * HOUR


def view(name: str = "spend", *, lateness: int = 0, **changed: Any) -> ViewCadence:
    return ViewCadence(view=name, grid=GRID, lateness=lateness, **{"due": (), **changed})


def plan(*views: ViewCadence, at: Instant, runs: dict[str, ScheduledRun] | None = None) -> Plan:
    return make_plan(views, runs or {}, at=at, check_at=CHECK_AT, gc_at=GC_AT)


def task(name: str, found: Plan) -> Task:
    (one,) = [each for each in found.tasks if each.name == name]
    return one


def ended(job: str, due_at: Instant, *, at: Instant, attempts: int = 1, failure: str | None = None) -> ScheduledRun:
    return ScheduledRun(job=job, due_at=due_at, started_at=at, attempts=attempts, ended_at=at, failure=failure)


def test_a_refresh_is_due_as_soon_as_it_can_be_computed_and_waits_for_it() -> None:
    before = task("materialize:spend", plan(view(lateness=HOUR), at=TODAY + HOUR - 1))
    assert (before.runs_at, before.as_ofs) == (TODAY + HOUR, (TODAY,))
    there = task("materialize:spend", plan(view(lateness=HOUR), at=TODAY + HOUR))
    assert (there.runs_at, there.as_ofs) == (TODAY + DAY + HOUR, (TODAY + DAY,))
    absent = plan(view(lateness=HOUR, due=(TODAY,)), at=TODAY + HOUR)
    assert [one.name for one in absent.due if one.job is Job.MATERIALIZE] == ["materialize:spend"]


def test_refreshes_come_before_the_check_that_looks_at_them_and_older_ones_first() -> None:
    found = plan(view("late", due=(TODAY,)), view("later", due=(TODAY - DAY,)), at=TODAY + 7 * HOUR)
    assert [one.name for one in found.due] == ["materialize:later", "materialize:late", "check", "gc"]


def test_what_was_done_is_not_due_again_until_the_next_day() -> None:
    done = {name: ended(name, TODAY + at, at=TODAY + 7 * HOUR) for name, at in (("check", CHECK_AT), ("gc", GC_AT))}
    found = plan(view(), at=TODAY + DAY + GC_AT - 1, runs=done)
    assert found.due == ()
    assert [(one.name, one.runs_at) for one in found.waiting[:2]] == [
        ("gc", TODAY + DAY + GC_AT),
        ("check", TODAY + DAY + CHECK_AT),
    ]
    assert [one.name for one in plan(view(), at=TODAY + DAY + CHECK_AT, runs=done).due] == ["check", "gc"]


def test_days_on_which_no_check_ran_are_one_check() -> None:
    done = {"check": ended("check", TODAY + CHECK_AT, at=TODAY + 7 * HOUR)}
    found = task("check", plan(view(), at=TODAY + 5 * DAY + 7 * HOUR, runs=done))
    assert found.due_at == TODAY + 5 * DAY + CHECK_AT


def test_a_clock_that_went_back_does_nothing_twice() -> None:
    done = {"check": ended("check", TODAY + CHECK_AT, at=TODAY + 7 * HOUR)}
    found = task("check", plan(view(), at=TODAY + CHECK_AT - MINUTE, runs=done))
    assert found.runs_at == TODAY + DAY + CHECK_AT


@pytest.mark.parametrize(("attempts", "pause"), [(1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (5000, 60)])
def test_what_fails_is_tried_again_after_longer_and_longer_pauses(attempts: int, pause: int) -> None:
    at = TODAY + 7 * HOUR
    failed = {"check": ended("check", TODAY + CHECK_AT, at=at, attempts=attempts, failure="the store is away")}
    found = task("check", plan(view(), at=at, runs=failed))
    assert (found.runs_at, found.failure) == (at + pause * MINUTE, "the store is away")


def test_a_refresh_that_fails_is_tried_at_once_when_the_next_one_is_due() -> None:
    at = TODAY + 5 * SECOND
    failed = {"materialize:spend": ended("materialize:spend", TODAY - DAY, at=at, attempts=9, failure="gate")}
    found = task("materialize:spend", plan(view(due=(TODAY - DAY, TODAY)), at=at, runs=failed))
    assert (found.runs_at, found.failure) == (TODAY, None)


def test_what_was_killed_goes_on_at_once_and_pauses_where_it_is_killed_again_and_again() -> None:
    at = TODAY + 7 * HOUR
    for attempts, runs_at in ((1, TODAY + CHECK_AT), (2, TODAY + CHECK_AT), (3, at + 20 * MINUTE)):
        killed = ScheduledRun(job="check", due_at=TODAY + CHECK_AT, started_at=at, attempts=attempts)
        assert task("check", plan(view(), at=at, runs={"check": killed})).runs_at == runs_at


def test_what_was_missed_is_due_also_where_nothing_else_is() -> None:
    missed = (TODAY - 2 * DAY, TODAY - DAY)
    found = task("materialize:spend", plan(view(missed=missed, skipped=3), at=TODAY + HOUR))
    assert (found.as_ofs, found.missed, found.skipped, found.due_at) == ((), missed, 3, TODAY - DAY)


def test_where_no_view_is_registered_nothing_is_due() -> None:
    assert plan(at=TODAY).tasks == ()


def test_a_grid_of_local_days_is_due_by_its_own_clock() -> None:
    grid = Grid(DAY, 0, "America/New_York")
    before_change = 1_383_364_800 * SECOND  # 2013-11-02T04:00Z, local midnight
    at = before_change + DAY  # local midnight of the day on which clocks go back
    cadence = ViewCadence(view="local", grid=grid, lateness=0, due=())
    assert task("materialize:local", plan(cadence, at=at)).runs_at == at + 25 * HOUR

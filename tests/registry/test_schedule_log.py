"""A schedule that was killed finds what it had begun, how often, and what ended well."""

from __future__ import annotations

from featurekit.clock import DAY, HOUR
from featurekit.registry.registry import Registry
from tests.registry.states import TODAY


def test_a_run_that_was_killed_is_found_and_counted_as_an_attempt(registry: Registry) -> None:
    registry.schedule.begin("check", TODAY, at=TODAY + 1)
    killed = registry.schedule.latest()["check"]
    assert (killed.started_at, killed.is_done, killed.attempts) == (TODAY + 1, False, 1)

    again = registry.schedule.begin("check", TODAY, at=TODAY + HOUR)
    registry.schedule.end(again, at=TODAY + 2 * HOUR, failure="the store is away")
    failed = registry.schedule.latest()["check"]
    assert (failed.attempts, failed.is_done, failed.failure) == (2, False, "the store is away")
    assert registry.schedule.last_successes() == {}

    third = registry.schedule.begin("check", TODAY, at=TODAY + 3 * HOUR)
    registry.schedule.end(third, at=TODAY + 4 * HOUR)
    assert registry.schedule.latest()["check"].is_done
    assert registry.schedule.last_successes() == {"check": TODAY + 4 * HOUR}


def test_the_newest_run_of_each_job_is_the_latest_and_old_ones_go(registry: Registry) -> None:
    for day in (0, 1, 70):
        run = registry.schedule.begin("gc", TODAY + day * DAY, at=TODAY + day * DAY)
        registry.schedule.end(run, at=run.started_at)
    registry.schedule.begin("check", TODAY, at=TODAY)
    latest = registry.schedule.latest()
    assert {job: one.due_at for job, one in latest.items()} == {"gc": TODAY + 70 * DAY, "check": TODAY}

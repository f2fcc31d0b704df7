"""A schedule that was killed finds what it had begun, how often, and what ended well."""

from __future__ import annotations

from featurekit.alerting.notification import Condition, deciding, read_notification
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


def test_who_is_forgotten_is_taken_out_of_failures_and_alerts(registry: Registry) -> None:
    for job, failure in (("check", "customer 4711 has two rows"), ("gc", "the store is away")):
        registry.schedule.end(registry.schedule.begin(job, TODAY, at=TODAY), at=TODAY, failure=failure)
    told = [Condition(subject="schedule:check", state="SourceError", told="customer 4711 has two rows")]
    told.append(Condition(subject="schedule:gc", state="OnlineStoreError", told="the store is away"))
    decide = deciding(told, project="shop", environment="dev", at=TODAY)
    registry.alerts.record(decide, ["slack"], at=TODAY)

    def names(text: str) -> bool:
        return "4711" in text

    assert registry.texts_that(names) == 2
    assert registry.texts_that(names, instead="(forgotten)") == 2
    assert registry.texts_that(names) == 0
    assert registry.schedule.latest()["gc"].failure == "the store is away"
    (alert,) = registry.alerts.pending(at=TODAY)
    assert [change.told for change in read_notification(alert.body).changes] == ["(forgotten)", "the store is away"]

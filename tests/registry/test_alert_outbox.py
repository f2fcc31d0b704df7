"""Alerts are recorded with what they are about, sent by one process each, and kept until a sink took them."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from featurekit.clock import DAY, MINUTE
from featurekit.registry.alert_outbox import KeptCondition, PendingAlert
from featurekit.registry.registry import Registry
from tests.registry.states import TODAY


def turned(state: str) -> tuple[Mapping[str, KeptCondition], str | None]:
    return {"check:spend": KeptCondition(state=state, since=TODAY)}, state or None


def pending(registry: Registry, *, at: int = TODAY) -> tuple[PendingAlert, ...]:
    return registry.alerts.pending(at=at)


def test_an_alert_waits_for_each_sink_until_it_took_it(registry: Registry) -> None:
    number = registry.alerts.record(lambda *_: turned("red"), ["webhook", "slack"], at=TODAY)

    first, second = pending(registry)
    assert (first.number, first.sink, second.sink, first.body) == (number, "slack", "webhook", "red")
    assert registry.alerts.claim(first, at=TODAY)
    registry.alerts.sent(first)
    assert registry.alerts.claim(second, at=TODAY)
    registry.alerts.failed(second, "refused", at=TODAY)

    (left,) = pending(registry)
    assert (left.sink, left.tries) == ("webhook", 1)
    assert not registry.alerts.claim(left, at=TODAY)
    assert registry.alerts.claim(left, at=TODAY + MINUTE)
    registry.alerts.failed(left, "refused again", at=TODAY + MINUTE)
    assert not registry.alerts.claim(left, at=TODAY + 2 * MINUTE)
    assert registry.alerts.claim(left, at=TODAY + 3 * MINUTE)


def test_what_is_decided_sees_the_conditions_kept_before(registry: Registry) -> None:
    seen: list[dict[str, KeptCondition]] = []

    def decide(known: Mapping[str, KeptCondition], _: int) -> tuple[Mapping[str, KeptCondition], str | None]:
        seen.append(dict(known))
        return turned("")

    assert registry.alerts.record(lambda *_: turned("red"), [], at=TODAY) is None
    assert registry.alerts.record(decide, ["slack"], at=TODAY) is None
    assert seen == [{"check:spend": KeptCondition(state="red", since=TODAY)}]
    assert pending(registry) == ()


def test_one_process_of_many_sends_an_alert(registry: Registry) -> None:
    registry.alerts.record(lambda *_: turned("red"), ["slack"], at=TODAY)
    (alert,) = pending(registry)
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: registry.alerts.claim(alert, at=TODAY), range(8)))
    assert sum(taken) == 1


def test_a_claim_of_a_process_that_died_runs_out(registry: Registry) -> None:
    registry.alerts.record(lambda *_: turned("red"), ["slack"], at=TODAY)
    (alert,) = pending(registry)
    assert registry.alerts.claim(alert, at=TODAY)
    assert not registry.alerts.claim(alert, at=TODAY + MINUTE)
    assert registry.alerts.claim(alert, at=TODAY + 5 * MINUTE)


def test_an_alert_of_last_week_is_nobodys_any_more(registry: Registry) -> None:
    registry.alerts.record(lambda *_: turned("red"), ["slack"], at=TODAY)
    assert len(pending(registry, at=TODAY + 7 * DAY)) == 1
    assert pending(registry, at=TODAY + 7 * DAY + 1) == ()


def test_a_number_is_given_once_though_older_alerts_are_dropped(registry: Registry) -> None:
    for day in (0, 31, 62):
        at = TODAY + day * DAY
        registry.alerts.record(lambda *_: turned("red"), ["slack"], at=at)
        (alert,) = pending(registry, at=at)
        assert registry.alerts.claim(alert, at=at)
        registry.alerts.sent(alert)
    assert registry.alerts.record(lambda *_: turned("red"), ["slack"], at=TODAY + 63 * DAY) == 4

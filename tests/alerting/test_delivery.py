"""Alerts that wait are sent once, in order, and outlive sinks that are away and processes that die."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from featurekit.alerting.delivery import deliver
from featurekit.alerting.notification import Condition, deciding
from featurekit.alerting.sinks import Sink, sinks_of
from featurekit.clock import HOUR
from featurekit.config import Settings
from featurekit.registry.registry import Registry
from tests.alerting.conftest import Mailbox, Receiver
from tests.registry.states import TODAY

Waits = tuple[list[float], Callable[[float], None]]


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(f"sqlite:///{tmp_path}/r.db", project="shop", environment="dev", models=tmp_path / "models")


@pytest.fixture
def sinks(receiver: Receiver, mailbox: Mailbox) -> tuple[Sink, ...]:
    return sinks_of(
        Settings(
            root=Path(),
            alerts_webhook_url=receiver.url,
            alerts_smtp_url=f"smtp://127.0.0.1:{mailbox.port}",
            alerts_email_from="fk@shop.test",
            alerts_email_to="a@shop.test",
        )
    )


def turn(registry: Registry, sinks: tuple[Sink, ...], state: str) -> None:
    decide = deciding(
        [Condition(subject="check:spend", state=state, told=state)], project="shop", environment="dev", at=TODAY
    )
    registry.alerts.record(decide, [sink.name for sink in sinks], at=TODAY)


def numbers(receiver: Receiver) -> list[int]:
    return [json.loads(body)["number"] for _, _, body in receiver.posts]


def test_each_sink_gets_each_alert_once(
    registry: Registry, sinks: tuple[Sink, ...], receiver: Receiver, mailbox: Mailbox, waits: Waits
) -> None:
    for state in ("scaled", "scaled", "shifted", ""):
        turn(registry, sinks, state)
    assert deliver(registry.alerts, sinks, at=TODAY, sleep=waits[1]).sent == 6
    assert deliver(registry.alerts, sinks, at=TODAY, sleep=waits[1]).sent == 0
    assert numbers(receiver) == [1, 2, 3]
    assert len(mailbox.mails) == 3


def test_a_sink_that_stumbles_is_asked_again_after_a_pause(
    registry: Registry, sinks: tuple[Sink, ...], receiver: Receiver, waits: Waits
) -> None:
    receiver.statuses = [503, 503, 200]
    turn(registry, sinks, "scaled")
    delivery = deliver(registry.alerts, sinks, at=TODAY, sleep=waits[1])
    assert (delivery.sent, delivery.failures, len(receiver.posts), len(waits[0])) == (2, (), 3, 2)


def test_a_sink_that_fails_takes_nothing_from_the_others_and_gets_its_alerts_later_in_order(
    registry: Registry, sinks: tuple[Sink, ...], receiver: Receiver, mailbox: Mailbox, waits: Waits
) -> None:
    receiver.statuses = [404]
    turn(registry, sinks, "scaled")
    turn(registry, sinks, "shifted")

    delivery = deliver(registry.alerts, sinks, at=TODAY, sleep=waits[1])
    assert delivery.sent == 2
    assert ["HTTP 404" in each.what for each in delivery.failures] == [True]
    assert (numbers(receiver), len(mailbox.mails)) == ([1], 2)

    receiver.statuses = [200]
    assert deliver(registry.alerts, sinks, at=TODAY + HOUR, sleep=waits[1]).sent == 2
    assert numbers(receiver) == [1, 1, 2]


def test_a_process_that_died_after_it_recorded_loses_no_alert(
    registry: Registry, sinks: tuple[Sink, ...], receiver: Receiver, tmp_path: Path, waits: Waits
) -> None:
    turn(registry, sinks, "scaled")
    del registry
    other = Registry(f"sqlite:///{tmp_path}/r.db", project="shop", environment="dev", models=tmp_path / "models")
    assert deliver(other.alerts, sinks, at=TODAY, sleep=waits[1]).sent == 2
    assert numbers(receiver) == [1]


def test_a_sink_that_the_settings_name_no_more_is_not_asked(
    registry: Registry, sinks: tuple[Sink, ...], receiver: Receiver, mailbox: Mailbox, waits: Waits
) -> None:
    turn(registry, sinks, "scaled")
    assert deliver(registry.alerts, sinks[:1], at=TODAY, sleep=waits[1]).sent == 1
    assert (len(receiver.posts), mailbox.mails) == (1, [])

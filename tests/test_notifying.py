"""Conditions of a report: one for each view, which changes where something else is wrong and tells of no entity."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from featurekit.alerting.notification import WELL, Condition
from featurekit.alerting.sinks import sinks_of
from featurekit.config import Settings
from featurekit.errors import OnlineStoreError, SettingsError
from featurekit.notifying import check_sinks, conditions_of, failure_condition, notify
from featurekit.registry.registry import Registry
from tests.alerting.conftest import Receiver, receiver
from tests.consistency.test_report import OUTCOMES, report, view
from tests.registry.states import TODAY

__all__ = ["receiver"]


def test_a_view_that_passes_is_well_and_one_that_fails_names_why() -> None:
    for name, (found, *_) in OUTCOMES.items():
        (condition,) = conditions_of(report(found))
        assert (condition.state == WELL) is found.outcome.passes, name
        assert condition.subject == f"check:{found.view}"
        for finding in found.findings:
            assert str(finding.cause) in condition.state
            for evidence in finding.evidence:
                assert evidence.entity not in condition.state + condition.told


def test_more_of_the_same_is_the_same_condition() -> None:
    found = OUTCOMES["a missing row"][0]
    more = replace(found, findings=tuple(replace(each, count=each.count + 5) for each in found.findings))
    one, other = conditions_of(report(found)) + conditions_of(report(more))
    assert one.state == other.state
    assert one.told != other.told


def test_what_failed_is_told_by_its_name() -> None:
    condition = failure_condition("schedule:check", OnlineStoreError("the store at :6379 is away", where="x"))
    assert (condition.state, condition.told) == ("OnlineStoreError", "OnlineStoreError: the store at :6379 is away")
    assert failure_condition("schedule:check", None).state == WELL


def test_a_registry_that_fails_is_a_failure_of_the_delivery(receiver: Receiver, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no database")
    registry = Registry(f"sqlite:///{tmp_path}/file/r.db", project="shop", environment="dev", models=tmp_path)
    delivery = notify(
        [Condition(subject="check:spend", state="red", told="red")],
        registry=registry,
        sinks=sinks_of(Settings(root=tmp_path, alerts_slack_url=receiver.url)),
        project="shop",
        environment="dev",
        at=TODAY,
    )
    assert delivery.sent == 0
    assert len(delivery.failures) == 1
    assert receiver.posts == []


def test_nobody_to_tell_is_nothing_to_do(tmp_path: Path) -> None:
    registry = Registry(f"sqlite:///{tmp_path}/r.db", project="shop", environment="dev", models=tmp_path)
    told = notify(conditions_of(report(view())), registry=registry, sinks=(), project="s", environment="d", at=TODAY)
    assert told.sent == 0
    assert not (tmp_path / "r.db").exists()


def test_alerts_that_nobody_would_get_are_refused_before_the_check() -> None:
    with pytest.raises(SettingsError, match="nobody is named"):
        check_sinks(Settings(root=Path()))
    check_sinks(Settings(root=Path(), alerts_slack_url="https://hooks.test/x"))

"""What is told: each change once, whatever is looked at how often."""

from __future__ import annotations

from featurekit.alerting.notification import Condition, Turn, changes, deciding, read_notification
from featurekit.clock import DAY
from featurekit.registry.alert_outbox import KeptCondition
from tests.alerting.conftest import MESSAGE
from tests.registry.states import TODAY

LATER = TODAY + DAY


def condition(state: str, subject: str = "check:spend") -> Condition:
    return Condition(subject=subject, state=state, told=f"it is {state or 'well'}")


def told(before: str | None, now: str, *, always: bool = False) -> list[tuple[Turn, int]]:
    known = {} if before is None else {"check:spend": KeptCondition(state=before, since=TODAY)}
    return [(one.turn, one.since) for one in changes(known, [condition(now)], at=LATER, always=always)]


def test_turns_are_told_once() -> None:
    assert told(None, "") == []
    assert told("", "") == []
    assert told(None, "scaled") == [(Turn.RED, LATER)]
    assert told("", "scaled") == [(Turn.RED, LATER)]
    assert told("scaled", "scaled") == []
    assert told("scaled", "shifted") == [(Turn.CHANGED, LATER)]
    assert told("scaled", "") == [(Turn.RECOVERED, TODAY)]


def test_always_repeats_what_is_red_and_nothing_else() -> None:
    assert told("scaled", "scaled", always=True) == [(Turn.STILL_RED, TODAY)]
    assert told("", "", always=True) == []


def test_a_message_reads_back_as_it_was() -> None:
    assert read_notification(MESSAGE.to_json()) == MESSAGE


def test_what_is_kept_is_what_turned_and_since_when() -> None:
    known = {
        "check:spend": KeptCondition(state="scaled", since=TODAY),
        "check:visits": KeptCondition(state="late", since=TODAY),
    }
    decide = deciding(
        [condition("scaled"), condition("", "check:visits")], project="shop", environment="dev", at=LATER, run=3
    )
    kept, body = decide(known, 9)
    assert kept == {"check:visits": KeptCondition(state="", since=LATER)}
    assert body is not None
    message = read_notification(body)
    assert (message.number, message.run) == (9, 3)
    assert [(one.subject, one.turn) for one in message.changes] == [("check:visits", Turn.RECOVERED)]
    assert message.title == "featurekit shop (dev): 1 recovered: check:visits"

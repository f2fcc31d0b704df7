"""What is told: the things that turned red, changed their cause or recovered since they were last looked at."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from featurekit.clock import Instant, format_instant, parse_instant
from featurekit.registry.alert_outbox import Decide, KeptCondition

FORMAT: Final = "featurekit-alert/1"
WELL: Final = ""


class Turn(StrEnum):
    """How a condition differs from the one before."""

    RED = "red"
    CHANGED = "changed"
    RECOVERED = "recovered"
    STILL_RED = "still red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """How something stands: `state` is WELL, or names what is wrong and changes only where that does.

    `subject` is the same in every run, such as `check:takings`; `told` is a sentence for people.
    """

    subject: str
    state: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one condition did; `since` is when it came to be as it is, for what recovered since when it had been red."""

    subject: str
    turn: Turn
    told: str
    since: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One message: its number in the namespace, and what changed. `run` is the check's number in the history."""

    number: int
    project: str
    environment: str
    at: Instant
    changes: tuple[Change, ...]
    run: int | None = None

    @property
    def title(self) -> str:
        """What the message comes to, in one line."""
        counts = [(turn, sum(change.turn is turn for change in self.changes)) for turn in Turn]
        told = ", ".join(f"{count} {turn}" for turn, count in counts if count)
        names = ", ".join(change.subject for change in self.changes[:3]) + (", …" if len(self.changes) > 3 else "")
        return f"featurekit {self.project} ({self.environment}): {told}: {names}"

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each change, and where to read on."""
        found = [
            f"{change.subject} {change.turn} since {format_instant(change.since)}: {change.told}"
            if change.turn is not Turn.RECOVERED
            else f"{change.subject} recovered; it had been red since {format_instant(change.since)}"
            for change in self.changes
        ]
        return (*found, f"featurekit check show {self.run}") if self.run is not None else tuple(found)

    def document(self) -> dict[str, Any]:
        """Return the message as a JSON-able dict; docs/operations.md says what is in it."""
        return {
            "format": FORMAT,
            "number": self.number,
            "project": self.project,
            "environment": self.environment,
            "at": format_instant(self.at),
            "title": self.title,
            "run": self.run,
            "changes": [
                {
                    "subject": change.subject,
                    "turn": change.turn.value,
                    "told": change.told,
                    "since": format_instant(change.since),
                }
                for change in self.changes
            ],
        }

    def to_json(self) -> str:
        return json.dumps(self.document(), ensure_ascii=False, allow_nan=False)


def read_notification(text: str) -> Notification:
    """Return the message that `to_json` wrote."""
    found = json.loads(text)
    return Notification(
        number=found["number"],
        project=found["project"],
        environment=found["environment"],
        at=parse_instant(found["at"]),
        run=found["run"],
        changes=tuple(
            Change(
                subject=each["subject"],
                turn=Turn(each["turn"]),
                told=each["told"],
                since=parse_instant(each["since"]),
            )
            for each in found["changes"]
        ),
    )


def changes(
    known: Mapping[str, KeptCondition], conditions: Sequence[Condition], *, at: Instant, always: bool = False
) -> tuple[Change, ...]:
    """Return what the conditions did since they were known; `always` also what is as red as before.

    What nobody had looked at before counts as well: a first check that is red is told, one that is not is no news.
    """
    found = []
    for one in conditions:
        before = known.get(one.subject, KeptCondition(state=WELL, since=at))
        if one.state == before.state and not (always and one.state):
            continue
        if one.state == before.state:
            turn, since = Turn.STILL_RED, before.since
        elif not one.state:
            turn, since = Turn.RECOVERED, before.since
        else:
            turn, since = (Turn.CHANGED if before.state else Turn.RED), at
        found.append(Change(subject=one.subject, turn=turn, told=one.told, since=since))
    return tuple(found)


def deciding(
    conditions: Sequence[Condition],
    *,
    project: str,
    environment: str,
    at: Instant,
    run: int | None = None,
    always: bool = False,
) -> Decide:
    """Return what the outbox asks inside its transaction: the conditions from now on, and the message, if any."""

    def decide(known: Mapping[str, KeptCondition], number: int) -> tuple[Mapping[str, KeptCondition], str | None]:
        told = changes(known, conditions, at=at, always=always)
        kept = {
            one.subject: KeptCondition(state=one.state, since=at)
            for one in conditions
            if one.subject not in known or known[one.subject].state != one.state
        }
        if not told:
            return kept, None
        message = Notification(number=number, project=project, environment=environment, at=at, changes=told, run=run)
        return kept, message.to_json()

    return decide

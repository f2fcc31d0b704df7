"""The result of a replay: a frozen value with the three questions kept apart, and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from featurekit.clock import SECOND, Instant, format_duration, format_instant
from featurekit.consistency.compare import Verdict
from featurekit.consistency.diagnosis.findings import Finding
from featurekit.consistency.page.render import render_page
from featurekit.consistency.replay.freshness import Freshness
from featurekit.consistency.report_document import findings_document, instant
from featurekit.consistency.view_report import counted

REPLAY_FORMAT: Final = 1


class Question(StrEnum):
    """What a difference is about. Freshness is asked of views, the other two of fields."""

    FRESHNESS = "freshness"  # was the as-of the one that is promised
    LOGIC = "logic"  # are a view's values those of the as-of that was served
    EVALUATOR = "evaluator"  # do on-demand values follow from the inputs that were served


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """One field on one day, by the requests' times in UTC; `share` is what differs of the population."""

    start: Instant
    compared: int
    differing: int
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldReplay:
    """One output's cells by verdict, those that were compared; `unavailable` and `degraded` ones were not.

    `share` is what differs of the population that was compared. `follows` counts on-demand values that follow from the
    inputs they were served beside and are other ones from the right inputs: what differs there is told of the inputs.
    `unlogged` are inputs that the log has not, taken from the recomputed side; `unknown` cells lack even that.
    """

    name: str
    type: str
    question: Question
    counts: dict[Verdict, int]
    unavailable: int
    degraded: int
    share: float | None
    days: tuple[Day, ...]
    follows: int = 0
    unknown: int = 0
    unlogged: tuple[str, ...] = ()

    @property
    def differing(self) -> int:
        return sum(count for verdict, count in self.counts.items() if verdict.differs)

    @property
    def compared(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewReplay:
    """One view of a service, under one alias and by one definition.

    `lost` says why nothing of it can be recomputed, `source_change` why cells are indeterminate. `most_age` is how old
    the view and the service let an as-of be, in microseconds; None where neither declares it.
    """

    alias: str
    view: str
    fingerprint: str
    rows: int
    freshness: Freshness
    fields: tuple[FieldReplay, ...]
    findings: tuple[Finding, ...]
    lost: str | None = None
    source_change: str | None = None
    most_age: int | None = None

    @property
    def differing(self) -> int:
        return sum(field.differing for field in self.fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDemandReplay:
    """The on-demand features of one version of a service, and what explains those that differ."""

    fingerprint: str
    fields: tuple[FieldReplay, ...]
    findings: tuple[Finding, ...]

    @property
    def differing(self) -> int:
        return sum(field.differing for field in self.fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredBy:
    """What one version of the service answered, for one version of a model: rows, and those with any difference.

    `number` is the version's in the registry; None, too, for a model where answers were for nobody's.
    """

    fingerprint: str
    number: int | None
    model: str | None
    model_version: int | None
    rows: int
    differing: int
    late: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceReplay:
    """The log of one service replayed. `logged` rows were asked for, `sampled` of them looked at.

    `forgotten` are those of entities that were erased, `other_versions` those of versions that nobody knows any more,
    `other_places` what other projects or environments served: none of these is compared.
    """

    service: str
    logged: int
    sampled: int
    forgotten: int
    other_versions: int
    other_places: int
    start: Instant | None
    end: Instant | None
    views: tuple[ViewReplay, ...]
    on_demand: tuple[OnDemandReplay, ...]
    answered_by: tuple[AnsweredBy, ...]
    most_late: float

    @property
    def compared(self) -> int:
        return sum(field.compared for field in self.fields)

    @property
    def fields(self) -> tuple[FieldReplay, ...]:
        found = [field for view in self.views for field in view.fields]
        return (*found, *(field for each in self.on_demand for field in each.fields))

    @property
    def indeterminate(self) -> int:
        return sum(field.counts[Verdict.INDETERMINATE] for field in self.fields)

    def differing(self, question: Question) -> int:
        """How many cells differ; of freshness how many answers were late, ahead, or of no refresh."""
        if question is Question.FRESHNESS:
            each = [view.freshness for view in self.views]
            return sum(one.late_rows + one.ahead + one.off_grid for one in each)
        return sum(field.differing for field in self.fields if field.question is question)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why the replay does not pass, a sentence each; empty where it does."""
        return tuple(_problems(self))

    @property
    def passed(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """What was served, by the log, beside what training says of the same requests.

    `run` is its number in the history, None where it is not kept; `notes` are what a reader has to know beside the
    numbers.
    """

    project: str
    environment: str
    log: str
    seed: str
    share: float
    at: Instant
    services: tuple[ServiceReplay, ...]
    run: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether something of every service was compared, nothing is known to differ, and answers were fresh."""
        return bool(self.services) and all(service.passed for service in self.services)

    @property
    def exit_code(self) -> int:
        """0 where the replay passed, 1 where it found something."""
        return 0 if self.passed else 1

    @property
    def summary(self) -> str:
        """One line that says how much was compared, and what is wrong."""
        compared = sum(service.compared for service in self.services)
        sampled = sum(service.sampled for service in self.services)
        size = f"{sampled:,} logged rows, {compared:,} values compared"
        wrong = "; ".join(f"{one.service}: {text}" for one in self.services for text in one.problems)
        return f"{size}: {wrong}." if wrong else f"{size}, none differs."

    def to_json(self) -> str:
        """Return the report as JSON with stable content; instants are ISO text in UTC, spans seconds."""
        return json.dumps(self.document(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_html(self) -> str:
        """Return the report as one self-contained page."""
        return render_page(self.document())

    def document(self) -> dict[str, Any]:
        """Return what the JSON says, as docs/schemas/replay-report.schema.json has it."""
        return {
            "format": REPLAY_FORMAT,
            "kind": "replay",
            "run": self.run,
            "project": self.project,
            "environment": self.environment,
            "log": self.log,
            "at": format_instant(self.at),
            "seed": self.seed,
            "share": self.share,
            "passed": self.passed,
            "exit_code": self.exit_code,
            "summary": self.summary,
            "notes": list(self.notes),
            "services": [_service(each) for each in self.services],
        }


def _problems(replay: ServiceReplay) -> Iterator[str]:
    if not replay.compared:
        yield "no value was compared"
    for question in (Question.LOGIC, Question.EVALUATOR):
        if count := replay.differing(question):
            yield f"{count:,} values differ ({question})"
    for view in replay.views:
        fresh = view.freshness
        if fresh.late_share is not None and fresh.late_share > replay.most_late:
            yield f"{view.alias} was late in {fresh.late_share:.2%} of its answers"
        if view.most_age is not None and fresh.oldest is not None and fresh.oldest > view.most_age:
            oldest = format_duration(fresh.oldest - fresh.oldest % SECOND)
            yield f"{view.alias} was answered from an as-of {oldest} old, {format_duration(view.most_age)} is allowed"
        if fresh.off_grid:
            yield f"{view.alias} has {counted(fresh.off_grid, 'answer')} as of an instant that is no refresh of it"
        if view.lost is not None:
            yield f"{view.alias} can't be recomputed"


def _service(replay: ServiceReplay) -> dict[str, Any]:
    return {
        "service": replay.service,
        "passed": replay.passed,
        "problems": list(replay.problems),
        "rows": {
            "logged": replay.logged,
            "sampled": replay.sampled,
            "forgotten": replay.forgotten,
            "other_versions": replay.other_versions,
            "other_places": replay.other_places,
        },
        "from": instant(replay.start),
        "to": instant(replay.end),
        "values": {
            "compared": replay.compared,
            "logic": replay.differing(Question.LOGIC),
            "evaluator": replay.differing(Question.EVALUATOR),
            "indeterminate": replay.indeterminate,
        },
        "views": [_view(each) for each in replay.views],
        "on_demand": [
            {
                "fingerprint": each.fingerprint,
                "fields": [_field(field) for field in each.fields],
                "findings": findings_document(each.findings),
            }
            for each in replay.on_demand
        ],
        "answered_by": [
            {
                "fingerprint": each.fingerprint,
                "number": each.number,
                "model": each.model,
                "model_version": each.model_version,
                "rows": each.rows,
                "differing": each.differing,
                "late": each.late,
            }
            for each in replay.answered_by
        ],
    }


def _view(view: ViewReplay) -> dict[str, Any]:
    fresh = view.freshness
    return {
        "alias": view.alias,
        "view": view.view,
        "fingerprint": view.fingerprint,
        "rows": view.rows,
        "lost": view.lost,
        "source_change": view.source_change,
        "freshness": {
            "on_time": fresh.on_time,
            "late": [{"refreshes": steps, "rows": rows} for steps, rows in fresh.late.items()],
            "ahead": fresh.ahead,
            "off_grid": fresh.off_grid,
            "unavailable": fresh.unavailable,
            "last_known": fresh.last_known,
            "late_share": fresh.late_share,
            "oldest_seconds": None if fresh.oldest is None else fresh.oldest / SECOND,
        },
        "fields": [_field(field) for field in view.fields],
        "findings": findings_document(view.findings),
    }


def _field(field: FieldReplay) -> dict[str, Any]:
    return {
        "field": field.name,
        "type": field.type,
        "question": field.question.value,
        "compared": field.compared,
        "differing": field.differing,
        "share": field.share,
        "unavailable": field.unavailable,
        "degraded": field.degraded,
        "follows_from_its_inputs": field.follows,
        "unknown": field.unknown,
        "inputs_not_logged": list(field.unlogged),
        **{
            verdict.name.lower(): count for verdict, count in field.counts.items() if verdict is not Verdict.UNAVAILABLE
        },
        "days": [
            {
                "day": format_instant(day.start)[:10],
                "compared": day.compared,
                "differing": day.differing,
                "share": day.share,
            }
            for day in field.days
        ],
    }

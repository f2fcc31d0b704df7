"""The result of auditing a training table: a frozen value, and the same as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from featurekit.clock import SECOND, Instant, format_instant
from featurekit.consistency.leakage.factors import Verdict
from featurekit.consistency.leakage.verdict import Trial

AUDIT_FORMAT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """How long after a row's time serving could first have had what its value was computed from, in microseconds."""

    least: int
    median: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakEvidence:
    """One cell that differs: what the table holds, what serving had, and the source rows between the two.

    `as_of` is the instant whose value the table holds, None where none was found. `rows` are (event, landed).
    """

    entity: str
    at: Instant
    table: str
    served: str
    served_as_of: Instant | None
    as_of: Instant | None
    later: int | None
    rows: tuple[tuple[Instant, Instant], ...] = ()
    hidden: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureAudit:
    """One feature of the table: how many values are those of serving, and what explains the others.

    `foreign` values are none of the feature's type. `trials` are the ways that explain at least some, best first.
    """

    name: str
    type: str
    column: str
    equal: int
    within_tolerance: int
    differing: int
    foreign: int
    verdict: Verdict
    cause: str | None = None
    explained: float | None = None
    also: tuple[str, ...] = ()
    later: Later | None = None
    trials: tuple[Trial, ...] = ()
    evidence: tuple[LeakEvidence, ...] = ()

    @property
    def rows(self) -> int:
        return self.equal + self.within_tolerance + self.differing


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """A training table held against what serving would have had; `audited` of its `rows` were compared."""

    service: str
    fingerprint: str
    path: str
    rows: int
    audited: int
    unseen: dict[str, int]
    start: Instant
    end: Instant
    features: tuple[FeatureAudit, ...]

    @property
    def passed(self) -> bool:
        return all(feature.verdict is Verdict.AS_SERVED for feature in self.features)

    @property
    def exit_code(self) -> int:
        """0 where every value is what serving would have had, 1 where one is not."""
        return 0 if self.passed else 1

    def to_json(self) -> dict[str, Any]:
        """Return the report for machines; instants are ISO text in UTC, spans seconds."""
        return {
            "format": AUDIT_FORMAT,
            "service": self.service,
            "fingerprint": self.fingerprint,
            "table": self.path,
            "rows": self.rows,
            "audited": self.audited,
            "unseen": self.unseen,
            "from": format_instant(self.start),
            "to": format_instant(self.end),
            "passed": self.passed,
            "exit_code": self.exit_code,
            "features": [_feature(each) for each in self.features],
        }


def _feature(audit: FeatureAudit) -> dict[str, Any]:
    later = audit.later
    return {
        "feature": audit.name,
        "type": audit.type,
        "column": audit.column,
        "verdict": audit.verdict.value,
        "equal": audit.equal,
        "within_tolerance": audit.within_tolerance,
        "differing": audit.differing,
        "of_no_such_type": audit.foreign,
        "cause": audit.cause,
        "explained": audit.explained,
        "also": list(audit.also),
        "known_later_seconds": None
        if later is None
        else {"least": later.least / SECOND, "median": later.median / SECOND, "most": later.most / SECOND},
        "trials": [
            {
                "cause": trial.told,
                "verdict": trial.verdict.value,
                "turned": trial.turned,
                "differing": trial.differing,
                "kept": trial.kept,
                "matching": trial.matching,
                "chance": trial.chance,
            }
            for trial in audit.trials
        ],
        "evidence": [
            {
                "entity": each.entity,
                "at": format_instant(each.at),
                "table": each.table,
                "served": each.served,
                "served_as_of": _instant(each.served_as_of),
                "as_of": _instant(each.as_of),
                "known_later_seconds": None if each.later is None else each.later / SECOND,
                "rows_serving_had_not": each.hidden,
                "source_rows": [
                    {"event": format_instant(event), "landed": format_instant(landed)} for event, landed in each.rows
                ],
            }
            for each in audit.evidence
        ],
    }


def _instant(instant: Instant | None) -> str | None:
    return None if instant is None else format_instant(instant)

"""What the check found about one view: numbers per field, causes with evidence, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from featurekit.clock import Instant
from featurekit.consistency.compare import Verdict
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.findings import Finding
from featurekit.consistency.differences import Differences
from featurekit.consistency.shares import Share


class Outcome(StrEnum):
    """What the check says of one view. The first three are a pass."""

    CONSISTENT = "consistent"
    INDETERMINATE = "indeterminate"  # what differs may come of a source that changed since the refresh
    TOLERATED = "tolerated"  # some differ, and no more than the view's thresholds let pass
    INCONSISTENT = "inconsistent"
    BREACHED = "threshold breached"  # what was compared passes; how much is served, or how old it is, does not
    UNAVAILABLE = "unavailable"  # nothing that could be compared is served
    EMPTY = "empty sample"  # no entity was compared; that must not look like agreement

    @property
    def passes(self) -> bool:
        return self in (Outcome.CONSISTENT, Outcome.INDETERMINATE, Outcome.TOLERATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldReport:
    """One field's number of cells by verdict; every verdict is listed, and they add up to the sample.

    `differences` tells how far the two sides are apart, where they are numbers and some differ. `mismatch` is the share
    of the population whose cells differ, `nulls` that of those served without a value of their own; None where the
    sample stands for nobody.
    """

    name: str
    type: str
    counts: dict[Verdict, int]
    differences: Differences | None = None
    mismatch: Share | None = None
    nulls: Share | None = None

    @property
    def cells(self) -> int:
        return sum(self.counts.values())

    @property
    def differing(self) -> int:
        return sum(count for verdict, count in self.counts.items() if verdict.differs)

    @property
    def indeterminate(self) -> int:
        return self.counts[Verdict.INDETERMINATE]

    @property
    def share(self) -> float | None:
        """The share that differs: of the population where it is known, else of the cells; None of no cells."""
        if self.mismatch is not None:
            return self.mismatch.value
        return self.differing / self.cells if self.cells else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumReport:
    """A kind of entities that was looked at apart: how many there are (None: nobody can count them), how many were
    compared, and how many of these differ in any field."""

    name: str
    population: int | None
    sampled: int
    differing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """A threshold that was not kept: which one, of which field (None: the view), asked for by whom, in one sentence.

    `measured` and `allowed` are shares from 0 to 1; seconds for the freshness.
    """

    threshold: str
    field: str | None
    asked_by: str
    measured: float
    allowed: float
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedReport:
    """What is expected of a field's values, as declared; how many of the served `rows` break it, and some that do."""

    field: str
    expected: str
    passed: bool
    broken: int
    rows: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewReport:
    """What the check found about one view; `as_of` is None where no refresh is served.

    `online` and `offline` are how many entities each side has; `sampled` how many of their union were compared, and
    `found` how many of those the served side has a row for. `source_change` says why cells are indeterminate. `covered`
    is the share of the population with a served row; `tolerated` whether the thresholds let pass all that differs.
    `outside` are rows that differ and are of no entity of either side, so that no share counts them.
    """

    view: str
    fingerprint: str
    as_of: Instant | None
    promised_as_of: Instant
    online: int
    offline: int
    sampled: int
    found: int
    fields: tuple[FieldReport, ...]
    findings: tuple[Finding, ...]
    problem: str | None = None
    source_change: str | None = None
    covered: Share | None = None
    strata: tuple[StratumReport, ...] = ()
    breaches: tuple[Breach, ...] = ()
    tolerated: bool = False
    outside: int = 0
    expectations: tuple[ExpectedReport, ...] = ()

    @property
    def outcome(self) -> Outcome:
        if self.as_of is None or any(finding.cause is Cause.UNAVAILABLE for finding in self.findings):
            return Outcome.UNAVAILABLE
        if self.sampled == 0:
            return Outcome.EMPTY
        # Cells are asked too: a difference that no finding told of must not pass.
        differs = bool(self.findings or self.differing_cells)
        if differs and not self.tolerated:
            return Outcome.INCONSISTENT
        if self.breaches:
            return Outcome.BREACHED
        if differs:
            return Outcome.TOLERATED
        return Outcome.INDETERMINATE if self.indeterminate_cells else Outcome.CONSISTENT

    @property
    def coverage(self) -> float | None:
        """The share of entities that have a served row: of the population where that is known; None of no sample."""
        if self.covered is not None:
            return self.covered.value
        return self.found / self.sampled if self.sampled else None

    @property
    def cells(self) -> int:
        return self.sampled * len(self.fields)

    @property
    def differing_cells(self) -> int:
        return sum(field.differing for field in self.fields)

    @property
    def indeterminate_cells(self) -> int:
        return sum(field.counts[Verdict.INDETERMINATE] for field in self.fields)

    @property
    def is_late(self) -> bool:
        """Whether an older refresh is served than the view's declaration promises."""
        return self.as_of is not None and self.as_of < self.promised_as_of


def headline(view: ViewReport) -> str:
    """Return what a view's outcome comes to, in a few words."""
    match view.outcome:
        case Outcome.CONSISTENT:
            return "everything agrees"
        case Outcome.INDETERMINATE:
            return f"{counted(view.indeterminate_cells, 'value')} indeterminate: the source changed since the refresh"
        case Outcome.EMPTY:
            return "no entity to compare"
        case Outcome.UNAVAILABLE:
            return view.problem.partition("\n")[0].rstrip(".") if view.problem else "the store could not answer"
        case Outcome.INCONSISTENT:
            return ", ".join(_cause_counts(view))
        case Outcome.TOLERATED:
            return f"within its thresholds: {', '.join(_cause_counts(view))}"
        case Outcome.BREACHED:
            return ", ".join(dict.fromkeys(breach.told for breach in view.breaches))
        case _:
            assert_never(view.outcome)


def _cause_counts(view: ViewReport) -> Iterator[str]:
    # In the order of the findings: what matters most comes first.
    for cause in dict.fromkeys(finding.cause for finding in view.findings):
        count = sum(finding.count for finding in view.findings if finding.cause is cause)
        if cause.is_value_mismatch:
            yield f"{counted(count, 'value')} differ{'s' if count == 1 else ''} ({cause})"
        else:
            yield f"{count:,} {cause}{'s' if count != 1 and str(cause).endswith('row') else ''}"
    if not view.findings:
        yield f"{counted(view.differing_cells, 'value')} without a cause"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

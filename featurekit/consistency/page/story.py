"""All that the page says of a report, whatever was compared, in the order in which it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from featurekit.consistency.page.charts import Chart, Gauge
from featurekit.consistency.page.words import anchor

Document = Mapping[str, Any]
STEPS: Final = 3
VERDICTS: Final = {
    "match": "match",
    "within_tolerance": "within tolerance",
    "mismatch": "mismatch",
    "missing": "missing",
    "extra": "extra",
    "null_to_value": "null → value",
    "value_to_null": "value → null",
    "status": "status",
    "unavailable": "unavailable",
    "indeterminate": "indeterminate",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseCard:
    """A finding with where it is found and what it is called in links."""

    anchor: str
    cause: str
    view: str
    field: str | None
    count: int
    unit: str
    share: float
    confidence: float
    since: str | None
    also: tuple[str, ...]
    remedy: str
    evidence: Sequence[Document]

    @property
    def place(self) -> str:
        return self.view if self.field is None else f"{self.view}.{self.field}"

    @property
    def told(self) -> str:
        """The sentence that explains all rows of evidence; empty where each has its own."""
        told = {each["explanation"] for each in self.evidence}
        return told.pop() if len(told) == 1 else ""

    @property
    def target(self) -> str:
        """The anchor of what it is found in."""
        return anchor("view" if self.field is None else "field", self.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to do: for what, where (texts with their links), and since when that is known."""

    cause: str
    remedy: str
    places: tuple[tuple[str, str], ...]
    since: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRow:
    """A field of the table; `counts` are the verdicts with cells, but for those that match."""

    anchor: str
    view: str
    field: str
    type: str
    cells: int
    differing: int
    share: float | None
    counts: tuple[tuple[str, int], ...]
    causes: tuple[CauseCard, ...]
    days: Chart | None
    apart: Chart | None
    others: int
    indeterminate: int
    definition: Document | None
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewPart:
    """A view, or what else has fields, with its facts; `problem` is why nothing of it could be compared."""

    view: str
    tone: str
    mark: str
    outcome: str
    headline: str
    problem: str
    source_change: str
    facts: tuple[Fact, ...]
    fields: tuple[FieldRow, ...]
    breaches: Sequence[Document] = ()
    strata: Sequence[Document] = ()
    expectations: Sequence[Document] = ()
    definition: Document | None = None

    @property
    def anchor(self) -> str:
        return anchor("view", self.view)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that the page says."""

    title: str
    line: str
    tone: str
    mark: str
    sentence: str
    compared: str
    steps: tuple[Step, ...]
    more: int  # things to do beyond those of `steps`
    facts: tuple[Fact, ...]
    notes: Sequence[str]
    fields: tuple[FieldRow, ...]
    causes: tuple[CauseCard, ...]
    days: Chart | None
    freshness: tuple[Gauge, ...]
    coverage: tuple[Gauge, ...]
    views: tuple[ViewPart, ...]
    footer: str


def most_wrong_first(rows: Sequence[FieldRow]) -> tuple[FieldRow, ...]:
    """Return the rows of the table in the order in which they are shown first."""
    return tuple(sorted(rows, key=lambda row: (-(row.share or 0.0), -row.differing, row.view, row.field)))


def are(count: int) -> str:
    """Return the verb that goes with a number of things."""
    return "is" if count == 1 else "are"

"""What a check said of a planted fault: whether it saw it, and which cause it named first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.planted.kind import Kind
from benchmarks.planted.world import Hits
from featurekit.consistency.view_report import Outcome, ViewReport

UNSEEN: Final = "nothing"
UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run with a fault, or two. `named` are the causes in the order of the report, with the cells they explain."""

    kinds: tuple[str, ...]
    share: float
    hits: Hits
    differing: int
    detected: bool
    named: tuple[tuple[str, int], ...]
    also: frozenset[str]
    right: tuple[frozenset[str], ...]
    seconds: float

    @property
    def first(self) -> str:
        """The cause named first; of a pair the two that are."""
        return " + ".join(cause for cause, _ in self.named[: len(self.kinds)]) or UNSEEN

    @property
    def named_first(self) -> bool:
        """Whether the first cause of the report is a right one; of a pair the first two, one for each."""
        causes = [cause for cause, _ in self.named[: len(self.kinds)]]
        if len(self.right) == 1:
            return bool(causes) and causes[0] in self.right[0]
        one, other = self.right
        return len(causes) == 2 and any(a in one and b in other for a, b in (causes, causes[::-1]))

    @property
    def in_also(self) -> bool:
        """Whether a right cause is among those that are said to explain as much."""
        return any(cause in right for right in self.right for cause in self.also)

    @property
    def unnamed(self) -> bool:
        """Whether nothing wrong is claimed: what is named first is that the cause is unknown."""
        return bool(self.named) and self.named[0][0] == UNKNOWN

    @property
    def right_share(self) -> float:
        """The share of differing cells whose cause is a right one."""
        every = sum(cells for _, cells in self.named)
        right = frozenset().union(*self.right)
        return sum(cells for cause, cells in self.named if cause in right) / every if every else 0.0


def judged(kinds: Sequence[Kind], share: float, hits: Hits, view: ViewReport, seconds: float) -> Case:
    """Return what became of a case."""
    cells: Counter[str] = Counter()
    for finding in view.findings:
        per_row = len(view.fields) if finding.field is None else 1
        for cause in finding.causes:
            cells[str(cause)] += finding.count * per_row
    return Case(
        kinds=tuple(kind.name for kind in kinds),
        share=share,
        hits=hits,
        differing=view.differing_cells,
        detected=view.outcome in (Outcome.INCONSISTENT, Outcome.UNAVAILABLE),
        named=tuple(cells.items()),
        also=frozenset(str(cause) for finding in view.findings for cause in finding.also),
        right=tuple(kind.right for kind in kinds),
        seconds=seconds,
    )

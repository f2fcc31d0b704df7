"""What a diagnosis says: causes, how much of what differs each explains, and the rows that show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from featurekit.clock import Instant
from featurekit.consistency.diagnosis.causes import Cause

EVIDENCE_ROWS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One entity that shows a cause: what was served, what training says, and one sentence that links the two.

    `source_rows` are rows of the source that the two values come of, as people read them; empty where none tells more.
    """

    entity: str
    field: str | None
    served: str
    recomputed: str
    explanation: str
    source_rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A cause, the field it is about (None: whole rows), how many rows or cells it explains, and some of them.

    `share` is that of the field's differing cells. `confidence` (0 to 1) is how sure it is that chance did not do it,
    divided among those that explain the same cells as well, which `also` names. Where two faults fell on the same
    cells, `together` is the other one. `since` is the as-of of the first refresh that is known to show it.
    """

    cause: Cause
    field: str | None
    count: int
    evidence: tuple[Evidence, ...]
    share: float = 1.0
    confidence: float = 1.0
    also: tuple[Cause, ...] = ()
    together: tuple[Cause, ...] = ()
    remedy: str = ""
    since: Instant | None = None

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The cause, and the one that fell on the same cells."""
        return (self.cause, *self.together)


def by_weight(findings: Iterable[Finding], *, width: int = 1) -> tuple[Finding, ...]:
    """Return findings in the order in which they matter: what explains most cells first, what is unknown last.

    A cause counts with all of its fields, and a row with as many cells as it has (`width`), so that a view's root
    cause comes first.
    """
    found = tuple(findings)
    weight: dict[Cause, int] = {}
    for finding in found:
        weight[finding.cause] = weight.get(finding.cause, 0) + finding.count * (width if finding.field is None else 1)

    def place(finding: Finding) -> tuple[bool, int]:
        return finding.cause is Cause.UNKNOWN, -weight[finding.cause]

    return tuple(sorted(found, key=place))

"""What a diagnosis says: causes, how much of what differs each explains, and the rows that show it."""

from __future__ import annotations

from dataclasses import dataclass

from featurekit.clock import Instant
from featurekit.consistency.diagnosis.causes import Cause


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

    `share` is that of the field's differing cells, `confidence` what is left of it when chance is taken off, both from
    0 to 1. `also` names causes that explain the same cells as well. `since` is the as-of of the first refresh that is
    known to show it.
    """

    cause: Cause
    field: str | None
    count: int
    evidence: tuple[Evidence, ...]
    share: float = 1.0
    confidence: float = 1.0
    also: tuple[Cause, ...] = ()
    remedy: str = ""
    since: Instant | None = None

"""One view's sample, served beside recomputed: what a diagnosis is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from featurekit.consistency.cells import Answers, FieldSpec
from featurekit.consistency.compare import FieldComparison
from featurekit.consistency.diagnosis.causes import Refresh, StoredRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One view's sample with all that a diagnosis looks at; everything is in the order of `entities`."""

    entities: tuple[str, ...]
    fields: tuple[FieldSpec, ...]
    refresh: Refresh
    rows: tuple[StoredRow, ...]
    served: Answers
    recomputed: Answers
    comparisons: Mapping[str, FieldComparison]

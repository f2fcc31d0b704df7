"""One view's sample, served beside recomputed: what a diagnosis is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from featurekit.consistency.cells import Answers, FieldSpec
from featurekit.consistency.compare import FieldComparison
from featurekit.consistency.diagnosis.causes import Refresh, StoredRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One view's sample with all that a diagnosis looks at; everything is in the order of `entities`.

    `previous` holds the entities at `previous_rows` as the refresh before had them, where it was recomputed.
    """

    entities: tuple[str, ...]
    fields: tuple[FieldSpec, ...]
    refresh: Refresh
    rows: tuple[StoredRow, ...]
    served: Answers
    recomputed: Answers
    comparisons: Mapping[str, FieldComparison]
    previous: Answers | None = None
    previous_rows: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))

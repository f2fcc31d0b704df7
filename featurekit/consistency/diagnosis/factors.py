"""A factor: one way in which a served value comes to differ, as a change to what is computed.

Of the layers each factor changes one. Two factors are composed in the layers' order: source rows are changed before
the definition that aggregates them, an as-of before the key that is asked about, and cells come last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.compiled import CompiledView
from featurekit.consistency.cells import Cells, FieldSpec
from featurekit.consistency.diagnosis.causes import Cause

Instants = npt.NDArray[np.int64]
Entities = Sequence[tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """What would have to be otherwise, and the cause that it would be.

    `told` is a full sentence for people, with the numbers: what the served values are. Exactly one of the functions is
    there; each returns None where it changes nothing. `cells` turns the cells of a field, `fields` names those that it
    is meant for (None: all). `extra` are bits on top of the cause's cost: of what is rarer, or found from the data.
    `conditional` says that it only touches cells of a rare kind (a NULL, a text with blanks), so that it is evidence
    that just those differ. `fitted` says that the rows were chosen by what they were served, which is no evidence for
    where the fault is.
    """

    cause: Cause
    told: str
    rows: Callable[[Any], Any | None] | None = None
    view: Callable[[CompiledView], CompiledView | None] | None = None
    as_ofs: Callable[[Instants], Instants] | None = None
    entities: Callable[[Entities], Entities | None] | None = None
    cells: Callable[[Cells, FieldSpec], Cells | None] | None = None
    fields: frozenset[str] | None = None
    extra: int = 0
    conditional: bool = False
    fitted: bool = False

    @property
    def cost(self) -> int:
        return self.cause.cost + self.extra

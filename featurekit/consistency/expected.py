"""What a view's definition expects of its values, asked of the sampled entities as they are served."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.compiled import CompiledView
from featurekit.consistency.cells import Answers, Cells, Flags
from featurekit.quality.sample import judge_sample
from featurekit.status import Status

if TYPE_CHECKING:
    from featurekit.quality.expectations import ExpectationResult


def judge_served(view: CompiledView, served: Answers) -> tuple[ExpectationResult, ...]:
    """Return one result per declared expectation, of the entities with a served row; none where nothing is expected.

    As the gate sees a refresh: a default is no value of the feature, and who has no row is asked nothing.
    """
    return judge_sample(view, {name: _own_values(cells, served.found) for name, cells in served.fields.items()})


def _own_values(cells: Cells, found: Flags) -> pa.Array:
    answered = found & (cells.statuses != Status.UNAVAILABLE)
    own = pa.array(cells.statuses == Status.PRESENT)
    return pc.if_else(own, cells.values, pa.scalar(None, cells.values.type)).filter(pa.array(np.asarray(answered)))

"""What a view's definition expects of its values, asked of the sampled entities as they are served."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.compiled import CompiledView
from featurekit.consistency.cells import Answers, Cells, Flags
from featurekit.consistency.described import show_declared
from featurekit.consistency.view_report import ExpectedReport
from featurekit.definitions.feature_view import Expectation
from featurekit.quality.checks import Kind
from featurekit.quality.sample import judge_sample
from featurekit.status import Status

if TYPE_CHECKING:
    from featurekit.quality.expectations import ExpectationResult

_EXAMPLES: Final = 3
_OF_VALUES: Final = (Kind.BETWEEN, Kind.IN_SET, Kind.MATCHES, Kind.LENGTH)  # what breaks the others is without a value


def judge_served(view: CompiledView, served: Answers) -> tuple[ExpectationResult, ...]:
    """Return one result per declared expectation, of the entities with a served row; none where nothing is expected.

    As the gate sees a refresh: a default is no value of the feature, and who has no row is asked nothing.
    """
    return judge_sample(view, {name: _own_values(cells, served.found) for name, cells in served.fields.items()})


def expected_reports(view: CompiledView, served: Answers) -> Iterator[ExpectedReport]:
    """Yield what a report says of each declared expectation."""
    for result in judge_served(view, served):
        feature = view.feature(result.feature)
        assert feature is not None
        yield ExpectedReport(
            field=result.feature,
            expected=_declared(feature.expectation, result.kind),
            passed=result.passed,
            broken=result.broken,
            rows=result.rows,
            examples=tuple(dict.fromkeys(map(str, result.examples)))[:_EXAMPLES] if result.kind in _OF_VALUES else (),
        )


def _declared(expectation: Expectation | None, kind: Kind) -> str:
    mostly = None if expectation is None or kind not in _OF_VALUES else expectation.mostly
    shown = f"{kind}: {show_declared(getattr(expectation, kind.value))}"
    return shown if mostly is None else f"{shown}, mostly: {show_declared(mostly)}"


def _own_values(cells: Cells, found: Flags) -> pa.Array:
    answered = found & (cells.statuses != Status.UNAVAILABLE)
    own = pa.array(cells.statuses == Status.PRESENT)
    return pc.if_else(own, cells.values, pa.scalar(None, cells.values.type)).filter(pa.array(np.asarray(answered)))

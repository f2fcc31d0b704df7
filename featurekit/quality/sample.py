"""What is expected of a view's values, asked of a sample of what is served: the gate saw a refresh, this sees what is.

A definition that expects more since the refresh, or rows that came around the gate, show here first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from featurekit.compiled import CompiledView
from featurekit.errors import SourceError
from featurekit.quality.checks import feature_checks

if TYPE_CHECKING:
    from featurekit.quality.expectations import ExpectationResult


def judge_sample(view: CompiledView, values: Mapping[str, pa.Array]) -> tuple[ExpectationResult, ...]:
    """Return one result per declared expectation, in the order of the features; none where nothing is expected.

    `values` are one array a feature, with a value for each sampled entity that has a row: before defaults, and null
    where no value of its own is served. SourceError where a feature that something is expected of is not among them.
    An empty sample passes nothing.
    """
    checks = feature_checks(view)
    if not checks:
        return ()
    for check in checks:
        if check.feature not in values:
            raise SourceError(
                f"the sample has no values of {check.feature!r}, which an expectation is about",
                where=view.name,
                why="an expectation that finds nothing to check must not pass",
                try_=f"the sample has {', '.join(values) or 'no features'}",
            )
    # Great Expectations takes two seconds to import: only who expects something waits for it.
    from featurekit.quality.expectations import validate_values

    return tuple(replace(one, passed=one.passed and one.rows > 0) for one in validate_values(view, values))

"""What is expected of served values: defaults and entities without a row are not the feature's values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from featurekit.consistency.cells import Answers, Cells
from featurekit.consistency.expected import expected_reports, judge_served
from featurekit.definitions.feature_view import Expectation
from featurekit.quality.checks import Kind
from featurekit.status import Status
from featurekit.types import Int64
from tests.quality.small_view import small_view

VIEW = small_view({"amount": Int64()}, {"amount": Expectation(between=(5, 10), max_null_share=0.2)})


def test_a_default_counts_as_null_and_who_has_no_row_or_no_answer_is_not_asked() -> None:
    statuses = [Status.PRESENT, Status.PRESENT, Status.DEFAULTED, Status.DEFAULTED, Status.UNAVAILABLE]
    cells = Cells(values=pa.array([6, 11, 0, 0, None], pa.int64()), statuses=np.array(statuses, np.uint8))
    served = Answers(found=np.array([True, True, True, False, True]), fields={"amount": cells})

    found = {one.kind: (one.passed, one.broken, one.rows) for one in judge_served(VIEW, served)}

    assert found == {Kind.BETWEEN: (False, 1, 3), Kind.MAX_NULL_SHARE: (False, 1, 3)}


def test_a_report_says_what_is_declared_and_shows_values_that_break_it() -> None:
    cells = Cells(values=pa.array([11, 11, 4], pa.int64()), statuses=np.full(3, Status.PRESENT, np.uint8))
    between, nulls = expected_reports(VIEW, Answers(found=np.ones(3, np.bool_), fields={"amount": cells}))

    assert (between.expected, between.passed, between.broken, between.rows) == ("between: [5, 10]", False, 3, 3)
    assert between.examples == ("11", "4")
    assert (nulls.expected, nulls.passed, nulls.examples) == ("max_null_share: 0.2", True, ())

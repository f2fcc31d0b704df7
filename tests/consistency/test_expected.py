"""What is expected of served values: defaults and entities without a row are not the feature's values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from featurekit.consistency.cells import Answers, Cells
from featurekit.consistency.expected import judge_served
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

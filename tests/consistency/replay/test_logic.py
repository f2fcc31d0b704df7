"""Whether there was a row is told of the cells alone, and only where they leave no doubt."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from featurekit.consistency.replay.logic import narrowed, served_found
from featurekit.status import Status
from featurekit.types import Float64, Int32, Int64, String
from tests.consistency.sides import Written, field, side

COUNT = replace(field("count", Int64()), empty=0)
MEAN = field("mean", Float64())
LAST = replace(field("last", Float64()), is_latest=True)
FIELDS = (COUNT, MEAN, LAST)
BLANK: tuple[Written, ...] = (0, None, Status.MISSING)
HELD: tuple[Written, ...] = (3, 1.5, 2.5)


@pytest.mark.parametrize(
    ("served", "recomputed", "found"),
    [
        (HELD, HELD, True),
        (BLANK, HELD, False),  # a row is missing
        (BLANK, None, False),
        (HELD, None, True),  # a row that should not be there
        (BLANK, BLANK, True),  # there is one, of which nothing is left to be seen
        ((0, None, Status.EXPIRED), HELD, True),
        ((0, 0.0, Status.MISSING), None, False),  # no row, and a NULL that became 0
        ((0, None, 0.0), None, False),
        ((0, 0.0, 0.0), None, True),
    ],
)
def test_a_row_is_missing_or_extra_where_all_cells_say_so(
    served: tuple[Written, ...], recomputed: tuple[Written, ...] | None, found: bool
) -> None:
    one = side(FIELDS, [served])
    other = side(FIELDS, [BLANK if recomputed is None else recomputed])
    other = replace(other, found=other.found & (recomputed is not None))
    assert served_found(FIELDS, one.fields, other).tolist() == [found]


def test_without_a_latest_value_no_row_is_missing() -> None:
    fields = (COUNT, MEAN)
    zeros, held = side(fields, [(0, None)]), side(fields, [(3, 1.5)])
    assert served_found(fields, zeros.fields, held).tolist() == [True]
    assert served_found((), {}, held).tolist() == [True]


def test_a_key_beyond_the_view_s_type_is_nobody() -> None:
    keys = pa.array([7, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, None])
    assert narrowed(keys, Int32()).to_pylist() == [7, 2**31 - 1, None, -(2**31), None, None]
    assert narrowed(pa.array(["a", None]), String()).to_pylist() == ["a", None]

"""The distribution of differences: exact before it is a double, whole in its counts, and none where it says nothing."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.arrow_types import to_arrow
from featurekit.consistency.differences import BINS, Differences, differences
from featurekit.types import Boolean, DataType, Date, Decimal, Float32, Float64, Int64, String, Timestamp


def found(served: list[Any], recomputed: list[Any], kind: DataType) -> Differences | None:
    one, other = (pa.array(values, to_arrow(kind)) for values in (served, recomputed))
    differs = np.array([left != right for left, right in zip(served, recomputed, strict=True)], np.bool_)
    return differences(one, other, differs, kind)


CASES: dict[str, tuple[list[Any], list[Any], DataType, tuple[str, float, float, float]]] = {
    "doubles": ([1.0, 5.0, 9.0], [2.0, 5.0, 5.0], Float64(), ("", -1.0, -1.0, 4.0)),
    "floats": ([1.5], [1.0], Float32(), ("", 0.5, 0.5, 0.5)),
    "whole numbers that are one double": ([2**53 + 1], [2**53], Int64(), ("", 1.0, 1.0, 1.0)),
    "whole numbers beyond 64 bits": ([2**63 - 1], [-(2**63)], Int64(), ("", 2.0**64, 2.0**64, 2.0**64)),
    "decimals": ([decimal.Decimal("1.50")], [decimal.Decimal("1.25")], Decimal(10, 2), ("", 0.25, 0.25, 0.25)),
    "timestamps, in seconds": ([3_600_000_000], [0], Timestamp(), ("s", 3600.0, 3600.0, 3600.0)),
    "dates, in days": ([15_000], [15_001], Date(), ("d", -1.0, -1.0, -1.0)),
}


@pytest.mark.parametrize(("served", "recomputed", "kind", "told"), CASES.values(), ids=CASES)
def test_the_range_is_that_of_the_cells_that_differ(
    served: list[Any], recomputed: list[Any], kind: DataType, told: tuple[str, float, float, float]
) -> None:
    each = found(served, recomputed, kind)
    assert each is not None
    assert (each.unit, each.least, each.median, each.most) == told


@pytest.mark.parametrize(
    ("served", "recomputed", "kind"),
    [
        (["a"], ["b"], String()),
        ([True], [False], Boolean()),
        ([None, 1.0], [1.0, None], Float64()),
        ([float("nan")], [1.0], Float64()),
        ([1.0], [1.0], Float64()),
        ([], [], Int64()),
    ],
)
def test_there_is_none_where_no_difference_is_a_number(
    served: list[Any], recomputed: list[Any], kind: DataType
) -> None:
    assert found(served, recomputed, kind) is None


def test_cells_without_a_difference_are_counted_beside_the_bins() -> None:
    each = found([1.0, None, float("inf"), 3.0], [2.0, 1.0, 1.0, 3.0], Float64())
    assert each is not None
    assert (sum(each.counts), each.others) == (1, 2)


def test_one_value_far_away_does_not_flatten_the_rest() -> None:
    each = found([*map(float, range(1, 400)), 1e12], [0.0] * 400, Float64())
    assert each is not None
    assert each.most == 1e12
    assert each.edges[-1] < 500
    assert sum(each.counts) == 400
    assert sum(count > 0 for count in each.counts) == BINS


@given(st.lists(st.tuples(st.floats(), st.floats()), min_size=1, max_size=50))
def test_every_differing_cell_is_in_one_bin_or_among_the_others(pairs: list[tuple[float, float]]) -> None:
    served, recomputed = (list(column) for column in zip(*pairs, strict=True))
    each = found(served, recomputed, Float64())
    differing = sum(left != right for left, right in pairs)
    if each is not None:
        assert sum(each.counts) + each.others == differing
        assert list(each.edges) == sorted(set(each.edges))
        assert len(each.edges) == len(each.counts) + 1
        assert each.least <= each.median <= each.most

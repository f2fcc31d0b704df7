"""Sums as arrays against the exact sums of `exact`, and Python's integers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from featurekit.exact import exact_sum
from featurekit.offline.running_sums import RunningSums, running_floats, running_integers

MARKS = 6
PLACES = st.tuples(st.integers(0, MARKS), st.integers(0, MARKS))
# Close together, far apart, at the ends of the range, and such that sums lie half way between two doubles.
FLOATS = st.one_of(
    st.floats(),
    st.floats(-1e3, 1e3),
    st.sampled_from([2.0**53, 1.0, -1.0, 2.0**-53, 2.0**-54, 1.7e308, -1.7e308, 5e-324, -5e-324, 2.0**63, -0.0]),
    st.tuples(st.integers(-3, 3), st.integers(-1074, 900)).map(lambda part: math.ldexp(*part)),
)
INTEGERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-100, 100))
Rows = Sequence[tuple[float, tuple[int, int]]]
HALVES = [(2.0**53, (0, 6)), (1.0, (0, 3)), (2.0**-54, (2, 6)), (-5e-324, (1, 2))]


def places(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    found = np.array([place for _, place in rows], np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def counted(sums: RunningSums, stop: np.ndarray, rows: Rows) -> bool:
    return bool(sums.counts(stop).tolist() == [len(covering(rows, mark)) for mark in range(MARKS)])


def covering(rows: Rows, mark: int) -> list[float]:
    return [value for value, (first, stop) in rows if first <= mark < stop]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(FLOATS, PLACES), max_size=12))
@example(HALVES)
@example([(-value, place) for value, place in HALVES])
def test_sums_of_floats_are_the_exact_sums_of_the_covering_rows_rounded_once(
    rows: list[tuple[float, tuple[int, int]]],
) -> None:
    first, stop = places(rows)
    sums = running_floats(np.array([value for value, _ in rows], np.float64), first, MARKS)
    found, _ = sums.totals(stop)
    for mark in range(MARKS):
        expected = exact_sum(covering(rows, mark))
        assert repr(found[mark].item()) == repr(0.0 if expected is None else expected)
    assert counted(sums, stop, rows)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(INTEGERS, PLACES), max_size=12))
@example([(2**63 - 1, (0, 6)), (1, (2, 4)), (-(2**63), (3, 6)), (-(2**63), (4, 5))])
def test_sums_of_integers_are_exact_or_beyond_64_bits(rows: list[tuple[int, tuple[int, int]]]) -> None:
    first, stop = places(rows)
    sums = running_integers(np.array([value for value, _ in rows], np.int64), first, MARKS)
    found, beyond = sums.totals(stop)
    for mark in range(MARKS):
        expected = sum(int(value) for value in covering(rows, mark))
        assert bool(beyond[mark]) == (not -(2**63) <= expected < 2**63)
        assert beyond[mark] or found[mark] == expected
    assert counted(sums, stop, rows)


def test_sums_of_many_rows_are_exact_too() -> None:
    count = (1 << 19) + 3  # more than can be added up in doubles
    values = np.tile(np.array([0.1, -0.3, 1e17, 7e-9]), count // 4 + 1)[:count]
    first = np.zeros(count, np.int64)
    for rows in (count, count - 10):
        found, _ = running_floats(values[:rows], first[:rows], 1).totals(first[:rows] + 1)
        assert found[0] == math.fsum(values[:rows])

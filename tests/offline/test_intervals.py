"""Interval aggregates against the plain definition: look at every row for every mark."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit.exact import exact_sum
from featurekit.offline.intervals import (
    NONE,
    counts,
    distinct,
    float_moments,
    float_sums,
    greatest,
    greatest_many,
    integer_squares,
    integer_sums,
    marks_before,
    wide_squares,
    wide_sums,
)

MARKS = 20
SPANS = st.tuples(st.integers(0, MARKS), st.integers(0, MARKS)).map(sorted)
INT64 = st.integers(-(2**63), 2**63 - 1)


def spans_of(rows: list[tuple[Any, list[int]]]) -> tuple[Any, Any]:
    return (
        np.array([span[0] for _, span in rows], np.int64),
        np.array([span[1] for _, span in rows], np.int64),
    )


def covering(rows: list[tuple[Any, list[int]]], mark: int) -> list[Any]:
    return [value for value, (first, stop) in rows if first <= mark < stop]


@settings(deadline=None)
@given(st.lists(st.tuples(INT64, SPANS), max_size=30))
def test_counts_sums_and_greatest_are_those_of_the_covering_rows(rows: list[tuple[int, list[int]]]) -> None:
    first, stop = spans_of(rows)
    values = np.array([value for value, _ in rows], np.int64)
    ranks = np.arange(len(rows))
    order = greatest(ranks, first, stop, MARKS)
    found = counts(first, stop, MARKS), integer_sums(values, first, stop, MARKS)
    for mark in range(MARKS):
        inside = covering(rows, mark)
        assert found[0][mark] == len(inside)
        assert found[1][mark] == sum(inside)
        last = [rank for rank, (_, (start, end)) in enumerate(rows) if start <= mark < end]
        assert order[mark] == (last[-1] if last else NONE)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(), SPANS), max_size=30))
def test_float_sums_are_the_exact_sums_of_the_covering_rows(rows: list[tuple[float, list[int]]]) -> None:
    first, stop = spans_of(rows)
    found = float_sums(np.array([value for value, _ in rows], np.float64), first, stop, MARKS)
    for mark in range(MARKS):
        expected = exact_sum(covering(rows, mark))
        assert repr(found[mark]) == repr(0.0 if expected is None else expected)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**127), 2**127 - 1), SPANS), max_size=20))
def test_wide_sums_are_exact(rows: list[tuple[int, list[int]]]) -> None:
    first, stop = spans_of(rows)
    low = np.array([value & (2**64 - 1) for value, _ in rows], np.uint64)
    high = np.array([value >> 64 for value, _ in rows], np.int64)
    found = wide_sums(low, high, first, stop, MARKS)
    assert found == [sum(covering(rows, mark)) for mark in range(MARKS)]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 5)), max_size=20),
    st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 5)), max_size=20).map(sorted),
    st.sampled_from((1, 2**59)),
)
def test_a_row_enters_at_the_first_mark_of_its_entity_that_is_not_before_it(
    rows: list[tuple[int, int]], marks: list[tuple[int, int]], apart: int
) -> None:
    numbers = [np.array(part, np.int64).reshape(-1, 2)[:, i] for part in (rows, marks) for i in (0, 1)]
    row_keys, row_times, mark_keys, mark_times = numbers
    found = marks_before(row_keys, row_times * apart, mark_keys, mark_times * apart)
    assert found.tolist() == [sum(mark < row for mark in marks) for row in rows]


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(), SPANS), max_size=20))
def test_float_moments_are_the_exact_sums_of_values_and_squares(rows: list[tuple[float, list[int]]]) -> None:
    first, stop = spans_of(rows)
    totals, squares, unit, special = float_moments(np.array([x for x, _ in rows], np.float64), first, stop, MARKS)
    for mark in range(MARKS):
        inside = covering(rows, mark)
        finite = [Fraction(value) for value in inside if math.isfinite(value)]
        assert special[mark] == (len(finite) < len(inside))
        assert Fraction(totals[mark], unit) == sum(finite)
        assert Fraction(squares[mark], unit * unit) == sum(value * value for value in finite)


@settings(deadline=None)
@given(st.lists(st.tuples(INT64, SPANS), max_size=20), st.lists(st.tuples(st.integers(-(2**127), 2**127 - 1), SPANS)))
def test_squares_are_exact(rows: list[tuple[int, list[int]]], wide: list[tuple[int, list[int]]]) -> None:
    found = integer_squares(np.array([value for value, _ in rows], np.int64), *spans_of(rows), MARKS)
    assert found == [sum(value * value for value in covering(rows, mark)) for mark in range(MARKS)]
    low = np.array([value & (2**64 - 1) for value, _ in wide], np.uint64)
    high = np.array([value >> 64 for value, _ in wide], np.int64)
    found = wide_squares(low, high, *spans_of(wide), MARKS)
    assert found == [sum(value * value for value in covering(wide, mark)) for mark in range(MARKS)]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), SPANS), max_size=30), st.integers(1, 5))
def test_distinct_groups_and_the_greatest_ranks_are_those_of_the_covering_rows(
    rows: list[tuple[int, list[int]]], limit: int
) -> None:
    first, stop = spans_of(rows)
    found = distinct(np.array([group for group, _ in rows], np.int64), first, stop, MARKS)
    ranks = np.arange(len(rows)) * 7 % 31
    many = greatest_many(ranks, first, stop, MARKS, limit)
    for mark in range(MARKS):
        assert found[mark] == len(set(covering(rows, mark)))
        inside = [rank for rank, (_, (start, end)) in zip(ranks, rows, strict=True) if start <= mark < end]
        assert many[mark] == sorted(inside, reverse=True)[:limit]


def test_no_rows_sum_to_positive_zero_and_large_sums_are_infinite() -> None:
    one, two = np.array([0], np.int64), np.array([1], np.int64)
    assert math.copysign(1.0, float_sums(np.array([-0.0]), one, two, 1)[0]) == 1.0
    both = np.zeros(2, np.int64)
    assert float_sums(np.array([1.7e308, 1.7e308]), both, both + 1, 1) == [math.inf]

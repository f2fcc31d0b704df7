"""Sums of floats, against exact fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.exact import ExactSum, digits, divide_half_up, exact_sum, finish, fits_digits

FINITE = st.floats(allow_nan=False, allow_infinity=False)
ANY = st.floats()
LARGEST = 1.7976931348623157e308


def nearest(exact: Fraction) -> float:
    """Return the float nearest to a fraction, infinite beyond the largest."""
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def by_digits(values: list[float]) -> float | None:
    """Return the sum as the SQL computes it: digits of what has digits, the rest as it is."""
    held = [digits(value) for value in values if fits_digits(value)]
    sums = [sum(column) for column in zip(*held, strict=True)] if held else [None] * 6
    return finish(sums, [value for value in values if not fits_digits(value)], len(values))


def same(left: float | None, right: float | None) -> bool:
    return left == right or (left is not None and right is not None and math.isnan(left) and math.isnan(right))


CASES = [
    ([], None),
    ([0.0, -0.0], 0.0),
    ([-0.0], 0.0),
    ([0.5, 0.7], 1.2),
    ([1e-20] * 1000, 9.999999999999999e-18),
    ([1e-12] * 1000, math.fsum([1e-12] * 1000)),
    ([2.0**40, 2.0**-13, 2.0**-60], 2.0**40 + 2.0**-12),
    ([1e308, 1e308, -1e308, -1e308, 3.0], 3.0),
    ([1e308, 1e308], math.inf),
    ([-LARGEST, -LARGEST], -math.inf),
    ([LARGEST, -LARGEST, 5e-324], 5e-324),
    ([5e-324] * 3, 1.5e-323),
    ([math.inf, 1.0], math.inf),
    ([math.inf, -math.inf], math.nan),
    ([math.nan, math.inf], math.nan),
    ([2.0**63, -(2.0**63), 2.0**-200, 1.0], 1.0),
    ([10.0, -10.0], 0.0),
]


@pytest.mark.parametrize(("values", "total"), CASES)
def test_sums_of_hard_values_are_correctly_rounded(values: list[float], total: float | None) -> None:
    assert same(exact_sum(values), total)
    assert same(by_digits(values), total)
    if total == 0.0:
        assert math.copysign(1.0, exact_sum(values) or 0.0) == 1.0


@given(st.lists(FINITE, max_size=30))
def test_a_sum_is_the_float_nearest_to_the_exact_sum(values: list[float]) -> None:
    expected = nearest(sum((Fraction(value) for value in values), Fraction())) if values else None
    assert same(exact_sum(values), expected)
    assert same(by_digits(values), expected)


@given(st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=200), st.randoms())
def test_order_changes_no_bit(values: list[float], chance: random.Random) -> None:
    total = exact_sum(values)
    shuffled = chance.sample(values, len(values))
    assert total == exact_sum(shuffled) == by_digits(shuffled) == math.fsum(values)


@given(st.lists(ANY, max_size=20), st.lists(ANY, max_size=20))
def test_what_is_added_can_be_taken_out(kept: list[float], removed: list[float]) -> None:
    total = ExactSum()
    for value in kept + removed:
        total.add(value)
    for value in removed:
        total.add(value, -1)
    assert same(total.value(), exact_sum(kept))
    assert same(by_digits(kept), exact_sum(kept))


def test_an_average_is_the_rounded_sum_divided_once() -> None:
    total = ExactSum()
    for value in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8):
        total.add(value)
    assert total.average() == math.fsum((0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)) / 7
    assert ExactSum().average() is None


@given(st.integers(), st.integers(1, 10**20))
def test_halves_go_away_from_zero(numerator: int, denominator: int) -> None:
    quotient = divide_half_up(numerator, denominator)
    distance = Fraction(numerator, denominator) - quotient
    assert abs(distance) <= Fraction(1, 2)
    if abs(distance) == Fraction(1, 2):
        assert abs(quotient) > abs(Fraction(numerator, denominator))

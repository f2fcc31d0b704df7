"""Roots and quotients that are rounded once, against their definition."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit.aggregates.moments import (
    SPREADS,
    SQUARE_EXPONENTS,
    VALUE_EXPONENTS,
    VALUES_BELOW,
    finish_digits,
    nearest_root,
)
from featurekit.aggregates.states import Row, aggregation
from featurekit.types import Float64
from tests.offline.reference_numbers import nearest_root as found_by_trying

SMALL = st.floats(-1e6, 1e6)


@settings(deadline=None)
@given(st.integers(0, 2**200), st.integers(1, 2**200), st.integers(-2300, 2100))
def test_a_root_is_the_nearest_float(numerator: int, denominator: int, exponent: int) -> None:
    exact = Fraction(numerator, denominator) * Fraction(2) ** exponent
    assert nearest_root(exact.numerator, exact.denominator) == found_by_trying(exact)


@settings(deadline=None)
@given(st.floats(min_value=1e-150, max_value=1e150))
def test_the_root_of_an_exact_square_is_exact(value: float) -> None:
    square = Fraction(value) ** 2
    assert nearest_root(square.numerator, square.denominator) == value


def digits_of(value: Fraction, exponents: tuple[int, ...]) -> list[int]:
    """Return an exact number as signed digits of 32 bits, as the SQL makes them."""
    whole = int(abs(value) / Fraction(2) ** exponents[0])
    assert Fraction(whole) * Fraction(2) ** exponents[0] == abs(value)
    sign = -1 if value < 0 else 1
    return [sign * (whole >> (exponent - exponents[0]) & 0xFFFFFFFF) for exponent in exponents]


@settings(deadline=None)
@given(st.lists(SMALL | st.floats(), max_size=12), st.sampled_from(sorted(SPREADS)))
def test_digits_and_what_has_none_finish_as_states_do(values: list[float], function: str) -> None:
    held = [value for value in values if abs(value) < VALUES_BELOW and Fraction(value).denominator <= 2**96]
    rest = [value for value in values if not (abs(value) < VALUES_BELOW and Fraction(value).denominator <= 2**96)]
    columns = [
        digits_of(Fraction(value), VALUE_EXPONENTS) + digits_of(Fraction(value) ** 2, SQUARE_EXPONENTS)
        for value in held
    ]
    places = len(VALUE_EXPONENTS) + len(SQUARE_EXPONENTS)
    sums: list[int | None] = [sum(column) for column in zip(*columns, strict=True)] if held else [None] * places
    whole = aggregation(function, Float64(), Float64())
    state = whole.zero
    for value in values:
        state = whole.add(state, Row(value))
    assert repr(finish_digits(SPREADS[function], sums, rest, len(values))) == repr(whole.finish(state))


def test_what_lies_close_together_far_out_keeps_its_spread() -> None:
    values = [1.4e15 + step for step in (0, 1, 2, 3)]
    whole = aggregation("var_pop", Float64(), Float64())
    state = whole.zero
    for value in values:
        state = whole.add(state, Row(value))
    assert whole.finish(state) == 1.25
    assert math.isclose(sum(x * x for x in values) / 4 - (sum(values) / 4) ** 2, 1.25) is False  # the naive way

"""The Arrow functions behind the SQL, against Python's own integers and decimals."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import reduce

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit.aggregates.moments import SPREADS, SQUARE_EXPONENTS, VALUE_EXPONENTS
from featurekit.aggregates.states import Row, aggregation
from featurekit.clock import DAY, HOUR, parse_instant
from featurekit.exact import DIGIT_EXPONENTS, digits, finish, fits_digits, unscaled
from featurekit.grid import Grid
from featurekit.offline.functions import (
    average_decimals,
    finish_decimal_moments,
    finish_moments,
    finish_sums,
    finish_whole_moments,
    round_digits,
    served_at,
    sum_decimals,
)
from featurekit.types import Decimal as DecimalType
from featurekit.types import Float64

SUMS = st.integers(-(2**62), 2**62)
SPARSE = st.one_of(st.just(0), st.integers(-3, 3), SUMS)
DIGITS = st.lists(SPARSE, min_size=6, max_size=6)


@settings(deadline=None)  # the first call imports Arrow's kernels
@given(st.lists(DIGITS, min_size=1, max_size=20))
def test_digit_sums_round_to_the_nearest_double(rows: list[list[int]]) -> None:
    rounded = round_digits(np.array(rows, np.int64))
    for row, value in zip(rows, rounded.tolist(), strict=True):
        total = sum(part << (exponent + 128) for part, exponent in zip(row, DIGIT_EXPONENTS, strict=True))
        assert value == unscaled(total, -128)
        assert math.copysign(1.0, value) == (-1.0 if total < 0 else 1.0)


@settings(deadline=None)  # the first call imports Arrow's kernels
@given(st.lists(st.lists(st.floats(), max_size=8), min_size=1, max_size=10))
def test_sums_finish_as_the_plain_function_does(groups: list[list[float]]) -> None:
    parts, rests, expected = [], [], []
    for group in groups:
        held = [digits(value) for value in group if fits_digits(value)]
        sums = [sum(column) for column in zip(*held, strict=True)] if held else [None] * 6
        rest = [value for value in group if not fits_digits(value)]
        parts.append(sums)
        rests.append(rest)
        expected.append(finish(sums, rest, len(group)))
    found = finish_sums(
        pa.array(parts, pa.list_(pa.int64())), pa.array(rests, pa.list_(pa.float64())), pa.array(map(len, groups))
    )
    assert repr(found.to_pylist()) == repr(expected)


def test_sums_of_a_slice_of_a_column_are_those_of_its_rows() -> None:
    parts = pa.array([[1] * 6, [0, 0, 0, 0, 2, 0], [0] * 6], pa.list_(pa.int64()))
    rest = pa.array([[1.0], [1e300], []], pa.list_(pa.float64()))
    assert finish_sums(parts[1:], rest[1:], pa.array([2, 1, 0])[1:]).to_pylist() == [1e300, None]


def test_decimal_sums_are_exact_and_null_beyond_38_digits() -> None:
    big = 10**38 - 1
    values = pa.array([Decimal(value) for value in (1, 2, big, 1, big, 1, -big)], pa.decimal128(38, 0))
    column = pa.ListArray.from_arrays([0, 2, 4, 7, 7], values)
    assert sum_decimals(column).to_pylist() == ["3", None, "1", None]


def test_decimal_averages_round_halves_away_from_zero() -> None:
    totals = pa.array(["0.01", "-0.01", "1.00", None, "10"])
    found = average_decimals(totals, pa.array([2, 2, 3, 0, 1]), pa.array([2, 2, 6, 2, 0]))
    assert found.to_pylist() == ["0.01", "-0.01", "0.333333", None, "10"]


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=8), st.sampled_from(sorted(SPREADS)), st.integers(0, 18))
def test_moments_of_halves_and_of_decimals_are_those_of_states(values: list[int], function: str, scale: int) -> None:
    highs, lows = [value >> 32 for value in values], [value & 0xFFFFFFFF for value in values]
    parts = [
        sum(values),
        sum(high * high for high in highs),
        sum(high * low for high, low in zip(highs, lows, strict=True)),
        sum(low * low for low in lows),
    ]
    texts = [str(part) if values else None for part in parts]
    kind = DecimalType(38, scale)
    decimals = [Decimal(value).scaleb(-scale) for value in values]
    whole = aggregation(function, kind, Float64())
    expected = repr([whole.finish(reduce(whole.add, map(Row, decimals), whole.zero))])
    column = pa.array([texts], pa.list_(pa.string()))
    which = pa.array([function])
    halves = finish_whole_moments(column, pa.array([len(values)]), pa.array([scale]), which)
    lists = finish_decimal_moments(pa.array([decimals], pa.list_(pa.decimal128(38, scale))), which)
    assert repr(halves.to_pylist()) == repr(lists.to_pylist()) == expected


def test_moments_of_digits_that_are_none_are_those_of_the_rest() -> None:
    places = len(VALUE_EXPONENTS) + len(SQUARE_EXPONENTS)
    digits = pa.array([[None] * places] * 3, pa.list_(pa.int64()))
    rest = pa.array([[1e300, -1e300], [float("nan"), 1.0], []], pa.list_(pa.float64()))
    found = finish_moments(digits, rest, pa.array([2, 2, 0]), pa.array(["stddev_pop"] * 3))
    assert repr(found.to_pylist()) == "[1e+300, nan, None]"


def test_a_column_of_request_times_is_served_as_the_grid_says() -> None:
    times = [
        parse_instant("2013-11-01T00:00Z") + hour * HOUR + minute for hour in range(24 * 5) for minute in (-1, 0, 1)
    ]
    times.append(parse_instant("1921-01-01T03:00Z"))
    for grid in (
        Grid(DAY, 2 * HOUR),
        Grid(6 * HOUR, HOUR),
        Grid(DAY, 2 * HOUR, "America/New_York"),
        Grid(DAY, 0, "America/Santiago"),
    ):
        one = len(times)
        found = served_at(
            pa.array([*times, None]),
            pa.array([grid.every] * (one + 1)),
            pa.array([grid.availability_delay] * (one + 1)),
            pa.array([grid.timezone] * (one + 1), pa.string()),
            pa.array([None] * (one + 1), pa.int32()),
        )
        assert found.to_pylist() == [*(grid.served_at(at) for at in times), None]

"""What an aggregate gives, value by value: at the bounds of its type, and for NULL."""

from __future__ import annotations

from decimal import Decimal as PyDecimal
from fractions import Fraction
from functools import reduce
from typing import Any

import pytest

from featurekit.aggregates.hyperloglog import precision_of
from featurekit.aggregates.moments import nearest_root
from featurekit.aggregates.states import Row, aggregation
from featurekit.types import DataType, Decimal, Float64, Int32, Int64


def value_of(function: str, argument: DataType, result: DataType, values: list[Any], limit: int | None = None) -> Any:
    whole = aggregation(function, argument, result, limit)
    rows = [Row(value, (place,)) for place, value in enumerate(values)]
    return whole.finish(reduce(whole.add, rows, whole.zero))


def test_an_average_of_integers_is_of_their_sum_as_a_double() -> None:
    # 2^53 + 1 is no double: 2^53 / 3, not 3002399751580331.
    assert value_of("avg", Int64(), Float64(), [2**53 + 1, 0, 0]) == 3002399751580330.5
    assert value_of("avg", Int32(), Float64(), [1, 2, None]) == 1.5


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_has_as_many_digits_as_its_type(sign: int) -> None:
    most = PyDecimal(10**15 - 1).scaleb(-2)
    one = PyDecimal("0.01")
    assert value_of("sum", Decimal(5, 2), Decimal(15, 2), [sign * most]) == sign * most
    assert value_of("sum", Decimal(5, 2), Decimal(15, 2), [sign * most, sign * one]) is None


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_of_38_digits_has_an_average_and_one_of_39_has_none(sign: int) -> None:
    half = PyDecimal(5 * 10**37 * sign)
    values = [half, *[PyDecimal(0)] * 99_999]
    assert value_of("avg", Decimal(38, 0), Decimal(38, 4), values) == PyDecimal(5 * 10**32 * sign)
    assert value_of("avg", Decimal(38, 0), Decimal(38, 4), [half, *values]) is None


def test_a_sum_of_integers_fits_or_is_null() -> None:
    assert value_of("sum", Int64(), Int64(), [2**63 - 1, 1, -1]) == 2**63 - 1
    assert value_of("sum", Int64(), Int64(), [2**63 - 1, 1]) is None
    assert value_of("sum", Int64(), Int64(), [-(2**63), -1]) is None


def test_an_average_of_decimals_is_rounded_half_up() -> None:
    values = [PyDecimal("0.01"), PyDecimal("0.02"), PyDecimal("0.02")]
    assert value_of("avg", Decimal(5, 2), Decimal(9, 6), values) == PyDecimal("0.016667")
    halves = [PyDecimal("-0.01"), *[PyDecimal(0)] * 19_999]
    assert value_of("avg", Decimal(5, 2), Decimal(9, 6), halves) == PyDecimal("-0.000001")


def test_null_is_not_counted_but_its_row_is() -> None:
    assert value_of("count", Int64(), Int64(), [None, 1, None, 2]) == 2
    assert value_of("count_distinct", Int64(), Int64(), [None, 1, None, 1]) == 1
    rows = aggregation("count", None, Int64())
    assert rows.finish(rows.add(rows.add(rows.zero, Row(None)), Row(1))) == 2


def test_the_last_values_are_those_that_are_not_null_in_their_order() -> None:
    assert value_of("collect_last", Int64(), Int64(), [1, None, 2, 3, None], 2) == (2, 3)
    assert value_of("top_k", Int64(), Int64(), [1, None, 3, 2], 2) == (3, 2)


def test_a_root_is_rounded_by_all_of_its_digits() -> None:
    tie = 2**53 + 1  # halfway between two doubles, of which 2^53 is the even one
    assert nearest_root(tie * tie, 1) == 2.0**53
    assert nearest_root((tie * tie << 10) + 1, 1 << 10) == 2.0**53 + 2
    assert nearest_root((tie * tie << 200) + 1, 1 << 200) == 2.0**53 + 2
    assert nearest_root(3 * tie * tie + 1, 3) == 2.0**53 + 2


@pytest.mark.parametrize("precision", range(4, 14, 2))
def test_a_deviation_that_a_precision_reaches_exactly_asks_for_it(precision: int) -> None:
    reached = Fraction("1.106") / (1 << precision // 2)
    assert precision_of(reached) == precision
    assert precision_of(reached * Fraction("0.999")) == precision + 1

"""Partial states: any split, any order and any grouping of merges finish to the same bits as all rows at once."""

from __future__ import annotations

import math
import random
import struct
from decimal import Decimal as PyDecimal
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit.aggregates.order import order_key
from featurekit.aggregates.states import Aggregation, Row, aggregation
from featurekit.types import Array, Boolean, DataType, Decimal, Float64, Int64, String

FLOATS = st.none() | st.floats() | st.sampled_from((0.0, -0.0, 1e-20, 1e308, -1e308, 5e-324, math.nan, math.inf))
INTEGERS = st.none() | st.integers(-(2**63), 2**63 - 1)
DECIMALS = st.none() | st.integers(-(10**38) + 1, 10**38 - 1).map(lambda digits: PyDecimal(f"{digits}E-10"))
TEXTS = st.none() | st.text(max_size=3)
CONDITIONS = st.none() | st.booleans()
HASHES = st.none() | st.integers(-(2**63), 2**63 - 1)
WIDE = Decimal(38, 10)
SPREADS = ("var_samp", "var_pop", "stddev_samp", "stddev_pop")

# (function, the values it takes, their type, the result's, its parameter)
CASES: list[tuple[str, st.SearchStrategy[Any], DataType, DataType, int | None]] = [
    ("count", FLOATS, Float64(), Int64(), None),
    ("sum", FLOATS, Float64(), Float64(), None),
    ("avg", FLOATS, Float64(), Float64(), None),
    ("sum", INTEGERS, Int64(), Int64(), None),
    ("avg", INTEGERS, Int64(), Float64(), None),
    ("sum", DECIMALS, WIDE, WIDE, None),
    ("avg", DECIMALS, WIDE, Decimal(38, 14), None),
    *((name, values, kind, Float64(), None) for name in SPREADS
      for values, kind in ((FLOATS, Float64()), (INTEGERS, Int64()), (DECIMALS, WIDE))),
    ("min", FLOATS, Float64(), Float64(), None),
    ("max", FLOATS, Float64(), Float64(), None),
    ("min", CONDITIONS, Boolean(), Boolean(), None),
    ("max", TEXTS, String(), String(), None),
    ("min_by", TEXTS, String(), String(), None),
    ("max_by", FLOATS, Float64(), Float64(), None),
    ("top_k", FLOATS, Float64(), Array(Float64()), 3),
    ("collect_last", TEXTS, String(), Array(String()), 3),
    ("count_distinct", FLOATS, Float64(), Int64(), None),
    ("count_distinct", TEXTS, String(), Int64(), None),
    ("approx_count_distinct", HASHES, Int64(), Int64(), 4),
    ("approx_count_distinct", HASHES, Int64(), Int64(), 9),
]  # fmt: skip
ORDERED = ("min_by", "max_by", "collect_last")
IDS = [f"{name} {kind}" for name, _, kind, _, _ in CASES]


def state_of(whole: Aggregation[Any], rows: list[Row]) -> Any:
    return reduce(whole.add, rows, whole.zero)


def keyed(values: list[Any], chance: random.Random) -> list[Row]:
    """Return rows whose keys often tie in what is compared first, and never in all: rows of one key are one value."""
    return [
        Row(value, order_key((chance.choice((None, 1.0, math.nan)), chance.randrange(3), at)))
        for at, value in enumerate(values)
    ]


def merged_in_parts(whole: Aggregation[Any], rows: list[Row], chance: random.Random) -> Any:
    """Return the state of shuffled rows, cut at random, with the parts merged two at a time, in any order."""
    shuffled = chance.sample(rows, len(rows))
    parts: list[list[Row]] = [[] for _ in range(chance.randint(1, 5))]
    for row in shuffled:
        chance.choice(parts).append(row)
    states = [state_of(whole, part) for part in parts]
    while len(states) > 1:
        left = states.pop(chance.randrange(len(states)))
        right = states.pop(chance.randrange(len(states)))
        states.append(whole.merge(left, right))
    return states[0]


def bits(value: Any) -> str:
    # repr tells -0.0 from 0.0, and NaN is nan; a set has no order.
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)


@pytest.mark.parametrize("case", CASES, ids=IDS)
@settings(max_examples=60, deadline=None)
@given(data=st.data(), chance=st.randoms(use_true_random=False))
def test_parts_in_any_order_finish_like_the_whole(case: Any, data: st.DataObject, chance: random.Random) -> None:
    function, values, kind, result, parameter = case
    whole = aggregation(function, kind, result, parameter)
    rows = keyed(data.draw(st.lists(values, max_size=20)), chance)
    expected = state_of(whole, rows)
    found = merged_in_parts(whole, rows, chance)
    assert bits(found) == bits(expected)
    assert bits(whole.finish(found)) == bits(whole.finish(expected))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_nothing_merges_into_anything_and_finishes_as_nothing(case: Any) -> None:
    function, _, kind, result, parameter = case
    whole = aggregation(function, kind, result, parameter)
    assert whole.finish(whole.zero) == (0 if "count" in function else None)
    state = whole.add(whole.zero, Row(None, order_key((None, 0))))
    assert bits(whole.merge(whole.zero, state)) == bits(whole.merge(state, whole.zero)) == bits(state)
    assert hash(state) == hash(whole.merge(state, whole.zero))


def finished(function: str, values: list[Any], kind: DataType, result: DataType, parameter: int | None = None) -> Any:
    whole = aggregation(function, kind, result, parameter)
    rows = [Row(value, order_key((at,))) for at, value in enumerate(values)]
    return whole.finish(state_of(whole, rows))


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        ("sum", [1e-20] * 1000, 9.999999999999999e-18),
        ("sum", [1e308, 1e308, -1e308, -1e308, 3.0], 3.0),
        ("sum", [-0.0], 0.0),
        ("avg", [0.1, 0.2, 0.3], 0.19999999999999998),
        ("var_samp", [1.0], None),
        ("var_pop", [1.0], 0.0),
        ("var_samp", [math.nan], None),
        ("var_pop", [math.nan], math.nan),
        ("stddev_samp", [1.0, math.inf], math.nan),
        ("var_pop", [1e308, -1e308], math.inf),
        ("stddev_pop", [1e308, -1e308], 1e308),
        ("stddev_pop", [5e-324, 0.0, 5e-324, 0.0], 0.0),  # half the smallest float: half to even
        ("stddev_samp", [5e-324, 0.0], 5e-324),
        ("var_samp", [1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16], 30.0),
        ("var_pop", [0.1] * 10, 0.0),
        ("min", [0.0, -0.0], 0.0),
        ("min", [math.nan, 1.0], 1.0),
        ("max", [math.nan, math.inf], math.nan),
        ("count_distinct", [0.0, -0.0, math.nan, math.nan, 1.0, None], 3),
        ("min_by", [None, 1.0], None),
        ("max_by", [1.0, None], None),
    ],
)
def test_hard_values_finish_as_the_rules_say(function: str, values: list[Any], expected: Any) -> None:
    result = Int64() if function == "count_distinct" else Float64()
    assert bits(finished(function, values, Float64(), result)) == bits(expected)


def test_integers_run_wide_and_narrow_once() -> None:
    largest = 2**63 - 1
    assert finished("sum", [largest, 1, -1], Int64(), Int64()) == largest
    assert finished("sum", [largest, 1], Int64(), Int64()) is None
    assert finished("avg", [largest, largest], Int64(), Float64()) == float(largest)
    assert finished("var_pop", [-(2**63), largest], Int64(), Float64()) == (2**64 - 1) ** 2 / 4


def test_many_values_are_those_and_in_that_order() -> None:
    values = [2.0, None, math.nan, -0.0, 5.0]
    assert bits(finished("top_k", values, Float64(), Array(Float64()), 4)) == "(nan, 5.0, 2.0, 0.0)"
    assert finished("collect_last", ["a", None, "b", "c"], String(), Array(String()), 2) == ("b", "c")


def test_floats_have_one_zero_and_one_nan_in_what_is_kept() -> None:
    for function in ("min", "max", "min_by", "max_by"):
        for value, expected in ((-0.0, 0.0), (-math.nan, math.nan)):
            found = finished(function, [value], Float64(), Float64())
            assert struct.pack("<d", found) == struct.pack("<d", expected)


def test_of_rows_that_tie_the_least_takes_the_first_and_the_greatest_the_last() -> None:
    rows = [Row(name, order_key((1, at))) for at, name in enumerate("abc")]
    for function, expected in (("min_by", "a"), ("max_by", "c")):
        whole = aggregation(function, String(), String())
        assert whole.finish(state_of(whole, rows[::-1])) == expected

"""HyperLogLog++ against counts that Spark's approx_count_distinct gave."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.aggregates.hyperloglog import (
    MAX_PRECISION,
    MIN_PRECISION,
    deviation_of,
    estimate,
    precision_of,
    register_and_rank,
)
from featurekit.offline.sweep_slots import _registers_and_ranks
from featurekit.targets.kernels.xxhash64 import xxhash64_long

PRECISIONS = range(MIN_PRECISION, MAX_PRECISION + 1)
SEED = 42
# Recorded from Spark 4.3.0: SELECT approx_count_distinct(id, rsd) FROM range(n), by precision and n. The sizes lie in
# linear counting, where the bias is corrected, and beyond.
RECORDED: dict[int, dict[int, int]] = {
    4: {
        0: 0,
        1: 1,
        5: 6,
        10: 13,
        12: 19,
        20: 19,
        40: 46,
        60: 51,
        79: 66,
        80: 66,
        81: 73,
        120: 103,
        500: 374,
        5000: 5387,
    },
    6: {0: 0, 3: 3, 30: 33, 40: 48, 45: 53, 90: 107, 160: 164, 300: 245, 319: 250, 330: 250, 1000: 844, 8000: 6072},
    9: {0: 0, 1: 1, 100: 103, 399: 397, 420: 414, 800: 806, 1500: 1400, 2500: 2378, 2600: 2483, 9000: 8805},
    12: {0: 0, 2000: 2019, 3000: 2975, 3300: 3289, 9000: 9064, 20500: 20208},
    14: {0: 0, 5000: 4957, 15000: 14897, 16000: 15876},
}


@pytest.mark.parametrize("precision", RECORDED)
def test_estimates_are_sparks(precision: int) -> None:
    largest = max(RECORDED[precision])
    ranks = [0] * (1 << precision)
    for value in range(largest + 1):
        if value in RECORDED[precision]:
            assert estimate(precision, [ranks.count(rank) for rank in range(64)]) == RECORDED[precision][value], value
        register, rank = register_and_rank(xxhash64_long(value, SEED), precision)
        ranks[register] = max(ranks[register], rank)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_deviation_that_spark_is_given_asks_for_the_precision(precision: int) -> None:
    asked = deviation_of(precision)
    assert precision_of(Fraction(asked)) == precision
    assert math.ceil(2.0 * math.log(1.106 / asked) / math.log(2.0)) == precision  # as Spark computes it


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20), st.sampled_from(PRECISIONS))
def test_registers_and_ranks_of_columns_are_those_of_values(hashes: list[int], precision: int) -> None:
    found = _registers_and_ranks(np.array(hashes, np.int64).view(np.uint64), precision)
    assert list(zip(*(part.tolist() for part in found), strict=True)) == [
        register_and_rank(value, precision) for value in hashes
    ]


def test_ranks_go_from_one_to_what_is_left_of_the_hash() -> None:
    assert register_and_rank(0, 4) == (0, 61)
    assert register_and_rank(-1, 4) == (15, 1)
    assert register_and_rank(1 << 59, 4) == (0, 1)

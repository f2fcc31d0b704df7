"""Expectations of a sample: nothing that was not looked at passes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from featurekit.definitions.feature_view import Expectation
from featurekit.errors import SourceError
from featurekit.quality.checks import Kind
from featurekit.quality.sample import judge_sample
from featurekit.types import Int64
from tests.quality.small_view import small_view

VIEW = small_view(
    {"amount": Int64(), "last": Int64(), "free": Int64()},
    {"amount": Expectation(between=(0, 10), max_null_share=0.5), "last": Expectation(not_null=True)},
    latest=frozenset({"last"}),
)


def ints(*values: int | None) -> pa.Array:
    return pa.array(values, pa.int64())


def test_each_expectation_says_what_breaks_it() -> None:
    found = {one.key: one for one in judge_sample(VIEW, {"amount": ints(1, 11, None), "last": ints(1, None, None)})}
    assert {key: (one.passed, one.broken, one.rows) for key, one in found.items()} == {
        ("amount", Kind.BETWEEN): (False, 1, 3),
        ("amount", Kind.MAX_NULL_SHARE): (True, 1, 3),
        ("last", Kind.NOT_NULL): (False, 2, 3),
    }
    assert found["amount", Kind.BETWEEN].examples == (11,)


def test_an_empty_sample_passes_nothing() -> None:
    results = judge_sample(VIEW, {"amount": ints(), "last": ints()})
    assert [one.passed for one in results] == [False, False, False]


def test_a_missing_feature_is_an_error_and_not_a_pass() -> None:
    with pytest.raises(SourceError, match="no values of 'last'"):
        judge_sample(VIEW, {"amount": ints(1), "a_last": ints(1)})


def test_nothing_expected_is_nothing_to_say() -> None:
    assert judge_sample(small_view({"amount": Int64()}, {}), {}) == ()

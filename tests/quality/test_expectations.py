"""The gate and Great Expectations, which know nothing of each other, give the same verdicts."""

from __future__ import annotations

import math
import subprocess
import sys
from decimal import Decimal as Exact
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from featurekit.compiled import CompiledView
from featurekit.definitions.feature_view import Expectation
from featurekit.errors import SourceError
from featurekit.quality.checks import Kind, feature_checks
from featurekit.quality.expectations import expectation_suite, validate_rows
from featurekit.quality.gate import gated, verdict
from featurekit.status import Status
from featurekit.types import Boolean, Decimal, Float32, Float64, Int64, String
from tests.quality.small_view import rows_of, small_view
from tests.quality.test_gate import counting_sink, summed

VIEW = small_view(
    {
        "whole": Int64(),
        "double": Float64(),
        "single": Float32(),
        "exact": Decimal(6, 2),
        "text": String(),
        "flag": Boolean(),
        "latest": Float64(),
        "code": String(),
        "mostly": Int64(),
    },
    {
        "whole": Expectation(between=(-2, 3), in_set=(-3, 0, 1, 2, 3), max_null_share=0.3),
        "double": Expectation(between=(-0.1, 0.3), max_null_share=0.7),
        "single": Expectation(between=(-0.1, 0.3), in_set=(0, 0.1, 0.3)),
        "exact": Expectation(between=(0, 0.3), in_set=(0, 1), not_null=True),
        "text": Expectation(in_set=("", "a"), not_null=True),
        "flag": Expectation(in_set=(True,), max_null_share=0),
        "latest": Expectation(between=(0, 1), not_null=True),
        "code": Expectation(matches="(?:[A-Z]|ä)+|", length=(0, 2), mostly=0.7),
        "mostly": Expectation(between=(0, 1), in_set=(0, 1, 2), mostly=0.3),
    },
    latest=frozenset({"latest"}),
)
SINGLES = [0.0, -0.0, 0.30000001192092896, 0.10000000149011612, -0.10000000149011612, 0.5, math.nan]
ROW = st.fixed_dictionaries(
    {
        "whole": st.none() | st.integers(-4, 4),
        "double": st.none() | st.sampled_from([-0.1, -0.0, 0.3, math.nextafter(0.3, 1), math.nan, math.inf]),
        "single": st.none() | st.sampled_from(SINGLES),
        "exact": st.none() | st.sampled_from([Exact(text) for text in ("0.00", "0.30", "0.31", "1.00", "-0.01")]),
        "text": st.none() | st.sampled_from(["", "a", "A", "a "]),
        "flag": st.none() | st.booleans(),
        "latest": st.none() | st.sampled_from([0.5, 1.0, 1.5, math.nan]),
        "code": st.none() | st.sampled_from(["", "A", "AB", "ABC", "a", "A\n", "ä", "A B", "nan", "None"]),
        "mostly": st.none() | st.integers(-1, 3),
    }
)


def of_the_gate(view: CompiledView, batch: pa.RecordBatch) -> dict[tuple[str, Kind], bool]:
    result = verdict(view, summed(gated(view, counting_sink)(iter([batch]))))
    broken = {(violation.feature, violation.kind) for violation in result.violations}
    asked = [(check.feature, kind) for check in feature_checks(view) for kind in check.kinds]
    return {each: each not in broken for each in asked}


def of_great_expectations(view: CompiledView, batch: pa.RecordBatch) -> dict[tuple[str, Kind], bool]:
    return {result.key: result.passed for result in validate_rows(view, pa.Table.from_batches([batch]))}


@given(rows=st.lists(ROW, min_size=0, max_size=10), data=st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_gate_and_great_expectations_agree_on_drawn_rows(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    columns = {feature.name: [row[feature.name] for row in rows] for feature in VIEW.features}
    own = st.sampled_from([Status.PRESENT, Status.EXPIRED, Status.MISSING])
    statuses = [Status.NULL if value is None else data.draw(own) for value in columns["latest"]]
    batch = rows_of(VIEW, **columns, __status_latest=[int(status) for status in statuses])
    assert of_the_gate(VIEW, batch) == of_great_expectations(VIEW, batch)


def test_a_table_in_which_every_expectation_can_be_seen_to_fail_and_to_hold() -> None:
    good = rows_of(
        VIEW,
        whole=[1],
        double=[0.3],
        single=[0.1],
        exact=[Exact(0)],
        text=["a"],
        flag=[True],
        latest=[1.0],
        code=["AB"],
        mostly=[1],
    )
    nan = math.nan
    bad = rows_of(
        VIEW,
        whole=[None],
        double=[nan],
        single=[nan],
        exact=[None],
        text=[None],
        flag=[None],
        latest=[None],
        code=["abc"],
        mostly=[9],
    )
    assert set(of_great_expectations(VIEW, good).values()) == {True}
    assert of_great_expectations(VIEW, bad) == of_the_gate(VIEW, bad)
    assert not of_great_expectations(VIEW, bad)["double", Kind.BETWEEN]


def test_the_suite_holds_each_expectation_once_under_the_views_name() -> None:
    suite = expectation_suite(VIEW)
    assert suite.name == "small"
    assert [each.meta for each in suite.expectations] == [
        {"feature": check.feature, "kind": kind.value} for check in feature_checks(VIEW) for kind in check.kinds
    ]


def test_validation_says_how_many_rows_break_an_expectation_and_shows_some() -> None:
    view = small_view({"a": Int64()}, {"a": Expectation(between=(0, 10), max_null_share=0.5)})
    between, nulls = validate_rows(view, pa.Table.from_batches([rows_of(view, a=[1, 11, None, 12])]))
    assert (between.passed, between.broken, between.rows, between.examples) == (False, 2, 4, (11, 12))
    assert (nulls.passed, nulls.broken) == (True, 1)


@pytest.mark.parametrize(("wrong", "passes"), [(0, True), (3, True), (4, False)])
def test_mostly_is_a_share_of_the_values_that_are_there(wrong: int, passes: bool) -> None:
    view = small_view({"a": Int64()}, {"a": Expectation(between=(0, 1), mostly=0.7)})
    batch = rows_of(view, a=[9] * wrong + [1] * (10 - wrong) + [None] * 20)
    assert of_the_gate(view, batch) == of_great_expectations(view, batch) == {("a", Kind.BETWEEN): passes}


def test_a_missing_column_is_refused_by_validation_too() -> None:
    view = small_view({"a": Int64()}, {"a": Expectation(not_null=True)})
    with pytest.raises(SourceError, match="no column 'a'"):
        validate_rows(view, pa.table({"id": [1]}))


def test_a_view_that_expects_nothing_has_nothing_to_validate() -> None:
    view = small_view({"a": Int64()}, {})
    assert validate_rows(view, pa.Table.from_batches([rows_of(view, a=[None])])) == ()


def test_the_gate_alone_does_not_load_great_expectations() -> None:
    heavy = ("great_expectations", "pandas")
    program = f"import sys, featurekit.quality.gate; print([name for name in {heavy} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert answer.stdout.strip() == "[]"

"""Expectations are counted in the pass that writes, and a refresh that breaks one is not published."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal as Exact
from typing import Any

import pyarrow as pa
import pytest

from featurekit.counters import COUNTERS
from featurekit.definitions.feature_view import Expectation
from featurekit.errors import GateError, SourceError
from featurekit.quality.checks import typed_bounds
from featurekit.quality.gate import CHECKED, NULL_KEYS, ROWS, gated, verdict
from featurekit.status import Status
from featurekit.types import Boolean, DataType, Decimal, Float32, Float64, Int8, Int32, Int64, String
from tests.quality.small_view import rows_of, small_view, view_of


def counting_sink(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A sink that writes nothing and counts rows, as the online writer does."""
    rows = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"name": [ROWS], "value": [rows]}, schema=COUNTERS)


def summed(batches: Iterator[pa.RecordBatch]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for batch in batches:
        for name, value in zip(batch["name"].to_pylist(), batch["value"].to_pylist(), strict=True):
            total[name] += value
    return dict(total)


@dataclass(frozen=True, kw_only=True)
class Case:
    kind: DataType
    expect: Expectation
    values: list[Any]
    broken: int
    statuses: list[Status] | None = None


BIG = 2**53
CASES = {
    "both bounds are allowed": Case(
        kind=Int32(), expect=Expectation(between=(0, 10)), values=[0, 10, -1, 11, None], broken=2
    ),
    "an integer is not compared as a double": Case(
        kind=Int64(), expect=Expectation(between=(0, BIG)), values=[BIG, BIG + 1], broken=1
    ),
    "a bound between two integers": Case(
        kind=Int32(), expect=Expectation(between=(0.5, 1.5)), values=[0, 1, 2], broken=2
    ),
    "a bound beyond the type allows all of it": Case(
        kind=Int8(), expect=Expectation(between=(-1000, 1000)), values=[-128, 127], broken=0
    ),
    "bounds that hold no integer allow none": Case(
        kind=Int32(), expect=Expectation(between=(0.2, 0.8)), values=[0, 1, None], broken=2
    ),
    "bounds outside the type allow none of it": Case(
        kind=Int8(), expect=Expectation(between=(1000, 2000)), values=[0, 127], broken=2
    ),
    "NaN is not between": Case(
        kind=Float64(), expect=Expectation(between=(-1e308, 1e308)), values=[math.nan, math.inf, 1.0, None], broken=2
    ),
    "minus zero is zero": Case(kind=Float64(), expect=Expectation(between=(0, 1)), values=[-0.0], broken=0),
    "a float32 is compared as one": Case(
        kind=Float32(), expect=Expectation(between=(0, 0.1)), values=[0.1, 0.2], broken=1
    ),
    "a decimal is compared exactly": Case(
        kind=Decimal(38, 2),
        expect=Expectation(between=(0, 0.1)),
        values=[Exact("0.10"), Exact("0.11"), Exact(10) ** 35, None],
        broken=2,
    ),
    "a decimal's bounds between two values": Case(
        kind=Decimal(3, 1),
        expect=Expectation(between=(0.05, 0.15)),
        values=[Exact("0.0"), Exact("0.1"), Exact("0.2")],
        broken=2,
    ),
    "nulls break not_null alone": Case(
        kind=Float64(), expect=Expectation(not_null=True), values=[None, math.nan, 0.0], broken=1
    ),
    "a missing or expired value is null, whatever lies under it": Case(
        kind=Float64(),
        expect=Expectation(not_null=True),
        values=[1.0, 2.0, 3.0, None],
        statuses=[Status.PRESENT, Status.MISSING, Status.EXPIRED, Status.NULL],
        broken=3,
    ),
    "a missing or expired value is not judged": Case(
        kind=Float64(),
        expect=Expectation(between=(0, 1)),
        values=[1.0, 2.0, 3.0, 4.0],
        statuses=[Status.PRESENT, Status.MISSING, Status.EXPIRED, Status.PRESENT],
        broken=1,
    ),
    "strings of a set": Case(
        kind=String(), expect=Expectation(in_set=("JFK", "")), values=["JFK", "jfk", "", None], broken=1
    ),
    "integers of a set": Case(kind=Int64(), expect=Expectation(in_set=(1, 2)), values=[1, 2, 3, None], broken=1),
    "booleans of a set": Case(kind=Boolean(), expect=Expectation(in_set=(True,)), values=[True, False, None], broken=1),
    "floats of a set": Case(
        kind=Float64(), expect=Expectation(in_set=(0, 0.5)), values=[-0.0, 0.0, 0.5, math.nan, None], broken=1
    ),
    "decimals of a set": Case(
        kind=Decimal(5, 2), expect=Expectation(in_set=(1, 2)), values=[Exact("1.00"), Exact("1.01")], broken=1
    ),
    "as many nulls as allowed": Case(
        kind=Int32(), expect=Expectation(max_null_share=0.7), values=[None] * 7 + [1] * 3, broken=0
    ),
    "more nulls than allowed": Case(
        kind=Int32(), expect=Expectation(max_null_share=0.7), values=[None] * 8 + [1] * 2, broken=8
    ),
    "no null allowed by share": Case(kind=Int32(), expect=Expectation(max_null_share=0), values=[1, None], broken=1),
    "a text is matched as a whole": Case(
        kind=String(),
        expect=Expectation(matches="[A-Z]{3}"),
        values=["JFK", "jfk", "JFKX", "JFK\n", "", None],
        broken=4,
    ),
    "alternatives are matched as a whole": Case(
        kind=String(), expect=Expectation(matches="a|b"), values=["a", "b", "ab", "xb"], broken=2
    ),
    "a text's length is in characters": Case(
        kind=String(), expect=Expectation(length=(1, 2)), values=["é", "🛫🛬", "", "abc", None], broken=2
    ),
    "as many as may be wrong": Case(
        kind=Int32(), expect=Expectation(between=(0, 1), mostly=0.7), values=[5] * 3 + [0] * 7 + [None] * 9, broken=0
    ),
    "one more than may be wrong": Case(
        kind=Int32(), expect=Expectation(between=(0, 1), mostly=0.7), values=[5] * 4 + [0] * 6 + [None] * 9, broken=4
    ),
    "mostly of no values at all": Case(
        kind=Int32(), expect=Expectation(in_set=(1,), mostly=0.5), values=[None, None], broken=0
    ),
    "no rows break nothing": Case(kind=Int32(), expect=Expectation(not_null=True), values=[], broken=0),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_gate_counts_the_rows_that_break_an_expectation(case: Case) -> None:
    view = view_of(case.kind, case.expect, is_latest=case.statuses is not None)
    extra = {"__status_x": [int(status) for status in case.statuses]} if case.statuses else {}
    batch = rows_of(view, x=case.values, **extra)
    result = verdict(view, summed(gated(view, counting_sink)(iter([batch]))))
    assert sum(violation.count for violation in result.violations) == case.broken
    assert result.passed == (case.broken == 0)
    assert result.rows == len(case.values)


def test_a_broken_refresh_is_refused_with_feature_rows_and_what_to_try() -> None:
    view = small_view(
        {"a": Int32(), "b": Float64()},
        {"a": Expectation(between=(0, 10)), "b": Expectation(max_null_share=0.25)},
    )
    batches = [rows_of(view, a=[1, 11], b=[None, None]), rows_of(view, a=[2, -1], b=[None, 1.0])]
    result = verdict(view, summed(gated(view, counting_sink)(iter(batches))))
    with pytest.raises(GateError) as raised:
        result.require()
    assert raised.value.exit_code == 2
    assert str(raised.value) == (
        "GateError: small: the refresh breaks what is expected of a, b; it was not published\n"
        "  where  a: 2 of 4 rows (50 %) are not between 0 and 10\n"
        "         b: 3 of 4 rows (75 %) are null; at most 25 % may be\n"
        "  why    the values that were served before still are: no value is better than a wrong one\n"
        "  try    look at the source rows behind these features, or change `expect:` if the world has changed"
    )


def test_a_refresh_of_too_few_rows_is_refused_with_or_without_other_expectations() -> None:
    view = small_view({"a": Int32()}, {}, min_rows=3)
    enough = verdict(view, summed(gated(view, counting_sink)(iter([rows_of(view, a=[1, 2, 3])]))))
    assert enough.passed
    with pytest.raises(GateError, match="breaks what is expected of its rows") as raised:
        verdict(view, {}).require()  # a refresh of no rows has no partition that counts
    assert "0 rows are too few: at least 3 are expected" in str(raised.value)
    # Rows of no entity are served to nobody.
    assert not verdict(view, {ROWS: 2, NULL_KEYS: 5, CHECKED: 7}).passed


def test_rows_pass_the_gate_unchanged_and_once() -> None:
    view = view_of(Int32(), Expectation(not_null=True))
    batches = [rows_of(view, x=[1, None]), rows_of(view, x=[3])]
    written: list[pa.RecordBatch] = []

    def sink(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        written.extend(rows)
        yield from ()

    list(gated(view, sink)(iter(batches)))
    assert written == batches


def test_a_sink_that_leaves_rows_unread_does_not_pass() -> None:
    view = view_of(Int32(), Expectation(not_null=True))

    def lazy_sink(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        next(rows)
        yield pa.RecordBatch.from_pydict({"name": [ROWS], "value": [3]}, schema=COUNTERS)

    counters = summed(gated(view, lazy_sink)(iter([rows_of(view, x=[1, 2]), rows_of(view, x=[3])])))
    with pytest.raises(GateError, match="3 rows and 2 were checked"):
        verdict(view, counters)


def test_an_ungated_refresh_of_a_view_with_expectations_does_not_pass() -> None:
    view = view_of(Int32(), Expectation(not_null=True))
    with pytest.raises(GateError, match="5 rows and 0 were checked"):
        verdict(view, {ROWS: 5})


def test_rows_of_no_entity_are_checked_too_though_the_writer_leaves_them_out() -> None:
    view = view_of(Int32(), Expectation(not_null=True))

    def writer(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        seen = sum(batch.num_rows for batch in rows)
        yield pa.RecordBatch.from_pydict({"name": [ROWS, NULL_KEYS], "value": [seen - 1, 1]}, schema=COUNTERS)

    result = verdict(view, summed(gated(view, writer)(iter([rows_of(view, x=[1, None])]))))
    assert [str(violation) for violation in result.violations] == ["x: 1 of 2 rows (50 %) are null"]


def test_a_column_that_is_not_there_fails_rather_than_passing_unseen() -> None:
    view = view_of(Int32(), Expectation(not_null=True))
    renamed = rows_of(view, x=[1]).rename_columns(["id", "__last_event", "x_"])
    with pytest.raises(SourceError, match="no column 'x'"):
        list(gated(view, counting_sink)(iter([renamed])))


def test_the_gate_travels_to_executors() -> None:
    view = view_of(Decimal(5, 2), Expectation(in_set=(1,)))
    sink = pickle.loads(pickle.dumps(gated(view, counting_sink)))
    assert sink == gated(view, counting_sink)
    assert len(pickle.dumps(sink)) < 2000


@pytest.mark.parametrize("bound", [1e300, 5e-324, 0.1, 123456789012345680000000000])
@pytest.mark.parametrize("kind", [Decimal(38, 0), Decimal(38, 38), Decimal(1, 0), Int8(), Float32()])
def test_bounds_of_any_size_are_values_of_the_type_or_allow_none(bound: float, kind: DataType) -> None:
    bounds = typed_bounds(-bound, bound, kind)
    assert bounds.low <= 0 <= bounds.high

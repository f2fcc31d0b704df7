"""Two cells agree when they are the same value of the declared type, bit for bit, or the same absence of one."""

from __future__ import annotations

import math
import struct
from decimal import Decimal as Exact
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.consistency.cells import same_values, within_ulps
from featurekit.consistency.compare import Verdict, compare_fields
from featurekit.status import Status
from featurekit.types import (
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int64,
    String,
    Timestamp,
    TimestampNtz,
)
from tests.consistency.sides import compared, field, side, verdict_of

NULL, MISSING, EXPIRED, UNAVAILABLE = Status.NULL, Status.MISSING, Status.EXPIRED, Status.UNAVAILABLE
OTHER_NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0001))[0]

VALUES: dict[str, tuple[DataType, Any, Any, Verdict]] = {
    "equal integers": (Int64(), 2**63 - 1, 2**63 - 1, Verdict.MATCH),
    "integers that are one double": (Int64(), 2**53, 2**53 + 1, Verdict.MISMATCH),
    "NaN is NaN": (Float64(), math.nan, math.nan, Verdict.MATCH),
    "NaN of another payload is NaN": (Float64(), OTHER_NAN, math.nan, Verdict.MATCH),
    "NaN is no number": (Float64(), math.nan, 0.0, Verdict.MISMATCH),
    "minus zero is another value": (Float64(), -0.0, 0.0, Verdict.MISMATCH),
    "the next double is another value": (Float64(), 0.1 + 0.2, 0.3, Verdict.MISMATCH),
    "infinities": (Float64(), -math.inf, math.inf, Verdict.MISMATCH),
    "float32 in its own type": (Float32(), 1.111, 1.1109999418258667, Verdict.MATCH),
    "float32 minus zero": (Float32(), -0.0, 0.0, Verdict.MISMATCH),
    "decimals": (Decimal(38, 2), Exact("0.30"), Exact("0.30"), Verdict.MATCH),
    "decimals of many digits": (Decimal(38, 0), Exact("1" + "0" * 37), Exact("1" + "0" * 36 + "1"), Verdict.MISMATCH),
    "an empty string": (String(), "", "", Verdict.MATCH),
    "strings are not trimmed": (String(), "a ", "a", Verdict.MISMATCH),
    "strings are not normalised": (String(), "\u00e9", "e\u0301", Verdict.MISMATCH),
    "bytes": (Binary(), b"\x00", b"", Verdict.MISMATCH),
    "booleans": (Boolean(), False, True, Verdict.MISMATCH),
    "dates": (Date(), 15000, 15001, Verdict.MISMATCH),
    "timestamps a microsecond apart": (Timestamp(), 1384473600000000, 1384473600000001, Verdict.MISMATCH),
    "clock readings": (TimestampNtz(), 1384473600000000, 1384473600000000, Verdict.MATCH),
    "null and null": (Int64(), None, None, Verdict.MATCH),
    "null and 0": (Int64(), 0, None, Verdict.NULL_TO_VALUE),
    "0 and null": (Int64(), None, 0, Verdict.VALUE_TO_NULL),
    "null and an empty string": (String(), "", None, Verdict.NULL_TO_VALUE),
    "null and false": (Boolean(), None, False, Verdict.VALUE_TO_NULL),
    "null and NaN": (Float64(), math.nan, None, Verdict.NULL_TO_VALUE),
    "null and missing": (Int64(), NULL, MISSING, Verdict.STATUS),
    "missing and expired": (Int64(), MISSING, EXPIRED, Verdict.STATUS),
    "expired and expired": (Int64(), EXPIRED, EXPIRED, Verdict.MATCH),
    "expired and its value": (Int64(), 5, EXPIRED, Verdict.NULL_TO_VALUE),
    "the same default": (Int64(), (0, Status.DEFAULTED), (0, Status.DEFAULTED), Verdict.MATCH),
    "the default as if it had been measured": (Int64(), 0, (0, Status.DEFAULTED), Verdict.NULL_TO_VALUE),
    "a default in place of a value": (Int64(), (0, Status.DEFAULTED), 0, Verdict.VALUE_TO_NULL),
    "another default": (Int64(), (1, Status.DEFAULTED), (0, Status.DEFAULTED), Verdict.MISMATCH),
    "no default where there is one": (Int64(), None, (0, Status.DEFAULTED), Verdict.STATUS),
    "no answer": (Int64(), UNAVAILABLE, 5, Verdict.UNAVAILABLE),
    "no answer where there was nothing": (Int64(), UNAVAILABLE, None, Verdict.UNAVAILABLE),
}


@pytest.mark.parametrize(("kind", "served", "recomputed", "expected"), VALUES.values(), ids=VALUES)
def test_a_cell_has_the_verdict_of_its_case(kind: DataType, served: Any, recomputed: Any, expected: Verdict) -> None:
    assert verdict_of(kind, served, recomputed) is expected


ROWS: dict[str, tuple[Any, Any, Verdict]] = {
    "both have a row": ((5,), (5,), Verdict.MATCH),
    "only training has one": (None, (5,), Verdict.MISSING),
    "only training has one, of nulls": (None, (None,), Verdict.MISSING),
    "only serving has one": ((5,), None, Verdict.EXTRA),
    "only serving has one, of nulls": ((None,), None, Verdict.EXTRA),
    "neither has one": (None, None, Verdict.MATCH),
}


@pytest.mark.parametrize(("served", "recomputed", "expected"), ROWS.values(), ids=ROWS)
def test_whether_there_is_a_row_comes_before_what_is_in_it(served: Any, recomputed: Any, expected: Verdict) -> None:
    fields = (field("x", Int64()),)
    (code,) = compare_fields(fields, side(fields, [served]), side(fields, [recomputed]))["x"].verdicts
    assert Verdict(int(code)) is expected


UP = math.nextafter
TOLERANCES: dict[str, tuple[DataType, Any, Any, int, Verdict]] = {
    "none is declared": (Float64(), UP(1.0, 2), 1.0, 0, Verdict.MISMATCH),
    "one ulp of one": (Float64(), UP(1.0, 2), 1.0, 1, Verdict.WITHIN_TOLERANCE),
    "two ulps of one": (Float64(), UP(UP(1.0, 2), 2), 1.0, 1, Verdict.MISMATCH),
    "across a power of two": (Float64(), UP(1.0, 0), UP(1.0, 2), 2, Verdict.WITHIN_TOLERANCE),
    "across zero": (Float64(), -5e-324, 5e-324, 3, Verdict.WITHIN_TOLERANCE),
    "across zero, too far": (Float64(), -5e-324, 5e-324, 2, Verdict.MISMATCH),
    "of a float32": (Float32(), 1.0000001192092896, 1.0, 1, Verdict.WITHIN_TOLERANCE),
    "NaN is near nothing": (Float64(), math.nan, math.inf, 2**62, Verdict.MISMATCH),
    "infinity is near nothing": (Float64(), math.inf, 1.7976931348623157e308, 1, Verdict.MISMATCH),
    "an integer has no ulps": (Int64(), 1, 2, 5, Verdict.MISMATCH),
    "null is near nothing": (Float64(), 0.0, None, 5, Verdict.NULL_TO_VALUE),
    "the same is a match, tolerance or not": (Float64(), 1.0, 1.0, 5, Verdict.MATCH),
}


@pytest.mark.parametrize(("kind", "served", "recomputed", "ulps", "expected"), TOLERANCES.values(), ids=TOLERANCES)
def test_a_tolerance_holds_where_it_is_declared_and_no_further(
    kind: DataType, served: Any, recomputed: Any, ulps: int, expected: Verdict
) -> None:
    assert verdict_of(kind, served, recomputed, ulps=ulps) is expected


@given(st.floats(), st.floats())
def test_doubles_are_the_same_exactly_when_their_bits_are_or_both_are_nan(left: float, right: float) -> None:
    same = bool(same_values(pa.array([left]), pa.array([right]), Float64())[0])
    both_nan = math.isnan(left) and math.isnan(right)
    assert same == (both_nan or struct.pack("<d", left) == struct.pack("<d", right))


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 5))
def test_a_double_some_steps_away_is_within_as_many_ulps_and_not_one_fewer(start: float, steps: int) -> None:
    end = start
    for _ in range(steps):
        end = math.nextafter(end, math.inf)
    if math.isinf(end) or 0.0 in (start, end):
        return  # nextafter steps over -0.0
    if start < 0 < end:
        steps += 1  # -0.0 and 0.0 are two values here and one for nextafter
    near = [bool(within_ulps(pa.array([start]), pa.array([end]), Float64(), ulps)[0]) for ulps in (steps, steps - 1)]
    assert near == ([True, False] if steps > 1 else [steps > 0, False])


def test_the_counts_of_a_field_list_every_verdict_and_add_up_to_the_sample() -> None:
    fields = (field("x", Int64()),)
    comparison = compared(fields, [(1,), (2,), (None,), None], [(1,), (3,), (4,), (5,)]).comparisons["x"]
    assert {verdict: count for verdict, count in comparison.counts.items() if count} == {
        Verdict.MATCH: 1,
        Verdict.MISMATCH: 1,
        Verdict.VALUE_TO_NULL: 1,
        Verdict.MISSING: 1,
    }
    assert set(comparison.counts) == set(Verdict)
    assert comparison.differs.tolist() == [False, True, True, True]


def test_a_column_that_one_side_lacks_is_an_error_and_no_agreement() -> None:
    fields = (field("a", Int64()),)
    with pytest.raises(KeyError, match="a"):
        compare_fields(fields, side((field("a_", Int64()),), [(1,)]), side(fields, [(1,)]))


def test_an_empty_sample_compares_nothing() -> None:
    fields = (field("x", Int8()),)
    assert sum(compare_fields(fields, side(fields, []), side(fields, []))["x"].counts.values()) == 0


def test_a_hundred_thousand_rows_are_compared_in_one_go() -> None:
    fields = tuple(field(f"x{at}", Float64()) for at in range(5))
    values = pa.array(np.arange(100_000, dtype=np.float64))
    one = side(fields, [(1.0,) * 5])
    answers = one.take(np.zeros(100_000, np.intp))
    assert len(values) == len(answers.found)
    assert compare_fields(fields, answers, answers)["x4"].counts[Verdict.MATCH] == 100_000

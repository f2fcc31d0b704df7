"""Each factor that turns a cell gives the value that is written beside it, and a planted one is named."""

from __future__ import annotations

import struct
from decimal import Decimal as DecimalValue
from typing import Any

import numpy as np
import pytest

from featurekit.arrow_types import held_values
from featurekit.clock import HOUR
from featurekit.consistency.diagnosis.causes import Cause, Layer
from featurekit.consistency.diagnosis.diagnose import diagnose
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.remedies import REMEDIES
from featurekit.consistency.diagnosis.value_factors import value_factors
from featurekit.status import Status
from featurekit.types import Boolean, DataType, Date, Decimal, Float32, Float64, Int64, String, Timestamp
from tests.consistency.diagnosis.planted import ROWS, honest_side, mixed, served_as
from tests.consistency.sides import Written, cells, field

FLOAT32 = struct.unpack("<f", struct.pack("<f", 0.1))[0]
NAN = float("nan")

CASES: dict[str, tuple[Cause, DataType, Any, Written, Written]] = {
    "0 for null": (Cause.NULL_FILLED_WITH_ZERO, Float64(), None, None, 0.0),
    "default for null": (Cause.NULL_FILLED_WITH_DEFAULT, Int64(), 7, (7, Status.DEFAULTED), 7),
    "'' for null": (Cause.NULL_FILLED_WITH_EMPTY, String(), None, None, ""),
    "false for missing": (Cause.NULL_FILLED_WITH_FALSE, Boolean(), None, Status.MISSING, False),
    "NaN for null": (Cause.NULL_FILLED_WITH_NAN, Float64(), None, None, NAN),
    "-1 for null": (Cause.NULL_FILLED_WITH_CODE, Int64(), None, None, -1),
    "null for a default": (Cause.DEFAULT_MISSING, Int64(), 7, (7, Status.DEFAULTED), None),
    "missing for expired": (Cause.STATUS_LOST, Int64(), None, Status.EXPIRED, Status.MISSING),
    "null for NaN": (Cause.NAN_AS_NULL, Float64(), None, NAN, None),
    "null for ''": (Cause.EMPTY_AS_NULL, String(), None, "", None),
    "null for 0": (Cause.ZERO_AS_NULL, Int64(), None, 0, None),
    "the default for 0": (Cause.ZERO_AS_NULL, Int64(), 7, 0, (7, Status.DEFAULTED)),
    "null for a value": (Cause.VALUE_AS_NULL, Int64(), None, 5, None),
    "times 1000": (Cause.SCALED, Float64(), None, 1.5, 1500.0),
    "by 60": (Cause.SCALED, Float64(), None, 90.0, 1.5),
    "by 100, whole numbers": (Cause.SCALED, Int64(), None, 250, 2),
    "by 100, decimals": (Cause.SCALED, Decimal(8, 2), None, DecimalValue("250.00"), DecimalValue("2.50")),
    "another sign": (Cause.SIGN_FLIPPED, Int64(), None, 5, -5),
    "no sign": (Cause.SIGN_DROPPED, Float64(), None, -2.5, 2.5),
    "no fraction": (Cause.INTEGER_TRUNCATED, Float64(), None, -2.75, -2.0),
    "down": (Cause.FLOORED, Float64(), None, -2.25, -3.0),
    "up": (Cause.CEILED, Float64(), None, 2.25, 3.0),
    "two digits": (Cause.ROUNDED, Float64(), None, 2.346, 2.35),
    "half away from zero": (Cause.ROUNDED, Float64(), None, -2.5, -3.0),
    "half to even": (Cause.ROUNDED, Float64(), None, 2.5, 2.0),
    "ln": (Cause.LOGARITHM_TAKEN, Float64(), None, 2.0, float(np.log(2.0))),
    "ln of nothing": (Cause.LOGARITHM_TAKEN, Float64(), None, 0.0, float("-inf")),
    "without log1p": (Cause.LOGARITHM_UNDONE, Float64(), None, 2.0, float(np.expm1(2.0))),
    "square": (Cause.SQUARED, Float64(), None, 3.0, 9.0),
    "root": (Cause.SQUARE_ROOT, Float64(), None, 9.0, 3.0),
    "float32": (Cause.FLOAT32_ROUNDED, Float64(), None, 0.1, FLOAT32),
    "float16": (Cause.FLOAT16_ROUNDED, Float32(), None, 0.25 + 2**-14, 0.25),
    "no sign of zero": (Cause.NEGATIVE_ZERO, Float64(), None, -0.0, 0.0),
    "32 bits": (Cause.INT32_WRAPPED, Int64(), None, 2**31 + 5, -(2**31) + 5),
    "at most 32 bits": (Cause.INT32_SATURATED, Int64(), None, 2**40, 2**31 - 1),
    "at least 16 bits": (Cause.INT16_SATURATED, Int64(), None, -(2**40), -(2**15)),
    "five hours": (Cause.HOURS_OFF, Timestamp(), None, 9 * HOUR, 4 * HOUR),
    "a day": (Cause.HOURS_OFF, Date(), None, 100, 99),
    "seconds for µs": (Cause.VALUE_TIME_UNIT, Timestamp(), None, 5_000_000, 5),
    "trimmed": (Cause.TRIMMED, String(), None, " ab ", "ab"),
    "lower": (Cause.LOWER_CASED, String(), None, "aB", "ab"),
    "upper": (Cause.UPPER_CASED, String(), None, "aB", "AB"),
    "NFC": (Cause.NORMALISED, String(), None, "e\u0301", "é"),
    "UTF-8 as Latin-1": (Cause.MOJIBAKE, String(), None, "é", "Ã©"),
    "ten letters": (Cause.TEXT_CUT, String(), None, "abcdefghijkl", "abcdefghij"),
}


@pytest.mark.parametrize(("cause", "kind", "default", "honest", "served"), CASES.values(), ids=CASES)
def test_a_factor_turns_a_cell_into_the_served_one(
    cause: Cause, kind: DataType, default: Any, honest: Written, served: Written
) -> None:
    spec, wanted = field("x", kind, default=default), cells(kind, served)
    made = [
        factor.cells(cells(kind, honest), spec)
        for factor in value_factors(spec)
        if factor.cells is not None and factor.cause is cause
    ]
    assert any(
        repr(held_values(each.values)) == repr(held_values(wanted.values))
        and each.statuses.tolist() == wanted.statuses.tolist()
        for each in made
        if each is not None
    )


def test_every_cause_has_a_remedy_and_every_remedy_a_cause() -> None:
    assert set(REMEDIES) == set(Cause)
    assert all(cause.layer is Layer.NONE or cause.cost < 20 for cause in Cause)


FIELDS, HONEST = honest_side(5)
FACTORS = [(spec.name, factor) for spec in FIELDS for factor in value_factors(spec)]
SAME = {Cause.FLOORED: {Cause.INTEGER_TRUNCATED}}
"""What is the same thing on the numbers at hand."""


@pytest.mark.parametrize("share", [1.0, 0.1])
@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.long)])
def test_a_planted_factor_is_named_first_or_among_those_that_explain_as_much(every: int, share: float) -> None:
    rng, wrong, tried = np.random.default_rng(3), [], 0
    for name, factor in FACTORS[::every]:
        spec = next(spec for spec in FIELDS if spec.name == name)
        assert factor.cells is not None
        turned = factor.cells(HONEST.fields[name], spec)
        if turned is None:
            continue
        compared = served_as(FIELDS, HONEST, **{name: mixed(HONEST.fields[name], turned, rng.random(ROWS) < share)})
        if compared.comparisons[name].differs.sum() < 5 or name == "rare":
            continue
        tried += 1
        first = diagnose(compared)[0]
        if factor.cause not in {first.cause, *first.also, *SAME.get(first.cause, ())}:
            wrong.append((name, _told(factor), first.cause))
    assert tried > 250 / every
    assert len(wrong) <= tried / 50, wrong


def _told(factor: Factor) -> str:
    return f"{factor.cause}: {factor.told}"

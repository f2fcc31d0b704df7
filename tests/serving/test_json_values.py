"""Values between JSON and Python, type by type."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal as DecimalValue
from typing import Any

import pytest

from featurekit.errors import KeyTypeError
from featurekit.serving.json_values import from_json, to_json
from featurekit.types import (
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int64,
    String,
    Timestamp,
    TimestampNtz,
)


@pytest.mark.parametrize(
    ("kind", "given", "read"),
    [
        (Int64(), 2**63 - 1, 2**63 - 1),
        (Float64(), 1.5, 1.5),
        (Float64(), 5, 5),
        (Float32(), "-Infinity", -math.inf),
        (Float64(), "Infinity", math.inf),
        (Decimal(10, 2), "12.50", DecimalValue("12.50")),
        (Decimal(10, 2), 12, 12),
        (String(), "NaN", "NaN"),
        (Boolean(), True, True),
        (Date(), "2013-11-15", date(2013, 11, 15)),
        (Timestamp(), "2013-11-15T02:00:00.000001Z", datetime(2013, 11, 15, 2, 0, 0, 1, tzinfo=UTC)),
        (TimestampNtz(), "2013-11-15T02:00:00", datetime.fromisoformat("2013-11-15T02:00:00")),
        (Binary(), "YWJj", b"abc"),
        *[(kind, None, None) for kind in (Float64(), Decimal(5, 0), Date(), Timestamp(), Binary())],
    ],
)
def test_a_value_is_read_by_its_type(kind: DataType, given: Any, read: Any) -> None:
    found = from_json("x", kind)(given)

    assert found == read
    assert type(found) is type(read)


def test_nan_is_read_as_nan() -> None:
    assert math.isnan(from_json("x", Float64())("NaN"))


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Decimal(10, 2), "12,50"),
        (Date(), "15.11.2013"),
        (Timestamp(), "yesterday"),
        (TimestampNtz(), ""),
        (Binary(), "a"),
        (Binary(), "é"),
    ],
)
def test_a_text_that_is_no_value_of_its_type_is_refused_with_the_form_to_write(kind: DataType, given: str) -> None:
    with pytest.raises(KeyTypeError, match=f"x is {given!r}, which is no ") as caught:
        from_json("x", kind)(given)

    assert caught.value.where == "x"
    assert str(caught.value.try_).startswith("write it as ")


@pytest.mark.parametrize(
    ("value", "text"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"), (0.5, 0.5), (None, None)]
)
def test_a_float_that_json_has_no_number_for_is_its_name(value: float | None, text: object) -> None:
    assert to_json(value) == text


def test_a_decimal_is_its_digits_without_an_exponent() -> None:
    assert [to_json(DecimalValue(text)) for text in ("0E-12", "-1.50", "1E+3")] == ["0.000000000000", "-1.50", "1000"]

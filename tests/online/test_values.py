from __future__ import annotations

import math
import struct
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal as Exact
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.errors import KeyTypeError
from featurekit.online.values import acceptor
from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int32,
    Int64,
    Null,
    String,
    Timestamp,
    TimestampNtz,
)

FLOAT_TENTH = struct.unpack("<f", struct.pack("<f", 0.1))[0]

ACCEPTED: list[tuple[DataType, Any, Any]] = [
    (Int64(), 2**63 - 1, 2**63 - 1),
    (Int64(), 2147483648, 2147483648),
    (Int64(), np.int32(5), 5),
    (Int64(), np.uint8(5), 5),
    (Int32(), np.int64(5), 5),
    (String(), "ñ", "ñ"),
    (String(), np.str_("a"), "a"),
    (String(), "", ""),
    (Boolean(), np.True_, True),
    (Float64(), 3, 3.0),
    (Float64(), np.float32(0.1), FLOAT_TENTH),
    (Float64(), np.int64(2**53), 2.0**53),
    (Float32(), 0.1, FLOAT_TENTH),
    (Float32(), math.inf, math.inf),
    (Decimal(5, 2), Exact("1.5"), Exact("1.50")),
    (Decimal(5, 2), 7, Exact("7.00")),
    (Decimal(2, 2), Exact("0.99"), Exact("0.99")),
    (Decimal(38, 0), Exact(10**38 - 1), Exact(10**38 - 1)),
    (Binary(), bytearray(b"x"), b"x"),
    (Date(), date(1970, 1, 2), 1),
    (Date(), np.datetime64("1970-01-02"), 1),
    (Timestamp(), datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 1_000_000),
    (Timestamp(), datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), 0),
    (TimestampNtz(), datetime(1970, 1, 1, 0, 0, 1), 1_000_000),  # noqa: DTZ001
]

REFUSED: list[tuple[DataType, Any, str]] = [
    (Int64(), "1", "never read as a bigint"),
    (Int64(), 1.0, "lost its last digits"),
    (Int64(), np.float64(1.0), "lost its last digits"),
    (Int64(), True, "not numbers"),
    (Int64(), np.True_, "not numbers"),
    (Int64(), 2**63, "from -9223372036854775808 to"),
    (Int8(), 128, "from -128 to 127"),
    (Int64(), Exact(1), "never read as"),
    (String(), 1, "never read as a string"),
    (String(), b"a", "never read as a string"),
    (String(), "a\ud800", "surrogate"),
    (Boolean(), 1, "never read as a boolean"),
    (Float64(), "1.0", "never read as a double"),
    (Float64(), 2**53 + 1, "no exact form"),
    (Float64(), False, "not numbers"),
    (Float32(), 1e39, "beyond the largest float"),
    (Decimal(5, 2), 1.5, "not an exact number"),
    (Decimal(5, 2), Exact("1.005"), "no exact form with 2 digits"),
    (Decimal(5, 2), Exact(1000), "more than 3 digits"),
    (Decimal(2, 2), Exact(1), "more than 0 digits"),
    (Decimal(5, 2), Exact("NaN"), "digits"),
    (Binary(), "a", "never read as a binary"),
    (Date(), datetime(2013, 11, 15, tzinfo=UTC), "depends on the zone"),
    (Date(), "2013-11-15", "never read as a date"),
    (Timestamp(), datetime(2013, 11, 15), "naive"),  # noqa: DTZ001
    (Timestamp(), np.datetime64("2013-11-15T00:00", "us"), "naive"),
    (Timestamp(), np.datetime64("2013-11-15T00:00", "ns"), "never read as a timestamp"),
    (Timestamp(), date(2013, 11, 15), "never read as a timestamp"),
    (Timestamp(), 5, "never read as a timestamp"),
    (TimestampNtz(), datetime(2013, 11, 15, tzinfo=UTC), "an instant"),
    (Null(), 1, "never read as a void"),
]


@pytest.mark.parametrize(("kind", "value", "held"), ACCEPTED)
def test_a_value_is_held_as_types_says(kind: DataType, value: Any, held: Any) -> None:
    (found,) = acceptor("x", kind)([value])
    assert found == held
    assert type(found) is type(held)


@pytest.mark.parametrize(("kind", "value", "why"), REFUSED)
def test_a_value_of_a_wrong_type_is_refused_with_the_reason(kind: DataType, value: Any, why: str) -> None:
    with pytest.raises(KeyTypeError) as caught:
        acceptor("user_id", kind)([None, value])
    assert why in str(caught.value)
    assert caught.value.where == "user_id"
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("kind", [kind for kind, _, _ in ACCEPTED] + [Null()])
def test_none_is_null_of_every_type(kind: DataType) -> None:
    assert acceptor("x", kind)([None]) == [None]


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)))
def test_a_column_of_integers_stays_as_it_is(column: list[int | None]) -> None:
    assert acceptor("x", Int64())(column) == column
    assert acceptor("x", Int64())(tuple(column)) == column


@pytest.mark.parametrize("kind", [Float32(), Float64()])
def test_floats_of_a_request_have_one_zero_as_columns_of_a_training_set_do(kind: DataType) -> None:
    found = acceptor("x", kind)([-0.0, None, 1.5, 0.0, math.nan])
    assert [repr(value) for value in found] == ["0.0", "None", "1.5", "0.0", "nan"]
    (parts,) = acceptor("x", Array(kind))([[-0.0, None]])
    assert repr(parts) == "(0.0, None)"

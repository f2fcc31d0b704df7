"""Expectations are enforced or refused: one that can't be checked on a feature's type says why."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from featurekit.definitions.expectation import Expectation, check_expectation
from featurekit.types import DataType, parse_type


@pytest.mark.parametrize(
    ("expectation", "kind"),
    [
        (Expectation(between=(0, 1)), "double"),
        (Expectation(between=(0, 1)), "bigint"),
        (Expectation(between=(-0.5, 1)), "decimal(10,2)"),
        (Expectation(not_null=True), "string"),
        (Expectation(max_null_share=0.1), "boolean"),
        (Expectation(in_set=("a", "b")), "string"),
        (Expectation(in_set=(1, 2)), "int"),
        (Expectation(in_set=(1, 2)), "double"),
        (Expectation(in_set=(1, 2)), "decimal(3,0)"),
        (Expectation(in_set=(1, 2.5)), "float"),
        (Expectation(in_set=(True,)), "boolean"),
        (Expectation(in_set=(127, -128)), "tinyint"),
        (Expectation(matches="[A-Z]+", length=(1, 3), mostly=0.9), "string"),
    ],
)
def test_expectation_that_fits_the_type_is_taken(expectation: Expectation, kind: str) -> None:
    assert check_expectation(expectation, parse_type(kind)) is None


@pytest.mark.parametrize(
    ("expectation", "kind", "reason"),
    [
        (Expectation(between=(0, 1)), "string", "between needs a number, and the feature is string"),
        (Expectation(matches="1"), "int", "matches needs a text, and the feature is int"),
        (Expectation(length=(0, 1)), "binary", "length needs a text, and the feature is binary"),
        (Expectation(between=(0, 1)), "boolean", "between needs a number, and the feature is boolean"),
        (Expectation(between=(0, 1)), "timestamp", "between needs a number, and the feature is timestamp"),
        (Expectation(in_set=("a",)), "int", "in_set has 'a', which is not a int value"),
        (Expectation(in_set=(1,)), "string", "in_set has 1, which is not a string value"),
        (Expectation(in_set=(True,)), "int", "in_set has True, which is not a int value"),
        (Expectation(in_set=(1,)), "boolean", "in_set has 1, which is not a boolean value"),
        (Expectation(in_set=(1.5,)), "int", "in_set has 1.5, which is not a int value"),
        (Expectation(in_set=(0.1,)), "decimal(3,1)", "in_set has 0.1, which is not a decimal(3,1) value"),
        (Expectation(in_set=(128,)), "tinyint", "in_set has 128, which is not a tinyint value"),
        (Expectation(in_set=(1234,)), "decimal(3,0)", "in_set has 1234, which is not a decimal(3,0) value"),
        (Expectation(in_set=(0.1,)), "float", "in_set has 0.1, which is not a float value"),
        (Expectation(in_set=(2**53 + 1,)), "double", "in_set has 9007199254740993, which is not a double value"),
        (Expectation(in_set=(10**400,)), "double", f"in_set has {10**400}, which is not a double value"),
        (Expectation(in_set=("2013-01-01",)), "date", "in_set has '2013-01-01', which is not a date value"),
    ],
)
def test_expectation_that_can_not_apply_says_why(expectation: Expectation, kind: str, reason: str) -> None:
    found: DataType = parse_type(kind)
    assert check_expectation(expectation, found) == reason


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"not_null": False},
        {"between": (2, 1)},
        {"between": (float("nan"), 1)},
        {"between": (0, float("inf"))},
        {"between": ("a", "b")},
        {"between": (True, 2)},
        {"in_set": ()},
        {"max_null_share": -0.1},
        {"not_null": True, "max_null_share": 0.1},
        {"betwen": (0, 1)},
        {"matches": "("},
        {"matches": "(?i)a"},
        {"length": (3, 1)},
        {"length": (-1, 1)},
        {"mostly": 0.9},
        {"mostly": 0.9, "not_null": True},
        {"mostly": 0, "between": (0, 1)},
        {"mostly": 1.1, "between": (0, 1)},
    ],
)
def test_expectation_that_expects_nothing_or_nonsense_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Expectation.model_validate(fields)

"""How looked-up values are shown to people and in JSON documents."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from featurekit.cli.lookup import shown_json, shown_value

NOON = datetime(2014, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1.5, None], "[1.5, NULL]"),
        ([], "[]"),
        ({"a": [True], "b": NOON}, "{a: [true], b: 2014-01-02T12:00Z}"),
        ({(1, (2,)): b"x"}, "{[1, [2]]: 0x78}"),
        (list(range(20)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … 20 in all]"),
    ],
)
def test_a_nested_value_is_shown_on_a_line(value: Any, text: str) -> None:
    assert shown_value(value) == text


def test_instants_in_a_nested_value_are_iso_text() -> None:
    assert shown_json({"a": [NOON, None]}) == {"a": ["2014-01-02T12:00Z", None]}

"""Keys and request values become what a lookup takes, or an error that names the key, its type and what to try."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from featurekit.cli.values import read_pairs, read_rows, typed_rows, typed_text
from featurekit.errors import InputError, KeyTypeError
from featurekit.types import DataType, parse_type

TEXTS = {
    "string": ("007", "007"),
    "bigint": ("9223372036854775807", 2**63 - 1),
    "int": ("-7", -7),
    "double": ("1e3", 1000.0),
    "float": ("3", 3.0),
    "boolean": ("true", True),
    "decimal(10,2)": ("12.50", Decimal("12.50")),
    "date": ("2013-11-03", date(2013, 11, 3)),
    "timestamp": ("2013-11-03T01:30-05:00", datetime(2013, 11, 3, 6, 30, tzinfo=UTC)),
    "timestamp_ntz": ("2013-11-03T01:30", datetime(2013, 11, 3, 1, 30)),  # noqa: DTZ001 - what a clock reads
}


@pytest.mark.parametrize(("kind", "text", "value"), [(kind, *pair) for kind, pair in TEXTS.items()])
def test_text_becomes_a_value_of_the_type_that_the_plan_says(kind: str, text: str, value: Any) -> None:
    rows = typed_text({"k": text}, {"k": parse_type(kind)}, {})
    assert rows.entities == ({"k": value},)
    assert type(rows.entities[0]["k"]) is type(value)
    assert rows.requests == ({},)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("bigint", "1.0"),
        ("bigint", "1_000"),
        ("bigint", ""),
        ("int", "UA"),
        ("double", "far"),
        ("double", "1_0"),
        ("boolean", "yes"),
        ("boolean", "True"),
        ("decimal(10,2)", "cheap"),
        ("date", "03.11.2013"),
        ("timestamp", "2013-11-03T01:30"),
        ("timestamp", "noon"),
    ],
)
def test_text_of_another_type_is_refused_by_the_name_of_the_key(kind: str, text: str) -> None:
    with pytest.raises(KeyTypeError) as caught:
        typed_text({"tail": text}, {"tail": parse_type(kind)}, {})
    assert "tail" in caught.value.what
    assert parse_type(kind).name in caught.value.what
    assert caught.value.try_


def test_not_a_number_can_be_asked_for() -> None:
    assert math.isnan(typed_text({"x": "NaN"}, {}, {"x": parse_type("double")}).requests[0]["x"])


KEYS: dict[str, DataType] = {"carrier": parse_type("string")}
REQUEST: dict[str, DataType] = {"distance": parse_type("double")}


def test_a_missing_name_is_told_with_its_type() -> None:
    with pytest.raises(KeyTypeError, match="distance is missing") as caught:
        typed_text({"carrier": "UA"}, KEYS, REQUEST)
    assert caught.value.try_ == "add distance=<double>"


def test_an_unknown_name_is_told_with_what_was_meant() -> None:
    with pytest.raises(KeyTypeError, match="asks for no carier") as caught:
        typed_text({"carier": "UA", "distance": "1"}, KEYS, REQUEST)
    assert caught.value.try_ == "did you mean carrier?"


def test_rows_of_a_file_are_told_by_their_number(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text('[{"carrier": "UA", "distance": 1400}, {"carrier": null, "distance": null}]')
    rows = typed_rows(read_rows(file), KEYS, REQUEST)
    assert rows.entities == ({"carrier": "UA"}, {"carrier": None})
    assert rows.requests == ({"distance": 1400}, {"distance": None})
    with pytest.raises(KeyTypeError) as caught:
        typed_rows([{"day": "2013-11-03"}, {"day": "soon"}], {"day": parse_type("date")}, {})
    assert caught.value.where == "row 2, day"


@pytest.mark.parametrize("content", ['{"a": 1}\n{"a": 2}\n', '[{"a": 1}, {"a": 2}]'])
def test_a_file_holds_a_list_or_an_object_a_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "rows.json").write_text(content)
    assert read_rows(tmp_path / "rows.json") == ({"a": 1}, {"a": 2})


@pytest.mark.parametrize("content", [None, "", "[", "[]", "[1]", "carrier\nUA\n"])
def test_a_file_that_holds_no_rows_is_an_input_error(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "rows.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(InputError) as caught:
        read_rows(file)
    assert caught.value.where == str(file)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("words", [["carrier"], ["=UA"], ["carrier=UA", "carrier=AA"]])
def test_words_that_are_no_pairs_are_refused(words: list[str]) -> None:
    with pytest.raises(InputError):
        read_pairs(words)

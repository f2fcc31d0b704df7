"""Texts that name an entity are told from those that do not, however its key is spelled in them."""

from __future__ import annotations

from typing import Any

import pytest

from featurekit.consistency.entity_keys import show_entity
from featurekit.erasing import entities, holder_of
from featurekit.types import DataType, Field, Int64, String

CASES: list[tuple[tuple[Any, ...], str, bool]] = [
    ((7,), "user = 7", True),
    ((7,), "user = 70", False),
    ((7,), "spent 7.5", False),
    (("AA",), "carrier = 'AA'", True),
    (("AA",), "carrier = 'AAB'", False),
    (("{Brühl}, 50%",), "town = '{Brühl}, 50%'", True),  # as people read it
    (("{Brühl}, 50%",), "fk:shop:{%7BBr%C3%BChl%7D%2C 50%25}", False),  # as nothing spells it
    (("it's\n",), 'town = "it\'s\\n"', True),  # with its escapes
    (("long " * 40,), show_entity(("long " * 40,), (Field("town", String()),)), True),
    (("a", 3), "town = 'a', number = 3", True),
    (("a", 3), "town = 'a', number = 4", False),
]


@pytest.mark.parametrize(("values", "text", "is_named"), CASES)
def test_a_text_names_an_entity_where_all_of_its_key_is_in_it(
    values: tuple[Any, ...], text: str, is_named: bool
) -> None:
    assert holder(values)(text) is is_named


def test_the_text_of_a_key_in_the_store_names_its_entity() -> None:
    values = ("{Brühl}, 50%", 3)
    (text,) = entities("stall", fields(values), [named(values)]).texts
    assert holder(values)(f"the key {text.decode()} is gone")


def test_nobody_is_named_by_an_entity_without_a_key() -> None:
    assert not holder((None,))("user = None")


def fields(values: tuple[Any, ...]) -> list[Field]:
    types: list[DataType] = [Int64() if isinstance(value, int) else String() for value in values]
    return [Field(f"k{at}", kind) for at, kind in enumerate(types)]


def named(values: tuple[Any, ...]) -> dict[str, Any]:
    return {f"k{at}": value for at, value in enumerate(values)}


def holder(values: tuple[Any, ...]) -> Any:
    return holder_of(entities("stall", fields(values), [named(values)]))

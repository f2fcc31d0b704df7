"""Keys that nobody has are close to those that somebody has, the same each time, and none of them is in the sample."""

from __future__ import annotations

from datetime import date
from decimal import Decimal as Exact
from typing import Any

import pytest

from featurekit.clock import from_date, parse_instant
from featurekit.consistency.entity_keys import decode_entity_key
from featurekit.consistency.unseen import unseen_keys
from featurekit.online.keys import entity_key_encoder
from featurekit.types import (
    Boolean,
    DataType,
    Date,
    Decimal,
    Field,
    Float32,
    Float64,
    Int8,
    Int32,
    Int64,
    String,
    Timestamp,
)


def keyed(
    kinds: list[DataType], rows: list[tuple[Any, ...]]
) -> tuple[list[tuple[bytes, tuple[Any, ...]]], list[Field]]:
    texts = list(entity_key_encoder(kinds)([list(column) for column in zip(*rows, strict=True)]))
    known = [(text, row) for text, row in zip(texts, rows, strict=True) if text is not None]
    return known, [Field(f"k{at}", kind, nullable=False) for at, kind in enumerate(kinds)]


CASES: list[tuple[list[DataType], list[tuple[Any, ...]]]] = [
    ([String()], [("AA",), ("aa",), ("",), ("é",), ("a,b{%}",), ("AA ",)]),
    ([Int64()], [(1,), (-(2**63),), (2**63 - 1,), (1 + 2**32,)]),
    ([Int32()], [(n,) for n in range(50)]),
    ([Int8()], [(n,) for n in range(-128, 127)]),
    ([Float64()], [(0.1,), (float("nan"),), (1e300,), (0.0,)]),
    ([Float32()], [(0.5,), (1e38,)]),
    ([Decimal(3, 2)], [(Exact("9.99"),), (Exact("-9.99"),), (Exact("0.00"),)]),
    ([Date()], [(from_date(date(2013, 11, 5)),), (from_date(date(1, 1, 1)),), (from_date(date(9999, 12, 31)),)]),
    ([Timestamp()], [(parse_instant("2013-11-05T00:00Z"),), (parse_instant("1900-01-01T00:00Z"),)]),
    ([String(), Int32(), Boolean()], [("x", 1, True), ("y", 2, False), ("z", 3, True)]),
]


@pytest.mark.parametrize(("kinds", "rows"), CASES, ids=[" ".join(str(kind) for kind in kinds) for kinds, _ in CASES])
def test_unseen_keys_are_keys_of_their_types_and_none_that_is_known(
    kinds: list[DataType], rows: list[tuple[Any, ...]]
) -> None:
    known, keys = keyed(kinds, rows)
    found = unseen_keys(known, keys, most=100, seed="s")
    assert found == unseen_keys(known, keys, most=100, seed="s")
    assert found
    assert not {text for text, _ in found} & {text for text, _ in known}
    assert len({text for text, _ in found}) == len(found)
    for text, values in found:
        again = decode_entity_key(text, keys)
        assert again is not None
        assert entity_key_encoder(kinds)([[value] for value in again]) == [text]
        assert entity_key_encoder(kinds)([[value] for value in values]) == [text]


def test_they_are_what_known_ones_could_be_mistaken_for() -> None:
    known, keys = keyed([Int64()], [(7,), (2**40,)])
    assert [values for _, values in unseen_keys(known, keys, most=9, seed="")] == [(7 + 2**32,), (2**40 + 2**32,)]
    known, keys = keyed([String()], [(f"Café {n}",) for n in range(40)])
    texts = [values[0] for _, values in unseen_keys(known, keys, most=40, seed="")]
    assert any(text.endswith(" ") for text in texts)
    assert any(text.startswith("cAFÉ") for text in texts)
    assert any(text.startswith("Cafe\u0301") for text in texts)


def test_there_are_no_more_than_are_asked_for_and_none_of_no_keys() -> None:
    known, keys = keyed([String()], [("a",), ("b",), ("c",)])
    assert len(unseen_keys(known, keys, most=2, seed="")) == 2
    assert unseen_keys(known, keys, most=0, seed="") == []
    assert unseen_keys([], keys, most=5, seed="") == []


def test_booleans_have_no_other_keys() -> None:
    known, keys = keyed([Boolean()], [(True,)])
    assert unseen_keys(known, keys, most=5, seed="") == []

"""Defaults as people write them, as exact values of a type."""

from __future__ import annotations

import math
from decimal import Decimal as Exact
from typing import Any

import pytest

from featurekit.defaults import typed_default
from featurekit.errors import TypeMismatchError
from featurekit.types import parse_type
from tests.online.strategies import same


@pytest.mark.parametrize(
    ("kind", "written", "held"),
    [
        ("array<double>", "[]", ()),
        ("array<double>", "[1, null, -0.0, 0.1]", (1.0, None, -0.0, 0.1)),
        ("array<float>", "[0.1]", (0.10000000149011612,)),
        ("array<bigint>", "[9223372036854775807]", (2**63 - 1,)),
        ("array<decimal(20,2)>", '[0.1, 123456789012345678.25]', (Exact("0.10"), Exact("123456789012345678.25"))),
        ("array<decimal(20,2)>", '["7", 3]', (Exact("7.00"), Exact("3.00"))),
        ("array<array<boolean>>", "[[true], [], null]", ((True,), (), None)),
        ("map<string,int>", '{"b": 1, "a": null}', (("b", 1), ("a", None))),
        ("map<string,int>", '[["b", 1]]', (("b", 1),)),
        ("map<int,date>", '[[2, "1970-01-02"]]', ((2, 1),)),
        ("map<double,int>", "[[-0.0, 1]]", ((0.0, 1),)),
        ("struct<a:int,b:string>", '{"b": "é", "a": null}', (None, "é")),
        ("struct<a:array<timestamp>>", '{"a": ["1970-01-01T00:00:01Z"]}', ((1_000_000,),)),
    ],
)  # fmt: skip
def test_a_nested_default_is_json_text(kind: str, written: str, held: Any) -> None:
    assert same(typed_default(written, parse_type(kind)), held)


@pytest.mark.parametrize(
    ("kind", "written", "why"),
    [
        ("array<int>", "x", "it is not JSON"),
        ("array<int>", "[1", "it is not JSON"),
        ("array<int>", "[" * 100_000, "it is not JSON"),
        ("array<double>", "[NaN]", "NaN is no number"),
        ("array<double>", "[1e999]", "1e999 is no number"),
        ("array<int>", "1", "the default 1 is no array<int> value"),
        ("array<int>", "null", "the default None is no array<int> value"),
        ("array<int>", "[1.0]", "the default 1.0 is no int value"),
        ("array<int>", "[2147483648]", "the default 2147483648 is no int value"),
        ("array<string>", "[1]", "the default 1 is no string value"),
        ("array<decimal(3,2)>", "[0.125]", "the default '0.125' is no decimal(3,2) value"),
        ("map<int,int>", '{"1": 2}', "is no map<int,int> value"),
        ("map<int,int>", "[[1, 2], [1, 3]]", "is no map<int,int> value"),
        ("map<int,int>", "[[null, 2]]", "the default None is no int value"),
        ("map<double,int>", "[[0.0, 1], [-0.0, 2]]", "is no map<double,int> value"),
        ("map<string,int>", '{"a": 1, "a": 2}', "an object has a name twice"),
        ("struct<a:int>", "{}", "is no struct<a:int> value"),
        ("struct<a:int>", '{"a": 1, "b": 2}', "is no struct<a:int> value"),
    ],
)
def test_what_is_no_value_of_a_nested_type_is_refused(kind: str, written: str, why: str) -> None:
    with pytest.raises(TypeMismatchError) as caught:
        typed_default(written, parse_type(kind))
    assert why in str(caught.value.why)
    assert "JSON" in str(caught.value.try_)


@pytest.mark.parametrize("written", [1, 1.5, True, math.nan])
def test_a_nested_default_is_no_number(written: Any) -> None:
    with pytest.raises(TypeMismatchError, match="is no array<int> value"):
        typed_default(written, parse_type("array<int>"))

"""The IR as JSON: exact there and back, and nothing else is read."""

from __future__ import annotations

import json
import math
from decimal import Decimal as PyDecimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.errors import CodecError
from featurekit.expr.infer import aggregate, call, literal
from featurekit.expr.nodes import Column, Literal
from featurekit.expr.serialize import VERSION, from_json, to_json
from featurekit.types import Boolean, DataType, Date, Decimal, Float64, Int64, String, Timestamp

_INT64 = st.integers(-(2**63), 2**63 - 1)
_LITERALS: st.SearchStrategy[tuple[Any, DataType]] = st.one_of(
    st.tuples(_INT64, st.sampled_from([Int64(), Timestamp()])),
    st.tuples(st.integers(-(2**31), 2**31 - 1), st.just(Date())),
    st.tuples(st.floats(), st.just(Float64())),
    st.tuples(st.decimals(allow_nan=False, allow_infinity=False, places=3, max_value=10**9), st.just(Decimal(38, 3))),
    st.tuples(st.text(), st.just(String())),
    st.tuples(st.booleans(), st.just(Boolean())),
    st.tuples(st.none(), st.sampled_from([Int64(), String(), Decimal(5, 2)])),
)


@given(_LITERALS)
def test_literal_survives_json_bit_for_bit(drawn: tuple[Any, DataType]) -> None:
    value, kind = drawn
    node = literal(value, kind)
    back = from_json(json.loads(json.dumps(to_json(node))))
    assert isinstance(back, Literal)
    assert back.type == kind
    assert repr(back.value) == repr(node.value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, 1.7976931348623157e308, 0.1])
def test_every_double_keeps_its_bits(value: float) -> None:
    back = from_json(json.loads(json.dumps(to_json(literal(value)))))
    assert isinstance(back, Literal)
    assert repr(back.value) == repr(value)


def test_aggregate_with_filter_and_qualified_column_survive() -> None:
    column = Column(name="x", qualifier="v", type=Decimal(5, 2), nullable=True)
    node = call(
        "divide", aggregate("sum", column, where=call("gt", column, literal(PyDecimal("1.5")))), aggregate("count")
    )
    assert from_json(json.loads(json.dumps(to_json(node)))) == node


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"version": VERSION + 1, "node": {"lit": 1, "type": "int"}},
        {"version": VERSION},
        {"version": VERSION, "node": {"lit": 1, "type": "blob"}},
        {"version": VERSION, "node": {"lit": 1}},
        {"version": VERSION, "node": {"lit": "x", "type": "double"}},
        {"version": VERSION, "node": {"lambda": 1, "type": "int", "null": True}},
        {"version": VERSION, "node": {"call": "exec", "args": [], "type": "int", "null": True}},
        {"version": VERSION, "node": {"call": "sum", "args": [], "type": "int", "null": True}},
        {"version": VERSION, "node": {"agg": "add", "args": [], "type": "int", "null": True}},
        {"version": VERSION, "node": {"call": "add", "args": 3, "type": "int", "null": True}},
        {"version": VERSION, "node": []},
    ],
)
def test_anything_else_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(CodecError):
        from_json(document)

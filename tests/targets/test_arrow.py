"""The vector evaluator: the row evaluator's bits on any expression, over any number of rows in any order."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from featurekit.expr.nodes import Column, Node
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.targets.arrow import compile_batch, from_arrow_array, to_arrow_array
from featurekit.targets.python import compile_loop, compile_row
from featurekit.targets.vectors.evaluate import compile_columns
from featurekit.targets.vectors.families import vector_kernel
from featurekit.targets.vectors.vector import Vector, dtype_of
from featurekit.types import Boolean, Float32, Float64, Int32, Int64, String
from tests.semantics import draws, edges, values
from tests.semantics.draws import ROWS, Draws
from tests.semantics.legs import CASES, parsed

COLUMNS = (
    Column(name="i", type=Int32(), nullable=True),
    Column(name="n", type=Int64(), nullable=True),
    Column(name="d", type=Float64(), nullable=True),
    Column(name="s", type=String(), nullable=True),
    Column(name="b", type=Boolean(), nullable=True),
)
SCOPE = ColumnScope.of(COLUMNS)
Data = dict[str, list[Any]]


def parse(text: str) -> Node:
    return parse_expression(text, SCOPE, aggregates_allowed=False)


def vectors_of(data: Data) -> list[Vector]:
    return [Vector.of_held(data[column.name], column.type) for column in edges.COLUMNS]


def over_columns(nodes: list[Node], data: Data) -> list[list[Any]]:
    count = len(next(iter(data.values())))
    found = compile_columns(nodes, edges.COLUMNS)(vectors_of(data), count)
    assert [len(vector.values) for vector in found] == [count] * len(nodes)
    return [vector.held(count) for vector in found]


def differences(nodes: list[Node], data: Data) -> list[str]:
    evaluate = compile_row(nodes, edges.COLUMNS)
    rows = [evaluate(row) for row in zip(*data.values(), strict=True)]
    wanted = [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in nodes]
    return [
        f"{node} in row {row}: {ours!r}, the row evaluator says {theirs!r}"
        for node, column, expected in zip(nodes, over_columns(nodes, data), wanted, strict=True)
        for row, (ours, theirs) in enumerate(zip(column, expected, strict=True))
        if not values.same_bits(ours, theirs, node.type)
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 24])
def test_all_recorded_expressions_at_once_have_the_row_evaluators_bits(count: int) -> None:
    data = {name: column[:count] for name, column in edges.DATA.items()}
    nodes = [parsed(case.expression) for case in CASES]
    for start in range(0, len(nodes), 200):
        assert differences(nodes[start : start + 200], data) == []


@pytest.mark.parametrize("seed", range(3))
def test_order_and_number_of_rows_change_no_bit(seed: int) -> None:
    order = [Random(seed).randrange(edges.ROWS) for _ in range(97)]
    nodes = [parsed(case.expression) for case in CASES[seed::3]]
    whole = over_columns(nodes, edges.DATA)
    parts = over_columns(nodes, {name: [column[row] for row in order] for name, column in edges.DATA.items()})
    for node, column, part in zip(nodes, whole, parts, strict=True):
        assert all(values.same_bits(column[row], ours, node.type) for row, ours in zip(order, part, strict=True)), node


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # the seed is drawn, not the expression: there is nothing to shrink
    suppress_health_check=list(HealthCheck),
)
@given(st.integers(0, 1 << 32), st.integers(0, 40))
def test_drawn_expressions_have_the_row_evaluators_bits(seed: int, count: int) -> None:
    source = Draws(seed, Random(seed).sample(ROWS, min(20, len(ROWS))))
    nodes = [node for depth in range(8) if (node := source.any(1 + depth % 4)) is not None]
    assert differences(nodes, draws.rows(seed, count)) == []


@pytest.mark.parametrize("kind", draws.TYPES, ids=str)
def test_arrow_and_back_keeps_every_bit(kind: Any) -> None:
    name = next(name for name, of in edges.TYPES.items() if of == kind)
    array = values.arrow_column(edges.DATA[name], kind)
    for part in (array, array.slice(3, 9), array.slice(0, 0)):
        vector = from_arrow_array(part, kind)
        assert vector.values.dtype == dtype_of(kind)
        held = vector.held(len(part))
        assert all(map(values.same_bits, held, values.held_values(part), [kind] * len(part)))
        assert to_arrow_array(Vector.of_held(held, kind), kind).equals(part) or "nan" in repr(held)


def test_batches_go_in_and_arrow_arrays_come_out() -> None:
    batch = pa.record_batch(
        {
            "i": pa.array([1, None], pa.int32()),
            "n": pa.array([2**63 - 1, 1], pa.int64()),
            "d": pa.array([0.5, float("nan")]),
            "s": pa.array(["a", None], pa.large_string()),
            "b": pa.array([True, None]),
        }
    )
    nodes = [parse(text) for text in ("n + 1", "d * 2", "upper(s)", "i > 0 OR b", "date '2020-01-02'", "1.50")]
    found = compile_batch(nodes, COLUMNS)(batch)
    assert [str(array.type) for array in found] == [
        "int64", "double", "string", "bool", "date32[day]", "decimal128(3, 2)"]  # fmt: skip
    assert found[0].to_pylist() == [None, 2]
    assert str(found[1].to_pylist()) == "[1.0, nan]"
    assert found[2].to_pylist() == ["A", None]
    assert found[3].to_pylist() == [True, None]


def test_loop_has_the_row_functions_answers() -> None:
    nodes = [parse(text) for text in ("i + 1", "concat(s, s)", "7")]
    columns: list[list[Any]] = [[1, None], [0, 0], [0.0, 0.0], ["a", "b"], [True, False]]
    assert compile_loop(nodes, COLUMNS)(columns, 2) == [(2, None), ("aa", "bb"), (7, 7)]
    assert compile_loop(nodes, COLUMNS)([[]] * 5, 0) == [(), (), ()]
    assert compile_loop([parse("7")], ())([], 2) == [(7, 7)]


HOT = (
    "i + 1", "n - n", "n * n", "d * 2", "d / 3", "i % 7", "n div 2", "-n", "abs(d)", "round(d, 2)", "floor(d)", "d < 1",
    "n = 3", "b AND d > 0", "NOT b", "n IS NULL", "s IS NULL", "coalesce(n, 0)", "greatest(d, 0D)", "n IN (1, 2)",
    "CASE WHEN b THEN 'x' ELSE s END", "CAST(d AS int)", "CAST(n AS double)", "CAST(n AS float)", "n <=> 4",
)  # fmt: skip


@pytest.mark.parametrize("text", HOT)
def test_hot_operators_have_a_vector_kernel(text: str) -> None:
    assert vector_kernel(parse(text)) is not None


def test_overflow_of_products_is_found_exactly() -> None:
    edge = [2**62, 2**31, -(2**31), 3_037_000_500, 3_037_000_499, -(2**63), 2**63 - 1, -1, 1, 0, 2**32, -(2**32)]
    pairs = [(a, b) for a in edge for b in edge]
    inputs = (COLUMNS[1], Column(name="m", type=Int64(), nullable=True))
    node = parse_expression("n * m", ColumnScope.of(inputs), aggregates_allowed=False)
    given_ = [Vector.of_held([pair[side] for pair in pairs], Int64()) for side in (0, 1)]
    (found,) = compile_columns([node], inputs)(given_, len(pairs))
    assert found.held(len(pairs)) == [a * b if -(2**63) <= a * b < 2**63 else None for a, b in pairs]


def test_nulls_of_floats_are_not_nan() -> None:
    vector = Vector.of_held([None, float("nan"), 1.0], Float32())
    assert vector.valid is not None
    assert vector.valid.tolist() == [False, True, True]
    assert vector.values.dtype == np.float32
    assert Vector.of_held([float("nan")], Float64()).valid is None

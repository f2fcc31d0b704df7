"""Arrays, maps, structs and lambdas beyond the recorded cases: what is refused and how, scopes, SQL, passed values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from featurekit.errors import ExpressionError, InputError, KeyTypeError
from featurekit.expr.nodes import Node
from featurekit.expr.parse import parse_expression
from featurekit.expr.serialize import from_json, to_json
from featurekit.expr.show import show
from featurekit.online.request import request_columns
from featurekit.online.values import acceptor
from featurekit.targets.kernels.order import equality_key, normal_form, order_key
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render, render_literal
from featurekit.types import Array, Float64, Int32, Struct, parse_type
from tests.semantics import edges, values

NAN = float("nan")


def parsed(sql: str) -> Node:
    return parse_expression(sql, edges.SCOPE, aggregates_allowed=False)


def evaluated(sql: str) -> list[Any]:
    evaluate = compile_row([parsed(sql)], edges.COLUMNS)
    return [evaluate(row)[0] for row in edges.rows()]


@pytest.mark.parametrize(
    ("sql", "what", "advice"),
    [
        ("array(1, 'a')", "array can't take (int, string)", "cast them to one type"),
        ("array_contains(as_, 1)", "array_contains can't take (array<string>, int)", "cast them to one type"),
        ("array_union(ai, as_)", "array_union can't take", "cast"),
        ("array_distinct(array(m))", "array_distinct can't take", "map_entries(m)"),
        ("m = m_b", "= can't take (map", "map_entries(m)"),
        ("greatest(m, m_b)", "greatest can't take", "map_entries(m)"),
        ("map(m, 1)", "map can't take", None),
        ("map('a', 1, 'b')", "map can't take", "map('a', 1, 'b', 2)"),
        ("mi[1L]", "get can't take (map<int,double>, bigint)", "CAST(… AS INT)"),
        ("mi[1.5D]", "get can't take", "CAST(… AS INT)"),
        ("ai[1.5D]", "get can't take", "CAST(… AS BIGINT)"),
        ("element_at(ai, 1L)", "element_at can't take", "CAST(… AS INT)"),
        ("st['a']", "get can't take", "s.field"),
        ("st.A", "has no field A", "did you mean a?"),
        ("m.a", "has no field a", "m['key']"),
        ("size(s)", "size can't take", "length(x)"),
        ("array_repeat(1, i32)", "array_repeat can't take", "whole number"),
        ("array_repeat(1, 10001)", "array_repeat can't take", None),
        ("array_insert(ai, 0, 1)", "array_insert can't take", "array_prepend"),
        ("sequence(1, i32)", "sequence can't take", "whole number"),
        ("sequence(1, 10001)", "sequence can't take", None),
        ("sequence(1, 5, -1)", "sequence can't take", None),
        ("sort_array(ai, b)", "sort_array can't take", "true (ascending)"),
        ("array_join(ai, ',')", "array_join can't take", "CAST(x AS STRING)"),
        ("str_to_map(s, '')", "str_to_map can't take", None),
        ("str_to_map(s, s_b)", "str_to_map can't take", "quoted literal"),
        ("map_from_entries(ai)", "map_from_entries can't take", "map_entries(m)"),
        ("transform(ai, 1)", "transform takes a lambda there", "x -> x + 1"),
        ("transform(s, x -> x)", "transform can't take (string)", "array(…)"),
        ("transform(ai, (x, y, k) -> x)", "the lambda of transform has 2 variables, not 3", None),
        ("transform(ai, x -> NULL)", "transform can't take", "CAST(NULL AS …)"),
        ("filter(ai, x -> x)", "filter can't take", "x -> x > 0"),
        ("zip_with(ai, ai_b, x -> x)", "zip_with can't take", None),
        ("aggregate(ad, 0, (acc, x) -> acc + x)", "aggregate can't take", "CAST(0 AS DOUBLE)"),
        ("aggregate(ai, NULL, (acc, x) -> x)", "aggregate can't take", None),
        ("abs(x -> x)", "a lambda is not supported", "transform(a, x -> …)"),
        ("array_sort(ai, (x, y) -> x - y)", "a lambda is not supported", "array_sort takes none"),
        ("arrays_zip(ai, ad)", "arrays_zip() is not supported", "zip_with"),
        ("map_zip_with(m, m_b, (k, v, y) -> v)", "map_zip_with() is not supported", "transform_values"),
        ("exists (SELECT 1)", "a subquery is not supported", None),
        ("named_struct(s, 1)", "named_struct can't take", "quoted literal"),
        ("transform(ai, x -> y)", "unknown column y", None),
        ("x -> x", "a lambda here is not supported", "transform"),
    ],
)
def test_what_has_no_meaning_on_both_paths_is_refused_with_advice(sql: str, what: str, advice: str | None) -> None:
    with pytest.raises(ExpressionError) as caught:
        parsed(sql)
    assert what in caught.value.what
    assert advice is None or advice in str(caught.value.try_)


@pytest.mark.parametrize("sql", ["named_struct('a', 1, 'A', 2)", "named_struct('a:b', 1)", "struct(1 AS x)"])
def test_names_of_fields_are_told_apart_and_read_back(sql: str) -> None:
    with pytest.raises((ExpressionError, InputError)):
        parsed(sql)


def test_an_inner_variable_hides_the_outer_one_and_a_column() -> None:
    assert show(parsed("transform(ai, s -> transform(array(1), s -> s))")).count("s:int?") == 1
    assert evaluated("transform(array(1, 2), i32 -> transform(array(i32 * 10), i32 -> i32 + 1))")[0] == ((11,), (21,))


def test_lambdas_with_one_meaning_are_one_and_are_kept_by_json() -> None:
    one, other = parsed("transform(ai, x -> x + 1)"), parsed("transform(ai, y -> y + 1)")
    assert render(one, lambda column: column.name) == render(other, lambda column: column.name)
    assert from_json(to_json(one)) == one


def test_field_access_never_reads_a_column_of_a_table_called_like_the_struct() -> None:
    assert render(parsed("st.a"), lambda column: column.name) == "(`st`).`a`"


def test_an_index_past_32_bits_is_no_element() -> None:
    assert evaluated("array(1, 2)[4294967296L]")[0] is None  # Spark alone keeps its lower 32 bits: the first element


def test_nested_literals_render_with_their_types() -> None:
    node = parsed("ai")
    assert isinstance(node.type, Array)
    for name in ("ai", "ad", "m", "st", "sa"):
        for value in edges.DATA[name]:
            text = render_literal(edges_literal(name, value))
            assert value is None or text.startswith(("array(", "map(", "named_struct(", "CAST("))


def edges_literal(name: str, value: Any) -> Any:
    from featurekit.expr.infer import literal

    return literal(value, edges.TYPES[name])


def test_keys_order_and_equate_as_spark_does() -> None:
    kind = Array(Float64())
    equal, order, normal = equality_key(kind), order_key(kind), normal_form(kind)
    assert equal is not None
    assert order is not None
    assert normal is not None
    assert equal((NAN, None)) == equal((float("nan"), None))
    assert equal((-0.0,)) == equal((0.0,))
    assert sorted([(NAN,), (1.0, 2.0), (1.0,), (None,), ()], key=order) == [(), (None,), (1.0,), (1.0, 2.0), (NAN,)]
    assert values.same_bits(normal((-0.0, None)), (0.0, None), kind)
    assert equality_key(Array(Int32())) is None
    assert equality_key(Struct((("a", Int32()), ("b", Float64())))) is not None


@pytest.mark.parametrize(
    ("kind", "passed", "held"),
    [
        ("array<double>", [1, 2.5, None], (1.0, 2.5, None)),
        ("array<double>", np.zeros(2), (0.0, 0.0)),
        ("array<float>", [0.1], (0.10000000149011612,)),
        ("array<array<int>>", [[1], None, []], ((1,), None, ())),
        ("map<string,int>", {"a": 1, "b": None}, (("a", 1), ("b", None))),
        ("map<string,int>", [("a", 1)], (("a", 1),)),
        ("struct<a:int,b:array<string>>", {"b": ["x"], "a": None}, (None, ("x",))),
    ],
)
def test_passed_values_with_parts_are_held_as_tuples(kind: str, passed: Any, held: Any) -> None:
    assert acceptor("v", parse_type(kind))([passed, None]) == [held, None]


@pytest.mark.parametrize(
    ("kind", "passed", "where"),
    [
        ("array<double>", [1.0, "x"], "v[]"),
        ("array<int>", [2**31], "v[]"),
        ("array<string>", "text", "v"),
        ("map<string,int>", [("a", 1), ("a", 2)], "v"),
        ("map<string,int>", {None: 1}, "v"),
        ("struct<a:int>", {"a": 1, "b": 2}, "v"),
        ("struct<a:int>", [1], "v"),
        ("struct<a:int>", {"a": "1"}, "v.a"),
    ],
)
def test_passed_values_with_parts_that_are_none_of_the_type_are_refused(kind: str, passed: Any, where: str) -> None:
    with pytest.raises(KeyTypeError) as caught:
        acceptor("v", parse_type(kind))([passed])
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("entities", "values_", "columns", "is_single"),
    [
        ({"k": 1}, {"v": [1.0, 2.0]}, {"k": [1], "v": [[1.0, 2.0]]}, True),
        ({"k": 1}, {"v": []}, {"k": [1], "v": [[]]}, True),
        ({"k": [1, 2]}, {"v": [[1.0], []]}, {"k": [1, 2], "v": [[1.0], []]}, False),
        ({"k": [1, 2]}, {"v": [1.0]}, {"k": [1, 2], "v": [[1.0], [1.0]]}, False),
        ([{"k": 1}, {"k": 2}], [{"v": [1.0]}, {"v": None}], {"k": [1, 2], "v": [[1.0], None]}, False),
        ({"k": [1, 2]}, {"v": np.ones((2, 3))}, {"k": [1, 2], "v": [[1.0] * 3] * 2}, False),
    ],
)
def test_an_array_of_a_request_is_one_value_and_an_array_of_arrays_a_column(
    entities: Any, values_: Any, columns: Any, is_single: bool
) -> None:
    found = request_columns(entities, values_, ["k", "v"], {"v": 1})
    assert found.values == columns
    assert found.is_single is is_single

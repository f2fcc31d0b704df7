"""What aggregates of the language become as slots."""

from __future__ import annotations

import pytest

from featurekit.compiled import SlotFunction
from featurekit.expr.nodes import Aggregate, Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.expr.show import show
from featurekit.lower_aggregates import lower_aggregate
from featurekit.types import Boolean, Float64, Int64, String

SCOPE = ColumnScope.of(
    [
        Column(name="b", type=Boolean(), nullable=True),
        Column(name="d", type=Float64(), nullable=True),
        Column(name="n", type=Int64(), nullable=False),
        Column(name="t", type=String(), nullable=True),
    ]
)
CASES = [
    ("count(*)", "count * where None, None"),
    ("count_if(b)", "count * where b:boolean?, None"),
    ("count_if(b) FILTER (WHERE b)", "count * where and(b:boolean?, b:boolean?):boolean?, None"),
    ("every(b)", "min b:boolean? where None, None"),
    ("some(b)", "max b:boolean? where None, None"),
    ("std(d)", "stddev_samp d:double? where None, None"),
    ("variance(d)", "var_samp d:double? where None, None"),
    ("first(d)", "min_by d:double? where None, None"),
    ("last(d, false)", "max_by d:double? where None, None"),
    ("last(d) IGNORE NULLS", "max_by d:double? where is_not_null(d:double?):boolean, None"),
    ("last(n) IGNORE NULLS", "max_by n:bigint where None, None"),
    ("min_by(t, d)", "min_by t:string? by d:double? where is_not_null(d:double?):boolean, None"),
    ("max_by(t, n)", "max_by t:string? by n:bigint where None, None"),
    ("top_k(d, 7)", "top_k d:double? where None, 7"),
    ("collect_last(t, 2)", "collect_last t:string? where None, 2"),
    ("count(DISTINCT t)", "count_distinct t:string? where None, None"),
    ("approx_count_distinct(t)", "approx_count_distinct t:string? where None, 9"),
    ("approx_count_distinct(t, 0.39)", "approx_count_distinct t:string? where None, 4"),
    ("approx_count_distinct(t, 1e-2)", "approx_count_distinct t:string? where None, 14"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "slot"), CASES)
def test_aggregate_becomes_a_slot(sql: str, slot: str) -> None:
    node = parse_expression(sql, SCOPE, aggregates_allowed=True)
    assert isinstance(node, Aggregate)
    found = lower_aggregate(node)
    argument = "*" if found.argument is None else show(found.argument)
    by = "" if found.by is None else f" by {show(found.by)}"
    where = None if found.filter is None else show(found.filter)
    assert f"{found.function} {argument}{by} where {where}, {found.parameter}" == slot


def test_every_function_of_slots_is_reached_from_the_language() -> None:
    texts = [sql for sql, _ in CASES] + ["sum(d)", "avg(d)", "stddev_pop(d)", "var_pop(d)"]
    nodes = [parse_expression(sql, SCOPE, aggregates_allowed=True) for sql in texts]
    found = {lower_aggregate(node).function for node in nodes if isinstance(node, Aggregate)}
    assert found == set(SlotFunction) - {SlotFunction.LATEST}

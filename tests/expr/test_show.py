"""The IR as people see it."""

from __future__ import annotations

from featurekit.expr.infer import literal
from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.expr.show import show, show_tree
from featurekit.types import Date, Float64, Int32, Timestamp

SCOPE = ColumnScope.of(
    [Column(name="d", type=Float64(), nullable=True), Column(name="i", type=Int32(), nullable=False)]
)


def test_one_line_has_every_type_and_marks_what_can_be_null() -> None:
    node = parse_expression("coalesce(d, i)", SCOPE, aggregates_allowed=False)
    assert show(node) == "coalesce(d:double?, cast(i:int):double):double"


def test_tree_has_one_node_a_line() -> None:
    node = parse_expression("sum(d) FILTER (WHERE i > 3)", SCOPE, aggregates_allowed=True)
    assert show_tree(node).splitlines() == [
        "sum:double?  (last: FILTER)",
        "  d:double?",
        "  gt:boolean",
        "    i:int",
        "    3:int",
    ]


def test_literals_read_like_sql() -> None:
    shown = [show(literal(value)) for value in (None, True, "it's", -0.0)]
    assert shown == ["NULL", "true:boolean", "'it''s':string", "-0.0:double"]
    assert show(literal(15706, Date())) == "2013-01-01:date"
    assert show(literal(0, Timestamp())) == "1970-01-01T00:00:00+00:00:timestamp"
    assert show(literal(10**9, Date())) == "day 1000000000:date"

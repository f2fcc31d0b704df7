"""IGNORE NULLS and RESPECT NULLS, behind the parentheses and in them."""

from __future__ import annotations

import pytest

from featurekit.expr.nodes import Aggregate, Column, Literal
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.types import Int32

SCOPE = ColumnScope.of([Column(name="x", type=Int32(), nullable=True)])


@pytest.mark.parametrize("function", ["first", "last", "first_value", "last_value"])
@pytest.mark.parametrize(("option", "skips"), [("IGNORE NULLS", True), ("RESPECT NULLS", False)])
def test_nulls_are_skipped_where_they_are_ignored(function: str, option: str, skips: bool) -> None:
    for sql in (f"{function}(x) {option}", f"{function}(x {option})", f"{function}(x, {skips})"):
        node = parse_expression(sql, SCOPE, aggregates_allowed=True)
        assert isinstance(node, Aggregate)
        skip_nulls = node.args[1]
        assert isinstance(skip_nulls, Literal)
        assert skip_nulls.value is skips

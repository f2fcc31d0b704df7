"""Random expressions, each function a root, in Spark and in our evaluators (`make fuzz` draws many more)."""

from __future__ import annotations

from typing import Any

import pytest

from featurekit.expr.parse import parse_expression
from tests.semantics import edges
from tests.semantics.draws import ROWS, Draws
from tests.semantics.fuzz import TARGETS, Fuzz
from tests.semantics.unparse import unparse

# A fixed seed: the same expressions everywhere. Longer runs with other seeds look for new ones.
SEED = 20131115
TABLE = 100


@pytest.mark.spark
def test_random_expressions_have_the_same_bits_in_spark_and_in_our_evaluators(spark: Any) -> None:
    tally = Fuzz(spark, SEED, TABLE).run(3 * len(ROWS) * TABLE)
    assert [str(difference) for difference in tally.differences] == []
    assert tally.functions >= {row.name for row in ROWS}


@pytest.mark.parametrize("target", TARGETS)
def test_the_evaluators_take_every_expression_that_is_drawn(target: str) -> None:
    draws = Draws(SEED)
    for row in ROWS:
        node = draws.of(row, 3)
        assert node is not None, f"no expression with {row.name} was drawn: its params say too little"
        assert len(TARGETS[target](node, edges.DATA)) == edges.ROWS


def test_what_is_drawn_can_be_written_and_read_again() -> None:
    draws = Draws(SEED)
    for row in ROWS:
        node = draws.of(row, 2)
        assert node is not None
        again = parse_expression(unparse(node), edges.SCOPE, aggregates_allowed=False)
        assert again.type == node.type
        assert repr(parse_expression(unparse(again), edges.SCOPE, aggregates_allowed=False)) == repr(again)

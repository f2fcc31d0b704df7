"""A small share of `make types`: what we infer is what Spark's analyser says, or is refused."""

from __future__ import annotations

from typing import Any

import pytest

from featurekit.errors import FeaturekitError
from featurekit.expr.parse import parse_expression
from tests.semantics import edges
from tests.types.compared import compare
from tests.types.oracle import Analyser
from tests.types.written import REFUSED, written

SEED = 7
PER_FUNCTION = 3


@pytest.mark.parametrize("text", REFUSED)
def test_what_two_computations_could_not_share_is_refused(text: str) -> None:
    with pytest.raises(FeaturekitError):
        parse_expression(text, edges.SCOPE, aggregates_allowed=True)


def test_expressions_are_made_for_the_whole_catalogue_and_are_the_same_each_time() -> None:
    made = written(SEED, PER_FUNCTION)
    assert made == written(SEED, PER_FUNCTION)
    assert len(made) >= 600
    assert {each.group for each in made} >= {"functions", "operators", "aggregates", "casts", "choices", "decimals"}


@pytest.mark.spark
def test_inferred_types_are_those_of_sparks_analyser(spark: Any) -> None:
    found = compare(written(SEED, PER_FUNCTION), Analyser(spark))
    assert [(each.written.text, each.wrong) for each in found if each.wrong] == []
    assert sum(each.inferred is not None for each in found) >= 600

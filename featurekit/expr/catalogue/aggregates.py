"""Aggregates over the rows of one entity. Sums, averages and spreads are exact, order is total (DESIGN V2, V4, T4)."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from featurekit.expr import aggregate_rules, signatures
from featurekit.expr.catalogue.row import (
    ANY,
    ATOMIC,
    BOOLEAN,
    INT,
    NUMBER,
    ORDERED,
    Exactness,
    Function,
    Nulls,
    Param,
    aggregate,
)

_REDEFINED: Final = Exactness.REDEFINED
_SKIP: Final = Param("skip_nulls", BOOLEAN, literal=True, optional=True, edges=(True, False))
_LIMIT: Final = Param("n", INT, literal=True, edges=(3, 1, 100))
_DEVIATION: Final = Param(
    "rsd", NUMBER, literal=True, optional=True, edges=(Decimal("0.05"), Decimal("0.01"), Decimal("0.39"))
)

ROWS: Final[tuple[Function, ...]] = (
    aggregate("count", (Param("a", ANY, optional=True),), signatures.counted,
              "The number of rows, or of rows where it is not NULL.", nulls=Nulls.NEVER),
    aggregate("count_if", (Param("a", BOOLEAN),), aggregate_rules.counted_if,
              "The number of rows where it is true.", nulls=Nulls.NEVER),
    aggregate("count_distinct", (Param("a", ATOMIC),), aggregate_rules.distinct,
              "The number of distinct values, exactly: `count(DISTINCT a)`. All of them are kept in memory.",
              nulls=Nulls.NEVER),
    aggregate("approx_count_distinct", (Param("a", ATOMIC), _DEVIATION), aggregate_rules.roughly_distinct,
              "About the number of distinct values, by HyperLogLog++; the relative deviation is 0.05 unless given.",
              nulls=Nulls.NEVER),
    aggregate("sum", (Param("a", NUMBER),), signatures.total,
              "The exact sum, rounded once; NULL when it does not fit.", exactness=_REDEFINED),
    aggregate("avg", (Param("a", NUMBER),), signatures.mean,
              "The exact sum divided by the count, once.", spellings=("avg", "mean"), exactness=_REDEFINED),
    aggregate("var_samp", (Param("a", NUMBER),), aggregate_rules.spread,
              "The variance of a sample, exact and rounded once; NULL of fewer than two.",
              spellings=("var_samp", "variance"), exactness=_REDEFINED),
    aggregate("var_pop", (Param("a", NUMBER),), aggregate_rules.spread,
              "The variance of a population, exact and rounded once.", exactness=_REDEFINED),
    aggregate("stddev_samp", (Param("a", NUMBER),), aggregate_rules.spread,
              "The square root of the exact variance of a sample, rounded once; NULL of fewer than two.",
              spellings=("stddev_samp", "stddev", "std"), exactness=_REDEFINED),
    aggregate("stddev_pop", (Param("a", NUMBER),), aggregate_rules.spread,
              "The square root of the exact variance of a population, rounded once.", exactness=_REDEFINED),
    aggregate("min", (Param("a", ORDERED),), signatures.smallest_or_largest, "The smallest value."),
    aggregate("max", (Param("a", ORDERED),), signatures.smallest_or_largest, "The largest value; NaN is largest."),
    aggregate("bool_and", (Param("a", BOOLEAN),), aggregate_rules.all_or_any,
              "Whether it is true in all rows where it is not NULL.", spellings=("bool_and", "every")),
    aggregate("bool_or", (Param("a", BOOLEAN),), aggregate_rules.all_or_any,
              "Whether it is true in any row.", spellings=("bool_or", "some", "any")),
    aggregate("first", (Param("a", ANY), _SKIP), aggregate_rules.at_an_end,
              "The value of the first row in the total order of events; of those not NULL with `IGNORE NULLS`.",
              spellings=("first", "first_value"), exactness=_REDEFINED),
    aggregate("last", (Param("a", ANY), _SKIP), aggregate_rules.at_an_end,
              "The value of the last row in the total order of events; of those not NULL with `IGNORE NULLS`.",
              spellings=("last", "last_value"), exactness=_REDEFINED),
    aggregate("min_by", (Param("a", ANY), Param("b", ORDERED)), aggregate_rules.at_an_extreme,
              "The value of the row whose b is smallest; of several such rows, of the first.", exactness=_REDEFINED),
    aggregate("max_by", (Param("a", ANY), Param("b", ORDERED)), aggregate_rules.at_an_extreme,
              "The value of the row whose b is largest; of several such rows, of the last.", exactness=_REDEFINED),
    aggregate("top_k", (Param("a", ORDERED), _LIMIT), aggregate_rules.greatest_values,
              "The n largest values that are not NULL, the largest first.", exactness=_REDEFINED),
    aggregate("collect_last", (Param("a", ANY), _LIMIT), aggregate_rules.last_values,
              "The last n values that are not NULL, in the total order of events.", exactness=_REDEFINED),
)  # fmt: skip

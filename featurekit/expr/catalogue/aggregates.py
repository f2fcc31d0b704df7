"""Aggregates over the rows of one entity. Sums and averages are exact (DESIGN V2, V4)."""

from __future__ import annotations

from typing import Final

from featurekit.expr import signatures as rules
from featurekit.expr.catalogue.row import ANY, NUMBER, ORDERED, Function, Nulls, Param, aggregate

ROWS: Final[tuple[Function, ...]] = (
    aggregate("count", (Param("a", ANY, optional=True),), rules.counted,
              "The number of rows, or of rows where it is not NULL.", nulls=Nulls.NEVER),
    aggregate("sum", (Param("a", NUMBER),), rules.total, "The exact sum, rounded once; NULL when it does not fit."),
    aggregate("avg", (Param("a", NUMBER),), rules.mean, "The exact sum divided by the count, once."),
    aggregate("min", (Param("a", ORDERED),), rules.smallest_or_largest, "The smallest value."),
    aggregate("max", (Param("a", ORDERED),), rules.smallest_or_largest, "The largest value; NaN is largest."),
)  # fmt: skip

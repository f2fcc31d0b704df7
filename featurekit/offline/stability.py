"""What in a query can give another answer on another run: Spark's analyzed plans, walked through Py4J (DESIGN V6).

Spark's own word, `deterministic`, is about one run. What is refused here besides depends on when or where the query
runs, on the order in which rows arrive, or on which of several rows that tie comes first. Rows are told apart where an
ORDER BY names every column: of rows that are equal in all of them it does not matter which one is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

# fmt: off
_MOMENT: Final = frozenset(
    (
        "current_timestamp", "now", "current_date", "curdate", "localtimestamp", "current_time", "current_user",
        "user", "session_user", "current_database", "current_catalog", "rand", "randn", "random", "randstr", "uniform",
        "uuid", "shuffle", "monotonically_increasing_id", "spark_partition_id", "input_file_name",
        "input_file_block_start", "input_file_block_length", "java_method", "reflect", "try_reflect",
    )
)
_BY_ORDER: Final = frozenset(
    (
        "first", "first_value", "last", "last_value", "any_value", "nth_value", "row_number", "ntile", "lag", "lead",
        "collect_list", "collect_set", "array_agg", "listagg", "string_agg", "max_by", "min_by", "mode",
        "approx_percentile", "percentile_approx", "histogram_numeric", "approx_top_k", "approx_top_k_accumulate",
        "kll_sketch_agg_bigint", "kll_sketch_agg_double", "kll_sketch_agg_float",
    )
)
# Sums of doubles by their nature, whatever is summed.
_MOMENTS: Final = frozenset(
    (
        "stddev", "stddev_samp", "stddev_pop", "std", "variance", "var_samp", "var_pop", "skewness", "kurtosis",
        "corr", "covar_samp", "covar_pop", "regr_r2", "regr_slope", "regr_intercept", "regr_sxx", "regr_sxy",
        "regr_syy",
    )
)
# fmt: on
_CUTS: Final = {"GlobalLimit": "LIMIT", "LocalLimit": "LIMIT", "Offset": "OFFSET", "Tail": "TAIL"}
_ROWS_OF_CHANCE: Final = {"Sample": "TABLESAMPLE", "ScriptTransformation": "TRANSFORM"}
_FLOATS: Final = frozenset(("float", "double"))


def unstable_parts(plan: Any) -> Iterator[str]:
    """Yield what in an analyzed plan can give another answer on another run, as people write it."""
    kind = _class(plan)
    if kind in _ROWS_OF_CHANCE:
        yield _ROWS_OF_CHANCE[kind]
    elif kind in _CUTS and not _cuts_total_order(plan):
        yield f"{_CUTS[kind]} without an ORDER BY of every column"
    in_total_order = kind == "Window" and _orders_all(
        [*_items(plan.partitionSpec()), *(part.child() for part in _items(plan.orderSpec()))], plan.child()
    )
    for expression in _items(plan.expressions()):
        yield from _in_expression(expression, in_total_order)
    for child in (*_items(plan.children()), *_items(plan.subqueries())):
        yield from unstable_parts(child)


def _in_expression(expression: Any, in_total_order: bool) -> Iterator[str]:
    children = _items(expression.children())
    function = str(expression.prettyName())
    by_chance = function in _MOMENT or (not expression.deterministic() and not children)
    if by_chance or (function in _BY_ORDER and not in_total_order):
        yield f"{function}()"
    elif _sums_floats(expression, function, children):
        yield f"{function}() of floats"
    elif _class(expression) == "WindowExpression" and not in_total_order:
        yield from _running(expression)
    for child in children:
        yield from _in_expression(child, in_total_order)


def _running(window: Any) -> Iterator[str]:
    """Yield a window's aggregate where its frame is bounded by a number of rows: rows that tie fall on either side."""
    frame = window.windowSpec().frameSpecification()
    function = window.windowFunction()
    if _class(function) != "AggregateExpression":
        return  # rank and its like: rows that tie have one rank
    name = str(function.children().head().prettyName())
    bounds = (_class(frame.lower()), _class(frame.upper()))
    if str(frame.frameType().sql()) == "ROWS" and not all(bound.startswith("Unbounded") for bound in bounds):
        yield f"{name}() over ROWS"


def _sums_floats(expression: Any, function: str, children: list[Any]) -> bool:
    """Return whether an aggregate adds floats up, each addition rounding: the order of rows changes the last bits."""
    if function in _MOMENTS:
        return True
    return _class(expression) in ("Sum", "Average") and str(children[0].dataType().simpleString()) in _FLOATS


def _cuts_total_order(plan: Any) -> bool:
    child = plan
    while _class(child) in _CUTS:
        child = child.child()
    # `global` is a word of Python's.
    if _class(child) != "Sort" or not getattr(child, "global")():
        return False
    return _orders_all([part.child() for part in _items(child.order())], child)


def _orders_all(keys: Iterable[Any], rows: Any) -> bool:
    """Return whether keys are all the columns of some rows."""
    named = {key.exprId() for key in keys if _class(key) == "AttributeReference"}
    return all(column.exprId() in named for column in _items(rows.output()))


def _class(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(at) for at in range(sequence.size())]

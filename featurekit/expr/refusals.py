"""Why some SQL can't be a feature expression, and the accepted way to write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Refusal:
    why: str
    try_: str


_NOW: Final = Refusal(
    "a feature is computed once for training and once for serving; the machine's clock differs between the two",
    "give the on-demand view a request column of type timestamp; in a window feature the as-of is the clock already",
)
_CHANCE: Final = Refusal(
    "it gives another value each time, so training and serving could never agree",
    "store the random value in the source, or take a stable bucket of a key",
)
_APPROXIMATE: Final = Refusal(
    "its answer depends on how Spark splits the rows, so no second computation gives the same bits",
    "avg, min, max, or the share of rows beyond a bound: avg(CASE WHEN x > 10 THEN 1.0D ELSE 0.0D END)",
)
_UNORDERED: Final = Refusal(
    "which row it takes depends on the order rows happen to arrive in",
    "name the column without an aggregate: that is the latest row's value, the same on every run",
)
_WHOLE_GROUP: Final = Refusal(
    "it is not in the catalogue yet: no exact form that both paths share",
    "count, sum, avg, min or max, with FILTER (WHERE …)",
)
_TEXT_TIME: Final = Refusal(
    "turning text into time, or time into text, depends on pattern rules that engines read differently",
    "declare the column as a timestamp in the source; write constants as TIMESTAMP '2013-11-15T02:00Z'",
)
_LIBM: Final = Refusal(
    "its last bit differs between Java, C and NumPy, so it waits until it has an exact kernel",
    "a function of the catalogue, or compute it in the source",
)

FUNCTIONS: Final[dict[str, Refusal]] = {
    **dict.fromkeys(
        ("now", "current_timestamp", "current_date", "curdate", "localtimestamp", "current_time", "getdate", "sysdate"),
        _NOW,
    ),
    **dict.fromkeys(("rand", "random", "randn", "uuid", "shuffle", "monotonically_increasing_id", "randstr"), _CHANCE),
    **dict.fromkeys(("percentile_approx", "approx_percentile", "approx_count_distinct", "median"), _APPROXIMATE),
    **dict.fromkeys(
        ("first", "first_value", "last", "last_value", "any_value", "collect_list", "collect_set", "array_agg"),
        _UNORDERED,
    ),
    **dict.fromkeys(
        ("stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "percentile", "max_by", "min_by"),
        _WHOLE_GROUP,
    ),
    **dict.fromkeys(
        ("count_if", "bool_and", "bool_or", "corr", "skewness", "kurtosis", "mode"),
        _WHOLE_GROUP,
    ),
    **dict.fromkeys(("to_timestamp", "to_date", "date_format", "from_unixtime", "to_char"), _TEXT_TIME),
    **dict.fromkeys(
        ("exp", "ln", "log", "log10", "log2", "log1p", "expm1", "pow", "power", "sin", "cos", "tan", "asin", "acos"),
        _LIBM,
    ),
    **dict.fromkeys(
        ("atan", "atan2", "sinh", "cosh", "tanh", "cbrt", "hypot"),
        _LIBM,
    ),
    "extract": Refusal("it has a syntax of its own", "the field's function, such as hour(x) or year(x)"),
    "exists": Refusal("an expression sees the rows of one entity", "declare another source or view for the other rows"),
    **dict.fromkeys(
        ("lag", "lead", "row_number", "rank", "dense_rank", "ntile"),
        Refusal(
            "it orders the rows of a query; a feature is the aggregate of a set of rows",
            "a window on the feature (window: 7d), or the bare column for the latest row",
        ),
    ),
}

WINDOW: Final = Refusal(
    "OVER ranges over the rows of a query; here the window is part of the feature",
    "declare it beside the expression: {sql: sum(x), window: 7d}",
)
SUBQUERY: Final = Refusal(
    "an expression sees the rows of one source for one entity, never another table",
    "put the query into a source of its own (sql: SELECT …) and define a view on it",
)
STAR: Final = Refusal("a feature is one value", "name the column, or count(*) for the number of rows")
LAMBDA: Final = Refusal("functions of arrays and maps are not in the catalogue yet", "compute it in the source")
DISTINCT: Final = Refusal(
    "distinct values of a window can't be merged from parts without keeping them all",
    "count rows with FILTER (WHERE …), or mark first occurrences in the source",
)
INTERVAL: Final = Refusal(
    "days and hours differ at clock changes, and engines differ in which they mean",
    "compare seconds: unix_timestamp(a) - unix_timestamp(b) < 86400, or datediff(a, b) for days",
)
BITS: Final = Refusal("bit operators are not in the catalogue yet", "div and % take an integer apart")
LIKE: Final = Refusal(
    "patterns are not in the catalogue yet: escapes and case differ between engines",
    "=, IN, or substring(x, 1, 3) = 'abc' for a prefix",
)
BRACKETS: Final = Refusal("arrays, maps and structs are not in the catalogue yet", "flatten the field in the source")
ALIAS: Final = Refusal("the feature's name is its key in the YAML", "leave the alias away")
UNKNOWN: Final = Refusal(
    "only functions whose bits are known to agree in Spark and online are accepted; a UDF has one implementation only",
    "a function of the catalogue, or compute it in the source",
)

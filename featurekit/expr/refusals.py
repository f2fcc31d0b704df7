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
    "hash_bucket(x, 100), a stable bucket of a key; or store the random value in the source",
)
_APPROXIMATE: Final = Refusal(
    "its answer depends on how Spark splits the rows, so no second computation gives the same bits",
    "avg(CASE WHEN x > 10 THEN 1.0D ELSE 0.0D END) is the share of rows beyond a bound; top_k(x, 10) the largest ones",
)
_RANKED: Final = Refusal(
    "it needs all values of a window sorted, and parts of it can't be merged without keeping them all",
    "avg and stddev; the share of rows beyond a bound, count_if(x > 10) / count(x); or top_k(x, 10), the largest ones",
)
_MODE: Final = Refusal(
    "of values that are equally frequent it takes any",
    "count(*) FILTER (WHERE x = 'a') for each value that matters, or last(x) for the newest",
)
_UNORDERED: Final = Refusal(
    "it keeps all values of a window, in the order in which rows happen to arrive",
    "collect_last(x, 10), the last ones in the order of events; top_k(x, 10), the largest; count(DISTINCT x), how many",
)
_ANY_VALUE: Final = Refusal(
    "which row it takes depends on the order rows happen to arrive in",
    "first(x), last(x), min_by(x, y) or max_by(x, y): the total order of events decides, also between ties",
)
_HIGHER_MOMENTS: Final = Refusal(
    "it has no exact form here that both paths share; Spark's depends on how it splits the rows",
    "avg, var_samp and stddev_samp, which are exact; avg(x * y) - avg(x) * avg(y) is a covariance",
)
_JOINED_TEXT: Final = Refusal(
    "its text depends on the order in which rows happen to arrive",
    "array_join(collect_last(x, 10), ',') joins the last ones in the order of events",
)
_SKETCH: Final = Refusal(
    "a sketch is not a feature's value, and its bytes are one engine's",
    "approx_count_distinct(x), which merges such sketches by itself",
)
_NUMBER_TEXT: Final = Refusal(
    "a number as text for people depends on the Java version's formats and locales",
    "CAST(x AS STRING) of an integer or a decimal, lpad(x, 8, '0') for a fixed width; date_format(t, 'yyyy-MM-dd') of a"
    " time",
)
_COLLATION: Final = Refusal(
    "here texts are compared by their bytes; collations change with the version of their tables",
    "lower(x) = lower(y) to compare without case, trim(x) without spaces at the ends",
)
_LETTER_KINDS: Final = Refusal(
    "which letters count as upper case, lower case or digits depends on the Java version",
    "translate(x, '0123456789', 'nnnnnnnnnn') for the letters that matter",
)
_URL_PARTS: Final = Refusal(
    "what is a valid URL, and where its parts begin, is one Java library's own reading",
    "substring_index(x, '/', 3), split_part(x, '?', 2), url_decode(x)",
)
_SENTENCES: Final = Refusal(
    "where words and sentences end depends on the tables of the Java version",
    "split_part(x, ' ', 1), or substring_index(x, '.', 1)",
)
_SIMILARITY: Final = Refusal(
    "it waits for an exact definition that both paths share",
    "levenshtein(a, b), also by length: 1.0D - levenshtein(a, b) / greatest(length(a), length(b), 1)",
)
INTERVAL: Final = Refusal(
    "an interval is not a value here: engines differ in what it is and how it prints",
    "write it after the time: t + INTERVAL 1 DAY; timestampdiff(SECOND, a, b) or datediff(b, a) between two times",
)
_TRIED: Final = Refusal(
    "what would raise is NULL here in every function, so there is nothing left to try",
    "the plain form: a + b, a / b, sum(x), element_at(x, 1)",
)
CONVERSION: Final = Refusal("a type is no function here", "CAST(x AS BIGINT), or x::BIGINT")
_ROWS: Final = Refusal(
    "it makes rows of one value, and a feature is one value",
    "size(x), exists(x, y -> y > 1), aggregate(x, 0, (total, y) -> total + y); rows are made in a source of its own"
    " (sql: SELECT …)",
)
_RAISED: Final = Refusal("no row can fail a job or a request", "NULL, and expect: {not_null: true} on the feature")
_SURROUNDINGS: Final = Refusal(
    "it tells where and by whom it is computed, which differs between training and serving",
    "a column of the source, or a request value",
)
_PRINTED: Final = Refusal(
    "a fraction printed as text has other digits on other versions of Java",
    "the value itself, as an array, a map or a struct; concat_ws(',', x, y) of texts",
)
_TIME_WINDOW: Final = Refusal(
    "it groups rows, which the feature's own window does here",
    "declare it beside the expression ({sql: count(*), window: 1h}); date_trunc('hour', t) is the hour of a time",
)
_BITS_OF_ALL: Final = Refusal(
    "it is not in the catalogue",
    "bool_or(x & 4 <> 0) and bool_and(x & 4 <> 0), for each bit that matters",
)
_SHORT: Final = "it is not in the catalogue, since other functions say the same in a few words"
_PARTS_ADDED: Final = Refusal(
    "how the sum grows decides its bits, so it is written out",
    "aggregate(a, 0L, (total, x) -> total + x); of doubles aggregate(a, 0.0D, (total, x) -> total + x); divided by"
    " size(a) for the mean",
)

FUNCTIONS: Final[dict[str, Refusal]] = {
    **dict.fromkeys(
        ("now", "current_timestamp", "current_date", "curdate", "localtimestamp", "current_time", "getdate", "sysdate"),
        _NOW,
    ),
    **dict.fromkeys(("rand", "random", "randn", "uuid", "shuffle", "monotonically_increasing_id", "randstr"), _CHANCE),
    **dict.fromkeys(("percentile_approx", "approx_percentile", "histogram_numeric", "approx_top_k"), _APPROXIMATE),
    **dict.fromkeys(
        (
            *("median", "percentile", "percentile_cont", "percentile_disc", "quantile", "quantile_cont"),
            *("approx_quantile", "p50", "p90", "p95", "p99"),
        ),
        _RANKED,
    ),
    "mode": _MODE,
    **dict.fromkeys(("collect_list", "collect_set", "array_agg"), _UNORDERED),
    "any_value": _ANY_VALUE,
    **dict.fromkeys(("listagg", "string_agg"), _JOINED_TEXT),
    **dict.fromkeys(
        ("corr", "covar_pop", "covar_samp", "regr_slope", "regr_intercept", "regr_r2", "skewness", "kurtosis"),
        _HIGHER_MOMENTS,
    ),
    **dict.fromkeys(("hll_sketch_agg", "count_min_sketch", "bitmap_construct_agg"), _SKETCH),
    **dict.fromkeys(
        ("to_char", "to_varchar", "format_number", "format_string", "format", "printf", "to_number", "try_to_number"),
        _NUMBER_TEXT,
    ),
    **dict.fromkeys(
        ("try_add", "try_subtract", "try_multiply", "try_divide", "try_mod", "try_remainder", "try_sum", "try_avg"),
        _TRIED,
    ),
    **dict.fromkeys(
        (
            *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal"),
            *("string", "binary", "date", "timestamp", "str", "varchar", "text", "integer", "long", "bool"),
        ),
        CONVERSION,
    ),
    **dict.fromkeys(
        ("explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack", "unnest"),
        _ROWS,
    ),
    **dict.fromkeys(("raise_error", "assert_true"), _RAISED),
    **dict.fromkeys(
        (
            *("current_user", "user", "session_user", "current_database", "current_schema", "current_catalog"),
            *("current_timezone", "input_file_name", "spark_partition_id", "version"),
        ),
        _SURROUNDINGS,
    ),
    **dict.fromkeys(("to_json", "to_csv", "to_xml"), _PRINTED),
    **dict.fromkeys(("window", "session_window", "window_time"), _TIME_WINDOW),
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), _BITS_OF_ALL),
    **dict.fromkeys(("make_interval", "make_dt_interval", "make_ym_interval"), INTERVAL),
    **dict.fromkeys(("collate", "collation"), _COLLATION),
    "mask": _LETTER_KINDS,
    **dict.fromkeys(("parse_url", "try_parse_url"), _URL_PARTS),
    "sentences": _SENTENCES,
    "jaro_winkler_similarity": _SIMILARITY,
    **dict.fromkeys(("sigmoid", "logistic"), Refusal(_SHORT, "1.0D / (1.0D + exp(-x))")),
    **dict.fromkeys(("clip", "clamp"), Refusal(_SHORT, "least(greatest(x, 0), 100)")),
    **dict.fromkeys(
        ("sum_if", "sumif", "avg_if", "avgif", "min_if", "max_if", "countif"),
        Refusal("the condition of an aggregate stands behind it", "sum(x) FILTER (WHERE y > 1), count_if(y > 1)"),
    ),
    **dict.fromkeys(
        ("nunique", "distinct_count", "approx_distinct"),
        Refusal(_SHORT, "count(DISTINCT x), exactly; approx_count_distinct(x) of many"),
    ),
    **dict.fromkeys(
        ("isinf", "is_inf", "isinfinite", "isfinite", "is_finite"),
        Refusal(_SHORT, "abs(x) = CAST('Infinity' AS DOUBLE), isnan(x)"),
    ),
    "conv": Refusal("it is not in the catalogue", "hex(x), bin(x), unhex(x)"),
    **dict.fromkeys(("vector_inner_product", "inner_product"), Refusal(_SHORT, "dot_product(a, b)")),
    **dict.fromkeys(
        ("vector_norm", "vector_normalize", "normalize", "l2_normalize"),
        Refusal(_SHORT, "l2_norm(a), transform(a, x -> x / l2_norm(a))"),
    ),
    **dict.fromkeys(
        ("to_timestamp_ltz", "to_timestamp_ntz"),
        Refusal(_SHORT, "to_timestamp(x, 'yyyy-MM-dd HH:mm'), CAST(x AS TIMESTAMP_NTZ)"),
    ),
    "relu": Refusal(_SHORT, "greatest(x, 0)"),
    **dict.fromkeys(
        ("one_hot", "onehot", "get_dummies", "one_hot_encode"),
        Refusal("a feature is one value", "if(x = 'a', 1, 0) for each value; hash_bucket(x, 100) where they are many"),
    ),
    **dict.fromkeys(
        ("safe_divide", "div0", "divide"), Refusal("dividing by zero is NULL here", "a / b, coalesce(a / b, 0)")
    ),
    **dict.fromkeys(("fillna", "fill_null"), Refusal(_SHORT, "coalesce(x, 0), nanvl(x, 0.0D)")),
    **dict.fromkeys(("strftime", "to_date_string"), Refusal(_SHORT, "date_format(t, 'yyyy-MM-dd')")),
    **dict.fromkeys(("strptime", "parse_date"), Refusal(_SHORT, "to_date(x, 'yyyy-MM-dd')")),
    **dict.fromkeys(("age", "days_between"), Refusal(_SHORT, "datediff(b, a) in days, months_between(b, a) / 12")),
    **dict.fromkeys(("array_sum", "array_avg", "array_mean", "list_sum", "list_avg"), _PARTS_ADDED),
    **dict.fromkeys(("euclidean_distance", "array_distance"), Refusal(_SHORT, "l2_distance(a, b)")),
    **dict.fromkeys(
        ("geo_distance", "st_distance", "st_distancesphere"),
        Refusal("a distance on Earth depends on its model", "haversine(a, b, x, y), in kilometres"),
    ),
    "arrays_zip": Refusal(
        "the fields it makes are named after how its arguments were written, which a plan may change",
        "zip_with(a, b, (x, y) -> named_struct('left', x, 'right', y))",
    ),
    "map_zip_with": Refusal(
        "Spark looks its keys up in a hash table, which tells 0.0 and -0.0 apart and other functions don't",
        "transform_values(a, (k, v) -> v + b[k])",
    ),
    **dict.fromkeys(
        ("get_json_object", "json_tuple", "from_json"),
        Refusal(
            "a fraction in JSON comes out as text, and two versions of Java print some of them differently",
            "json_string(x, '$.a.b'); json_bigint, json_double and json_boolean read other types at such a path",
        ),
    ),
    **dict.fromkeys(
        ("lag", "lead", "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "nth_value"),
        Refusal(
            "it orders the rows of a query; a feature is the aggregate of a set of rows",
            "a window on the feature (window: 7d); the bare column, the latest row's; collect_last(x, 2), the last two",
        ),
    ),
}

# Those that SQL also knows without parentheses: a column of another name that is not there is just not there.
WORDS: Final = frozenset(name for name, refusal in FUNCTIONS.items() if refusal is _NOW) | {
    "current_user",
    "session_user",
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
LAMBDA: Final = Refusal(
    "a lambda is no value: it says what a function does with each element",
    "transform(a, x -> …), filter, exists, forall, aggregate, zip_with; array_sort takes none: which of two equal"
    " elements comes first would depend on the engine",
)
DISTINCT: Final = Refusal(
    "of the aggregates only count takes it: min, max and the like give the same without, and a sum of distinct values "
    "is rarely meant",
    "count(DISTINCT x), approx_count_distinct(x), or mark first occurrences in the source",
)
LIST: Final = Refusal("it is neither a struct nor an array", "x IN (…), struct(…), array(…)")
FILTER: Final = Refusal(
    "it says which rows an aggregate takes, directly behind the aggregate", "count(*) FILTER (WHERE x > 1)"
)
COLLATE: Final = _COLLATION
MATCH: Final = Refusal("Spark has no such operator", "regexp_like(x, '^a+$')")
MODULO: Final = Refusal("Spark has no such operator", "mod(a, b), a % b")
ORDER: Final = Refusal("the total order of events decides which row comes first", _ANY_VALUE.try_.split(":")[0])
AT_ZONE: Final = Refusal("a zone is an argument here", "from_utc_timestamp(t, 'America/New_York'): a clock there")
COLON: Final = Refusal("text has no fields", "json_string(x, '$.device.kind') of JSON; s.name is a struct's field")
SIMILAR: Final = Refusal("its patterns are of a kind of their own", "x LIKE 'a%', regexp_like(x, '^a+$')")
POWER: Final = Refusal("Spark has no such operator", "pow(x, 2), or x * x")
WHOLE_QUOTIENT: Final = Refusal("Spark has no such operator", "a DIV b of integers, floor(a / b) of other numbers")
LOGIC: Final = Refusal("Spark has no such operator", "x AND y, x OR y")
ALIAS: Final = Refusal("the feature's name is its key in the YAML", "leave the alias away")
UNKNOWN: Final = Refusal(
    "only functions whose bits are known to agree in Spark and online are accepted; a UDF has one implementation only",
    "a function of the catalogue, or compute it in the source",
)

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
_TEXT_TIME: Final = Refusal(
    "turning text into time, or time into text, depends on pattern rules that engines read differently",
    "declare the column as a timestamp in the source; write constants as TIMESTAMP '2013-11-15T02:00Z'",
)
_NUMBER_TEXT: Final = Refusal(
    "a number as text for people depends on the Java version's formats and locales",
    "CAST(x AS STRING) of an integer or a decimal; lpad(…, 8, '0') for a fixed width",
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

FUNCTIONS: Final[dict[str, Refusal]] = {
    **dict.fromkeys(
        ("now", "current_timestamp", "current_date", "curdate", "localtimestamp", "current_time", "getdate", "sysdate"),
        _NOW,
    ),
    **dict.fromkeys(("rand", "random", "randn", "uuid", "shuffle", "monotonically_increasing_id", "randstr"), _CHANCE),
    **dict.fromkeys(("percentile_approx", "approx_percentile", "histogram_numeric", "approx_top_k"), _APPROXIMATE),
    **dict.fromkeys(("median", "percentile", "percentile_cont", "percentile_disc"), _RANKED),
    "mode": _MODE,
    **dict.fromkeys(("collect_list", "collect_set", "array_agg"), _UNORDERED),
    "any_value": _ANY_VALUE,
    **dict.fromkeys(("listagg", "string_agg"), _JOINED_TEXT),
    **dict.fromkeys(
        ("corr", "covar_pop", "covar_samp", "regr_slope", "regr_intercept", "regr_r2", "skewness", "kurtosis"),
        _HIGHER_MOMENTS,
    ),
    **dict.fromkeys(("hll_sketch_agg", "count_min_sketch", "bitmap_construct_agg"), _SKETCH),
    "to_char": _TEXT_TIME,
    **dict.fromkeys(
        ("format_number", "to_varchar", "format_string", "printf", "to_number", "try_to_number"), _NUMBER_TEXT
    ),
    **dict.fromkeys(("collate", "collation"), _COLLATION),
    "mask": _LETTER_KINDS,
    **dict.fromkeys(("parse_url", "try_parse_url"), _URL_PARTS),
    "sentences": _SENTENCES,
    "jaro_winkler_similarity": _SIMILARITY,
    "arrays_zip": Refusal(
        "the fields it makes are named after how its arguments were written, which a plan may change",
        "zip_with(a, b, (x, y) -> named_struct('a', x, 'b', y))",
    ),
    "map_zip_with": Refusal(
        "Spark looks its keys up in a hash table, which tells 0.0 and -0.0 apart and other functions don't",
        "transform_values(m, (k, v) -> …other[k]…)",
    ),
    **dict.fromkeys(
        ("get_json_object", "json_tuple", "from_json"),
        Refusal(
            "a fraction in JSON comes out as text, and two versions of Java print some of them differently",
            "json_string, json_bigint, json_double or json_boolean(text, '$.a.b')",
        ),
    ),
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
INTERVAL: Final = Refusal(
    "an interval is not a value here: engines differ in what it is and how it prints",
    "write it after the time: t + INTERVAL 1 DAY; timestampdiff(SECOND, a, b) or datediff(b, a) between two times",
)
LIST: Final = Refusal("it is neither a struct nor an array", "x IN (…), struct(…), array(…)")
ALIAS: Final = Refusal("the feature's name is its key in the YAML", "leave the alias away")
UNKNOWN: Final = Refusal(
    "only functions whose bits are known to agree in Spark and online are accepted; a UDF has one implementation only",
    "a function of the catalogue, or compute it in the source",
)

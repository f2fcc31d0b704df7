"""Casts whose meaning is ours, because Spark's own depends on the day, on Java, or wraps; in Python and in Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from featurekit.errors import TypeMismatchError
from featurekit.expr import infer
from featurekit.expr.coerce import common_type
from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render
from featurekit.types import DataType, Date, Int32, TimestampNtz, parse_type
from tests.semantics import edges, values
from tests.semantics.session import start

DAY = 86_400_000_000

# Nothing that Spark would read by the day's date, by the zones of its Java, or by digits of another script.
REDEFINED: tuple[tuple[str, Any], ...] = (
    ("CAST('12:30' AS TIMESTAMP)", None),
    ("CAST('T12:30:00' AS TIMESTAMP)", None),
    ("CAST('now' AS TIMESTAMP)", None),
    ("CAST('today' AS DATE)", None),
    ("CAST(' yesterday' AS DATE)", None),
    ("CAST('epoch' AS TIMESTAMP_NTZ)", None),
    ("CAST('2024-01-05 01:02:03 Europe/Paris' AS TIMESTAMP)", None),
    ("CAST('2024-01-05 01:02:03 EST' AS TIMESTAMP)", None),
    ("CAST('2024-01-05 01:02:03 PST' AS TIMESTAMP_NTZ)", None),
    ("CAST('2024-01-05 01:02:03 +01:00' AS TIMESTAMP)", 1_704_412_923_000_000),
    (r"CAST('\u0661\u0662' AS DECIMAL(5,2))", None),
    (r"CAST('1\u0085' AS DECIMAL(5,2))", None),
    ("CAST('1e-99999' AS DECIMAL(5,2))", None),
    ("CAST(9223372036854L AS TIMESTAMP)", 9_223_372_036_854_000_000),
    ("CAST(9223372036855L AS TIMESTAMP)", None),
    ("CAST(-9223372036855L AS TIMESTAMP)", None),
    ("CAST(99999999999999BD AS TIMESTAMP)", None),
    ("CAST(-9223372036854.775809BD AS TIMESTAMP)", None),
    ("CAST(9223372036854.775807BD AS TIMESTAMP)", 2**63 - 1),
    ("CAST(X'41FF' AS STRING)", None),
    ("CAST(X'EDA080' AS STRING)", None),
    ("CAST(X'C3A9' AS STRING)", "é"),
    ("CAST(0.99999999999999999999999999999999999999BD AS INT)", 0),
    ("CAST(array('12:30', '2024-01-05', 'x') AS ARRAY<TIMESTAMP>)", (None, 1_704_412_800_000_000, None)),
    ("CAST(array(array(9223372036855L, 1L), NULL) AS ARRAY<ARRAY<TIMESTAMP>>)", ((None, 1_000_000), None)),
    ("CAST(map('k', 'today') AS MAP<STRING, DATE>)", (("k", None),)),
    (
        "CAST(named_struct('a', 'now', 'b', 9223372036855L) AS STRUCT<x: TIMESTAMP, `it's`: TIMESTAMP>)",
        (None, None),
    ),
)  # fmt: skip


def _parsed(text: str) -> Any:
    return parse_expression(text, edges.SCOPE, aggregates_allowed=False)


@pytest.mark.parametrize(("text", "expected"), REDEFINED)
def test_casts_of_our_own_meaning(text: str, expected: Any) -> None:
    assert compile_row([_parsed(text)], [])(())[0] == expected


@pytest.fixture(params=["true", "false"])
def spark_with(request: pytest.FixtureRequest) -> Iterator[Any]:
    spark = start()
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", request.param)
    yield spark
    spark.conf.set("spark.sql.ansi.enabled", before)


@pytest.mark.spark
def test_casts_of_our_own_meaning_are_the_same_in_spark(spark_with: Any) -> None:
    nodes = [_parsed(text) for text, _ in REDEFINED]
    columns = ", ".join(f"{render(node, lambda column: column.name)} AS v{place}" for place, node in enumerate(nodes))
    answer = spark_with.sql(f"SELECT {columns}").toArrow()
    found = [values.held_values(answer[f"v{place}"])[0] for place in range(len(nodes))]
    assert found == [expected for _, expected in REDEFINED]


# The days around the first and the last that microseconds reach.
DAYS = (106_751_991, 106_751_992, -106_751_991, -106_751_992, 2**31 - 1, -(2**31), 0, None)


@pytest.mark.spark
@pytest.mark.parametrize("target", ["timestamp", "timestamp_ntz", "string"])
def test_dates_beyond_microseconds_have_no_timestamp(spark_with: Any, target: str) -> None:
    day = Column(name="day", type=Date(), nullable=True)
    node = infer.cast(day, parse_type(target))
    listed = ", ".join("(CAST(NULL AS INT))" if days is None else f"({days})" for days in DAYS)
    days = f"SELECT date_from_unix_date(n) AS day FROM VALUES {listed} AS t(n)"
    sql = f"SELECT {render(node, lambda column: column.name)} AS v FROM ({days})"
    evaluate = compile_row([node], [day])
    assert values.held_values(spark_with.sql(sql).toArrow()["v"]) == [evaluate((each,))[0] for each in DAYS]


def test_comparing_a_date_with_a_timestamp_says_that_it_can_be_null() -> None:
    assert infer.coerce(Column(name="d", type=Date(), nullable=False), TimestampNtz()).nullable


@pytest.mark.parametrize(
    ("source", "target", "advice"),
    [
        ("f64", "STRING", "DECIMAL(17,2)"),
        ("ad", "STRING", "transform the parts"),
        ("f64", "DECIMAL(38,2)", "15 digits before the point"),
        ("dt", "INT", "datediff"),
        ("i32", "DATE", "AS TIMESTAMP"),
        ("i32", "BINARY", "AS STRING"),
        ("bin", "INT", "AS STRING"),
        ("ts", "BOOLEAN", "compare it"),
        ("b", "TIMESTAMP", "CASE WHEN"),
        ("m", "MAP<INT, INT>", "the values only"),
    ],
)
def test_refused_casts_say_what_to_write_instead(source: str, target: str, advice: str) -> None:
    with pytest.raises(TypeMismatchError) as refused:
        _parsed(f"CAST({source} AS {target})")
    assert refused.value.why
    assert advice in (refused.value.try_ or "")


@pytest.mark.parametrize(
    ("left", "right", "shared"),
    [
        (Date(), TimestampNtz(), "timestamp_ntz"),
        (parse_type("timestamp"), TimestampNtz(), "timestamp"),
        (parse_type("array<int>"), parse_type("array<decimal(5,2)>"), "array<decimal(12,2)>"),
        (parse_type("struct<a:int>"), parse_type("struct<a:double>"), "struct<a:double>"),
        (parse_type("struct<a:int>"), parse_type("struct<b:int>"), None),
        (parse_type("map<int,int>"), parse_type("map<double,int>"), None),
        (Int32(), parse_type("string"), None),
    ],
)
def test_common_types_of_times_and_parts(left: DataType, right: DataType, shared: str | None) -> None:
    for pair in ((left, right), (right, left)):
        found = common_type(pair)
        assert (found.name if found else None) == shared

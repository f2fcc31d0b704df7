"""Where dates and timestamps end: Spark wraps there, or raises errors of Java's, so no case can be recorded.

What we mean is NULL. The SQL we emit and the row evaluator have to agree on it, with ANSI on and off.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pytest

from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render
from featurekit.types import Date, Int32, Int64, Timestamp, TimestampNtz
from tests.semantics import values

_DAY: Final = 86_400_000_000
_DAYS: Final = [
    end + step * distance
    for end, step in ((-(1 << 31), 1), ((1 << 31) - 1, -1))
    for distance in (0, 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 30, 191, 192, 193)
]
_MICROS: Final = [
    end + step * distance
    for end, step in ((-(1 << 63), 1), ((1 << 63) - 1, -1))
    for distance in (0, 1, 224_192, 999_999, 14_454_775_807, 14_454_775_808, _DAY, 7 * _DAY, 31 * _DAY, 400 * _DAY)
]
COLUMNS: Final = (
    Column(name="d", type=Date(), nullable=True),
    Column(name="t", type=Timestamp(), nullable=True),
    Column(name="u", type=TimestampNtz(), nullable=True),
    Column(name="i", type=Int32(), nullable=True),
    Column(name="n", type=Int64(), nullable=True),
)
ROWS: Final = [
    (day, micros, -micros - 1, (-1) ** index * index**3 * 150, micros // 1000 ** (index % 4))
    for index, (day, micros) in enumerate(
        (_DAYS[index % len(_DAYS)], _MICROS[index % len(_MICROS)]) for index in range(7 * len(_DAYS))
    )
]
UNITS: Final = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
EXPRESSIONS: Final = (
    "date_add(d, i)", "date_sub(d, i)", "d + 1", "d - 1", "add_months(d, i)", "last_day(d)",
    *(f"next_day(d, '{day}')" for day in ("MO", "TU", "WE", "TH", "FR", "SA", "SU")),
    *(f"trunc(d, '{unit}')" for unit in ("week", "month", "quarter", "year")),
    *(f"date_trunc('{unit}', t)" for unit in (*UNITS[:6], "week", "month", "quarter", "year")),
    *(f"timestampadd({unit}, i, t)" for unit in UNITS), *(f"timestampadd({unit}, n, t)" for unit in UNITS),
    "timestampadd(MONTH, 1, u)", "t + INTERVAL 1 DAY", "t - INTERVAL 1 MONTH", "d + INTERVAL 1 HOUR",
    *(f"timestampdiff({unit}, t, CAST(u AS TIMESTAMP))" for unit in UNITS),
    "datediff(d, DATE '1969-12-31')", "datediff(DATE '1970-01-02', d)", "datediff(t, u)",
    "months_between(t, u)", "months_between(u, t, false)", "hour(d)", "second(t)", "year(d)", "weekofyear(d)",
    "extract(YEAROFWEEK FROM d)", "extract(SECOND FROM t)", "dayname(d)", "dayofweek(d)",
    "from_utc_timestamp(t, 'America/New_York')", "from_utc_timestamp(t, 'Asia/Kolkata')",
    "to_utc_timestamp(t, 'America/New_York')", "to_utc_timestamp(t, 'Asia/Kolkata')",
    "convert_timezone('America/New_York', 'Asia/Kolkata', u)", "convert_timezone('Asia/Kolkata', 'UTC', t)",
    "timestamp_seconds(n)", "timestamp_millis(n)", "from_unixtime(n)", "unix_timestamp(t)", "unix_millis(t)",
    "make_date(year(d), month(d), 31)", "make_timestamp(year(t), month(t), 10, 4, 0, 54.775808)",
    "to_timestamp(date_format(t, 'yyyy-MM-dd HH:mm:ss.SSSSSS'), 'yyyy-MM-dd HH:mm:ss.SSSSSS')",
    "to_date(date_format(d, 'yyyyMMdd'), 'yyyyMMdd')",
    "coalesce(last_day(date_add(d, 20)), last_day(d), date_sub(d, 20))",
)  # fmt: skip


@pytest.mark.spark
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_both_paths_agree_where_time_ends(spark: Any, ansi: str) -> None:
    scope = ColumnScope.of(COLUMNS)
    nodes = [parse_expression(text, scope, aggregates_allowed=False) for text in EXPRESSIONS]
    evaluate = compile_row(nodes, COLUMNS)
    ours = list(zip(*map(evaluate, ROWS), strict=True))
    columns = {
        column.name: list(column_values) for column, column_values in zip(COLUMNS, zip(*ROWS, strict=True), strict=True)
    }
    table = pa.table({column.name: values.arrow_column(columns[column.name], column.type) for column in COLUMNS})
    table = table.append_column("row_number", pa.array(range(len(ROWS)), pa.int32()))
    spark.createDataFrame(table).coalesce(1).createOrReplaceTempView("extremes")
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        rendered = ", ".join(f"{render(node, lambda c: c.name)} AS v{index}" for index, node in enumerate(nodes))
        answer = spark.sql(f"SELECT {rendered} FROM extremes ORDER BY row_number").toArrow()
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    wrong = [
        f"{text}, row {row}: {ROWS[row]} is {mine!r}, in Spark {theirs!r}"
        for index, text in enumerate(EXPRESSIONS)
        for row, (mine, theirs) in enumerate(zip(ours[index], values.held_values(answer[f"v{index}"]), strict=True))
        if not values.same_bits(mine, theirs, nodes[index].type)
    ]
    assert wrong == []

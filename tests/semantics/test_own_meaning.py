"""Where we mean something else than Spark's own function gives, nothing can be recorded: both paths agree on it."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pytest

from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render
from featurekit.targets.vectors.evaluate import compile_columns
from featurekit.targets.vectors.vector import Vector
from tests.semantics import edges, test_time_extremes, values
from tests.semantics.legs import by_columns, by_row, parsed
from tests.semantics.session import frame

# A float key has one zero, however the map is made; Spark keeps the sign in some.
ZERO_KEYS: Final = (
    "map_keys(map(-0.0D, 'a', 1.0D, 'b'))",
    "map_keys(map(-0.0D, 1))",
    "map_keys(map_from_arrays(array(-0.0D, 1.0D), array(1, 2)))",
    "map_keys(transform_keys(map(1, 2, 3, 4), (k, v) -> CASE WHEN k = 1 THEN -0.0D ELSE 1.0D END))",
    "map_keys(map_from_arrays(array(-0.0F), array(1)))",
)
EXPRESSIONS: Final = (
    *ZERO_KEYS,
    "map_keys(map(f64, 1))",
    "map_keys(map_from_arrays(array(f64, 17D), array(1, 2)))",
    "map_keys(transform_keys(m, (k, v) -> f64))",
    "map_keys(map_concat(map(f64, 1), map(1e9D, 2)))",
    # The whole part counts; Spark goes through a double where it holds the decimal by its digits.
    "CAST(CAST(2147483647.999999999999999999 AS DECIMAL(38,18)) AS INT)",
    "CAST(CAST(127.999999999999999999 AS DECIMAL(38,18)) AS TINYINT)",
    # Spark cuts the second to 32 bits of microseconds, and has 0 there.
    "make_timestamp(2024, 1, 1, 0, 0, 4294.967296)",
    "make_timestamp(2024, 1, 1, 0, 0, 4294967 + i8)",
    "make_timestamp_ntz(2024, 1, 1, 0, 0, 4294.967296 + i8)",
)


@pytest.mark.parametrize("expression", ZERO_KEYS)
def test_a_key_is_never_minus_zero(expression: str) -> None:
    (found,) = compile_row([parsed(expression)], [])(())
    assert str(found[0]) == "0.0"


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_both_evaluators_agree(expression: str) -> None:
    node = parsed(expression)
    pairs = zip(by_row(node), by_columns(node), strict=True)
    assert [pair for pair in pairs if not values.same_bits(*pair, node.type)] == []


@pytest.mark.parametrize("expression", test_time_extremes.EXPRESSIONS)
def test_both_evaluators_agree_where_time_ends(expression: str) -> None:
    inputs, rows = test_time_extremes.COLUMNS, test_time_extremes.ROWS
    node = parse_expression(expression, ColumnScope.of(inputs), aggregates_allowed=False)
    evaluate = compile_row([node], inputs)
    columns = zip(inputs, zip(*rows, strict=True), strict=True)
    vectors = [Vector.of_held(list(held), column.type) for column, held in columns]
    found = compile_columns([node], inputs)(vectors, len(rows))[0].held(len(rows))
    assert found == [evaluate(row)[0] for row in rows]


@pytest.mark.spark
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_spark_agrees(spark: Any, ansi: str) -> None:
    table = pa.table({name: values.arrow_column(column, edges.TYPES[name]) for name, column in edges.DATA.items()})
    table = table.append_column("row_number", pa.array(range(edges.ROWS), pa.int32()))
    frame(spark, table).coalesce(1).createOrReplaceTempView("edges")
    nodes = [parsed(expression) for expression in EXPRESSIONS]
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        rendered = ", ".join(f"{render(node, lambda column: column.name)} AS v{i}" for i, node in enumerate(nodes))
        answer = spark.sql(f"SELECT {rendered} FROM edges ORDER BY row_number").toArrow()
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    wrong = [
        f"{expression}, row {row}: {mine!r}, in Spark {theirs!r}"
        for i, (expression, node) in enumerate(zip(EXPRESSIONS, nodes, strict=True))
        for row, (mine, theirs) in enumerate(zip(by_row(node), values.held_values(answer[f"v{i}"]), strict=True))
        if not values.same_bits(mine, theirs, node.type)
    ]
    assert wrong == []

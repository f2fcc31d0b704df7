"""Types and nullability beyond what the recorded cases check: aggregates, and what can be NULL."""

from __future__ import annotations

import pytest

from featurekit.expr.nodes import Aggregate, Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.types import DataType, Decimal, Float32, Float64, Int8, Int32, Int64, String

KINDS: dict[str, DataType] = {
    "i8": Int8(),
    "i32": Int32(),
    "i64": Int64(),
    "f32": Float32(),
    "f64": Float64(),
    "d5_2": Decimal(5, 2),
    "d38_0": Decimal(38, 0),
    "d38_18": Decimal(38, 18),
    "s": String(),
}
NULLABLE = ColumnScope.of([Column(name=name, type=kind, nullable=True) for name, kind in KINDS.items()])
REQUIRED = ColumnScope.of([Column(name=name, type=kind, nullable=False) for name, kind in KINDS.items()])


# Asked of Spark 4.3.0 with `spark.sql("SELECT … ").schema`.
@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("count(*)", "bigint"),
        ("count(s)", "bigint"),
        ("sum(i8)", "bigint"),
        ("sum(i64)", "bigint"),
        ("sum(f32)", "double"),
        ("sum(f64)", "double"),
        ("sum(d5_2)", "decimal(15,2)"),
        ("sum(d38_0)", "decimal(38,0)"),
        ("avg(i32)", "double"),
        ("avg(i64)", "double"),
        ("avg(f32)", "double"),
        ("avg(d5_2)", "decimal(9,6)"),
        ("avg(d38_0)", "decimal(38,4)"),
        ("avg(d38_18)", "decimal(38,22)"),
        ("min(i8)", "tinyint"),
        ("max(s)", "string"),
        ("count_if(i8 > 0)", "bigint"),
        ("count(DISTINCT s)", "bigint"),
        ("approx_count_distinct(d5_2, 0.1)", "bigint"),
        ("every(i8 > 0)", "boolean"),
        ("any(i8 > 0)", "boolean"),
        ("stddev(i8)", "double"),
        ("var_pop(d38_18)", "double"),
        ("first(f32)", "float"),
        ("last(d5_2) IGNORE NULLS", "decimal(5,2)"),
        ("min_by(s, i8)", "string"),
        ("max_by(i8, s)", "tinyint"),
        ("top_k(f32, 3)", "array<float>"),  # these two are ours alone
        ("collect_last(s, 3)", "array<string>"),
    ],
)
def test_aggregate_has_sparks_type(sql: str, kind: str) -> None:
    node = parse_expression(sql, NULLABLE, aggregates_allowed=True)
    assert isinstance(node, Aggregate)
    assert node.type.name == kind
    assert node.nullable is ("count" not in sql)


@pytest.mark.parametrize(
    ("sql", "nullable"),
    [
        ("i32 + 1", True),  # may overflow
        ("f64 + 1", False),
        ("f64 / 2", True),  # NULL when the divisor is zero; a literal's value is not looked at
        ("coalesce(i32 + 1, 0)", False),
        ("i32 IS NULL", False),
        ("i32 = 1", False),
        ("i32 IN (1, NULL)", True),
        ("CASE WHEN i32 = 1 THEN 1 END", True),
        ("CASE WHEN i32 = 1 THEN 1 ELSE 2 END", False),
        ("CAST(i64 AS INT)", True),
        ("CAST(i32 AS BIGINT)", False),
        ("CAST(i32 AS DECIMAL(9,0))", True),
        ("CAST(i32 AS DECIMAL(10,0))", False),
        ("CAST(d5_2 AS DECIMAL(3,0))", True),  # 999.99 rounds to four digits
        ("CAST(f64 AS DECIMAL(14,2))", True),
        ("floor(f64)", True),
        ("floor(i32)", False),
        ("lower(s)", False),
        ("greatest(i32, NULL)", False),
    ],
)
def test_what_can_be_null_follows_from_arguments_and_failure(sql: str, nullable: bool) -> None:
    assert parse_expression(sql, REQUIRED, aggregates_allowed=False).nullable is nullable


@pytest.mark.parametrize("sql", ["i32 + 1", "lower(s)", "i32 = 1", "CAST(i32 AS BIGINT)", "f64 + 1", "concat(s, 'x')"])
def test_nullable_argument_makes_the_result_nullable(sql: str) -> None:
    assert parse_expression(sql, NULLABLE, aggregates_allowed=False).nullable

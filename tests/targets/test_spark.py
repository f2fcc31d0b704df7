"""Spark SQL as text: quoting, literals, guards. What it computes is tested in tests/semantics."""

from __future__ import annotations

import math
from decimal import Decimal as PyDecimal
from typing import Any

import pytest

from featurekit.expr.infer import literal
from featurekit.expr.nodes import Column
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.targets.spark import quote_identifier, render, render_literal
from featurekit.types import DataType, Date, Decimal, Float32, Float64, Int8, Int32, Int64, Null, String, Timestamp

SCOPE = ColumnScope.of(
    [
        Column(name="i", type=Int32(), nullable=True),
        Column(name="l", type=Int64(), nullable=True),
        Column(name="d", type=Float64(), nullable=True),
        Column(name="s", type=String(), nullable=True),
    ]
)


def rendered(sql: str) -> str:
    return render(parse_expression(sql, SCOPE, aggregates_allowed=False), lambda column: column.name)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, Null(), "NULL"),
        (None, Decimal(5, 2), "CAST(NULL AS DECIMAL(5,2))"),
        (-(2**63), Int64(), "(-9223372036854775808L)"),
        (-128, Int8(), "(-128Y)"),
        (-0.0, Float64(), "(-0.0D)"),
        (math.nan, Float64(), "CAST('NaN' AS DOUBLE)"),
        (-math.inf, Float32(), "CAST('-Infinity' AS FLOAT)"),
        (5e-324, Float64(), "5e-324D"),
        (PyDecimal("1.50"), Decimal(3, 2), "1.50BD"),
        (PyDecimal("1.50"), Decimal(10, 2), "CAST(1.50BD AS DECIMAL(10,2))"),
        (True, None, "TRUE"),
        ("plain text", None, "'plain text'"),
        ("it's", None, "CAST(X'69742773' AS STRING)"),
        ("${x}", None, "CAST(X'247b787d' AS STRING)"),
        ("\\", None, "CAST(X'5c' AS STRING)"),
        (15706, Date(), "DATE '2013-01-01'"),
        (10**8, Date(), "date_from_unix_date(100000000)"),
        (-1, Timestamp(), "timestamp_micros(-1L)"),
    ],
)
def test_literal_is_written_independently_of_settings(value: Any, kind: DataType | None, text: str) -> None:
    assert render_literal(literal(value, kind)) == text


def test_names_are_quoted_and_backticks_doubled() -> None:
    assert quote_identifier("a`b") == "`a``b`"
    column = Column(name="x", type=Int32(), nullable=True)
    assert render(column, lambda _: ("view", "a`b")) == "`view`.`a``b`"


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("i + 1", "try_add(`i`, 1)"),
        ("i + 1 + 2", "try_add(greatest(try_add(`i`, 1), CAST(NULL AS INT)), 2)"),
        ("1 / i", "try_divide(1.0D, CAST(`i` AS DOUBLE))"),
        ("l div 7", "(`l` div 7L)"),
        ("-i", "try_subtract(CAST(0 AS INT), `i`)"),
        ("CAST(l AS INT)", "try_cast(`l` AS INT)"),
        ("CAST(i AS BIGINT)", "CAST(`i` AS BIGINT)"),
        ("d IN (0.0D, 1.0D)", "((`d` + 0.0D) IN ((0.0D + 0.0D), (1.0D + 0.0D)))"),
        ("greatest(d, 0)", "array_max(array(`d`, 0.0D))"),
        ("lower(upper(s))", "lower(greatest(upper(`s`), CAST(NULL AS STRING)))"),
        ("if(i > 0, s, 'x')", "(CASE WHEN (`i` > 0) THEN `s` ELSE 'x' END)"),
    ],
)
def test_operators_are_written_in_forms_that_never_raise(sql: str, text: str) -> None:
    assert rendered(sql) == text


def test_nested_guards_do_not_blow_the_text_up() -> None:
    nested = "abs(" * 12 + "-round(i, -1)" + ")" * 12
    assert len(rendered(nested)) < 1000

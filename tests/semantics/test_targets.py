"""Every recorded case, on every target: type and exact bits."""

from __future__ import annotations

from typing import Any

import pytest

from featurekit.expr.infer import literal
from featurekit.expr.nodes import Literal
from featurekit.expr.serialize import from_json, to_json
from featurekit.targets.spark import render
from tests.semantics.corpus import Recorded
from tests.semantics.legs import CASES, by_columns, by_row, differences, parsed, spark_leg


def test_there_are_at_least_five_hundred_cases_and_all_are_recorded() -> None:
    assert len(CASES) >= 500
    assert [case.id for case in CASES if case.type is None] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_inferred_type_is_the_one_spark_analyses(case: Recorded) -> None:
    assert parsed(case.expression).type.name == case.type


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_python_gives_sparks_bits(case: Recorded) -> None:
    assert differences(case, by_row(parsed(case.expression))) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_vectors_give_sparks_bits(case: Recorded) -> None:
    assert differences(case, by_columns(parsed(case.expression))) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_not_nullable_is_never_null(case: Recorded) -> None:
    assert parsed(case.expression).nullable or "NULL" not in case.values


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_json_keeps_the_expression(case: Recorded) -> None:
    node = parsed(case.expression)
    assert repr(from_json(to_json(node))) == repr(node)  # repr, because 0.0 == -0.0


@pytest.mark.spark
@pytest.mark.parametrize("ansi", [True, pytest.param(False, marks=pytest.mark.long)])
def test_rendered_sql_gives_sparks_bits_with_ansi_on_and_off(spark: Any, ansi: bool) -> None:
    assert spark_leg(spark, ansi=ansi).differences == []


@pytest.mark.spark
@pytest.mark.parametrize("escaped", ["true", "false"])
def test_literals_do_not_depend_on_string_settings(spark: Any, escaped: str) -> None:
    texts = ["it's", 'a"b', "back\\slash", "\\'", "${user}", "new\nline", "nul\x00", "😀", "%_", "`", ""]
    spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
    try:
        literals = [parsed_literal(text) for text in texts]
        columns = ", ".join(f"{render(node, lambda column: column.name)} AS v{i}" for i, node in enumerate(literals))
        row = spark.sql(f"SELECT {columns}").toArrow().to_pylist()[0]
    finally:
        spark.conf.unset("spark.sql.parser.escapedStringLiterals")
    assert list(row.values()) == texts


def parsed_literal(text: str) -> Literal:
    return literal(text)

"""Every recorded case, on every target: type and exact bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from featurekit.arrow_types import from_arrow
from featurekit.expr.infer import literal
from featurekit.expr.nodes import Literal, Node
from featurekit.expr.parse import parse_expression
from featurekit.expr.serialize import from_json, to_json
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render
from tests.semantics import corpus, edges, values
from tests.semantics.corpus import Recorded

CASES = tuple(corpus.cases())
_BATCH = 60


@cache
def parsed(expression: str) -> Node:
    return parse_expression(expression, edges.SCOPE, aggregates_allowed=False)


def expected(case: Recorded) -> list[Any]:
    return [values.read(text, parsed(case.expression).type) for text in case.values]


def differences(case: Recorded, found: Sequence[Any]) -> list[str]:
    """Return how the values found differ from the recorded ones, row by row."""
    kind = parsed(case.expression).type
    if len(case.values) == 1:
        found = found[:1]
    return [
        f"row {row}: {values.write(value, kind)}, Spark says {text}"
        for row, (value, want, text) in enumerate(zip(found, expected(case), case.values, strict=True))
        if not values.same_bits(value, want, kind)
    ]


def test_there_are_at_least_five_hundred_cases_and_all_are_recorded() -> None:
    assert len(CASES) >= 500
    assert [case.id for case in CASES if case.type is None] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_inferred_type_is_the_one_spark_analyses(case: Recorded) -> None:
    assert parsed(case.expression).type.name == case.type


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_python_gives_sparks_bits(case: Recorded) -> None:
    evaluate = compile_row([parsed(case.expression)], edges.COLUMNS)
    assert differences(case, [evaluate(row)[0] for row in edges.rows()]) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_not_nullable_is_never_null(case: Recorded) -> None:
    assert parsed(case.expression).nullable or "NULL" not in case.values


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_json_keeps_the_expression(case: Recorded) -> None:
    node = parsed(case.expression)
    assert repr(from_json(to_json(node))) == repr(node)  # repr, because 0.0 == -0.0


def _batches() -> Iterator[tuple[Recorded, ...]]:
    for start in range(0, len(CASES), _BATCH):
        yield CASES[start : start + _BATCH]


@pytest.fixture
def edge_view(spark: Any) -> str:
    table = pa.table({name: values.arrow_column(column, edges.TYPES[name]) for name, column in edges.DATA.items()})
    table = table.append_column("row_number", pa.array(range(edges.ROWS), pa.int32()))
    spark.createDataFrame(table).createOrReplaceTempView("edges")
    return "edges"


@pytest.mark.spark
@pytest.mark.parametrize("ansi", ["true", "false"])
def test_rendered_sql_gives_sparks_bits_with_ansi_on_and_off(spark: Any, edge_view: str, ansi: str) -> None:
    wrong = []
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        for batch in _batches():
            columns = ", ".join(
                f"{render(parsed(case.expression), lambda column: column.name)} AS v{index}"
                for index, case in enumerate(batch)
            )
            answer = spark.sql(f"SELECT {columns} FROM {edge_view} ORDER BY row_number").toArrow()
            for index, case in enumerate(batch):
                found = differences(case, values.held_values(answer[f"v{index}"]))
                if from_arrow(answer.schema.field(f"v{index}").type) != parsed(case.expression).type:
                    found.append(f"type {answer.schema.field(f'v{index}').type}")
                wrong += [f"{case.id}: {difference}" for difference in found]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    assert wrong == []


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

"""The catalogue, the kernels and the fixtures name the same functions."""

from __future__ import annotations

import subprocess
import sys

from featurekit.expr import refusals, sugar
from featurekit.expr.catalogue.row import Kind
from featurekit.expr.functions import BINARY, BY_SPELLING, FUNCTIONS
from featurekit.expr.nodes import Call, Case, Cast, walk
from featurekit.expr.parse import parse_expression
from featurekit.targets.kernels import KERNELS
from tests.semantics import corpus, edges

VALUES = {name for name, row in FUNCTIONS.items() if row.kind in (Kind.OPERATOR, Kind.SCALAR)}
SYNTAX = {name for name, row in FUNCTIONS.items() if row.kind is Kind.SYNTAX}


def test_every_function_has_one_kernel_and_every_kernel_a_row() -> None:
    assert set(KERNELS) == VALUES


def test_every_function_has_recorded_cases() -> None:
    nodes = [
        node
        for case in corpus.cases()
        for node in walk(parse_expression(case.expression, edges.SCOPE, aggregates_allowed=False))
    ]
    assert {node.function for node in nodes if isinstance(node, Call)} == VALUES
    assert any(isinstance(node, Cast) for node in nodes)
    assert any(isinstance(node, Case) for node in nodes)


def test_every_spelling_has_a_recorded_case_or_is_an_aggregate() -> None:
    text = "\n".join(case.expression.lower() for case in corpus.cases())
    spellings = {spelling for spelling, row in BY_SPELLING.items() if row.kind is not Kind.AGGREGATE}
    assert {spelling for spelling in spellings if f"{spelling}(" not in text} == set()


def test_every_row_renders_and_types_or_has_a_syntax_of_its_own() -> None:
    for name, row in FUNCTIONS.items():
        assert row.name == name
        assert row.doc.endswith((".", "`"))
        assert bool(row.spark) == (name in VALUES), name
        assert (row.rule is None) == (name in SYNTAX), name
    assert set(sugar.CALLED) == {name for name in SYNTAX if FUNCTIONS[name].spellings}


def test_no_spelling_means_two_things() -> None:
    spellings = [spelling for row in FUNCTIONS.values() for spelling in row.spellings]
    assert len(spellings) == len(set(spellings)) == len(BY_SPELLING)
    assert set(refusals.FUNCTIONS).isdisjoint(BY_SPELLING)
    assert BINARY["-"].name == "subtract"


def test_catalogue_and_row_evaluator_need_neither_sqlglot_nor_spark_nor_numpy() -> None:
    code = (
        "import sys, featurekit.targets.python, featurekit.targets.spark, featurekit.expr.serialize;"
        "print([name for name in ('sqlglot', 'pyspark', 'numpy', 'pyarrow', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""Other columns of the source than those that are there, each with what comes of it, by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledView
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.changes import answers_with
from featurekit.consistency.diagnosis.input_factors import input_factors
from featurekit.consistency.diagnosis.worlds import Recomputation
from tests.consistency.diagnosis.by_hand import Row, fields_of, recomputation, row, values, view_of

ROWS = [
    row("a", HOUR, amount=1.7, items=3, kind=" X"),
    row("a", 2 * HOUR, amount=None, items=None, kind=None),
    row("a", 3 * HOUR, amount=4.1, items=5, kind="e\u0301"),
    row("b", 4 * HOUR, amount=100.0, items=7, kind="z"),
]


def by(view: CompiledView, cause: Cause, rows: Sequence[Row] = ROWS, **means: float) -> list[Any]:
    """Return the first field's value in each world of a cause."""
    computed = recomputation(view, rows)
    fetched = replace(computed.rows, means={name: (mean,) for name, mean in means.items()})
    computed = Recomputation(view, fields_of(view), fetched, computed.entities, computed.as_ofs)
    found = []
    for factor in input_factors(view, fetched):
        answers = answers_with(computed, [factor])
        if factor.cause is cause and answers is not None:
            found += values(answers, view.features[0].name)
    return found


def feature(base: Path, sql: str) -> CompiledView:
    return view_of(base, x={"sql": sql, "window": "7d"})


@pytest.mark.parametrize(
    ("sql", "cause", "expected"),
    [
        ("count(amount)", Cause.INPUT_NULL_ZERO, [3]),
        ("avg(items)", Cause.INPUT_NULL_ZERO, [8 / 3]),
        ("sum(amount)", Cause.INPUT_NULL_MEAN, [5.8 + 35.0, 5.8 + 2.9]),
        ("sum(amount)", Cause.INPUT_FLOAT32, [float(np.float32(1.7)) + float(np.float32(4.1))]),
        ("sum(amount)", Cause.INPUT_TRUNCATED, [5.0]),
        (
            "max(amount)",
            Cause.INPUT_LOGARITHM,
            [math.log(4.1), math.log1p(4.1), math.exp(4.1), math.expm1(4.1)],
        ),
        ("max(items)", Cause.INPUT_SCALED, [500, 5000, 300, 18000]),
        ("max(kind) FILTER (WHERE length(kind) <= 2)", Cause.INPUT_TRIMMED, ["e\u0301"]),
        ("min(kind)", Cause.INPUT_LOWER_CASED, [" x", " X"]),
        ("max(kind)", Cause.INPUT_NORMALISED, ["é"]),
        ("count(kind)", Cause.INPUT_NULL_ZERO, [3]),
    ],
)
def test_a_column_is_another(tmp_path: Path, sql: str, cause: Cause, expected: list[Any]) -> None:
    found = by(feature(tmp_path, sql), cause, amount=35.0)
    assert found == (pytest.approx(expected) if isinstance(expected[0], float) else expected)


def test_a_unit_is_another(tmp_path: Path) -> None:
    found = by(feature(tmp_path, "max(amount)"), Cause.INPUT_SCALED)
    assert {4.1 * 100, 4.1 / 100, 4.1 * 1000, 4.1 * 60, 4.1 * 1.609344, 4.1 / 1.609344} <= set(found)


def test_an_integer_that_no_unit_fits_is_left_alone(tmp_path: Path) -> None:
    rows = [row("a", HOUR, items=2**62), row("a", DAY, items=1)]
    assert by(feature(tmp_path, "max(items)"), Cause.INPUT_SCALED, rows) == []


def test_only_fields_that_read_the_column_are_meant(tmp_path: Path) -> None:
    view = view_of(tmp_path, x={"sql": "sum(amount)", "window": "7d"}, n={"sql": "count(items)", "window": "7d"})
    computed = recomputation(view, ROWS)
    meant = {factor.fields for factor in input_factors(view, computed.rows) if factor.cause is Cause.INPUT_NULL_ZERO}
    assert meant == {frozenset(("x",)), frozenset(("n",))}
    filtered = view_of(tmp_path, view={"where": "amount > 1"}, n={"sql": "count(items)", "window": "7d"})
    assert {factor.fields for factor in input_factors(filtered, computed.rows)} == {None, frozenset(("n",))}


def test_the_latest_value_of_a_column_is_left_to_what_turns_values(tmp_path: Path) -> None:
    view = view_of(tmp_path, plain={"sql": "amount"}, whole={"sql": "round(amount)"})
    computed = recomputation(view, ROWS)
    assert {factor.fields for factor in input_factors(view, computed.rows)} == {frozenset(("whole",))}

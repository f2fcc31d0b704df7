"""Other definitions than the declared one, each with what comes of it, by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledView
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.changes import answers_with, changes_of
from featurekit.consistency.diagnosis.view_factors import view_factors
from featurekit.status import Status
from tests.consistency.diagnosis.by_hand import MINUTE_LATE, Row, recomputation, row, values, view_of

ROWS = [
    row("a", HOUR, amount=8.0, items=2, kind="x"),
    row("a", 2 * HOUR, amount=None, items=1, kind="x"),
    row("a", 3 * DAY, amount=2.0, items=3, kind=None),
    row("a", 9 * DAY, amount=32.0, items=5, kind="y"),
]


def by(view: CompiledView, cause: Cause, rows: Sequence[Row] = ROWS, *, name: str | None = None) -> list[Any]:
    """Return a field's value in each world of a cause that changes it."""
    computed = recomputation(view, rows)
    name = name or view.features[0].name
    base = values(computed.base, name)
    found = []
    for factor in view_factors(view):
        answers = answers_with(computed, [factor])
        if factor.cause is cause and answers is not None and values(answers, name) != base:
            found += values(answers, name)
    return found


def feature(base: Path, sql: str, window: str | None = "7d", **declared: Any) -> CompiledView:
    return view_of(base, x={"sql": sql, **({} if window is None else {"window": window}), **declared})


@pytest.mark.parametrize(
    ("sql", "cause", "expected"),
    [
        ("avg(ln(amount))", Cause.LOGARITHM_LEFT_OUT, [5.0]),
        ("log(2, sum(amount))", Cause.LOGARITHM_LEFT_OUT, [10.0]),
        ("sum(amount)", Cause.LOGARITHM_ADDED, [math.log(8) + math.log(2), math.log1p(8) + math.log1p(2)]),
        ("coalesce(max(amount) FILTER (WHERE amount > 99), -1.0D)", Cause.COALESCE_DROPPED, [None]),
        ("avg(coalesce(amount, 0.5D))", Cause.COALESCE_DROPPED, [5.0]),
        ("coalesce(max(amount) FILTER (WHERE amount > 99), 31.4D)", Cause.NULL_FILLED_WITH_ZERO, [0.0]),
        ("count(*) FILTER (WHERE amount > 5)", Cause.FILTER_DROPPED, [3]),
        ("count(amount)", Cause.COUNTED_NULLS, [3]),
        ("avg(amount)", Cause.NULLS_IN_AVERAGE, [10 / 3]),
        ("stddev_pop(amount)", Cause.SPREAD_DIVISOR, [math.sqrt(18.0)]),
        ("var_samp(amount)", Cause.SPREAD_DIVISOR, [9.0]),
        ("sqrt(sum(amount))", Cause.EXPRESSION_CHANGED, [10.0, math.sqrt(5), math.sqrt(2), math.sqrt(8)]),
        ("count(DISTINCT kind)", Cause.EXPRESSION_CHANGED, [2]),
        ("avg(greatest(amount, 4.0D))", Cause.EXPRESSION_CHANGED, [5.0, 16.0, 4.0, 8.0]),
    ],
)
def test_an_expression_is_written_otherwise(tmp_path: Path, sql: str, cause: Cause, expected: list[Any]) -> None:
    assert by(feature(tmp_path, sql), cause) == pytest.approx(expected, abs=1e-12)


def test_rows_are_counted_by_a_column_that_is_null_in_some(tmp_path: Path) -> None:
    view = view_of(tmp_path, n={"sql": "count(*)", "window": "7d"}, sum={"sql": "sum(amount)", "window": "7d"})
    assert by(view, Cause.COUNTED_NULLS) == [2]


def test_the_where_is_left_out(tmp_path: Path) -> None:
    view = view_of(tmp_path, view={"where": "items > 1"}, n={"sql": "count(*)", "window": "7d"})
    assert by(view, Cause.FILTER_DROPPED) == [3]


def test_a_latest_value_is_served_beyond_its_ttl(tmp_path: Path) -> None:
    view = feature(tmp_path, "kind", None, ttl="1h")
    rows = [row("a", HOUR + 1, kind="x")]
    computed = recomputation(view, rows)
    assert [Status(code) for code in computed.base.fields["x"].statuses] == [Status.EXPIRED]
    assert by(view, Cause.TTL_IGNORED, rows) == ["x"]
    assert by(view, Cause.TTL_IGNORED, [row("a", 90 * DAY, kind="x")]) == ["x"]


def test_the_default_is_left_out(tmp_path: Path) -> None:
    assert by(feature(tmp_path, "max(amount)", "1h", default=-1.0), Cause.DEFAULT_LEFT_OUT, [row("a", DAY)]) == [None]


def test_the_window_is_another(tmp_path: Path) -> None:
    rows = [row("a", back * DAY - HOUR) for back in range(1, 41)]
    found = by(feature(tmp_path, "count(*)"), Cause.WINDOW_LENGTH, rows)
    assert {8, 6, 1, 30, 40} <= set(found)  # a day more and less, a day, 30 days, all


def test_the_start_of_a_window_is_open(tmp_path: Path) -> None:
    assert by(feature(tmp_path, "count(*)"), Cause.WINDOW_START_CLOSED, [row("a", 7 * DAY), row("a", DAY)]) == [1]


def test_a_refresh_does_not_wait_for_late_rows(tmp_path: Path) -> None:
    view = view_of(tmp_path, view={"allowed_lateness": "10m"}, n={"sql": "count(*)", "window": "7d"})
    assert by(view, Cause.LATE_ROWS_LOST, [row("a", 1, landed=MINUTE_LATE), row("a", HOUR)]) == [1]


def test_a_definition_of_before_is_computed_from_the_same_rows(tmp_path: Path) -> None:
    view = view_of(tmp_path, x={"sql": "sum(amount)", "window": "7d"}, y={"sql": "count(*)", "window": "7d"})
    before = view_of(tmp_path, x={"sql": "sum(amount * items)", "window": "7d"}, z={"sql": "max(kind)", "window": "7d"})
    computed = recomputation(view, ROWS)
    (factor,) = [one for one in changes_of(computed, previous=[view, before]) if one.cause is Cause.PREVIOUS_DEFINITION]
    answers = answers_with(computed, [factor])
    assert answers is not None
    assert values(answers, "x") == [22.0]
    assert values(answers, "y") == [3]  # it had none: as it is
    assert before.fingerprint.data[:8] in factor.told

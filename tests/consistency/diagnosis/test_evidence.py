"""Source rows that show where a cell comes from, and what a factor does to it."""

from __future__ import annotations

from pathlib import Path

from featurekit.clock import DAY, HOUR, MINUTE
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.changes import changes_of
from featurekit.consistency.diagnosis.evidence import evidence_rows
from featurekit.consistency.diagnosis.worlds import Recomputation
from tests.consistency.diagnosis.by_hand import recomputation, row, view_of


def shown(computed: Recomputation, field: str, cause: Cause | None = None, *, position: int = 0) -> tuple[str, ...]:
    factors = [] if cause is None else [next(one for one in changes_of(computed) if one.cause is cause)]
    return evidence_rows(computed, factors, position, field)


def test_the_rows_of_a_cell_are_the_newest_that_count(tmp_path: Path) -> None:
    view = view_of(
        tmp_path, source={"event_id": "id"}, total={"sql": "sum(amount)", "window": "7d"}, last={"sql": "kind"}
    )
    rows = [
        row("a", DAY, id=1, amount=1.0, kind="x"),
        row("a", DAY, id=1, amount=2.0, kind="y", landed=-HOUR),
        row("a", 2 * DAY, id=2, amount=None),
        row("a", 3 * DAY, id=3, amount=0.1),
        row("a", 4 * DAY, id=4, amount=9.0),
        row("a", HOUR, id=5, amount=5.0, landed=HOUR),
        row("b", HOUR, id=6, amount=6.0),
    ]
    computed = recomputation(view, rows, "b", "a")
    assert shown(computed, "total", position=1) == (
        "2026-03-09T00:00Z, landed 2026-03-09T23:00Z: amount = 2.0",
        "2026-03-08T00:00Z, landed 2026-03-08T00:01Z: amount = NULL",
        "2026-03-07T00:00Z, landed 2026-03-07T00:01Z: amount = 0.1",
    )
    assert shown(computed, "last", position=1) == ("2026-03-09T00:00Z, landed 2026-03-09T23:00Z: kind = 'y'",)
    assert shown(computed, "total", Cause.LATE_ROWS_COUNTED, position=1) == (
        "counted, and should not be: 2026-03-09T23:00Z, landed 2026-03-10T01:00Z: amount = 5.0",
    )
    assert shown(computed, "total", Cause.VERSIONS_COUNTED, position=1) == (
        "counted, and should not be: 2026-03-09T00:00Z, landed 2026-03-09T00:01Z: amount = 1.0",
    )


def test_rows_that_came_and_went_are_both_told(tmp_path: Path) -> None:
    view = view_of(tmp_path, n={"sql": "count(*)", "window": "1d"})
    computed = recomputation(view, [row("a", MINUTE), row("a", 25 * HOUR)])
    assert shown(computed, "n", Cause.PREVIOUS_REFRESH) == (
        "counted, and should not be: 2026-03-08T23:00Z, landed 2026-03-08T23:01Z",
        "not counted, and should be: 2026-03-09T23:59Z, landed 2026-03-10T00:00Z",
    )


def test_a_row_counted_twice_is_told_once_more(tmp_path: Path) -> None:
    view = view_of(tmp_path, n={"sql": "count(*)", "window": "1d"})
    computed = recomputation(view, [row("a", HOUR)])
    assert shown(computed, "n", Cause.DUPLICATE_EVENTS) == (
        "counted, and should not be: 2026-03-09T23:00Z, landed 2026-03-09T23:01Z",
    )


def test_what_changes_no_row_shows_the_rows_of_the_cell(tmp_path: Path) -> None:
    view = view_of(tmp_path, mean={"sql": "avg(ln(amount))", "window": "7d"})
    computed = recomputation(view, [row("a", HOUR, amount=3.0)])
    assert shown(computed, "mean", Cause.LOGARITHM_LEFT_OUT) == (
        "2026-03-09T23:00Z, landed 2026-03-09T23:01Z: amount = 3.0",
    )

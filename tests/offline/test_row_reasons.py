"""Why a row does not count: each row of an entity under one reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from featurekit.clock import HOUR
from featurekit.definitions.source import SourceKind
from featurekit.offline.row_reasons import Reason, RowCounts, count_rows, show_reason
from featurekit.offline.session import SparkEngine
from tests.offline import test_snapshots
from tests.offline.test_changes import GONE, NOON, row, view_over
from tests.offline.test_snapshots import START, snapshot

pytestmark = pytest.mark.spark


def test_rows_of_changes_are_excluded_for_one_reason_each(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        row(-60, "a", owner="ann", v=1),
        row(-50, "a", owner="ann", v=2, until=-1),  # superseded, and ended
        row(-30, "a", owner="ann", v=3),
        row(-20, "a", owner="ann", v=4, known=60),
        row(-30, "b", owner="ann", v=1),
        row(-20, "b", owner="bob", v=1),
        GONE(-30, "c", owner="ann"),
        row(-30, "d", owner="ann", v=1, until=-1),
        row(-30, "e", owner="ann", v=-1),
        row(0, "a", owner="ann", v=9),
        row(-30, "a", owner="ann") | {"at": None},
        row(-30, None, owner="ann", v=1),
        row(60, None, owner="ann", v=1),
        row(-30, None, owner="bob", v=1),
    ]
    view = view_over(tmp_path, rows)
    assert count_rows(engine, view, ("ann",), NOON) == RowCounts(
        counted=1,
        excluded={
            Reason.LATE: 1,
            Reason.SUPERSEDED: 3,
            Reason.DELETED: 1,
            Reason.ENDED: 1,
            Reason.NAMELESS: 2,
            Reason.UNWANTED: 1,
            Reason.LATER: 1,
        },
    )
    assert count_rows(engine, view, ("nobody",), NOON) == RowCounts(counted=0, excluded={})
    assert [show_reason(view, reason, NOON) for reason in Reason] == [
        "known only after 2024-01-10T12:05Z",
        "superseded by a newer row of the same row key",
        "say by `deleted` that it is gone",
        "ended before 2024-01-10T12:00Z",
        "with a NULL in the row key",
        "not wanted by `where`",
        "at or after 2024-01-10T12:00Z",
    ]


def test_rows_of_other_snapshots_are_excluded(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        *snapshot(-26, -25, {"v": 1}, {"v": 2}),
        *snapshot(-3, -2, {"v": 3}, {"holder": "bob"}, {"v": -1}),
        *snapshot(-3, 5, {"v": 4}),
        *snapshot(-2, 5, {"holder": "bob"}),
        *snapshot(0, 0, {"v": 5}),
    ]
    view = test_snapshots.view_over(tmp_path, rows)
    assert view.source.kind is SourceKind.SNAPSHOTS
    counted = count_rows(engine, view, ("ann",), START)
    expected = {Reason.LATE: 1, Reason.SUPERSEDED: 2, Reason.UNWANTED: 1, Reason.LATER: 1}
    assert counted == RowCounts(counted=1, excluded=expected)
    assert list(counted.excluded) == list(expected)
    assert count_rows(engine, view, ("ann",), START + 5 * HOUR).excluded[Reason.SUPERSEDED] == 5
    assert show_reason(view, Reason.LATE, START) == "known only after 2024-01-10T00:30Z"
    assert show_reason(view, Reason.SUPERSEDED, START) == "of earlier snapshots than the newest"


def test_rows_outside_of_the_reach_are_not_told(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [*snapshot(-50, -49, {"v": 1}), *snapshot(-2, -1, {"v": 2})]
    view = test_snapshots.view_over(tmp_path, rows, ttl=10 * HOUR)
    assert count_rows(engine, view, ("ann",), START) == RowCounts(counted=1, excluded={})

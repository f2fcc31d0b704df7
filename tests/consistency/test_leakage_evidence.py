"""The rows behind a leak, by the kind of source: those that the value was computed from, and serving had not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledView
from featurekit.config import Settings
from featurekit.consistency.leakage.evidence import Hidden, hidden_rows
from featurekit.offline.session import SparkEngine, start_engine
from tests.offline import test_changes, test_snapshots
from tests.offline.test_changes import NOON
from tests.offline.test_snapshots import START, snapshot

pytestmark = pytest.mark.spark


@pytest.fixture
def engine(tmp_path: Path) -> SparkEngine:
    settings = Settings(root=tmp_path, state=tmp_path / "state", spark_master="local[2]", spark_driver_memory="1g")
    return start_engine(settings)


def found(engine: SparkEngine, view: CompiledView, served: int, as_of: int, *, knows_all: bool = False) -> list[Any]:
    keys = pa.table({view.keys[0].name: ["ann", "bob"]})
    served_at, asked = (np.array([at] * 2, np.int64) for at in (served, as_of))
    return hidden_rows(engine, view, keys, served_at, asked, knows_all=knows_all)


def hidden(*rows: tuple[int, int]) -> Hidden:
    last = max((event for event, _ in rows), default=None)
    landed = sorted(((event, created) for event, created in rows), key=lambda row: row[1], reverse=True)
    return Hidden(count=len(rows), last_event=last, last_created=landed[0][1] if rows else None, rows=tuple(landed[:3]))


def at(hours: float) -> int:
    return START + int(hours * HOUR)


def test_of_snapshots_the_rows_of_the_one_that_was_looked_at_are_shown(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        *snapshot(-2, -1, {"v": 1}, {"holder": "bob", "v": 2}),
        *snapshot(-2, 30, {"v": 3}),  # lands after a later one came
        *snapshot(22, 23, {"v": 4}),
        *snapshot(46, 47, {"v": 5}),
        *snapshot(46, 60, {"v": 6}, {"holder": "bob", "v": 7}),
    ]
    view = test_snapshots.view_over(tmp_path, rows)
    assert found(engine, view, START, START) == [hidden(), hidden()]
    assert found(engine, view, START, START + DAY) == [hidden((at(22), at(23))), hidden()]
    assert found(engine, view, START, START + 2 * DAY) == [hidden((at(46), at(47))), hidden()]
    whole = [hidden((at(46), at(47)), (at(46), at(60))), hidden((at(46), at(60)))]
    assert found(engine, view, START, START + 3 * DAY) == whole
    assert found(engine, view, START, START + 2 * DAY, knows_all=True) == whole
    # With what landed later the snapshot is the same one, of more rows.
    assert found(engine, view, START, START, knows_all=True) == [hidden((at(-2), at(30))), hidden()]


def test_of_changes_the_newest_row_of_each_thing_is_shown(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        test_changes.row(-60, "a", owner="ann", v=1),
        test_changes.row(30, "a", owner="ann", v=2, known=50),
        test_changes.row(40, "a", owner="ann", v=3),
        test_changes.row(20, "b", owner="bob", v=4),
    ]
    view = test_changes.view_over(tmp_path, rows)
    minute = HOUR // 60
    later = [hidden((NOON + 40 * minute,) * 2), hidden((NOON + 20 * minute,) * 2)]
    assert found(engine, view, NOON, NOON + HOUR) == later

"""Corrections of events whose tiles are kept: what they take away goes, however they came."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from benchmarks.incremental import Meter
from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.offline import incremental
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.session import SparkEngine
from featurekit.types import DataType, Float64, Int64, String, Timestamp
from tests.offline.test_incremental_files import START, assert_equal, kept, refreshed
from tests.offline.worlds import compiled, features, write_rows

pytestmark = pytest.mark.spark
Rows = list[dict[str, Any]]
KINDS: Final[dict[str, DataType]] = {"number": Int64(), "text": String(), "moment": Timestamp()}


def view_of(base: Path) -> CompiledView:
    written: dict[str, Any] = {
        "n": {"sql": "count(*)", "window": "7d"},
        "total": {"sql": "sum(v)", "window": "7d"},
        "most": {"sql": "max(v)", "window": "2d"},
        "last": {"sql": "v", "ttl": "3d"},
    }
    source = Source(name="rows", path="rows", event_timestamp="at", created_timestamp="made", event_id="id")
    view = FeatureView(
        name="v", entity="user", source="rows", refresh=Refresh(every=DAY), features=features(**written), where="v >= 0"
    )
    return compiled(
        base, entities=[Entity(name="user", join_keys={"k": Int64()})], sources=[source], views=[view]
    ).views["v"]


def land(base: Path, name: str, rows: Rows, kind: str = "number") -> None:
    columns: dict[str, DataType] = {"k": Int64(), "at": Timestamp(), "made": Timestamp(), "v": Float64()}

    def an_id(row: dict[str, Any]) -> Any:
        number = row["id"]
        return number if number is None or kind != "text" else f"e{number:03d}"

    rows = [each | {"id": an_id(each)} for each in rows]
    write_rows(base / "rows" / f"{name}.parquet", columns | {"id": KINDS[kind]}, rows)


def row(number: int | None, k: int | None, at: int | None, made: int, v: float = 1.0) -> dict[str, Any]:
    return {"id": number, "k": k, "at": at, "made": made, "v": v}


MORNING: Final = START + 6 * HOUR
NEXT: Final = START + 2 * DAY + HOUR
DAYS: Final[tuple[Rows, ...]] = (
    [
        row(1, 1, MORNING, MORNING, 5.0),
        row(2, 1, MORNING + HOUR, MORNING + HOUR, 7.0),
        row(3, 2, MORNING, MORNING),
        # Known today, and dated in two days; and a version of one of them that takes it away.
        row(4, 3, NEXT, MORNING),
        row(5, 3, NEXT, MORNING),
        row(5, 3, None, MORNING + 1),
        row(None, 4, MORNING, MORNING),
        row(None, 4, MORNING, MORNING),
    ],
    [
        # One of two events of an entity's day is corrected, and an event is known in two versions at once.
        row(1, 1, MORNING, MORNING + DAY, 6.0),
        row(6, 5, MORNING + DAY, MORNING + DAY),
        row(6, 5, MORNING + DAY, MORNING + DAY + 1, 2.0),
        row(7, 6, MORNING + DAY, MORNING + DAY),
    ],
    [
        # The other one of the two; and one moves to another entity, the only one of its own.
        row(2, 1, MORNING + HOUR, MORNING + 2 * DAY, 8.0),
        row(3, 7, MORNING, MORNING + 2 * DAY),
    ],
    [
        # Again the first one; one fails `where` from now on, one has no entity any more.
        row(1, 1, MORNING, MORNING + 3 * DAY, 9.0),
        row(7, 6, MORNING + DAY, MORNING + 3 * DAY, -1.0),
        row(6, None, MORNING + DAY, MORNING + 3 * DAY),
    ],
    [],
    [
        # One comes back, dated another day; one is not dated any more.
        row(7, 6, MORNING + 4 * DAY, MORNING + 5 * DAY, 3.0),
        row(2, 1, None, MORNING + 5 * DAY),
    ],
    [row(8, 8, MORNING + 6 * DAY, MORNING + 6 * DAY)],
    # Of a day that leaves the reach, and of one that does not.
    [row(3, 2, MORNING, MORNING + 7 * DAY), row(4, 3, NEXT, MORNING + 7 * DAY, 4.0)],
)


@pytest.mark.parametrize(
    ("most_folders", "kind"),
    [
        pytest.param(1, "number", marks=pytest.mark.long),
        (4, "text"),
        pytest.param(100, "number", marks=pytest.mark.long),
    ],
)
def test_what_corrections_take_away_goes(
    most_folders: int, kind: str, engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental, "MOST_TOUCHED", 100.0)
    monkeypatch.setattr(incremental, "MOST_FOLDERS", most_folders)
    land(tmp_path, "day0", DAYS[0], kind)
    view = view_of(tmp_path)
    base = kept(engine, view, START + DAY, materialized_frame(engine, view, START + DAY))
    for number, rows in enumerate(DAYS[1:], 1):
        if rows:
            land(tmp_path, f"day{number}", rows, kind)
        as_of = START + (number + 1) * DAY
        found = refreshed(engine, view, as_of, base)
        assert_equal(engine, view, as_of, found)
        assert ("from tiles" in found.reason) == (number > 1), found.reason
        base = kept(engine, view, as_of, found.frame)


# What was read is asked of Spark, which forgets stages in a session as long as that of all tests.
@pytest.mark.long
def test_a_correction_reads_the_days_that_it_is_about(
    engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental, "MOST_TOUCHED", 100.0)
    times = [[START + day * DAY + HOUR + each for each in range(1000)] for day in range(31)]
    days = [[row(1000 * day + each, each % 10, at, at) for each, at in enumerate(times[day])] for day in range(31)]
    for day, rows in enumerate(days[:30]):
        land(tmp_path, f"day{day}", rows)
    view = view_of(tmp_path)
    base = kept(engine, view, START + 29 * DAY, materialized_frame(engine, view, START + 29 * DAY))
    base = kept(engine, view, START + 30 * DAY, refreshed(engine, view, START + 30 * DAY, base).frame)
    land(tmp_path, "day30", [*days[30], row(29005, 5, times[29][5], times[30][5], 50.0)])
    meter = Meter(engine)
    found = refreshed(engine, view, START + 31 * DAY, base)
    assert found.frame is not None
    rows_of_it = engine.held(found.frame)[0]
    read = meter.cost().rows
    assert_equal(engine, view, START + 31 * DAY, replace(found, frame=rows_of_it))
    # What came, the two days that its ids are of, and the day that is corrected; some of it again where it was held.
    assert 4000 <= read < 12_000 < 31_000

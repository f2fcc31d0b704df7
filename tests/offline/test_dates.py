"""Dates as times: each is the first instant of it in the source's zone, in Spark as on the grid."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest

from featurekit.clock import DAY, from_date, parse_instant
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source, SourceKind
from featurekit.errors import FeaturekitError
from featurekit.grid import first_instant
from featurekit.offline.as_of import as_of_rows, at_instants
from featurekit.offline.date_columns import first_instant_sql
from featurekit.offline.session import SparkEngine
from featurekit.offline.source import count_invisible
from featurekit.types import DataType, Date, Int64, String
from tests.offline.test_changes import Values, both_paths
from tests.offline.worlds import compiled, features, materialized, python_rows, swept, write_rows

pytestmark = pytest.mark.spark
# Midnights that occur twice, that don't exist, dates that were skipped, and a gap that begins before midnight.
STRETCHES: Final = (
    ("America/New_York", date(2013, 1, 1), date(2014, 1, 1)),
    ("America/Sao_Paulo", date(2017, 1, 1), date(2019, 3, 1)),
    ("America/St_Johns", date(2006, 1, 1), date(2012, 1, 1)),
    ("America/Havana", date(2013, 1, 1), date(2014, 1, 1)),
    ("America/Toronto", date(1919, 1, 1), date(1920, 1, 1)),
    ("Asia/Beirut", date(2013, 1, 1), date(2014, 1, 1)),
    ("Asia/Manila", date(1844, 12, 1), date(1845, 2, 1)),
    ("Pacific/Apia", date(2011, 1, 1), date(2012, 6, 1)),
    ("UTC", date(1969, 12, 1), date(1970, 2, 1)),
)
COLUMNS: Final[dict[str, DataType]] = {
    "k": String(),
    "day": Date(),
    "loaded": Date(),
    "last_day": Date(),
    "v": Int64(),
}


@pytest.mark.parametrize(("timezone", "start", "end"), STRETCHES, ids=lambda value: str(value))
def test_first_instant_of_a_date_is_the_grids(engine: SparkEngine, timezone: str, start: date, end: date) -> None:
    days = range(from_date(start), from_date(end))
    frame = engine.query(
        f"SELECT unix_micros({first_instant_sql('day', timezone)}) AS at FROM "
        f"(SELECT date_from_unix_date(CAST(id AS INT)) AS day, id FROM range({days.start}, {days.stop})) ORDER BY id"
    )
    assert engine.to_arrow(frame)["at"].to_pylist() == [first_instant(day, timezone) for day in days]


def test_null_and_the_last_dates_of_all_are_no_error(engine: SparkEngine) -> None:
    sql = first_instant_sql("day", "America/New_York")
    days = "VALUES (CAST(NULL AS DATE)), (DATE '9999-12-31'), (date_from_unix_date(2147483647)) AS t(day)"
    found = engine.to_arrow(engine.query(f"SELECT unix_micros({sql}) AS at FROM {days}"))["at"].to_pylist()
    assert found == [None, parse_instant("9999-12-31T00:00Z") + 5 * DAY // 24, None]


def view_over(base: Path, **fields: Any) -> Any:
    declared = {"path": "rows.parquet", "event_timestamp": "day", "timezone": "America/New_York"} | fields
    return compiled(
        base,
        entities=[Entity(name="thing", join_keys={"k": String()})],
        sources=[Source(name="rows", **declared)],
        views=[
            FeatureView(
                name="view",
                entity="thing",
                source="rows",
                refresh=Refresh(every=DAY, timezone="America/New_York"),
                features=features(last_v={"sql": "v"}, last_day={"sql": "day"}),
            )
        ],
    ).views["view"]


def row(day: date | None, v: int, *, k: str = "a", loaded: date | None = None, last: date | None = None) -> Any:
    dates = {"day": day, "loaded": loaded, "last_day": last}
    return {name: None if value is None else from_date(value) for name, value in dates.items()} | {"k": k, "v": v}


def local_days(first: date, count: int) -> tuple[int, ...]:
    return tuple(first_instant(from_date(first) + day, "America/New_York") for day in range(count))


def values(found: Values) -> list[int | None]:
    return [rows.get(("a",), {}).get("last_v") for rows in found.values()]


def test_change_dated_by_the_day_holds_from_just_after_its_first_instant(engine: SparkEngine, tmp_path: Path) -> None:
    """Over the end of summer time: the 3rd of November has 25 hours."""
    rows = [row(date(2013, 11, 2), 1), row(date(2013, 11, 3), 2), row(date(2013, 11, 4), 3)]
    write_rows(tmp_path / "rows.parquet", COLUMNS, rows)
    view = view_over(tmp_path, kind=SourceKind.CHANGES)
    instants = local_days(date(2013, 11, 2), 5)
    assert instants[2] - instants[1] == 25 * DAY // 24
    found = both_paths(engine, view, instants)
    # As of the first instant of a day, what begins with it does not hold yet.
    assert values(found) == [None, 1, 2, 3, 3]
    assert found[instants[1]]["a",]["last_day"] == from_date(date(2013, 11, 2))  # to features it is the date
    assert found[instants[1]]["a",]["__last_event"] == instants[0]


def test_valid_to_and_created_may_be_dates_too(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        row(date(2013, 3, 1), 1, loaded=date(2013, 3, 1)),
        row(date(2013, 3, 8), 2, loaded=date(2013, 3, 10), last=date(2013, 3, 11)),
        row(None, 3, loaded=date(2013, 3, 1)),
    ]
    write_rows(tmp_path / "rows.parquet", COLUMNS, rows)
    view = view_over(tmp_path, kind=SourceKind.CHANGES, created_timestamp="loaded", valid_to="last_day")
    # Known from the 10th on, it still holds as of the first instant of the 11th.
    assert values(both_paths(engine, view, local_days(date(2013, 3, 9), 4))) == [1, 2, 2, None]
    assert count_invisible(engine, view) == 1


def test_rows_of_a_snapshot_may_land_by_the_day(engine: SparkEngine, tmp_path: Path) -> None:
    second, third, fourth, fifth = (date(2013, 11, day) for day in (2, 3, 4, 5))
    rows = [
        row(second, 1, loaded=second),
        row(third, 2, loaded=third, k="b"),  # as of the first instant of the 4th it is the newest, without a
        row(third, 3, loaded=fifth),
        row(third, 9, loaded=None),
    ]
    write_rows(tmp_path / "rows.parquet", COLUMNS, rows)
    view = view_over(tmp_path, kind=SourceKind.SNAPSHOTS, created_timestamp="loaded")
    assert values(both_paths(engine, view, local_days(third, 3))) == [1, None, 3]
    later = first_instant(from_date(fourth), "America/New_York") + DAY // 2
    assert values(swept(engine, view, (later,))) == [None]
    assert count_invisible(engine, view) == 1


def test_snapshots_in_folders_by_the_day_are_pruned_to_one(engine: SparkEngine, tmp_path: Path) -> None:
    for day in range(1, 21):
        file = tmp_path / "rows" / f"day=2013-11-{day:02d}" / "part.parquet"
        write_rows(file, {"k": String(), "v": Int64()}, [{"k": "a", "v": day}])
        if day not in (4, 5, 6):  # whoever reads such a file, beyond its footer, fails
            content = file.read_bytes()
            file.write_bytes(content[:4] + b"\xff" * 24 + content[28:])
    columns = {"day": Date(), "k": String(), "v": Int64()}
    view = view_over(tmp_path, kind=SourceKind.SNAPSHOTS, path="rows", columns=columns)
    instants = local_days(date(2013, 11, 5), 4)
    found = {at: materialized(engine, view, at) for at in instants[:3]}
    assert values(found) == [4, 5, 6]
    with pytest.raises(FeaturekitError, match=r"part\.parquet"):
        materialized(engine, view, instants[3])
    requests = at_instants(engine, engine.query("SELECT 'a' AS k"), instants[:3])
    rows = python_rows(engine.to_arrow(as_of_rows(engine, view, requests)))
    assert {row["as_of"]: row["last_v"] for row in rows} == dict(zip(instants, (4, 5, 6), strict=False))


def test_events_of_a_csv_may_be_dated_by_the_day(engine: SparkEngine, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("k,day,v\na,2013-11-02,1\na,2013-11-03,2\n", encoding="utf-8")
    view = view_over(tmp_path, path="rows.csv", columns={"k": String(), "day": Date(), "v": Int64()})
    assert values(both_paths(engine, view, local_days(date(2013, 11, 2), 4))) == [None, 1, 2, 2]

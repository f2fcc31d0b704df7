"""Snapshots: as of an instant the rows of the newest one count, as far as they are known, and no others.

The same log by both paths at each instant; dates as times, and what of a source is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from featurekit.clock import DAY, HOUR, MINUTE, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.partition import Partition, PartitionOf
from featurekit.definitions.source import Source, SourceKind
from featurekit.errors import BatchEngineError, SourceError
from featurekit.offline.as_of import as_of_rows, at_instants
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.session import SparkEngine
from featurekit.offline.source import count_invisible
from featurekit.offline.visible_rows import newest_snapshot
from featurekit.types import DataType, Int64, String, Timestamp
from tests.offline.test_changes import Values, both_paths
from tests.offline.test_partitions import spoil
from tests.offline.worlds import compiled, features, materialized, python_rows, swept, write_rows

pytestmark = pytest.mark.spark
START: Final = parse_instant("2024-01-10T00:00Z")
INSTANTS: Final = tuple(START + day * DAY for day in range(4))
LATENESS: Final = 30 * MINUTE
COLUMNS: Final[dict[str, DataType]] = {
    "account": String(),
    "taken": Timestamp(),
    "landed": Timestamp(),
    "holder": String(),
    "v": Int64(),
}
FEATURES: Final = features(
    n={"sql": "count(*)"},
    total={"sql": "sum(v)"},
    last_v={"sql": "v"},
    in_order={"sql": "collect_last(v, 9)"},
)


def snapshot(hours: float, landed: float, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of one snapshot, taken and landed so many hours after the start; each may have landed apart."""
    blank = {"account": "a", "holder": "ann", "v": None}
    times = {"taken": START + int(hours * HOUR), "landed": START + int(landed * HOUR)}
    return [blank | times | row for row in rows]


def view_over(base: Path, rows: list[dict[str, Any]], *, ttl: int | None = None, **fields: Any) -> CompiledView:
    write_rows(base / "rows.parquet", COLUMNS, rows)
    declared = {"path": "rows.parquet", "event_timestamp": "taken", "created_timestamp": "landed"} | fields
    return compiled(
        base,
        entities=[Entity(name="holder", join_keys={"holder": String()})],
        sources=[Source(name="rows", kind=SourceKind.SNAPSHOTS, **declared)],
        views=[
            FeatureView(
                name="view",
                entity="holder",
                source="rows",
                where="v >= 0 OR v IS NULL",
                refresh=Refresh(every=DAY),
                availability_delay=HOUR,
                allowed_lateness=LATENESS,
                features=FEATURES if ttl is None else features(v={"sql": "v", "ttl": ttl}),
            )
        ],
    ).views["view"]


def totals(found: Values) -> list[dict[str, Any]]:
    return [{key[0]: row["total"] for key, row in rows.items()} for rows in found.values()]


def test_newest_snapshot_replaces_the_one_before_as_a_whole(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        *snapshot(-2, -1, {"v": 1}, {"holder": "bob", "v": 2}),
        *snapshot(22, 23, {"v": 10}, {"account": "b", "v": 20}),  # bob has vanished
        *snapshot(46, 47, {"holder": "bob", "v": 3}),  # and is there again, and ann is not
    ]
    found = both_paths(engine, view_over(tmp_path, rows), INSTANTS)
    assert totals(found) == [{"ann": 1, "bob": 2}, {"ann": 30}, {"bob": 3}, {"bob": 3}]


def test_snapshot_is_not_seen_at_the_instant_it_is_taken(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [*snapshot(-1, -1, {"v": 1}), *snapshot(0, 0, {"v": 2})]
    assert totals(both_paths(engine, view_over(tmp_path, rows), INSTANTS[:2])) == [{"ann": 1}, {"ann": 2}]


def test_snapshot_that_lands_late_counts_from_the_next_refresh_on(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [*snapshot(-30, -29, {"v": 1}), *snapshot(-2, 0.5, {"v": 2}), *snapshot(22, 24.6, {"v": 3})]
    assert totals(both_paths(engine, view_over(tmp_path, rows), INSTANTS)) == [
        {"ann": 2},  # at the very known-at
        {"ann": 2},
        {"ann": 3},
        {"ann": 3},
    ]


def test_older_snapshot_that_lands_after_a_newer_one_is_never_seen(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [*snapshot(-50, -49, {"v": 1}), *snapshot(-26, 30, {"v": 2}), *snapshot(-2, -1, {"v": 3})]
    assert totals(both_paths(engine, view_over(tmp_path, rows), INSTANTS)) == [{"ann": 3}] * 4


def test_of_a_snapshot_that_has_half_landed_the_half_counts(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        *snapshot(-26, -25, {"v": 1}, {"holder": "bob", "v": 2}),
        *snapshot(-2, 0.5, {"v": 10}),  # at the very known-at
        *snapshot(-2, 0, {"holder": "bob", "v": 20, "landed": START + LATENESS + 1}),
        *snapshot(-2, 24.5, {"v": 100}),
        *snapshot(-2, 24.6, {"v": 1000}),
    ]
    assert totals(both_paths(engine, view_over(tmp_path, rows), INSTANTS)) == [
        {"ann": 10},
        {"ann": 110, "bob": 20},
        {"ann": 1110, "bob": 20},
        {"ann": 1110, "bob": 20},
    ]


def test_rows_that_land_after_a_refresh_leave_it_as_it_was(engine: SparkEngine, tmp_path: Path) -> None:
    first = [*snapshot(-26, -25, {"v": 1}, {"holder": "bob", "v": 2}), *snapshot(-2, 0.2, {"v": 10})]
    second = [*first, *snapshot(-2, 0.6, {"holder": "bob", "v": 20}), *snapshot(-1, 0.7, {"v": 30})]
    before = both_paths(engine, view_over(tmp_path, first), INSTANTS[:1])
    after = both_paths(engine, view_over(tmp_path, second), INSTANTS[:2])
    assert after[START] == before[START]
    assert totals(after) == [{"ann": 10}, {"ann": 30}]


def test_first_row_of_a_later_snapshot_ends_one_that_still_lands(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        *snapshot(-2, -1, {"v": 1}),
        *snapshot(-2, 30, {"holder": "bob", "v": 2}),  # never seen: a later one came first
        *snapshot(22, 24.2, {"holder": "eve", "v": 30}),
        *snapshot(22, 40, {"v": 10}),
        *snapshot(23, 60, {"v": 100}),
        *snapshot(23, 90, {"holder": "bob", "v": 200}),
    ]
    assert totals(both_paths(engine, view_over(tmp_path, rows), (*INSTANTS, START + 4 * DAY))) == [
        {"ann": 1},
        {"eve": 30},
        {"ann": 10, "eve": 30},
        {"ann": 100},
        {"ann": 100, "bob": 200},
    ]


def test_a_snapshot_known_before_it_is_taken_counts_after_that(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [*snapshot(-2, -1, {"v": 1}), *snapshot(24, -5, {"v": 2}), *snapshot(24, 60, {"holder": "bob", "v": 3})]
    assert totals(both_paths(engine, view_over(tmp_path, rows), INSTANTS)) == [
        {"ann": 1},
        {"ann": 1},
        {"ann": 2},
        {"ann": 2, "bob": 3},
    ]


def test_rows_that_no_feature_wants_make_a_snapshot_the_newest(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        *snapshot(-26, -25, {"v": 1}),
        *snapshot(-2, -1, {"holder": None, "v": 20}),  # of no entity
        *snapshot(-2, 5, {"v": 10}),
        *snapshot(46, 47, {"v": -1}),  # not wanted by `where`
        *snapshot(46, 50, {"v": 100}),
    ]
    assert totals(both_paths(engine, view_over(tmp_path, rows), INSTANTS)) == [{}, {"ann": 10}, {}, {"ann": 100}]


def test_snapshot_that_wants_nothing_of_an_entity_takes_it_away(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [*snapshot(-2, -1, {"v": 1}), *snapshot(22, 23, {"v": -1}), *snapshot(46, 47, {"holder": None})]
    assert totals(both_paths(engine, view_over(tmp_path, rows), INSTANTS)) == [{"ann": 1}, {}, {}, {}]


def test_duplicates_in_a_snapshot_all_count_and_have_an_order(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        *snapshot(-2, -1, {"v": 5}, {"v": 5}, {"v": 7}, {"v": None}),
        *snapshot(-2, -1.5, {"v": 9}),  # created before: the first in order
        *snapshot(-2, -0.5, {"v": 1}),
    ]
    found = both_paths(engine, view_over(tmp_path, rows), INSTANTS[:1])
    assert found[START]["ann",] | {"__last_event": 0} == {
        "__last_event": 0,
        "__status_last_v": 0,
        "n": 6,
        "total": 27,
        "last_v": 1,
        "in_order": [9, 5, 5, 7, 1],
    }


def test_rows_without_a_time_belong_to_no_snapshot(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        *snapshot(-2, -1, {"v": 1}, {"v": 2, "taken": None}, {"v": 4, "landed": None}),
        *snapshot(22, 23, {"v": 8, "landed": None}),  # a snapshot that was never known
    ]
    view = view_over(tmp_path, rows)
    assert totals(both_paths(engine, view, INSTANTS[:2])) == [{"ann": 1}, {"ann": 1}]
    assert count_invisible(engine, view) == 3


def test_without_a_created_timestamp_a_snapshot_is_known_when_it_is_taken(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [*snapshot(-2, 90, {"v": 1}), *snapshot(23, 90, {"v": 2})]
    found = both_paths(engine, view_over(tmp_path, rows, created_timestamp=None), INSTANTS[:2])
    assert totals(found) == [{"ann": 1}, {"ann": 2}]


def test_history_loaded_in_bulk_is_known_by_its_lag(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [*snapshot(-2, 90, {"v": 1}), *snapshot(23, 90, {"v": 2})]
    view = view_over(tmp_path, rows, known_from="2024-02-01", assumed_lag=2 * HOUR)
    assert totals(both_paths(engine, view, INSTANTS[:3])) == [{"ann": 1}, {"ann": 1}, {"ann": 2}]


def test_a_snapshot_may_be_loaded_in_bulk_and_still_land(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        *snapshot(-2, 9, {"v": 1}),  # before known_from: two hours after it was taken
        *snapshot(-2, 12, {"holder": "bob", "v": 2}),
        *snapshot(-2, 50, {"v": 10}),
    ]
    view = view_over(tmp_path, rows, known_from="2024-01-10T12:00Z", assumed_lag=2 * HOUR)
    assert totals(both_paths(engine, view, INSTANTS)) == [
        {"ann": 1},
        {"ann": 1, "bob": 2},
        {"ann": 1, "bob": 2},
        {"ann": 11, "bob": 2},
    ]


def test_age_of_a_latest_value_is_that_of_its_snapshot(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [*snapshot(-1, 0, {"v": 1}, {"holder": "bob", "v": 2}), *snapshot(30, 31, {"holder": "bob", "v": 3})]
    found = both_paths(engine, view_over(tmp_path, rows, ttl=30 * HOUR), INSTANTS)
    statuses = [{key[0]: row["__status_v"] for key, row in rows.items()} for rows in found.values()]
    assert statuses == [{"ann": 0, "bob": 0}, {"ann": 0, "bob": 0}, {"bob": 0}, {"bob": 3}]


def test_source_without_a_known_snapshot_has_no_rows(engine: SparkEngine, tmp_path: Path) -> None:
    view = view_over(tmp_path, snapshot(-2, 90, {"v": 1}))
    assert newest_snapshot(engine, view, START) is None
    assert totals(both_paths(engine, view, INSTANTS[:2])) == [{}, {}]
    empty = view_over(tmp_path, [])
    assert totals(both_paths(engine, empty, INSTANTS[:2])) == [{}, {}]


def test_partitions_that_were_not_known_yet_are_not_read(engine: SparkEngine, tmp_path: Path) -> None:
    for day in range(6):
        rows = snapshot(24 * day - 2, 24 * day - 1, {"v": day}) + snapshot(24 * day - 26, 24 * day - 1, {"v": 10})
        write_rows(tmp_path / "rows" / f"ds=2024-01-{9 + day:02d}" / "part.parquet", COLUMNS, rows)
    partition = Partition(column="ds", of=PartitionOf.CREATED)
    assert spoil(tmp_path, partition, *(f"2024-01-{day:02d}" for day in range(9, 13))) == 2
    view = view_over(tmp_path, [], path="rows", columns={"ds": String()}, partition=partition)
    found = {at: materialized(engine, view, at) for at in INSTANTS[:3]}
    assert totals(found) == [{"ann": 0}, {"ann": 1}, {"ann": 2}]
    requests = at_instants(engine, engine.query("SELECT 'ann' AS holder"), INSTANTS[:3])
    rows = python_rows(engine.to_arrow(as_of_rows(engine, view, requests)))
    assert {row["as_of"]: row["total"] for row in rows} == dict(zip(INSTANTS, (0, 1, 2), strict=False))
    with pytest.raises((BatchEngineError, SourceError)):  # what landed later can't be read: it was not
        materialized(engine, view, INSTANTS[3] + DAY)


def test_only_the_snapshot_that_is_visible_is_read(engine: SparkEngine, tmp_path: Path) -> None:
    """Of a source in 40 files, one a snapshot, one file's row groups are left for the features' columns."""
    for day in range(40):
        rows = snapshot(24 * day - 2, 24 * day - 1, *({"v": number} for number in range(50)))
        write_rows(tmp_path / "days" / f"day{day}.parquet", COLUMNS, rows)
    view = view_over(tmp_path, [], path="days")
    at = START + 20 * DAY
    frame = materialized_frame(engine, view, at)
    assert engine.to_arrow(frame)["total"].to_pylist() == [sum(range(50))]
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "GreaterThanOrEqual(taken,2024-01-29" in plan
    assert swept(engine, view, (at,))[at]["ann",]["total"] == sum(range(50))

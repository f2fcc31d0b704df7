"""Of which files a refresh can be computed from the one before, and what is read of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest

from benchmarks.incremental import Meter
from featurekit.clock import DAY, HOUR, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.offline.history_folder import HistoryEntry, KeptFile
from featurekit.offline.incremental import Incremental, incremental_frame, why_full
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.session import SparkEngine
from featurekit.offline.snapshot import FileSnapshot, SourceSnapshot, snapshot_source
from featurekit.rows import offline_schema
from featurekit.types import DataType, Float64, Int64, Timestamp
from tests.offline.worlds import bits, compiled, features, python_rows, write_rows

START: Final = parse_instant("2026-03-01")
COLUMNS: Final[dict[str, DataType]] = {"k": Int64(), "at": Timestamp(), "made": Timestamp(), "v": Float64()}
FILES: Final = tuple(FileSnapshot(path=f"/rows/{name}", size=1, modified=1) for name in ("a", "b"))
Rows = list[dict[str, Any]]


def view_of(base: Path, **source: Any) -> CompiledView:
    given = {"path": "rows", "event_timestamp": "at"} | source
    written: dict[str, Any] = {
        "n": {"sql": "count(*)", "window": "2d"} if "kind" not in source else {"sql": "count(*)"},
        "last": {"sql": "v", "ttl": "3d"},
    }
    return compiled(
        base,
        entities=[Entity(name="user", join_keys={"k": Int64()})],
        sources=[Source(name="rows", **given)],
        views=[
            FeatureView(
                name="v", entity="user", source="rows", refresh=Refresh(every=DAY), features=features(**written)
            )
        ],
    ).views["v"]


def land(base: Path, name: str, rows: Rows) -> None:
    write_rows(base / "rows" / f"{name}.parquet", COLUMNS, rows)


def row(k: int, at: int, **more: Any) -> dict[str, Any]:
    return {"k": k, "at": at, "made": at, "v": float(k)} | more


def kept(engine: SparkEngine, view: CompiledView, as_of: int, frame: Any) -> HistoryEntry:
    path = engine.root / "kept" / str(as_of)
    path.mkdir(parents=True)
    rows = engine.to_arrow(frame)
    pq.write_table(rows, path / "part.parquet")
    return HistoryEntry(
        view=view.name,
        fingerprint=view.fingerprint.data,
        as_of=as_of,
        restatement=0,
        visible_from=as_of,
        completed_at=as_of,
        snapshot=snapshot_source(engine, view),
        files=(KeptFile(name="part.parquet", rows=rows.num_rows, bytes=1),),
        path=path,
    )


def refreshed(engine: SparkEngine, view: CompiledView, as_of: int, base: HistoryEntry) -> Incremental:
    rows = engine.read_files([base.path / "part.parquet"], offline_schema(view))
    return incremental_frame(engine, view, as_of, base, rows)


def by_key(engine: SparkEngine, frame: Any) -> dict[int, list[Any]]:
    rows = python_rows(engine.to_arrow(frame))
    found = {each["k"]: [bits(value) for value in each.values()] for each in rows}
    assert len(found) == len(rows)
    return found


def assert_equal(engine: SparkEngine, view: CompiledView, as_of: int, found: Incremental) -> None:
    assert found.frame is not None, found.reason
    assert by_key(engine, found.frame) == by_key(engine, materialized_frame(engine, view, as_of))


@pytest.mark.spark
@pytest.mark.parametrize("created", [None, "made"])
def test_rows_of_a_new_file_count_however_they_are_dated(
    created: str | None, engine: SparkEngine, tmp_path: Path
) -> None:
    for day in range(4):
        land(tmp_path, f"day{day}", [row(k, START + day * DAY + k) for k in range(20) if k % 4 == day])
    view = view_of(tmp_path, created_timestamp=created)
    days = [START + day * DAY for day in (4, 5, 6, 7)]
    base = kept(engine, view, days[0], materialized_frame(engine, view, days[0]))
    for number, as_of in enumerate(days[1:], 4):
        # Dated two days back, and where the source says so, readable then: the file was not.
        land(tmp_path, f"day{number}", [row(number, as_of - HOUR), row(15 + number, as_of - 2 * DAY + HOUR)])
        found = refreshed(engine, view, as_of, base)
        assert_equal(engine, view, as_of, found)
        base = kept(engine, view, as_of, found.frame)


@pytest.mark.spark
def test_a_refresh_from_tiles_reads_of_the_source_what_came(engine: SparkEngine, tmp_path: Path) -> None:
    def land_day(day: int) -> None:
        land(tmp_path, f"day{day}", [row(k % 10, START + day * DAY + k) for k in range(1000)])

    for day in range(2):
        land_day(day)
    view = view_of(tmp_path, created_timestamp="made")
    base = kept(engine, view, START + 2 * DAY, materialized_frame(engine, view, START + 2 * DAY))
    land_day(2)
    first = refreshed(engine, view, START + 3 * DAY, base)
    assert (first.changed, first.reason) == (None, "tiles of all rows in reach, made anew")
    base = kept(engine, view, START + 3 * DAY, first.frame)
    land_day(3)
    meter = Meter(engine)
    found = refreshed(engine, view, START + 4 * DAY, base)
    assert found.reason == "tiles: 10 entities were touched"
    assert found.frame is not None
    rows = engine.held(found.frame)[0]
    assert 1000 <= meter.cost().rows < 1300  # one day of four; the base and the tiles, ten a day
    assert_equal(engine, view, START + 4 * DAY, replace(found, frame=rows))


@pytest.mark.spark
def test_snapshots_are_computed_in_full_unless_none_came(engine: SparkEngine, tmp_path: Path) -> None:
    landing = [row(1, START, made=START + 5 * DAY), row(2, START + 3 * DAY, made=START + 5 * DAY + HOUR)]
    land(tmp_path, "all", [*landing, *(row(k, START + day * DAY) for day in (0, 3) for k in range(3 + day))])
    view = view_of(tmp_path, kind="snapshots", created_timestamp="made")
    base = kept(engine, view, START + DAY, materialized_frame(engine, view, START + DAY))
    same = refreshed(engine, view, START + 3 * DAY, base)
    assert_equal(engine, view, START + 3 * DAY, same)
    assert (same.changed, same.reason) == (0, "no rows of snapshots came since 2026-03-02T00:00Z")
    for later in (4, 6):
        new = refreshed(engine, view, START + later * DAY, base)
        assert (new.frame, new.reason) == (None, "rows of snapshots came, and a new one says everything anew")
    base = kept(engine, view, START + 5 * DAY, materialized_frame(engine, view, START + 5 * DAY))
    joined = refreshed(engine, view, START + 6 * DAY, base)  # of the newest snapshot one more row
    assert joined.frame is None


@pytest.mark.spark
def test_a_refresh_is_in_full_where_most_entities_were_touched(engine: SparkEngine, tmp_path: Path) -> None:
    land(tmp_path, "all", [row(k, START + day * DAY) for day in (0, 1) for k in range(10)])
    view = view_of(tmp_path, created_timestamp="made", kind="changes")
    base = kept(engine, view, START + DAY, materialized_frame(engine, view, START + DAY))
    found = refreshed(engine, view, START + 2 * DAY, base)
    assert found.frame is None
    assert found.reason == "10 of 10 entities had an event in the step before 2026-03-02T00:00Z: most are touched"


@pytest.mark.spark
def test_a_refresh_is_in_full_where_most_entities_come_unexpectedly(engine: SparkEngine, tmp_path: Path) -> None:
    land(tmp_path, "all", [row(k, START + day * DAY) for day in (0, 5) for k in range(10)])
    view = view_of(tmp_path, created_timestamp="made", kind="changes")
    base = kept(engine, view, START + 5 * DAY, materialized_frame(engine, view, START + 5 * DAY))
    found = refreshed(engine, view, START + 6 * DAY, base)
    assert found.frame is None
    assert found.reason == "10 entities were touched since 2026-03-06T00:00Z, which has 10 rows"


@pytest.mark.spark
@pytest.mark.parametrize(("rows_of_each", "from_tiles"), [(7, False), (8, True)])
def test_tiles_of_all_entities_are_merged_where_many_rows_are_of_one(
    rows_of_each: int, from_tiles: bool, engine: SparkEngine, tmp_path: Path
) -> None:
    land(tmp_path, "day0", [row(k, START + each) for k in range(10) for each in range(9)])
    view = view_of(tmp_path, created_timestamp="made")
    base = kept(engine, view, START + DAY, materialized_frame(engine, view, START + DAY))
    land(tmp_path, "day1", [row(k, START + DAY + each) for k in range(10) for each in range(rows_of_each)])
    found = refreshed(engine, view, START + 2 * DAY, base)
    assert (found.frame is not None) == from_tiles, found.reason


def changed(**parts: Any) -> Callable[[HistoryEntry], HistoryEntry]:
    return lambda base: replace(base, **parts)


def of_files(*files: FileSnapshot) -> SourceSnapshot:
    return SourceSnapshot(source="rows", origin="rows", files=files)


@pytest.mark.parametrize(
    ("base", "files", "reason"),
    [
        (changed(), FILES, None),
        (changed(), (*FILES, FileSnapshot(path="/rows/c", size=1, modified=1)), None),
        (changed(fingerprint="other"), FILES, "the kept rows are of another version of the view"),
        (changed(withdrawn_at=START), FILES, "the refresh of 2026-03-01T00:00Z was withdrawn"),
        (changed(as_of=START + DAY), FILES, "the kept rows are of 2026-03-02T00:00Z, and no earlier refresh is kept"),
        (changed(snapshot=None), FILES, "of the refresh of 2026-03-01T00:00Z it is not known which files it read"),
        (changed(), FILES[:1], "/rows/b is gone since 2026-03-01T00:00Z"),
        (changed(), (FILES[0], replace(FILES[1], modified=2)), "/rows/b was written again since 2026-03-01T00:00Z"),
        (changed(), (FILES[0], replace(FILES[1], size=2)), "/rows/b was written again since 2026-03-01T00:00Z"),
        (
            changed(),
            (replace(FILES[0], modified=None), FILES[1]),
            "which files source rows consists of, and whether one was written again, can't be told",
        ),
    ],
)
def test_a_refresh_is_in_full_where_a_base_tells_too_little(
    base: Callable[[HistoryEntry], HistoryEntry], files: tuple[FileSnapshot, ...], reason: str | None, tmp_path: Path
) -> None:
    land(tmp_path, "a", [row(1, START)])
    view = view_of(tmp_path)
    entry = HistoryEntry(
        view="v",
        fingerprint=view.fingerprint.data,
        as_of=START,
        restatement=0,
        visible_from=START,
        completed_at=START,
        snapshot=of_files(*FILES),
    )
    assert why_full(view, START + DAY, base(entry), of_files(*files)) == reason


def test_new_files_of_a_query_are_not_told_apart(tmp_path: Path) -> None:
    columns = {name: kind.name for name, kind in COLUMNS.items()}
    view = view_of(tmp_path, path=None, sql="SELECT * FROM parquet.`/rows`", columns=columns)
    entry = HistoryEntry(
        view="v",
        fingerprint=view.fingerprint.data,
        as_of=START,
        restatement=0,
        visible_from=START,
        completed_at=START,
        snapshot=of_files(*FILES),
    )
    assert why_full(view, START + DAY, entry, of_files(*FILES)) is None
    more = (*FILES, FileSnapshot(path="/rows/c", size=1, modified=1))
    reason = why_full(view, START + DAY, entry, of_files(*more))
    assert reason == "source rows has new files, and which of its rows are from them can't be told"

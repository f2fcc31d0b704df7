"""Training rows: each label once, each view as of its own instant, then defaults, then on-demand features."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.arrow_types import to_arrow
from featurekit.clock import DAY, HOUR, MINUTE, format_instant, parse_instant
from featurekit.compiled import CompiledService
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.on_demand import OnDemandFeature, OnDemandFeatureView
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.definitions.source import Source
from featurekit.errors import FeaturekitError, InputError, KeyTypeError, SourceError, TimeError
from featurekit.offline.labels import LabelSpec
from featurekit.offline.point_in_time import point_in_time
from featurekit.offline.session import SparkEngine
from featurekit.offline.training import build_dataset
from featurekit.types import DataType, Float64, Int32, Int64, String, Timestamp
from tests.offline.worlds import compiled, features, python_rows, write_rows

pytestmark = pytest.mark.spark
DAY0 = parse_instant("2013-11-03T00:00Z")
NOW = DAY0 + 30 * DAY
LABELS: dict[str, DataType] = {
    "row": Int64(),
    "origin": String(),
    "dest": String(),
    "plane": Int64(),
    "event_timestamp": Timestamp(),
    "distance": Float64(),
    "note": String(),
}


def service_of(base: Path) -> CompiledService:
    """Return a service over two views: an airport's load in two roles, a plane's history by New York days."""
    load: list[dict[str, Any]] = [
        {"airport": airport, "at": DAY0 + hour * HOUR + minute * MINUTE, "delay": float(hour)}
        for airport, minute in (("JFK", 0), ("BOS", 1))
        for hour in range(-30, 60)
    ]
    write_rows(base / "load.parquet", {"airport": String(), "at": Timestamp(), "delay": Float64()}, load)
    flights: list[dict[str, Any]] = [
        {"plane": 7, "at": DAY0 + hour * HOUR, "seats": hour} for hour in range(-50, 60, 5)
    ]
    flights += [{"plane": 8, "at": DAY0 - 40 * HOUR, "seats": None}]
    write_rows(base / "flights.parquet", {"plane": Int32(), "at": Timestamp(), "seats": Int32()}, flights)
    repository = compiled(
        base,
        entities=[
            Entity(name="airport", join_keys={"airport": String()}),
            Entity(name="plane", join_keys={"plane": Int64()}),
        ],
        sources=[
            Source(name="load", path="load.parquet", event_timestamp="at"),
            Source(name="flights", path="flights.parquet", event_timestamp="at"),
        ],
        views=[
            FeatureView(
                name="airport_load",
                entity="airport",
                source="load",
                refresh=Refresh(every=6 * HOUR),
                availability_delay=HOUR,
                features=features(
                    n_1d={"sql": "count(*)", "window": "1d"},
                    mean_1d={"sql": "avg(delay)", "window": "1d", "default": -1.0},
                    unused={"sql": "max(delay)", "window": "1d"},
                ),
            ),
            FeatureView(
                name="plane_history",
                entity="plane",
                source="flights",
                refresh=Refresh(every=DAY, timezone="America/New_York"),
                availability_delay=2 * HOUR,
                features=features(
                    n_2d={"sql": "count(*)", "window": "2d", "default": 0},
                    seats={"sql": "seats", "ttl": "1d"},
                    seats_or={"sql": "seats", "ttl": "1d", "default": 100},
                ),
            ),
        ],
        on_demand=[
            OnDemandFeatureView(
                name="trip",
                request={"distance": Float64()},
                features=(
                    OnDemandFeature(name="far", sql="distance > 1000"),
                    OnDemandFeature(name="gap", sql="origin_load.mean_1d - dest_load.mean_1d"),
                    OnDemandFeature(name="seats_twice", sql="plane_history.seats_or * 2", default=5),
                    OnDemandFeature(name="per_mile", sql="plane_history.n_2d / distance", default=0.5),
                ),
            )
        ],
        services=[
            FeatureService(
                name="delay",
                features=(
                    ServiceFeatures(view="trip"),
                    ServiceFeatures(
                        view="airport_load", feature="n_1d", alias="origin_load", keys={"airport": "origin"}
                    ),
                    ServiceFeatures(
                        view="airport_load", feature="mean_1d", alias="dest_load", keys={"airport": "dest"}
                    ),
                    ServiceFeatures(view="plane_history"),
                ),
            )
        ],
    )
    return repository.services["delay"]


def label(row: int, at: int, **cells: Any) -> dict[str, Any]:
    blank = {"origin": "JFK", "dest": "BOS", "plane": 7, "distance": 100.0, "note": None}
    return {"row": row, "event_timestamp": at, **blank, **cells}


@pytest.fixture
def service(tmp_path: Path) -> CompiledService:
    return service_of(tmp_path)


def answered(
    engine: SparkEngine, service: CompiledService, base: Path, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    write_rows(base / "labels.parquet", LABELS, rows)
    table = engine.to_arrow(point_in_time(engine, service, LabelSpec(path="labels.parquet"), now=NOW))
    names = [*LABELS, *(output.name for output in service.outputs)]
    assert table.column_names == names
    assert [table.schema.field(output.name).type for output in service.outputs] == [
        to_arrow(output.type) for output in service.outputs
    ]
    return sorted(python_rows(table), key=lambda row: row["row"])


def test_each_label_has_what_serving_would_have_answered(
    engine: SparkEngine, service: CompiledService, tmp_path: Path
) -> None:
    winter = parse_instant("2013-11-04T05:00Z")  # New York's midnight, after a day of 25 hours
    rows = [
        label(0, DAY0 + 7 * HOUR),
        label(1, DAY0 + 7 * HOUR - 1),
        label(2, winter + 2 * HOUR, note="carried\nalong"),
        label(3, winter + 2 * HOUR - 1),
        label(4, winter + 2 * HOUR, plane=8, origin="never", distance=None),
        label(5, winter + 2 * HOUR, plane=None, origin=None, dest=None),
        label(6, DAY0 + 7 * HOUR),
        label(6, DAY0 + 7 * HOUR),
    ]
    found = answered(engine, service, tmp_path, rows)
    # As of 06:00 and of 00:00: events at whole hours (BOS a minute later), a day of them.
    assert [row["origin_load.n_1d"] for row in found] == [24, 24, 24, 24, 0, 0, 24, 24]
    six, midnight, next_day = (sum(range(hour - 24, hour)) / 24 for hour in (6, 0, 30))
    assert [row["dest_load.mean_1d"] for row in found[:3]] == [six, midnight, next_day]
    assert [row["dest_load.mean_1d"] for row in found[4:]] == [next_day, -1.0, six, six]
    # Flights every five hours; as of New York's midnights: 04:00Z on 3 November, 05:00Z on the 4th.
    assert [row["plane_history.n_2d"] for row in found] == [9, 9, 9, 9, 0, 0, 9, 9]
    assert [row["plane_history.seats"] for row in found] == [0, 0, 25, 0, None, None, 0, 0]
    assert [row["plane_history.seats_or"] for row in found] == [0, 0, 25, 0, 100, 100, 0, 0]
    assert [row["trip.seats_twice"] for row in found] == [0, 0, 50, 0, 200, 200, 0, 0]
    assert [row["trip.gap"] for row in found] == [0.0, 0.0, 0.0, 0.0, -1.0 - next_day, 0.0, 0.0, 0.0]
    assert [row["trip.far"] for row in found] == [False] * 4 + [None] + [False] * 3
    assert [row["trip.per_mile"] for row in found] == [0.09] * 4 + [0.5, 0.0] + [0.09] * 2
    assert [row["note"] for row in found] == [None, None, "carried\nalong"] + [None] * 5


def test_labels_from_csv_and_parquet_in_any_zone_are_the_same(
    engine: SparkEngine, service: CompiledService, tmp_path: Path
) -> None:
    rows = [label(number, DAY0 + number * 7 * HOUR, note="") for number in range(6)]
    expected = answered(engine, service, tmp_path, rows)
    outputs = [output.name for output in service.outputs]
    with (tmp_path / "labels.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["extra", *LABELS])
        writer.writeheader()
        writer.writerows(
            {**row, "extra": "x", "event_timestamp": format_instant(row["event_timestamp"])} for row in rows
        )
    naive = pq.read_table(tmp_path / "labels.parquet")
    local = pa.array(
        [
            at - 4 * HOUR if at < DAY0 + 6 * HOUR else at - 5 * HOUR
            for at in naive["event_timestamp"].cast(pa.int64()).to_pylist()
        ],
        pa.timestamp("us"),
    )
    at = naive.column_names.index("event_timestamp")
    pq.write_table(naive.set_column(at, "asked", local), tmp_path / "naive.parquet")
    specs = [
        LabelSpec(path="labels.csv", columns={"row": Int64()}),
        LabelSpec(path="naive.parquet", timestamp="asked", timezone="America/New_York"),
    ]
    for spec in specs:
        found = python_rows(engine.to_arrow(point_in_time(engine, service, spec)))
        found.sort(key=lambda row: row["row"])
        assert [[row[name] for name in outputs] for row in found] == [
            [row[name] for name in outputs] for row in expected
        ]


def replaced(table: pa.Table, name: str, column: pa.Array | None, new_name: str | None = None) -> pa.Table:
    at = table.column_names.index(name)
    return table.remove_column(at) if column is None else table.set_column(at, new_name or name, column)


def test_labels_that_can_not_be_answered_are_told(
    engine: SparkEngine, service: CompiledService, tmp_path: Path
) -> None:
    write_rows(tmp_path / "good.parquet", LABELS, [label(0, DAY0), label(1, DAY0)])
    good = pq.read_table(tmp_path / "good.parquet")
    times = good["event_timestamp"]
    cases: list[tuple[pa.Table, type[FeaturekitError], str, str | None]] = [
        (
            replaced(good, "origin", good["origin"], "orgin"),
            SourceError,
            "the labels have no column origin",
            "did you mean orgin?",
        ),
        (replaced(good, "distance", None), SourceError, "the labels have no column distance", "one of"),
        (
            replaced(good, "plane", good["plane"].cast(pa.string())),
            KeyTypeError,
            "the labels' join key plane is string, not bigint",
            "write the column as bigint",
        ),
        (
            replaced(good, "distance", good["distance"].cast(pa.string())),
            KeyTypeError,
            "the labels' request value distance is string, not double",
            "write the column as double",
        ),
        (
            replaced(good, "event_timestamp", times.cast(pa.timestamp("us"))),
            SourceError,
            "event_timestamp has no zone, and the source declares none",
            "timezone: UTC",
        ),
        (
            replaced(good, "event_timestamp", times.cast(pa.string())),
            SourceError,
            "event_timestamp event_timestamp is string",
            None,
        ),
        (
            replaced(good, "event_timestamp", pa.array([None, DAY0], pa.timestamp("us", tz="UTC"))),
            SourceError,
            "1 of 2 label rows have no event_timestamp",
            "leave those rows out",
        ),
        (
            replaced(good, "event_timestamp", pa.array([DAY0, NOW + 1], pa.timestamp("us", tz="UTC"))),
            TimeError,
            f"the latest label, {format_instant(NOW + 1)}, can't be answered yet",
            "leave out the labels that lie in the future",
        ),
        (
            good.append_column("trip.far", good["note"]),
            SourceError,
            "the labels have a column trip.far, which is a name of ours",
            "rename it",
        ),
    ]
    for number, (table, kind, what, try_) in enumerate(cases):
        pq.write_table(table, tmp_path / f"labels{number}.parquet")
        with pytest.raises(kind) as caught:
            point_in_time(engine, service, LabelSpec(path=f"labels{number}.parquet"), now=NOW)
        assert caught.value.what == what
        assert caught.value.exit_code == 2
        if try_ is not None:
            assert try_ in str(caught.value.try_)
    with pytest.raises(SourceError, match="does not exist"):
        point_in_time(engine, service, LabelSpec(path="nowhere.parquet"))


def test_a_dataset_is_whole_or_not_there_and_the_same_content_has_the_same_id(
    engine: SparkEngine, service: CompiledService, tmp_path: Path
) -> None:
    rows = [label(number, DAY0 + number * HOUR, plane=7 + number % 2) for number in range(20)]
    write_rows(tmp_path / "labels.parquet", LABELS, rows)
    spec = LabelSpec(path="labels.parquet")
    first = build_dataset(engine, service, spec, tmp_path / "out" / "one", now=NOW)
    second = build_dataset(engine, service, spec, tmp_path / "out" / "two", now=NOW)
    assert first.id == second.id
    assert first.rows == 20
    table = pq.read_table(tmp_path / "out" / "one")
    assert table.num_rows == 20
    assert table.column_names == [*LABELS, *(output.name for output in service.outputs)]
    manifest = json.loads(first.manifest.read_text())
    assert manifest["id"] == first.id
    assert manifest["fingerprints"]["service"] == service.fingerprint.data
    assert {source["source"] for source in manifest["sources"]} == {"load", "flights"}
    by_name = {part.name: part for part in first.statistics}
    assert by_name["plane_history.seats"].null_share == 0.5
    assert by_name["origin_load.n_1d"].low == by_name["origin_load.n_1d"].high == 24.0
    with pytest.raises(InputError, match="exists already"):
        build_dataset(engine, service, spec, tmp_path / "out" / "one")
    write_rows(tmp_path / "labels.parquet", LABELS, [*rows, label(20, NOW + DAY)])
    with pytest.raises(TimeError):
        build_dataset(engine, service, spec, tmp_path / "out" / "three", now=NOW)
    write_rows(tmp_path / "labels.parquet", LABELS, rows[:-1])
    assert build_dataset(engine, service, spec, tmp_path / "out" / "four", now=NOW).id != first.id
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["four", "one", "two"]

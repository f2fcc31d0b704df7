"""A parted source is read by the partitions of the window alone, gives the same values, and may not lie."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from featurekit.clock import DAY, HOUR, MINUTE, instant_to_local, parse_instant, to_datetime
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.partition import Partition, PartitionOf
from featurekit.definitions.source import Source
from featurekit.errors import BatchEngineError, DefinitionErrors, FeaturekitError, SourceError
from featurekit.offline.as_of import REQUESTS, Span, as_of_rows, explain_as_of_sql
from featurekit.offline.materialize import explain_sql, materialize, materialized_frame
from featurekit.offline.session import SparkEngine
from featurekit.offline.source import count_invisible, frame_name, read_source
from featurekit.types import DataType, Int64, String, Timestamp
from tests.offline.worlds import bits, compiled, features, materialized, swept, write_rows

AT = parse_instant("2013-11-10T00:00Z")
ROWS: dict[str, DataType] = {"k": String(), "at": Timestamp(), "kept": Timestamp(), "id": Int64(), "n": Int64()}
NEW_YORK = "America/New_York"


def row(at: int | None, *, kept: int | None = None, n: int = 1, k: str | None = "a", id_: int = 0) -> dict[str, Any]:
    return {"k": k, "at": at, "kept": at if kept is None else kept, "id": id_, "n": n}


def write_parted(base: Path, partition: Partition, rows: list[dict[str, Any]]) -> None:
    """Write rows as they belong, into one file a folder."""
    column = "at" if partition.of is PartitionOf.EVENT else "kept"
    folders: dict[str, list[dict[str, Any]]] = {}
    for each in rows:
        folders.setdefault(name_of(partition, each[column]), []).append(each)
    for name, group in folders.items():
        write_rows(base / "rows" / f"{partition.column}={name}" / "part.parquet", ROWS, group)


def name_of(partition: Partition, at: int | None) -> str:
    """Return a partition's name by the calendar of Python, and not by the code that is tested."""
    if at is None:
        return "__HIVE_DEFAULT_PARTITION__"
    pattern = {"yyyy-MM-dd": "%Y-%m-%d", "yyyyMMddHH": "%Y%m%d%H", "yyyy-MM": "%Y-%m", "yyyy-MM-dd-HH": "%Y-%m-%d-%H"}
    return to_datetime(instant_to_local(at, partition.timezone)).strftime(pattern[partition.pattern])


def view_of(base: Path, partition: Partition | None, *, event_id: bool = False, lateness: int = 0) -> CompiledView:
    view = FeatureView(
        name="v",
        entity="thing",
        source="rows",
        refresh=Refresh(every=6 * HOUR),
        allowed_lateness=lateness,
        availability_delay=2 * lateness,
        features=features(
            count={"sql": "count(*)", "window": "2d"},
            total={"sql": "sum(n)", "window": "1d"},
            last={"sql": "n", "ttl": "1d"},
        ),
    )
    source = Source(
        name="rows",
        path="rows",
        columns={"ds": String()},
        event_timestamp="at",
        created_timestamp="kept",
        event_id="id" if event_id else None,
        partition=partition,
    )
    entity = Entity(name="thing", join_keys={"k": String()})
    return compiled(base, entities=[entity], sources=[source], views=[view]).views["v"]


def spoil(base: Path, partition: Partition, *kept: str) -> int:
    """Destroy the pages of all files but those in the named partitions; their footers stay. Return how many."""
    spoilt = 0
    for file in (base / "rows").glob("*/*.parquet"):
        if file.parent.name.removeprefix(f"{partition.column}=") in kept:
            continue
        content = bytearray(file.read_bytes())
        footer = int.from_bytes(content[-8:-4], "little") + 8
        content[4:-footer] = b"\xff" * (len(content) - footer - 4)
        file.write_bytes(bytes(content))
        spoilt += 1
    return spoilt


@pytest.mark.spark
@pytest.mark.parametrize("of", list(PartitionOf))
def test_only_the_folders_of_the_window_are_read(of: PartitionOf, engine: SparkEngine, tmp_path: Path) -> None:
    partition = Partition(column="ds", of=of)
    rows = [row(AT + day * DAY + hour * HOUR) for day in range(-20, 5) for hour in (1, 13)]
    write_parted(tmp_path, partition, [*rows, row(None, kept=AT if of is PartitionOf.CREATED else None)])
    view = view_of(tmp_path, partition)
    for text, frames in (
        (explain_sql(view, AT), {}),
        (explain_as_of_sql(view, Span(AT, AT)), {REQUESTS: engine.query("SELECT 'a' AS `$key0`, 0L AS `$as_of`")}),
    ):
        frame = engine.query(text, {frame_name(view): read_source(engine, view), **frames})
        plan = frame._jdf.queryExecution().executedPlan().toString()
        assert "PartitionFilters: [isnotnull(ds" in plan
        assert ">= 2013-11-0" in plan

    whole = materialize(engine, view, AT, now=AT + DAY)
    expected = materialized(engine, view, AT)
    # By when rows were created, the folder of the as-of itself may hold one that was known just then.
    names = ("2013-11-08", "2013-11-09", *(("2013-11-10",) if of is PartitionOf.CREATED else ()))
    assert spoil(tmp_path, partition, *names, "__HIVE_DEFAULT_PARTITION__") >= 22
    again = materialize(engine, view, AT, now=AT + DAY)
    assert (again.rows, again.invisible_rows) == (whole.rows, whole.invisible_rows)
    assert again.rows == 1
    assert materialized(engine, view, AT) == expected
    requests = engine.query(f"SELECT 'a' AS k, timestamp_micros({AT}L) AS as_of")
    assert engine.to_arrow(as_of_rows(engine, view, requests, between=Span(AT, AT)))["count"].to_pylist() == [4]
    with pytest.raises((BatchEngineError, SourceError)):  # what lies outside can't be read: it was not
        engine.to_arrow(materialized_frame(engine, view, AT - 5 * DAY))


@pytest.mark.spark
@pytest.mark.parametrize(
    ("partition", "event_id"),
    [
        (Partition(column="ds"), False),
        (Partition(column="ds", format="hour", timezone=NEW_YORK), False),
        (Partition(column="ds", format="month", timezone="Asia/Tokyo"), False),
        (Partition(column="ds"), True),
        (Partition(column="ds", of=PartitionOf.CREATED), False),
        (Partition(column="ds", of=PartitionOf.CREATED, timezone=NEW_YORK), True),
    ],
    ids=lambda part: part if isinstance(part, bool) else f"{part.of.value}-{part.format}-{part.timezone}",
)
def test_pruning_changes_no_value(partition: Partition, event_id: bool, engine: SparkEngine, tmp_path: Path) -> None:
    draw = random.Random(f"{partition} {event_id}")
    start = parse_instant("2013-11-01T00:00Z")  # the clocks of New York are put back on the 3rd
    rows = []
    for number in range(400):
        at = start + draw.randrange(8 * DAY // (30 * MINUTE)) * 30 * MINUTE
        late = draw.choice((0, 0, MINUTE, 3 * HOUR, 2 * DAY))
        # One in two events has a second version, dated elsewhere.
        rows.append(row(at, kept=at + late, n=number, k=draw.choice("abc"), id_=number))
        if number % 2:
            moved = at + draw.randrange(-3, 3) * DAY
            rows.append(row(moved, kept=max(at, moved) + late + HOUR, n=-number, k=draw.choice("abc"), id_=number))
    write_parted(tmp_path, partition, rows)
    parted = view_of(tmp_path, partition, event_id=event_id, lateness=HOUR)
    plain = view_of(tmp_path, None, event_id=event_id, lateness=HOUR)
    assert parted.fingerprint == plain.fingerprint  # it decides what is read, and no value
    for at in (start + 2 * DAY + 6 * HOUR, start + 3 * DAY, start + 5 * DAY + 18 * HOUR):
        expected = comparable(materialized(engine, plain, at))
        assert len(expected) == 3
        assert comparable(materialized(engine, parted, at)) == expected
        assert comparable(swept(engine, parted, [at])[at]) == expected


def comparable(rows: dict[tuple[Any, ...], dict[str, Any]]) -> dict[Any, Any]:
    return {key: {name: bits(value) for name, value in found.items()} for key, found in rows.items()}


@pytest.mark.spark
def test_invisible_rows_are_counted_where_a_refresh_reads(engine: SparkEngine, tmp_path: Path) -> None:
    partition = Partition(column="ds", of=PartitionOf.CREATED)
    rows = [row(AT - 10 * DAY), row(None, kept=AT - 9 * DAY), row(None, kept=AT - HOUR), row(AT - HOUR, kept=None)]
    rows[-1]["kept"] = None  # never known: in the partition without a name
    write_parted(tmp_path, partition, [*rows, row(AT - HOUR)])
    view = view_of(tmp_path, partition)
    assert (count_invisible(engine, view), count_invisible(engine, view, AT)) == (3, 2)


@pytest.mark.parametrize(
    ("name", "rows", "what"),
    [
        ("2013-11-10", [row(AT), row(AT + DAY - 1)], None),
        ("2013-11-10", [row(AT - 1), row(AT + HOUR)], "ds=2013-11-10 holds rows of other partitions"),
        ("2013-11-10", [row(AT + HOUR), row(AT + DAY)], "ds=2013-11-10 holds rows of other partitions"),
        ("2013-11-1", [row(AT)], "ds=2013-11-1 is no partition of yyyy-MM-dd"),
        ("20131110", [row(AT)], "ds=20131110 is no partition of yyyy-MM-dd"),
        ("__HIVE_DEFAULT_PARTITION__", [row(None)], None),
        ("__HIVE_DEFAULT_PARTITION__", [row(AT)], "the partition without ds holds rows that have a time"),
    ],
)
def test_a_partition_that_lies_is_refused(
    name: str, rows: list[dict[str, Any]], what: str | None, tmp_path: Path
) -> None:
    write_rows(tmp_path / "rows" / f"ds={name}" / "part.parquet", ROWS, rows)
    if what is None:
        view_of(tmp_path, Partition(column="ds"))
        return
    with pytest.raises(DefinitionErrors) as caught:
        view_of(tmp_path, Partition(column="ds"))
    assert what in str(caught.value)
    assert "part.parquet" in str(caught.value)


def test_rows_may_lie_as_far_off_as_the_slack_says(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows" / "ds=2013-11-10" / "part.parquet", ROWS, [row(AT - HOUR), row(AT + DAY)])
    view_of(tmp_path, Partition(column="ds", slack=2 * HOUR))
    with pytest.raises(FeaturekitError):
        view_of(tmp_path, Partition(column="ds", slack=HOUR - 1))


def test_readings_of_a_clock_are_held_to_the_partition_in_their_zone(tmp_path: Path) -> None:
    folder = tmp_path / "rows" / "ds=2013-11-10"
    folder.mkdir(parents=True)
    reading = pa.array([AT + 2 * HOUR], pa.timestamp("us"))  # 02:00 in New York is 07:00 in UTC
    pq.write_table(pa.table({"k": ["a"], "at": reading, "kept": reading, "id": [1], "n": [1]}), folder / "p.parquet")
    for zone, fits in ((NEW_YORK, True), ("Asia/Tokyo", False)):
        source = Source(
            name="rows",
            path="rows",
            columns={"ds": String()},
            event_timestamp="at",
            timezone=zone,
            partition=Partition(column="ds"),
        )
        view = FeatureView(
            name="v",
            entity="thing",
            source="rows",
            refresh=Refresh(every=DAY),
            features=features(n={"sql": "count(*)", "window": "1d"}),
        )
        entity = Entity(name="thing", join_keys={"k": String()})
        if fits:
            compiled(tmp_path, entities=[entity], sources=[source], views=[view])
            continue
        with pytest.raises(DefinitionErrors, match="holds rows of other partitions"):
            compiled(tmp_path, entities=[entity], sources=[source], views=[view])


@pytest.mark.parametrize(
    ("partition", "at", "first", "last"),
    [
        ({}, "2013-11-10T00:00Z", "2013-11-10", "2013-11-09"),
        ({}, "2013-11-10T00:00:00.000001Z", "2013-11-10", "2013-11-10"),
        ({"slack": HOUR}, "2013-11-10T00:30Z", "2013-11-09", "2013-11-10"),
        ({"slack": HOUR}, "2013-11-09T23:30Z", "2013-11-09", "2013-11-10"),
        ({"timezone": NEW_YORK}, "2013-11-10T05:00Z", "2013-11-10", "2013-11-09"),
        ({"format": "yyyyMMddHH"}, "2013-11-10T05:30Z", "2013111005", "2013111005"),
        ({"format": "month"}, "2013-11-30T05:30Z", "2013-11", "2013-11"),
        ({"format": "yyyy"}, "0999-01-01T00:30Z", "0999", "0999"),
        # 01:30 before New York's clocks are put back at 06:00: one of 01:00 is still to come.
        ({"format": "yyyyMMddHH", "timezone": NEW_YORK}, "2013-11-03T05:30Z", "2013110300", "2013110301"),
        ({"format": "yyyyMMddHH", "timezone": NEW_YORK}, "2013-11-03T06:30Z", "2013110301", "2013110302"),
        ({"format": "yyyyMMddHH", "timezone": NEW_YORK}, "2013-03-10T07:30Z", "2013031003", "2013031003"),
    ],
)
def test_no_row_of_the_bounds_is_named_beyond_them(partition: dict[str, Any], at: str, first: str, last: str) -> None:
    found = Partition(column="ds", **partition)
    instant = parse_instant(at)
    assert (found.first(instant), found.last(instant)) == (first, last)
    assert Partition(column="ds").first(-(10**18)) is None


@pytest.mark.parametrize("format_", ["dd-MM-yyyy", "yyyy-dd", "MM", "hourly", "yyyy-MM-dd-HH-mm", "", "yyyy--MM"])
def test_names_in_another_order_than_the_times_are_refused(format_: str) -> None:
    with pytest.raises(ValidationError, match="is not a format of a partition"):
        Partition(column="ds", format=format_)

"""Newest rows that Arrow finds and reads, beside the plain reference and beside Spark: the same bits and statuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledView
from featurekit.computing import Computation
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.errors import SourceError
from featurekit.offline import newest_reader, newest_rows
from featurekit.offline.direct_source import DirectSource
from featurekit.offline.newest_reader import NewestReader, Part, read_places
from featurekit.offline.newest_rows import direct_view, events_in_reach
from featurekit.rows import offline_schema
from featurekit.types import Float64, Int64, String
from tests.offline import logs, reference
from tests.offline.conftest import EngineAt
from tests.offline.reference import Latest
from tests.offline.test_agreement import differences, of
from tests.offline.worlds import bits, compiled, features, materialized, python_rows, write_rows

TTLS = {"d": "1d", "f": "1h", "i": "2d", "m": "1d", "t": None, "b": "1d", "day": "7d", "ts": None, "w": "1d", "x": "1d"}
LENGTHS = {"1h": HOUR, "1d": DAY, "2d": 2 * DAY, "7d": 7 * DAY, None: None}


@pytest.fixture(autouse=True)
def wide_decimals() -> Iterator[None]:
    with localcontext(prec=80):
        yield


@dataclass
class Machine:
    """What the newest rows need of an engine: no Spark."""

    root: Path
    is_local: bool = True
    parallelism: int = 3


def view_of(
    base: Path,
    rows: list[dict[str, Any]],
    *,
    keys: dict[str, Any],
    where: str | None = None,
    without: tuple[str, ...] = (),
) -> tuple[CompiledView, reference.View]:
    """Return a view of latest values over a log, bounded where no feature lives for ever, and its plain meaning."""
    columns = logs.COLUMNS | {"part": Float64()}
    write_rows(base / "log" / "one.parquet", columns, rows[: len(rows) // 2])
    write_rows(base / "log" / "two.parquet", columns, rows[len(rows) // 2 :])
    written: dict[str, dict[str, Any]] = {
        f"last_{column}": {"sql": column, **({} if ttl is None else {"ttl": ttl})} for column, ttl in TTLS.items()
    }
    meanings = {f"last_{column}": Latest(value=of(column), ttl=LENGTHS[ttl]) for column, ttl in TTLS.items()}
    written["half"] = {"sql": "d / 2", "ttl": "1d"}
    meanings["half"] = Latest(value=lambda row: None if (d := of("d")(row)) is None else d / 2, ttl=DAY)
    for name in without:
        del written[name], meanings[name]
    repository = compiled(
        base,
        entities=[Entity(name="thing", join_keys=keys)],
        sources=[Source(name="log", path="log", event_timestamp="event", created_timestamp="created")],
        views=[
            FeatureView(
                name="rows",
                entity="thing",
                source="log",
                where=where,
                refresh=Refresh(every=DAY),
                allowed_lateness=logs.LATENESS,
                availability_delay=2 * HOUR,
                features=features(**written),
            )
        ],
    )
    view = repository.views["rows"]
    order = tuple(column.name for column in view.columns)
    meaning = reference.View(keys=tuple(keys), features=dict(meanings), order=order, lateness=logs.LATENESS)
    if where == "s < 3":
        meaning = reference.View(
            keys=tuple(keys),
            features=dict(meanings),
            order=order,
            lateness=logs.LATENESS,
            where=lambda row: None if row["s"] is None else row["s"] < 3,
        )
    return view, meaning


def direct(view: CompiledView, base: Path, as_of: int) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the rows by key, as the executors would have them."""
    machine: Any = Machine(base)
    source = direct_view(machine, view)
    assert isinstance(source, DirectSource), source
    reader = newest_rows.newest_rows(machine, source, as_of)
    assert isinstance(reader, NewestReader), reader
    numbers = pa.record_batch({"id": pa.array(range(len(reader.parts)), pa.int64())})
    batches = list(reader(iter([numbers])))
    rows = python_rows(pa.Table.from_batches(batches)) if batches else []
    found = {tuple(row.pop(key.name) for key in view.keys): row for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_newest_rows_are_those_of_the_plain_reference(seed: int, tmp_path: Path) -> None:
    rows = [row | {"part": None} for row in logs.drawn_log(seed)]
    where = "s < 3" if seed % 2 else None
    without: tuple[str, ...] = ("last_t", "last_ts") if seed % 3 == 0 else ()  # then nothing matters for ever
    keys = {"name": String(), "number": Int64()}  # wider than the column
    view, meaning = view_of(tmp_path, rows, keys=keys, where=where, without=without)
    assert (view.since(0) is None) == (not without)
    compared = 0
    for as_of in logs.AS_OFS:
        expected = reference.rows_as_of(rows, meaning, as_of)
        compared += len(expected)
        assert differences(direct(view, tmp_path, as_of), expected) == [], as_of
    assert compared > 10


def test_keys_that_are_floats_are_told_apart_by_their_one_nan_and_their_one_zero(tmp_path: Path) -> None:
    parts = [0.0, -0.0, float("nan"), -float("nan"), 1.5, None]
    rows = [row | {"part": parts[at % 6]} for at, row in enumerate(logs.drawn_log(11, 120))]
    view, _ = view_of(tmp_path, rows, keys={"part": Float64()})
    found = direct(view, tmp_path, logs.AS_OFS[-1])
    assert sorted(map(str, found)) == ["(0.0,)", "(1.5,)", "(nan,)"]


def test_where_no_row_in_reach_counts_there_are_no_rows(tmp_path: Path) -> None:
    at = logs.AS_OFS[0] - HOUR
    rows = [row | {"part": None, "event": at, "created": at} for row in logs.drawn_log(5, 20)]
    unknown = [row | {"created": logs.AS_OFS[0] + 2 * DAY} for row in rows]
    nobody = [row | {"name": None} for row in rows]
    for folder, log, where in (
        ("unknown", unknown, None),
        ("nobody", nobody, None),
        ("refused", rows, "s < 3 AND s > 3"),
    ):
        view, _ = view_of(tmp_path / folder, log, keys={"name": String()}, where=where)
        machine: Any = Machine(tmp_path / folder)
        source = direct_view(machine, view)
        assert isinstance(source, DirectSource)
        assert events_in_reach(source, logs.AS_OFS[0]) == len(log), folder
        assert direct(view, tmp_path / folder, logs.AS_OFS[0]) == {}, folder


def test_rows_alike_in_their_times_are_ordered_by_every_column_or_left_to_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = logs.AS_OFS[0] - HOUR
    rows = [row | {"part": None, "event": at, "created": at} for row in logs.drawn_log(5, 200)]
    view, meaning = view_of(tmp_path, rows, keys={"name": String()})
    expected = reference.rows_as_of(rows, meaning, logs.AS_OFS[0])
    assert differences(direct(view, tmp_path, logs.AS_OFS[0]), expected) == []

    machine: Any = Machine(tmp_path)
    source = direct_view(machine, view)
    assert isinstance(source, DirectSource)
    monkeypatch.setattr(newest_rows, "MOST_TIED", 100)
    assert "share their entity and times" in str(newest_rows.newest_rows(machine, source, logs.AS_OFS[0]))
    monkeypatch.setattr(newest_rows, "MOST_EVENTS", 199)
    assert "events are in reach" in str(newest_rows.newest_rows(machine, source, logs.AS_OFS[0]))
    assert events_in_reach(source, at) == 0  # row groups of later events alone are not read
    assert direct(view, tmp_path, at - at % DAY) == {}


def test_rows_are_read_in_bounded_batches_and_from_where_they_are_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "wide.parquet"
    table = pa.table({"n": np.arange(1000), "t": ["x" * 1000] * 1000})
    pq.write_table(table, path, row_group_size=500, use_dictionary=False, compression="none")
    monkeypatch.setattr(newest_reader, "_BATCH_BYTES", 50_000)
    places = np.array([3, 4, 5, 250, 499])
    batches = list(read_places(Part(str(path), (0, 0), 1, places), ["n"]))
    assert [n for batch in batches for n in batch["n"].to_pylist()] == [503, 504, 505, 750, 999]
    assert max(batch.num_rows for batch in read_places(Part(str(path), (0, 0), 0, np.arange(500)), ["n", "t"])) <= 50


def _otherwise(path: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), path)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


@pytest.mark.parametrize("change", [Path.unlink, _otherwise, _cut])
def test_a_file_that_is_replaced_while_the_executors_read_is_an_error_that_says_so(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    rows = [row | {"part": None} for row in logs.drawn_log(3)]
    view, _ = view_of(tmp_path, rows, keys={"name": String()})
    machine: Any = Machine(tmp_path)
    source = direct_view(machine, view)
    assert isinstance(source, DirectSource)
    reader = newest_rows.newest_rows(machine, source, logs.AS_OFS[1])
    assert isinstance(reader, NewestReader)
    change(tmp_path / "log" / "one.parquet")
    numbers = pa.record_batch({"id": pa.array(range(len(reader.parts)), pa.int64())})

    with pytest.raises(SourceError, match="a source file changed while being read") as caught:
        list(reader(iter([numbers])))

    assert "one.parquet" in str(caught.value)


def test_what_spark_has_to_compute_is_said(tmp_path: Path) -> None:
    rows = [row | {"part": None} for row in logs.drawn_log(1, 20)]
    view, _ = view_of(tmp_path, rows, keys={"name": String()})
    cluster: Any = Machine(tmp_path, is_local=False)
    assert direct_view(cluster, view) == "the executors run on other machines"
    machine: Any = Machine(tmp_path)
    always, _ = view_of(tmp_path / "always", rows, keys={"name": String()}, where="1 = 1")
    assert direct_view(machine, always) == "its where names no column"


@pytest.mark.spark
def test_spark_reads_them_in_as_many_tasks_as_it_runs(engine_at: EngineAt, tmp_path: Path) -> None:
    rows = [row | {"part": None} for row in logs.drawn_log(3)]
    view, _ = view_of(tmp_path, rows, keys={"name": String(), "number": Int64()})
    engine = engine_at(tmp_path)
    numbers = engine.to_arrow(engine.numbered(5))["id"].to_pylist()
    assert numbers == [0, 1, 2, 3, 4]
    assert engine.numbered(5).rdd.getNumPartitions() == 5
    assert engine.parallelism >= 1
    for as_of in logs.AS_OFS[:2]:
        rows_of = Computation(history=None)(engine, view, as_of)
        assert isinstance(rows_of.read, NewestReader)
        table = engine.to_arrow(engine.map_batches(rows_of.frame, rows_of.read, offline_schema(view)))
        assert table.schema.names == list(offline_schema(view).names)
        found = {tuple(row.pop(key.name) for key in view.keys): row for row in python_rows(table)}
        spark = materialized(engine, view, as_of)
        assert len(found) == table.num_rows > 5
        assert {key: {name: bits(value) for name, value in row.items()} for key, row in found.items()} == {
            key: {name: bits(value) for name, value in row.items()} for key, row in spark.items()
        }

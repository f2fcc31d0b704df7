"""Tables that keep their versions, paths in queries: what is declared, what is missing, where paths begin.

The Spark packages of Delta and Iceberg come from no registry that tests reach, so what is tested here is everything up
to them: with a package the same calls go on (`offline/lakehouse.py`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from featurekit.clock import DAY, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source, SourceFormat
from featurekit.errors import BatchEngineError, SourceError
from featurekit.offline.materialize import materialize
from featurekit.offline.session import SparkEngine
from featurekit.offline.snapshot import (
    SourceSnapshot,
    check_unchanged,
    describe_change,
    pinned,
    read_snapshot,
    snapshot_source,
)
from featurekit.types import Int64, String, Timestamp
from tests.offline.worlds import compiled, features, write_rows

AT = parse_instant("2013-11-10T00:00Z")
COLUMNS = {"k": String(), "at": Timestamp(), "n": Int64()}


def view_of(base: Path, **source: Any) -> CompiledView:
    return compiled(
        base,
        entities=[Entity(name="thing", join_keys={"k": String()})],
        sources=[Source(name="rows", columns=COLUMNS, event_timestamp="at", **source)],
        views=[
            FeatureView(
                name="v",
                entity="thing",
                source="rows",
                refresh=Refresh(every=DAY),
                features=features(total={"sql": "sum(n)", "window": "1d"}),
            )
        ],
    ).views["v"]


@pytest.mark.spark
@pytest.mark.parametrize("form", [SourceFormat.DELTA, SourceFormat.ICEBERG])
@pytest.mark.parametrize("path", ["lake/rows", "s3a://user:secret@bucket/rows"])
def test_without_its_package_a_lakehouse_is_an_outside_failure_that_says_which(
    form: SourceFormat, path: str, engine: SparkEngine, tmp_path: Path
) -> None:
    view = view_of(tmp_path, path=path, format=form)
    with pytest.raises(BatchEngineError) as caught:
        materialize(engine, view, AT, now=AT)
    assert caught.value.what == f"Spark can't read {form.value}"
    assert caught.value.exit_code == 3
    package = {"delta": "io.delta:delta-spark_2.13", "iceberg": "iceberg-spark-runtime-4.3_2.13"}[form.value]
    assert package in str(caught.value.try_)
    assert "spark.jars.packages" in str(caught.value.try_)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ({"path": "x", "format": "delta"}, None),
        ({"table": "a.b", "format": "iceberg", "version": 3}, None),
        ({"table": "a.b", "format": "parquet"}, "parquet is not the format of a source by table"),
        ({"sql": "SELECT 1", "format": "delta"}, "delta is not the format of a source by sql"),
        ({"path": "x", "format": "table"}, "table is not the format of a source by path"),
        ({"path": "x", "version": 3}, "version without format: delta or iceberg"),
        ({"path": "x", "format": "delta", "columns": None}, "a source by delta declares no columns"),
        ({"path": "x", "format": "orc"}, "'orc' is not a format"),
    ],
)
def test_a_format_is_of_what_can_have_it(source: dict[str, Any], says: str | None) -> None:
    declared = {"name": "rows", "columns": COLUMNS, "event_timestamp": "at", **source}
    if says is None:
        Source(**declared)
        return
    with pytest.raises(ValidationError, match=says):
        Source(**declared)


@pytest.mark.spark
def test_a_version_decides_what_is_read_and_is_recorded(engine: SparkEngine, tmp_path: Path) -> None:
    view = view_of(tmp_path, table="lake.rows", format=SourceFormat.ICEBERG, version=7)
    newest = view_of(tmp_path, table="lake.rows", format=SourceFormat.ICEBERG)
    assert view.fingerprint == newest.fingerprint
    snapshot = snapshot_source(engine, view)
    assert (snapshot.version, snapshot.files) == (7, ())
    assert read_snapshot('{"source": "rows", "origin": "lake.rows", "files": [], "version": 7}') == snapshot
    assert SourceSnapshot.of(snapshot.to_json()) == snapshot
    assert pinned(newest, snapshot).source.version == 7
    assert pinned(newest, replace(snapshot, version=None)) is newest
    assert describe_change(snapshot, replace(snapshot, version=8)) == "it was at version 7, and is at 8"
    check_unchanged(view, snapshot, snapshot)
    with pytest.raises(SourceError, match="changed while being read"):
        check_unchanged(view, snapshot, replace(snapshot, version=8))


@pytest.mark.spark
def test_a_relative_path_in_a_query_begins_at_the_settings_folder(
    engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    root = tmp_path / "root"
    for folder, n in ((root, 1), (elsewhere, 2)):
        write_rows(folder / "data" / "rows.parquet", COLUMNS, [{"k": "a", "at": AT - 1, "n": n}])
    monkeypatch.chdir(elsewhere)
    view = view_of(root, sql="SELECT k, at, n FROM parquet.`data/rows.parquet`")
    at_root = SparkEngine(engine.session, root)
    files = materialize(at_root, view, AT, now=AT).snapshot.files
    assert [file.path for file in files] == [str(root / "data" / "rows.parquet")]
    other = SparkEngine(engine.session, elsewhere)
    assert [file.path for file in snapshot_source(other, view).files] == [str(elsewhere / "data" / "rows.parquet")]
    # What others run in this session begins where it did.
    before = engine.session.sparkContext._jvm.org.apache.hadoop.fs.FileSystem  # type: ignore[union-attr]
    working = before.get(engine.session.sparkContext._jsc.hadoopConfiguration()).getWorkingDirectory().toString()
    assert str(root) not in working
    gone = view_of(root, sql="SELECT k, at, n FROM parquet.`data/none.parquet`")
    with pytest.raises(SourceError, match="not there"):
        materialize(at_root, gone, AT, now=AT)

"""A source that changes while it is read is no source that a run can record (DESIGN T2)."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import DAY, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source, SourceKind
from featurekit.errors import SourceError
from featurekit.offline.engine import Batches
from featurekit.offline.materialize import materialize
from featurekit.offline.session import SparkEngine
from featurekit.offline.snapshot import describe_change, read_snapshot, snapshot_source
from featurekit.types import Int64, String, Timestamp
from tests.offline.worlds import compiled, features, write_rows

pytestmark = pytest.mark.spark
AS_OF = parse_instant("2014-01-01T00:00Z")
STATES = ("changes", "snapshots")


@dataclass(frozen=True)
class Copying:
    """A sink that puts a copy of a file into place while the rows come."""

    source: Path
    target: Path

    def __call__(self, batches: Batches) -> Batches:
        for _ in batches:
            shutil.copyfile(self.source, self.target)
        yield from ()


def view_of(base: Path, **source: Any) -> CompiledView:
    return compiled(
        base,
        entities=[Entity(name="thing", join_keys={"k": String()})],
        sources=[Source(name="rows", event_timestamp="at", **source)],
        views=[
            FeatureView(
                name="v",
                entity="thing",
                source="rows",
                refresh=Refresh(every=DAY),
                features=features(n={"sql": "count(*)"} | ({} if source.get("kind") in STATES else {"window": "7d"})),
            )
        ],
    ).views["v"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one file of rows."""
    row = {"k": "a", "at": AS_OF - DAY, "made": AS_OF - DAY, "v": 1}
    columns = {"k": String(), "at": Timestamp(), "made": Timestamp(), "v": Int64()}
    for number in (1, 2):
        write_rows(tmp_path / f"written{number}.parquet", columns, [row] * number)
    (tmp_path / "rows").mkdir()
    shutil.copyfile(tmp_path / "written1.parquet", tmp_path / "rows" / "a.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "file", "what"),
    [
        ({}, "a.parquet", "was written again"),
        ({}, "b.parquet", "is new"),
        ({"created_timestamp": "made"}, "a.parquet", "was written again"),
    ],
)
def test_a_run_whose_source_changes_meanwhile_fails_and_can_be_run_again(
    source: dict[str, Any], file: str, what: str, engine: SparkEngine, folder: Path
) -> None:
    view = view_of(folder, path="rows", **source)
    changing = Copying(folder / "written2.parquet", folder / "rows" / file)
    with pytest.raises(SourceError) as caught:
        materialize(engine, view, AS_OF, now=AS_OF, sink=changing)
    assert caught.value.what == "source rows changed while being read"
    assert str(caught.value.why).startswith(f"{folder / 'rows' / file} {what}")
    result = materialize(engine, view, AS_OF, now=AS_OF)
    assert result.snapshot == snapshot_source(engine, view)


@pytest.mark.parametrize("kind", SourceKind)
def test_rows_that_say_when_they_landed_may_land_during_a_run(
    kind: SourceKind, engine: SparkEngine, folder: Path
) -> None:
    view = view_of(folder, path="rows", created_timestamp="made", kind=kind)
    landing = Copying(folder / "written2.parquet", folder / "rows" / "b.parquet")
    assert materialize(engine, view, AS_OF, now=AS_OF, sink=landing).rows == 1


def test_a_snapshot_names_what_changed_also_behind_a_query(engine: SparkEngine, folder: Path) -> None:
    columns = {"k": String(), "at": Timestamp()}
    view = view_of(folder, sql=f"SELECT k, at FROM parquet.`{folder / 'rows'}`", columns=columns)
    before = snapshot_source(engine, view)
    assert [(file.path, file.size is None) for file in before.files] == [(str(folder / "rows" / "a.parquet"), False)]
    assert describe_change(before, snapshot_source(engine, view)) is None
    shutil.copyfile(folder / "written2.parquet", folder / "rows" / "a.parquet")
    shutil.copyfile(folder / "written2.parquet", folder / "rows" / "b.parquet")
    change = describe_change(before, snapshot_source(engine, view))
    assert change == f"{folder / 'rows' / 'a.parquet'} was written again, and 1 more file changed"
    assert read_snapshot("{}") is None

"""Rows without a time are counted from Parquet footers where those say it, and from the rows where they don't."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame

from featurekit.clock import DAY
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.offline.session import SparkEngine
from featurekit.offline.source import count_invisible
from featurekit.types import String
from tests.offline.worlds import compiled, features

pytestmark = pytest.mark.spark
# (event, created) of each row, per file; how many are invisible; whether the footers alone say so.
CASES: dict[str, tuple[list[list[tuple[int | None, int | None]]], int, bool]] = {
    "no nulls": ([[(1, 1), (2, 2)], [(3, 3)]], 0, True),
    "nulls in one column": ([[(None, 1), (2, 2), (None, 3)]], 2, True),
    "another column in each file": ([[(None, 1), (2, 2)], [(3, None), (4, None)]], 3, True),
    "both in one row": ([[(None, None), (2, 2)]], 1, False),
    "both, in rows of their own": ([[(None, 1), (2, None)]], 2, False),
    "no rows": ([[]], 0, True),
}


def view_of(base: Path) -> CompiledView:
    return compiled(
        base,
        entities=[Entity(name="thing", join_keys={"k": String()})],
        sources=[Source(name="rows", path="rows", event_timestamp="at", created_timestamp="made")],
        views=[
            FeatureView(
                name="v",
                entity="thing",
                source="rows",
                refresh=Refresh(every=DAY),
                features=features(n={"sql": "count(*)", "window": "7d"}),
            )
        ],
    ).views["v"]


def write(base: Path, files: list[list[tuple[int | None, int | None]]], *, with_statistics: bool = True) -> None:
    (base / "rows").mkdir(exist_ok=True)
    time = pa.timestamp("us", tz="UTC")
    for number, rows in enumerate(files):
        table = pa.table(
            {
                "k": pa.array(["a"] * len(rows), pa.string()),
                "at": pa.array([event for event, _ in rows], time),
                "made": pa.array([created for _, created in rows], time),
            }
        )
        pq.write_table(table, base / "rows" / f"{number}.parquet", row_group_size=1, write_statistics=with_statistics)


@pytest.mark.parametrize("case", CASES)
def test_rows_without_a_time_are_counted_with_and_without_spark(
    case: str, engine: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, expected, by_footers = CASES[case]
    write(tmp_path, files)
    view = view_of(tmp_path)
    jobs: list[str] = []
    query = engine.query

    def noted(text: str, frames: Mapping[str, DataFrame] | None = None) -> DataFrame:
        jobs.append(text)
        return query(text, frames)

    monkeypatch.setattr(engine, "query", noted)
    assert count_invisible(engine, view) == expected
    assert (jobs == []) is by_footers
    if by_footers and expected:
        write(tmp_path, files, with_statistics=False)
        assert count_invisible(engine, view) == expected
        assert len(jobs) == 1

"""Columns and aggregates that are arrays: parts of them are features, on both paths the same."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, parse_instant
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.offline.session import SparkEngine
from featurekit.types import Int64
from tests.offline.worlds import compiled, features, materialized, swept

pytestmark = pytest.mark.spark
AS_OF = parse_instant("2013-11-03T00:00Z")


def write_log(path: Path) -> None:
    stamp = pa.timestamp("us", tz="UTC")
    at = [AS_OF - DAY // 2] * 3 + [AS_OF - 3, AS_OF - 2]
    table = pa.table(
        {
            "k": pa.array([1, 1, 1, 2, 2], pa.int64()),
            "at": pa.array(at, pa.int64()).cast(stamp),
            "v": pa.array([2, 3, 1, None, 7], pa.int32()),
            "tags": pa.array([["x"], ["y", "z"], [], None, ["w"]], pa.list_(pa.string())),
        }
    )
    pq.write_table(table, path)


def test_maps_and_arrays_give_the_same_on_both_paths(engine: SparkEngine, tmp_path: Path) -> None:
    write_log(tmp_path / "log.parquet")
    written = {
        "latest_tag": {"sql": "tags[0]", "ttl": "1d"},
        "last_size": {"sql": "size(last(tags))", "window": "1d"},
        "first_size": {"sql": "size(first(tags) IGNORE NULLS)", "window": "1d"},
        "newest": {"sql": "element_at(collect_last(v, 2), -1)", "window": "1d"},
        "recent": {"sql": "size(collect_last(tags, 5))", "window": "1d"},
        "longest": {"sql": "array_max(top_k(size(tags), 2))", "window": "1d"},
        "most_tagged": {"sql": "max_by(tags, v)[1]", "window": "1d"},
    }
    view = compiled(
        tmp_path,
        entities=[Entity(name="thing", join_keys={"k": Int64()})],
        sources=[Source(name="log", path="log.parquet", event_timestamp="at")],
        views=[
            FeatureView(
                name="rows",
                source="log",
                entity="thing",
                refresh=Refresh(every=DAY),
                features=features(**written),
            )
        ],
    ).views["rows"]
    found = materialized(engine, view, AS_OF)
    assert found == swept(engine, view, [AS_OF])[AS_OF]
    values = {key: {name: row[name] for name in written} for key, row in found.items()}
    # The rows of key 1 tie in time: the columns decide, by name, so the empty array comes first.
    assert values == {
        (1,): {
            "latest_tag": "y",
            "last_size": 2,
            "first_size": 0,
            "newest": 3,
            "recent": 3,
            "longest": 2,
            "most_tagged": "z",
        },
        (2,): {
            "latest_tag": "w",
            "last_size": 1,
            "first_size": 1,
            "newest": 7,
            "recent": 1,
            "longest": 1,
            "most_tagged": None,
        },
    }

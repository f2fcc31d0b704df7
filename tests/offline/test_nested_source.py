"""Arrays and structs of a Parquet source go into latest and windowed features; floats inside them have one form."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR, parse_instant
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.offline.as_of import as_of_rows
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.session import SparkEngine
from featurekit.types import Int64
from tests.offline.worlds import bits, compiled, features, python_rows

pytestmark = pytest.mark.spark
AS_OF = parse_instant("2014-01-02T00:00Z")
INSTANT = pa.timestamp("us", tz="UTC")
PLACE = pa.struct([("city", pa.string()), ("at", pa.list_(pa.float32()))])
ROWS = pa.table(
    {
        "user_id": pa.array([1, 1, 2], pa.int64()),
        "at": pa.array([AS_OF - 2 * HOUR, AS_OF - HOUR, AS_OF - HOUR], INSTANT),
        "embedding": pa.array([[1.0, None], [-0.0, 2.5], None], pa.list_(pa.float64())),
        "place": pa.array([{"city": "lyon", "at": [1.0]}, {"city": "nice", "at": [-0.0]}, None], PLACE),
    }
)
FEATURES = {
    "total": {"sql": "sum(aggregate(embedding, 0.0D, (acc, x) -> acc + coalesce(x, 0.0D)))", "window": "1d"},
    "sizes": {"sql": "max(size(embedding))", "window": "1d"},
    "first": {"sql": "embedding[0]"},
    "city": {"sql": "upper(place.city)"},
    "place_at": {"sql": "element_at(place.at, 1)"},
}


def test_features_of_arrays_and_structs(engine: SparkEngine, tmp_path: Path) -> None:
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    world = compiled(
        tmp_path,
        entities=[Entity(name="user", join_keys={"user_id": Int64()})],
        sources=[Source(name="rows", path="rows.parquet", event_timestamp="at")],
        views=[
            FeatureView(
                name="v", entity="user", source="rows", refresh=Refresh(every=DAY), features=features(**FEATURES)
            )
        ],
    )
    view = world.views["v"]
    requests = engine.query("SELECT explode(array(1L, 2L)) AS user_id, TIMESTAMP '2014-01-02 00:00:00Z' AS as_of")
    asked = python_rows(engine.to_arrow(as_of_rows(engine, view, requests)))
    refreshed = python_rows(engine.to_arrow(materialized_frame(engine, view, AS_OF)))
    for rows in (asked, refreshed):
        one, two = sorted(rows, key=lambda row: row["user_id"])
        assert [one[name] for name in FEATURES] == [3.5, 2, 0.0, "NICE", 0.0]
        assert bits(one["first"]) == bits(one["place_at"]) == bits(0.0)
        assert [two[name] for name in FEATURES] == [None, None, None, None, None]

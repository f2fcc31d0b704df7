"""A float join key has one zero and one NaN on every way in (DESIGN V3): labels, requests, events."""

from __future__ import annotations

from pathlib import Path

import pytest

from featurekit.clock import DAY, parse_instant
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.offline.as_of import as_of_rows
from featurekit.offline.point_in_time import point_in_time
from featurekit.offline.session import SparkEngine
from featurekit.types import DataType, Float32, Float64, Timestamp
from tests.offline.worlds import bits, compiled, features, python_rows, write_rows

pytestmark = pytest.mark.spark
AS_OF = parse_instant("2014-01-01T00:00Z")
# Two NaNs of different bits: Spark keeps the payload of what it reads, as files and other engines do.
KEYS = """
    SELECT inline(array(
        named_struct('label', 'zero', 'k', {zero}), named_struct('label', 'minus zero', 'k', -{zero}),
        named_struct('label', 'nan', 'k', {nan}), named_struct('label', 'minus nan', 'k', -{nan}),
        named_struct('label', 'none', 'k', CAST(NULL AS {type})), named_struct('label', 'unknown', 'k', {other})))
"""
SPELLINGS: dict[DataType, dict[str, str]] = {
    Float64(): {"zero": "0.0D", "nan": "CAST('NaN' AS DOUBLE)", "type": "DOUBLE", "other": "7.5D"},
    Float32(): {"zero": "0.0F", "nan": "CAST('NaN' AS FLOAT)", "type": "FLOAT", "other": "7.5F"},
}


@pytest.mark.parametrize("kind", SPELLINGS, ids=str)
def test_each_label_with_a_float_key_comes_back_once_with_its_value(
    kind: DataType, engine: SparkEngine, tmp_path: Path
) -> None:
    nan = float("nan")
    at = AS_OF - DAY // 2
    events = [{"k": key, "at": at} for key in (0.0, -0.0, -0.0, nan, 1.5)]
    write_rows(tmp_path / "rows.parquet", {"k": kind, "at": Timestamp()}, events)
    world = compiled(
        tmp_path,
        entities=[Entity(name="thing", join_keys={"k": kind})],
        sources=[Source(name="rows", path="rows.parquet", event_timestamp="at")],
        views=[
            FeatureView(
                name="v",
                entity="thing",
                source="rows",
                refresh=Refresh(every=DAY),
                features=features(n={"sql": "count(*)", "window": "7d"}),
            )
        ],
    )
    keys = engine.query(KEYS.format(**SPELLINGS[kind]))
    asked = engine.query("SELECT *, TIMESTAMP '2014-01-01 12:00:00Z' AS at FROM keys", {"keys": keys})
    rows = python_rows(engine.to_arrow(point_in_time(engine, world.view_services["v"], asked, timestamp="at")))
    expected = {"zero": 3, "minus zero": 3, "nan": 1, "minus nan": 1, "none": 0, "unknown": 0}
    assert sorted((row["label"], row["v.n"]) for row in rows) == sorted(expected.items())
    # A label's own column comes back as it was given, to the bit.
    assert bits(next(row["k"] for row in rows if row["label"] == "minus zero")) == bits(-0.0)

    requests = engine.query("SELECT k, TIMESTAMP '2014-01-01 00:00:00Z' AS as_of FROM keys", {"keys": keys})
    found = python_rows(engine.to_arrow(as_of_rows(engine, world.views["v"], requests)))
    assert sorted((repr(row["k"]), row["found"], row["n"]) for row in found) == [
        ("0.0", True, 3),
        ("7.5", False, 0),
        ("nan", True, 1),
    ]

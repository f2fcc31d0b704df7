"""Label columns that a training set could not tell apart from each other or from the service's outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from featurekit.clock import DAY
from featurekit.compiled import CompiledService
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.errors import SourceError
from featurekit.offline.labels import check_labels
from featurekit.types import Field, Int64, String, Timestamp
from tests.offline.worlds import compiled, features, write_rows


@pytest.fixture
def service(tmp_path: Path) -> CompiledService:
    """Return the service of a view `v` with a feature `n`, by the key `k`."""
    write_rows(tmp_path / "rows.parquet", {"k": String(), "at": Timestamp()}, [{"k": "a", "at": 0}])
    world = compiled(
        tmp_path,
        entities=[Entity(name="thing", join_keys={"k": String()})],
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
    return world.view_services["v"]


@pytest.mark.parametrize(
    ("extra", "what"),
    [
        ("v.n", "the labels have a column v.n, which is a name of ours"),
        ("V.N", "the labels have a column V.N, which is a name of ours"),
        ("$x", "the labels have a column $x, which is a name of ours"),
        ("K", "the labels' columns k and K differ in case only"),
        ("k", "the labels have a column k twice"),
        ("AT", "the labels' columns at and AT differ in case only"),
    ],
)
def test_a_column_that_spark_takes_for_another_one_is_refused(extra: str, what: str, service: CompiledService) -> None:
    labels = (Field("k", String()), Field("at", Timestamp()))
    check_labels(service, labels, "at")
    with pytest.raises(SourceError) as caught:
        check_labels(service, (*labels, Field(extra, Int64())), "at")
    assert caught.value.what == what
    assert caught.value.exit_code == 2
    assert caught.value.try_

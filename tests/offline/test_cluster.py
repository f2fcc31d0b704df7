"""What a Spark on other machines can't do is refused before anything runs, and local paths stay local there."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame

from featurekit.clock import DAY, parse_instant
from featurekit.compiled import CompiledRepository
from featurekit.config import Settings
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.errors import BatchEngineError, InputError, SettingsError
from featurekit.feature_store import FeatureStore
from featurekit.offline.labels import LabelSpec
from featurekit.offline.session import SparkEngine, start_engine
from featurekit.offline.training import build_dataset
from featurekit.types import String, Timestamp
from tests.offline.worlds import compiled, features, write_rows

AT = parse_instant("2014-01-01T00:00Z")
CONNECT = "sc://host:443/;token=hunter2"


class FarEngine(SparkEngine):
    """This machine's Spark, as if its executors were elsewhere."""

    @property
    def is_local(self) -> bool:
        return False


class ElsewhereEngine(FarEngine):
    """Its executors write to disks of their own."""

    def write_parquet(self, frame: DataFrame, folder: Path) -> None:  # noqa: ARG002
        folder.mkdir()


def world(base: Path) -> CompiledRepository:
    """A view `v` over one row."""
    write_rows(base / "rows.parquet", {"k": String(), "at": Timestamp()}, [{"k": "a", "at": AT - 1}])
    view = FeatureView(
        name="v",
        entity="thing",
        source="rows",
        refresh=Refresh(every=DAY),
        features=features(n={"sql": "count(*)", "window": "7d"}),
    )
    return compiled(
        base,
        entities=[Entity(name="thing", join_keys={"k": String()})],
        sources=[Source(name="rows", path="rows.parquet", event_timestamp="at")],
        views=[view],
    )


@pytest.mark.parametrize("where", ["spark.master", "spark.remote", "SPARK_REMOTE"])
def test_spark_connect_is_refused_before_anything_starts(where: str, tmp_path: Path) -> None:
    settings = Settings(
        root=tmp_path,
        spark_master=CONNECT if where == "spark.master" else "local[2]",
        spark_conf=(("spark.remote", CONNECT),) if where == "spark.remote" else (),
    )
    with pytest.raises(SettingsError) as caught:
        start_engine(settings, {"SPARK_REMOTE": CONNECT} if where == "SPARK_REMOTE" else {})
    assert caught.value.what == f"{where} names a Spark Connect server, sc://host:443/"
    assert "hunter2" not in str(caught.value)


@pytest.mark.spark
def test_the_embedded_server_is_refused_where_executors_are_elsewhere(engine: SparkEngine, tmp_path: Path) -> None:
    with FeatureStore(Settings(root=tmp_path, state=tmp_path / "state")) as store:
        store.definitions = world(tmp_path)
        store.engine = FarEngine(engine.session, tmp_path)
        with pytest.raises(SettingsError, match="can't write to the embedded server") as caught:
            store.materialize()
    assert "redis.url" in str(caught.value.try_)
    assert not (tmp_path / "state").exists()


@pytest.mark.spark
def test_local_paths_are_local_whatever_the_default_file_system_is(engine: SparkEngine, tmp_path: Path) -> None:
    hadoop = engine.session.sparkContext._jsc.hadoopConfiguration()
    before = hadoop.get("fs.defaultFS")
    hadoop.set("fs.defaultFS", "hdfs://nowhere.invalid:9000")
    try:
        pq.write_table(pa.table({"n": [1, 2]}), tmp_path / "a b%20#1.parquet")
        frame = engine.read_parquet("a b%20#1.parquet")
        engine.write_parquet(frame, tmp_path / "out c%20")
        (tmp_path / "rows.csv").write_text("n\n1\n", encoding="utf-8")
        assert engine.to_arrow(engine.read_parquet("out c%20")).num_rows == 2
        assert engine.to_arrow(engine.read_csv("rows.csv", ["n"])).num_rows == 1
    finally:
        hadoop.set("fs.defaultFS", before)


@pytest.mark.spark
def test_a_training_set_is_written_to_a_folder_that_this_machine_sees(engine: SparkEngine, tmp_path: Path) -> None:
    write_rows(tmp_path / "labels.parquet", {"k": String(), "at": Timestamp()}, [{"k": "a", "at": AT}] * 3)
    service = world(tmp_path).view_services["v"]
    labels = LabelSpec(path="labels.parquet", timestamp="at")
    for out in (Path("s3://bucket/x"), Path("s3a://bucket/x").absolute(), tmp_path / "hdfs:" / "host"):
        with pytest.raises(InputError, match=r"a training set can't be written to (s3|s3a|hdfs)://"):
            build_dataset(engine, service, labels, out)
    assert not Path("s3:").exists()

    far = FarEngine(engine.session, tmp_path)
    assert build_dataset(far, service, labels, tmp_path / "shared").rows == 3

    with pytest.raises(BatchEngineError) as caught:
        build_dataset(ElsewhereEngine(engine.session, tmp_path), service, labels, tmp_path / "elsewhere")
    assert caught.value.what == "0 of 3 rows of the training set are on this machine"
    assert not (tmp_path / "elsewhere").exists()

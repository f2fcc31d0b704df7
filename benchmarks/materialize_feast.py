"""Feast's side of `benchmarks.bench_materialize`, run by Feast's own environment: its Spark engine, one session.

PYTHONPATH=. python -m benchmarks.materialize_feast SCRATCH PORT       then lines of `feast FOLDER`
"""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import redis

from benchmarks.tree import tree_cpu_seconds

_STORE = """\
project: bench
registry: {folder}/registry.db
provider: local
online_store: {{type: redis, connection_string: "127.0.0.1:{port}"}}
offline_store:
  type: spark
  spark_conf:
    spark.master: "local[*]"
    spark.ui.enabled: "false"
    spark.driver.memory: "4g"
    spark.driver.host: "127.0.0.1"
    spark.driver.bindAddress: "127.0.0.1"
    spark.sql.session.timeZone: "UTC"
    spark.sql.shuffle.partitions: "{cores}"
    spark.sql.execution.arrow.pyspark.enabled: "true"
batch_engine: {{type: spark.engine}}
entity_key_serialization_version: 3
"""
_DAY = datetime(2026, 1, 1, tzinfo=UTC)


def main(arguments: list[str]) -> int:
    """Serve commands from stdin until it ends."""
    scratch, port = Path(arguments[0]), int(arguments[1])
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    store = None
    with redis.Redis(port=port) as client:
        for line in sys.stdin:
            _, folder = line.split()
            store = store or _store(scratch, port, Path(folder))
            client.flushall()
            cpu, started = tree_cpu_seconds(), time.perf_counter()
            store.materialize(_DAY - timedelta(days=1), _DAY + timedelta(days=2), feature_views=["wide"])
            taken = {"wall": time.perf_counter() - started, "cpu": tree_cpu_seconds() - cpu, "rows": client.dbsize()}
            print(json.dumps(taken), flush=True)
    return 0


def _store(scratch: Path, port: int, folder: Path) -> Any:
    # Feast's, which featurekit's own environment does not have.
    from feast import Entity, FeatureStore, FeatureView, Field, ValueType  # type: ignore[import-not-found]
    from feast.infra.offline_stores.contrib.spark_offline_store.spark_source import (  # type: ignore[import-not-found]
        SparkSource,
    )
    from feast.types import Float64, Int64, String  # type: ignore[import-not-found]

    repo = scratch / "feast"
    repo.mkdir(parents=True, exist_ok=True)
    written = _STORE.format(folder=repo, port=port, cores=os.cpu_count())
    (repo / "feature_store.yaml").write_text(written, encoding="utf-8")
    kinds = {"double": Float64, "int64": Int64, "string": String}
    schema = pq.read_schema(folder / "activity.parquet")
    fields = [Field(name=part.name, dtype=kinds[str(part.type)]) for part in schema if part.name.startswith("f")]
    user = Entity(name="user", join_keys=["user_id"], value_type=ValueType.INT64)
    source = SparkSource(
        name="activity", path=str(folder / "activity.parquet"), file_format="parquet", timestamp_field="at"
    )
    view = FeatureView(name="wide", entities=[user], ttl=timedelta(days=7), schema=fields, source=source)
    store = FeatureStore(repo_path=str(repo))
    store.apply([user, view])
    return store


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

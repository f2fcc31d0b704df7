"""Feast's side of `benchmarks.time`, run by Feast's own environment: one historical retrieval a line, as `time_sides`.

PYTHONPATH=. python -m benchmarks.time_feast SCRATCH dask|duckdb       then lines of `feast FOLDER`
"""

from __future__ import annotations

import json
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from benchmarks.tree import tree_cpu_seconds

_STORE = """\
project: bench
registry: {folder}/registry.db
provider: local
online_store: {{type: sqlite, path: {folder}/online.db}}
offline_store: {{type: {kind}}}
entity_key_serialization_version: 3
"""


def main(arguments: list[str]) -> int:
    """Serve commands from stdin until it ends."""
    scratch, kind = Path(arguments[0]), arguments[1]
    stores: dict[str, Any] = {}
    for line in sys.stdin:
        _, folder = line.split()
        if folder not in stores:
            stores[folder] = _store(scratch, kind, Path(folder))
        cpu, started = tree_cpu_seconds(), time.perf_counter()
        labels = pd.read_parquet(f"{folder}/labels.parquet")
        names = [f"hist:{name}" for name in pq.read_schema(f"{folder}/hist.parquet").names if name.startswith("n")]
        found = stores[folder].get_historical_features(entity_df=labels, features=names).to_df()
        taken = {"wall": time.perf_counter() - started, "cpu": tree_cpu_seconds() - cpu, "rows": len(found)}
        kept = Path(folder) / f"{kind}.parquet"
        if not kept.exists():
            found.to_parquet(kept)
        print(json.dumps(taken), flush=True)
    return 0


def _store(scratch: Path, kind: str, folder: Path) -> Any:
    # Feast's, which featurekit's own environment does not have.
    from feast import Entity, FeatureStore, FeatureView, Field, FileSource, ValueType  # type: ignore[import-not-found]
    from feast.types import Float64, Int64, String  # type: ignore[import-not-found]

    repo = scratch / kind
    repo.mkdir(parents=True, exist_ok=True)
    (repo / "feature_store.yaml").write_text(_STORE.format(folder=repo, kind=kind), encoding="utf-8")
    kinds = {"double": Float64, "int64": Int64, "string": String}
    schema = pq.read_schema(folder / "hist.parquet")
    fields = [Field(name=part.name, dtype=kinds[str(part.type)]) for part in schema if part.name.startswith("n")]
    user = Entity(name="user", join_keys=["user_id"], value_type=ValueType.INT64)
    source = FileSource(name="hist", path=str(folder / "hist.parquet"), timestamp_field="event_timestamp")
    view = FeatureView(name="hist", entities=[user], ttl=timedelta(days=40), schema=fields, source=source)
    store = FeatureStore(repo_path=str(repo))
    store.apply([user, view])
    return store


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

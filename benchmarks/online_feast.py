"""Feast's side of `benchmarks.bench_online`, run by Feast's own environment: answers of JSON, a line each.

    PYTHONPATH=. python -m benchmarks.online_feast FOLDER PORT

`write VIEW` puts a view's table of FOLDER into the store; `time SHAPE` answers with the microseconds of each call of a
turn; `values SHAPE` writes what the first request of a shape is answered with to FOLDER, as Parquet.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.online_shapes import PROJECT, SERVICES, SHAPES, VIEWS, Shape, feature_names

_CONFIG = """\
project: {project}
registry: {folder}/registry.db
provider: local
online_store: {{type: redis, connection_string: "127.0.0.1:{port}"}}
offline_store: {{type: dask}}
entity_key_serialization_version: 3
"""


class FeastSide:
    """One store, and the requests of each shape as Feast takes them."""

    def __init__(self, folder: Path, port: str) -> None:
        self._folder = folder
        self._store = _store(folder, port)
        self._shapes = {shape.name: shape for shape in SHAPES}
        self._asked = {shape.name: 0 for shape in SHAPES}

    def write(self, view: str) -> dict[str, Any]:
        self._store.write_to_online_store(view, pd.read_parquet(self._folder / f"{view}.parquet"))
        return {}

    def time(self, name: str) -> dict[str, Any]:
        shape = self._shapes[name]
        features, requests = _features(shape), [_rows(request) for request in shape.requests]
        walls = []
        cpu = time.process_time()
        for _ in range(shape.feast_calls):
            rows = requests[self._asked[name] % len(requests)]
            self._asked[name] += 1
            start = time.perf_counter_ns()
            self._store.get_online_features(features=features, entity_rows=rows).to_dict()
            walls.append((time.perf_counter_ns() - start) / 1000)
        return {"walls": walls, "cpu_us": (time.process_time() - cpu) * 1e6 / shape.feast_calls}

    def values(self, name: str) -> dict[str, Any]:
        shape = self._shapes[name]
        found = self._store.get_online_features(features=_features(shape), entity_rows=_rows(shape.requests[0]))
        frame = pd.DataFrame(found.to_dict(include_event_timestamps=False))
        frame.to_parquet(self._folder / f"feast_{name}.parquet")
        return {"rows": len(frame)}


def main(arguments: list[str]) -> int:
    """Serve commands from stdin until it ends."""
    side = FeastSide(Path(arguments[0]), arguments[1])
    commands: dict[str, Callable[[str], dict[str, Any]]] = {
        "write": side.write,
        "time": side.time,
        "values": side.values,
    }
    for line in sys.stdin:
        command, argument = line.split()
        print(json.dumps(commands[command](argument)), flush=True)
    return 0


def _features(shape: Shape) -> list[str]:
    return [f"{view}:{name}" for view in SERVICES[shape.service] for name in feature_names(view)]


def _rows(request: list[int]) -> list[dict[str, Any]]:
    return [{"user_id": user} for user in request]


def _store(folder: Path, port: str) -> Any:
    # Feast's, which featurekit's own environment does not have.
    from feast import Entity, FeatureStore, FeatureView, Field, FileSource, ValueType  # type: ignore[import-not-found]
    from feast.types import Float64, Int64, String  # type: ignore[import-not-found]

    repo = folder / "feast"
    repo.mkdir(parents=True, exist_ok=True)
    config = _CONFIG.format(project=PROJECT, folder=repo, port=port)
    (repo / "feature_store.yaml").write_text(config, encoding="utf-8")
    kinds = {"double": Float64, "bigint": Int64, "string": String}
    user = Entity(name="user", join_keys=["user_id"], value_type=ValueType.INT64)
    views = []
    for view, types in VIEWS.items():
        source = FileSource(name=view, path=str(folder / f"{view}.parquet"), timestamp_field="event_timestamp")
        schema = [Field(name=name, dtype=kinds[kind]) for name, kind in zip(feature_names(view), types, strict=True)]
        views.append(FeatureView(name=view, entities=[user], ttl=timedelta(days=40), schema=schema, source=source))
    store = FeatureStore(repo_path=str(repo))
    store.apply([user, *views])
    return store


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

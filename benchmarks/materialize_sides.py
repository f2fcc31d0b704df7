"""Our side of `benchmarks.bench_materialize`: a session that answers commands, a line each, with what they took.

    PYTHONPATH=. python -m benchmarks.materialize_sides URL

The commands are `ours FOLDER`, `raw FOLDER` and `differ FOLDER`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import redis

from benchmarks.materialize import AS_OF
from benchmarks.tree import tree_cpu_seconds
from featurekit.clock import DAY
from featurekit.config import Settings
from featurekit.feature_store import FeatureStore

_RAW_STEP = 1000
_LOOKUP_STEP = 2000
_RAW_ROWS = 100_000


def main(arguments: list[str]) -> int:
    """Serve commands from stdin until it ends."""
    (url,) = arguments
    commands = {"ours": ours, "raw": raw, "differ": differ}
    turn = 0
    with redis.Redis.from_url(url, socket_timeout=60) as client:
        for line in sys.stdin:
            command, folder = line.split()
            turn += 1
            root = Path(folder)
            settings = Settings(
                root=root, definitions=root / "defs", state=root / "state", now=AS_OF + DAY, redis_url=url
            )
            with FeatureStore(settings) as store:
                print(json.dumps(commands[command](store, client, turn)), flush=True)
    return 0


def ours(store: FeatureStore, client: redis.Redis, turn: int) -> dict[str, Any]:
    """Return what a whole refresh took, into a store that is empty but for what is registered."""
    client.flushall(asynchronous=True)
    store.register()
    _ = store.engine
    served, cpu, started = _server_cpu(client), tree_cpu_seconds(), time.perf_counter()
    (outcome,) = store.materialize(as_of=AS_OF, restate=f"turn {turn}")
    wall = time.perf_counter() - started
    return {
        "wall": wall,
        "cpu": tree_cpu_seconds() - cpu,
        "server_cpu": _server_cpu(client) - served,
        "rows": outcome.rows,
        "bytes": outcome.bytes,
    }


def raw(store: FeatureStore, client: redis.Redis, turn: int) -> dict[str, Any]:  # noqa: ARG001
    """Return how long SETs of the very rows take by redis-py's pipeline, from this one process: of so many of them."""
    found = list(_rows(client))
    cpu, started = time.process_time(), time.perf_counter()
    for at in range(0, len(found), _RAW_STEP):
        with client.pipeline(transaction=False) as pipeline:
            for key, value in found[at : at + _RAW_STEP]:
                pipeline.set(b"raw:" + key, value, ex=3600)
            pipeline.execute()
    wall = time.perf_counter() - started
    return {"wall": wall, "cpu": time.process_time() - cpu, "rows": len(found)}


def differ(store: FeatureStore, client: redis.Redis, turn: int) -> dict[str, Any]:  # noqa: ARG001
    """Return in how many values the store, read by the lookup client, differs from the source."""
    started, differing, rows = time.perf_counter(), 0, 0
    for batch in pq.ParquetFile(store.settings.root / "activity.parquet").iter_batches(_LOOKUP_STEP):
        found = store.lookup("wide", {"user_id": batch["user_id"].to_numpy()}, at=AS_OF + DAY).to_arrow()
        rows += batch.num_rows
        for name in (name for name in batch.schema.names if name.startswith("f")):
            served = found[f"wide.{name}"]
            whole = served.combine_chunks() if isinstance(served, pa.ChunkedArray) else served
            differing += 0 if whole.equals(batch[name]) else _differing(whole, batch[name])
    return {"wall": time.perf_counter() - started, "rows": rows, "differ": differing}


def _differing(one: pa.Array, other: pa.Array) -> int:
    return sum(a != b for a, b in zip(one.to_pylist(), other.to_pylist(), strict=True))


def _rows(client: redis.Redis) -> Iterator[tuple[bytes, bytes]]:
    keys: list[bytes] = []
    for key in client.scan_iter(match="fk:*{*}:wide@*", count=1000):
        keys.append(key)
        if len(keys) == _RAW_ROWS:
            break
    for at in range(0, len(keys), _RAW_STEP):
        values: Any = client.mget(keys[at : at + _RAW_STEP])
        yield from zip(keys[at : at + _RAW_STEP], values, strict=True)


def _server_cpu(client: redis.Redis) -> float:
    used: Any = client.info("cpu")
    return float(used["used_cpu_user"] + used["used_cpu_sys"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""How fast a refresh of N entities × 50 features gets from Parquet into the store, beside MSET of the same bytes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import redis

from featurekit.clock import DAY, parse_instant
from featurekit.config import Settings
from featurekit.feature_store import FeatureStore
from featurekit.refresh_values import RefreshOutcome

AS_OF = parse_instant("2026-01-02")
_MSET_STEP = 1000
_KINDS = ("float", "float", "int", "int", "text")
_TEXTS = 1_000_000
Item = TypeVar("Item")
_DEFINITIONS = """\
entities:
  user: {{join_keys: {{user_id: bigint}}}}
sources:
  activity: {{path: activity.parquet, event_timestamp: at}}
feature_views:
  wide:
    entity: user
    source: activity
    refresh: 1d
    features:
{features}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterializeSpeed:
    """Medians of some rounds, session start and a first warm-up round left out; both sides write the same bytes."""

    entities: int
    features: int
    row_bytes: int
    rows_per_s: float
    mset_rows_per_s: float

    @property
    def vs_mset(self) -> float:
        """Rows per second over those of MSET from one Python process."""
        return self.rows_per_s / self.mset_rows_per_s


def measure(folder: Path, *, entities: int, features: int, rounds: int, seed: int) -> MaterializeSpeed:
    """Return the speeds; the source and the store's state lie in `folder`."""
    write_source(folder, entities=entities, features=features, seed=seed)
    settings = Settings(root=folder, definitions=folder / "defs", state=folder / "state", now=AS_OF + DAY)
    with FeatureStore(settings) as store:
        store.register()
        store.materialize(as_of=AS_OF)
        ours, raw = [], []
        outcome = None
        with redis.Redis.from_url(store.online_url) as client:
            for _ in range(rounds):  # alternating: the machine's speed drifts
                start = time.perf_counter()
                (outcome,) = store.materialize(as_of=AS_OF, restate="measured")
                ours.append(outcome.rows / (time.perf_counter() - start))
                raw.append(_mset_speed(client, outcome))
        assert outcome is not None
        return MaterializeSpeed(
            entities=entities,
            features=features,
            row_bytes=outcome.bytes // outcome.rows,
            rows_per_s=statistics.median(ours),
            mset_rows_per_s=statistics.median(raw),
        )


def write_source(folder: Path, *, entities: int, features: int, seed: int) -> None:
    """Write one event per entity and the definitions of one view over it: of five features, two each are floats and
    whole numbers, one is text.
    """
    draw = np.random.default_rng(seed)
    texts = pa.array([f"cat_{number:06}" for number in range(_TEXTS)])

    def values(kind: str) -> pa.Array:
        match kind:
            case "float":
                return pa.array(draw.normal(size=entities))
            case "int":
                return pa.array(draw.integers(0, 10**9, entities))
            case _:
                return texts.take(pa.array(draw.integers(0, _TEXTS, entities)))

    columns = {
        "user_id": pa.array(np.arange(entities, dtype=np.int64)),
        "at": pa.array(AS_OF - 1 - draw.integers(0, DAY, entities), pa.int64()).cast(pa.timestamp("us", "UTC")),
        **{f"f{i}": values(_KINDS[i % len(_KINDS)]) for i in range(features)},
    }
    (folder / "defs").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), folder / "activity.parquet")
    lines = "\n".join(f"      f{i}: {{sql: f{i}, ttl: 7d}}" for i in range(features))
    (folder / "defs" / "wide.yaml").write_text(_DEFINITIONS.format(features=lines))


def _parts(items: Iterable[Item], size: int) -> Iterator[tuple[Item, ...]]:
    rest = iter(items)
    while part := tuple(islice(rest, size)):
        yield part


def _mset_speed(client: redis.Redis, outcome: RefreshOutcome) -> float:
    """Return rows per second of MSET, a thousand a command, of the very rows that were just written."""
    pattern = f"fk:*:{outcome.view}@{outcome.fingerprint[:8]}:*~{outcome.restatement}"
    rows = [pair for keys in _parts(_rows(client, pattern), _MSET_STEP) for pair in _pairs(client, keys)]
    start = time.perf_counter()
    for part in _parts(rows, _MSET_STEP):
        client.mset(dict(part))
    elapsed = time.perf_counter() - start
    for part in _parts(rows, _MSET_STEP):
        client.unlink(*(key for key, _ in part))
    return len(rows) / elapsed


def _rows(client: redis.Redis, pattern: str) -> Iterator[bytes]:
    found: Iterator[bytes] = client.scan_iter(match=pattern, count=1000)
    return (key for key in found if b"{" in key)


def _pairs(client: redis.Redis, keys: tuple[bytes, ...]) -> list[tuple[bytes, bytes]]:
    values: Any = client.mget(list(keys))
    return [(b"raw:" + key, value) for key, value in zip(keys, values, strict=True) if value is not None]

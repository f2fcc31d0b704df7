"""What `benchmarks.time` measures on: events and labels of a shape, and the definitions over them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.clock import DAY, HOUR, Instant, parse_instant

START: Final = parse_instant("2026-01-01")
DAYS: Final = 60
LABELS_FROM: Final = 30
SECOND: Final = 1_000_000
WINDOWS: Final = {"1h": HOUR, "1d": DAY, "7d": 7 * DAY, "30d": 30 * DAY}
AGGREGATES: Final = {
    "n": "count(*)",
    "total": "sum(amount)",
    "mean": "avg(amount)",
    "largest": "max(amount)",
    "items": "sum(quantity)",
    "dear": "count(*) FILTER (WHERE amount > 50.0D)",
}
LATEST: Final = tuple((f"n{at:02d}", ("float", "float", "int", "int", "string")[at % 5]) for at in range(10))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How many rows, and how keys are shared out: the share of the key of rank r is (r + 1)^-skew."""

    events: int
    entities: int
    labels: int
    skew: float
    seed: int

    def times(self, factor: int) -> Shape:
        """Return the shape with so many times the rows, of as many times the entities."""
        return Shape(
            events=self.events * factor,
            entities=self.entities * factor,
            labels=self.labels * factor,
            skew=self.skew,
            seed=self.seed,
        )


def write_world(folder: Path, shape: Shape) -> int:
    """Write events, labels and definitions; return how many pairs of a label and an event of its 30 days there are.

    Label times are whole seconds, on a grid of one second: g(t) is t, and plain SQL over t means the same.
    """
    folder.mkdir(parents=True)
    draw = np.random.default_rng(shape.seed)
    shares = (np.arange(shape.entities) + 1.0) ** -shape.skew
    shares /= shares.sum()
    events = draw.choice(shape.entities, shape.events, p=shares)
    at = START + draw.integers(0, DAYS * DAY, shape.events)
    columns = {
        "user_id": pa.array(events, pa.int64()),
        "at": instants(at),
        "amount": pa.array(np.round(draw.lognormal(3.0, 1.0, shape.events), 2)),
        "quantity": pa.array(draw.integers(1, 20, shape.events), pa.int64()),
    }
    pq.write_table(pa.table(columns), folder / "events.parquet")
    labelled = draw.choice(shape.entities, shape.labels, p=shares)
    seconds = draw.integers(LABELS_FROM * DAY // SECOND, DAYS * DAY // SECOND, shape.labels)
    asked = START + seconds * SECOND
    rows = {"row": pa.array(np.arange(shape.labels)), "user_id": pa.array(labelled), "event_timestamp": instants(asked)}
    pq.write_table(pa.table(rows), folder / "labels.parquet")
    (folder / "shape.json").write_text(json.dumps(asdict(shape)), encoding="utf-8")
    write_definitions(folder)
    return _pairs(events, at, labelled, asked)


def instants(values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Array:
    return pa.array(values, pa.int64()).cast(pa.timestamp("us", "UTC"))


def _pairs(events: np.ndarray, at: np.ndarray, labelled: np.ndarray, asked: np.ndarray) -> int:
    order = np.sort(events.astype(np.int64) * (1 << 43) + (at - START))
    start = labelled.astype(np.int64) * (1 << 43)
    high = np.searchsorted(order, start + (asked - START))
    low = np.searchsorted(order, start + np.maximum(asked - START - WINDOWS["30d"], 0))
    return int((high - low).sum())


def write_definitions(folder: Path) -> None:
    lines = [
        f'      {label}_{window}: {{sql: "{sql}", window: {window}}}'
        for window in WINDOWS
        for label, sql in AGGREGATES.items()
    ]
    text = "\n".join(
        (
            "entities:",
            "  user: {join_keys: {user_id: bigint}}",
            "sources:",
            "  purchases: {path: events.parquet, event_timestamp: at}",
            "feature_views:",
            "  spend:",
            "    entity: user",
            "    source: purchases",
            "    refresh: 1s",
            "    features:",
            *lines,
            "feature_services:",
            "  spending: {features: [spend]}",
            "",
        )
    )
    (folder / "defs").mkdir()
    (folder / "defs" / "spend.yaml").write_text(text, encoding="utf-8")


def write_latest_world(folder: Path, *, rows: int, entities: int, labels: int, seed: int) -> Instant:
    """Write rows of ten columns, labels, and a view of the ten latest values; return the earliest of the times.

    The same draws as Feast's own script of the comparison makes: whole seconds over 30 days.
    """
    folder.mkdir(parents=True)
    draw = np.random.default_rng(seed)
    columns: dict[str, pa.Array] = {
        "user_id": pa.array(np.arange(rows) % entities),
        "event_timestamp": instants(START + draw.integers(0, 30 * DAY // SECOND, rows) * SECOND),
    }
    for label, kind in LATEST:
        match kind:
            case "float":
                columns[label] = pa.array(draw.normal(size=rows))
            case "int":
                columns[label] = pa.array(draw.integers(0, 10**9, rows))
            case _:
                columns[label] = pa.array([f"cat_{value:06d}" for value in draw.integers(0, 10**6, rows)])
    pq.write_table(pa.table(columns), folder / "hist.parquet")
    asked = {
        "user_id": pa.array(draw.integers(0, entities, labels)),
        "event_timestamp": instants(START + draw.integers(0, 30 * DAY // SECOND, labels) * SECOND),
    }
    pq.write_table(pa.table({"row": pa.array(np.arange(labels)), **asked}), folder / "labels.parquet")
    lines = "\n".join(f"      {label}: {{sql: {label}, ttl: 40d}}" for label, _ in LATEST)
    (folder / "defs").mkdir()
    (folder / "defs" / "hist.yaml").write_text(_LATEST_DEFINITIONS + lines + "\n", encoding="utf-8")
    return START


_LATEST_DEFINITIONS: Final = """\
entities:
  user: {join_keys: {user_id: bigint}}
sources:
  history: {path: hist.parquet, event_timestamp: event_timestamp}
feature_services:
  latest: {features: [hist]}
feature_views:
  hist:
    entity: user
    source: history
    refresh: 1s
    features:
"""

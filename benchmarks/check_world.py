"""The world of `bench-check`: a shop of entities with fifty features, refreshed twice, and a log of what it served."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.clock import DAY, HOUR, MINUTE, Instant, format_instant, parse_instant
from featurekit.config import read_settings
from featurekit.feature_store import FeatureStore

TODAY: Final = parse_instant("2026-03-10")
DAYS: Final = (TODAY - DAY, TODAY)
NOW: Final = TODAY + 23 * HOUR
DELAY: Final = HOUR
SERVICE: Final = "ranking"
FEATURES: Final = 50
_DAYS_OF_EVENTS: Final = 40
_EVENTS_EACH: Final = 40
_WINDOWS: Final = ("1d", "7d", "30d")
_AGGREGATES: Final = {
    "n": "count(*)",
    "total": "sum(amount)",
    "mean": "avg(amount)",
    "least": "min(amount)",
    "most": "max(amount)",
    "spread": "stddev_samp(amount)",
    "large": "count(*) FILTER (WHERE amount > 20)",
    "kinds": "count(DISTINCT kind)",
    "share": "avg(CASE WHEN is_return THEN 1.0D ELSE 0.0D END)",
    "units": "sum(units)",
    "ratio": "sum(amount) / sum(units)",
    "fees": "sum(fee)",
    "most_units": "max(units)",
    "kind": "max(kind)",
    "returns": "count(*) FILTER (WHERE is_return)",
}
_LATEST: Final = {"last_amount": "amount", "last_kind": "kind", "last_fee": "fee", "last_units": "units"}
_SETTINGS: Final = """\
project = "bench"
environment = "check"
definitions = "feature_defs"
state = ".featurekit"

[spark]
master = "local[2]"
driver_memory = "2g"

[served_log]
path = "served"
queue = 1000000
"""


def write_world(folder: Path, *, entities: int, seed: int) -> None:
    """Write settings, definitions and a source of events into a folder."""
    (folder / "feature_defs").mkdir(parents=True)
    (folder / "featurekit.toml").write_text(_SETTINGS)
    (folder / "feature_defs" / "bench.yaml").write_text(_definitions())
    pq.write_table(_events(entities, np.random.default_rng(seed)), folder / "events.parquet")


def serve_world(folder: Path, *, entities: int, requests: int, seed: int) -> None:
    """Refresh the view for both days, and ask for entities by chance at times of these days; what is served is logged.

    One request in fifty is for an entity that nobody has.
    """
    chance = np.random.default_rng(seed)
    for day in DAYS:
        with _store(folder, day + DELAY) as store:
            if day == DAYS[0]:
                store.register()
            store.materialize(as_of=day)
    with _store(folder, NOW) as store:
        users = chance.integers(0, entities + entities // 50, requests).tolist()
        times = np.sort(chance.integers(DAYS[0] + DELAY, NOW, requests)).tolist()
        budgets = np.round(chance.gamma(2, 20, requests), 2).tolist()
        for user, at, budget in zip(users, times, budgets, strict=True):
            store.lookup(SERVICE, {"user_id": user}, {"budget": budget}, at=at)
        log = store.served_log
        assert log is not None, "the settings name its folder"
        if not log.flush(60) or log.counts.lost:
            raise AssertionError(f"the log lost rows: {log.counts}")


def _store(folder: Path, now: Instant) -> FeatureStore:
    settings = read_settings(start=folder, environ={}, flags={"now": now}, file=folder / "featurekit.toml")
    return FeatureStore(settings)


def command(folder: Path, *words: str) -> list[str]:
    """Return the words of a featurekit command about the world at its time, but for the program."""
    return ["--settings", str(folder / "featurekit.toml"), "--now", format_instant(NOW), *words]


def _definitions() -> str:
    windowed = [
        f"      {name}_{window}: {{sql: '{sql}', window: {window}}}"
        for window in _WINDOWS
        for name, sql in _AGGREGATES.items()
    ]
    latest = [f"      {name}: {{sql: {sql}, ttl: 20d}}" for name, sql in _LATEST.items()]
    whole = ["      n_ever: {sql: count(*), window: lifetime}"]
    features = "\n".join([*windowed, *latest, *whole])
    return f"""\
entities:
  user: {{join_keys: {{user_id: bigint}}}}
sources:
  events: {{path: events.parquet, event_timestamp: at, created_timestamp: landed}}
feature_views:
  shopping:
    entity: user
    source: events
    refresh: 1d
    availability_delay: 1h
    features:
{features}
on_demand_feature_views:
  fit:
    request: {{budget: double}}
    features:
      of_mean: {{sql: "budget / shopping.mean_30d", default: 0.0}}
      log_gap: {{sql: "ln(1.0D + abs(budget - shopping.most_7d))"}}
feature_services:
  {SERVICE}: {{features: [shopping, fit]}}
"""


def _events(entities: int, chance: np.random.Generator) -> pa.Table:
    count = entities * _EVENTS_EACH
    # Some are active all the time, most now and then.
    users = np.minimum((chance.beta(0.8, 1.6, count) * entities).astype(np.int64), entities - 1)
    at = TODAY - chance.integers(0, _DAYS_OF_EVENTS * DAY, count)
    late = np.where(chance.random(count) < 0.05, chance.integers(0, 30 * HOUR, count), MINUTE)
    order = np.argsort(at)
    instant = pa.timestamp("us", tz="UTC")
    columns = {
        "user_id": pa.array(users),
        "at": pa.array(at).cast(instant),
        "landed": pa.array(at + late).cast(instant),
        "amount": pa.array(np.round(chance.gamma(2, 8, count), 2), mask=chance.random(count) < 0.02),
        "units": pa.array(chance.integers(1, 9, count)),
        "fee": pa.array(np.round(chance.random(count), 3).astype(np.float32)),
        "kind": pa.array([f"kind {number}" for number in chance.integers(0, 30, count).tolist()]),
        "is_return": pa.array(chance.random(count) < 0.1),
    }
    return pa.table(columns).take(pa.array(order))

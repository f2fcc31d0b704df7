"""A small shop, deployed for real: definitions, a source, Spark, the embedded server, a registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.apply import register
from featurekit.clock import DAY, HOUR, Instant, fixed_clock, parse_instant
from featurekit.compiled import CompiledRepository
from featurekit.compiler import compile_repository
from featurekit.consistency.check import check_consistency
from featurekit.consistency.report import ConsistencyReport
from featurekit.consistency.sample import SampleRule
from featurekit.definitions.repo import load_repo
from featurekit.offline.engine import BatchEngine
from featurekit.online.client import FeatureClient
from featurekit.online.codec import Row, RowCodec
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.redis import RedisStore
from featurekit.refresh_values import Deployment, RefreshOutcome
from featurekit.refreshing import refresh_view
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from featurekit.types import Field

PLACE = Namespace("shop", "check")
TODAY = parse_instant("2026-03-10")
YESTERDAY = TODAY - DAY
AT = TODAY + 9 * HOUR
DEFINITIONS = """\
entities:
  stall: {join_keys: {town: string, number: int}}
sources:
  sales:
    path: data/sales.parquet
    event_timestamp: sold_at
    created_timestamp: recorded_at
feature_views:
  takings:
    entity: stall
    source: sales
    refresh: 1d
    allowed_lateness: 5m
    availability_delay: 1h
    features:
      sales_7d:  {sql: count(*), window: 7d, expect: {not_null: true}}
      mean_1d:   {sql: avg(amount), window: 1d, expect: {between: [0, 1000]}}
      mean_7d:   {sql: avg(amount), window: 7d, expect: {between: [0, 1000], not_null: true}}
      total_1d:  {sql: sum(amount), window: 1d, default: 0.0}
      last_item: {sql: item, ttl: 2d, default: nothing}
      busy:      {sql: count(*) > 2, window: 7d}
"""
STALLS = [(town, number) for town in ("Aachen", "{Brühl}, 50%", "") for number in range(1, 7)]


def write_shop(
    folder: Path, *, broken_amount: float | None = None, definitions: str = DEFINITIONS
) -> CompiledRepository:
    """Write the shop's source and definitions, and return them compiled.

    Stall 1 of each town sold nothing on the last day, stall 2 nothing in the last three days. One town has no name.
    """
    rows: list[dict[str, Any]] = []
    for town, number in STALLS:
        for day in range(8, 0, -1):
            if (number == 1 and day == 1) or (number == 2 and day <= 3):
                continue
            for sale in range(number % 3 + 1):
                at = TODAY - day * DAY + (6 + sale) * HOUR
                amount = 0.1 * (number + day) + sale
                rows.append({"town": town, "number": number, "item": f"item-{day}", "amount": amount, "sold_at": at})
    if broken_amount is not None:
        rows[-1]["amount"] = broken_amount
    sold = pa.array([row["sold_at"] for row in rows], pa.timestamp("us", tz="UTC"))
    recorded = pa.array([row["sold_at"] + 60_000_000 for row in rows], pa.timestamp("us", tz="UTC"))
    table = pa.table(
        {
            "town": [row["town"] for row in rows],
            "number": pa.array([row["number"] for row in rows], pa.int32()),
            "item": [row["item"] for row in rows],
            "amount": [row["amount"] for row in rows],
            "sold_at": sold,
            "recorded_at": recorded,
        }
    )
    (folder / "data").mkdir(exist_ok=True)
    (folder / "feature_defs").mkdir(exist_ok=True)
    pq.write_table(table, folder / "data" / "sales.parquet")
    (folder / "feature_defs" / "shop.yaml").write_text(definitions)
    return compile_repository(load_repo(folder / "feature_defs"), folder)


@dataclass(frozen=True, kw_only=True)
class Shop:
    """What is deployed, with what a test needs to plant a fault and to check."""

    compiled: CompiledRepository
    engine: BatchEngine
    store: RedisStore
    url: str
    registry: Registry

    def register(self) -> None:
        register(desired_state(self.compiled), self.registry, self.store, PLACE, YESTERDAY)

    def refresh(self, as_of: Instant, *, restate: str | None = None) -> RefreshOutcome:
        to = Deployment(store=self.store, url=self.url, registry=self.registry, namespace=PLACE, retention=DAY)
        view = self.compiled.views["takings"]
        clock = fixed_clock(as_of + HOUR)
        return refresh_view(view, as_of, engine=self.engine, to=to, clock=clock, restate=restate)

    def check(self, sample: SampleRule | None = None, *, at: Instant = AT) -> ConsistencyReport:
        with self.client() as client:
            return check_consistency(
                engine=self.engine,
                client=client,
                store=self.store,
                namespace=PLACE,
                views=[self.compiled.views["takings"]],
                at=at,
                sample=sample,
            )

    def client(self) -> FeatureClient:
        return FeatureClient(project=PLACE.project, environment=PLACE.environment, store=_Shared(self.store))

    def space(self, as_of: Instant = TODAY) -> KeySpace:
        fingerprint = self.compiled.views["takings"].fingerprint.data
        return KeySpace(namespace=PLACE, view="takings", fingerprint=fingerprint, as_of=as_of)

    def codec(self) -> RowCodec:
        view = self.compiled.views["takings"]
        return RowCodec([Field(feature.name, feature.type) for feature in view.features], view.fingerprint.data)

    def bytes_of(self, key: bytes, as_of: Instant = TODAY) -> bytes:
        (content,) = self.store.read([self.space(as_of).row(key)])
        assert content is not None
        return content

    def plant(self, key: bytes, content: bytes | None) -> None:
        """Put these bytes under an entity's key of today's refresh; None deletes it."""
        self.store.change(self.space().row(key), lambda _: content)

    def rewrite(self, key: bytes, change: Callable[[Row], Row]) -> None:
        """Put a changed row in place of an entity's row of today."""
        row = change(self.codec().decode_row(self.bytes_of(key)))
        content = self.codec().encode_row(row.values, as_of=row.as_of, last_event=row.last_event, statuses=row.statuses)
        self.plant(key, content)


class _Shared:
    """A store that outlives the client which reads it."""

    def __init__(self, store: RedisStore) -> None:
        self.name, self.read, self.find = store.name, store.read, store.find
        self.reads_at_once = store.reads_at_once

    def close(self) -> None:
        pass

"""The world of the online benches: views of packed rows in a real store, services over them, the tables behind them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.online_shapes import ENTITIES, PROJECT, SEED, SERVICES, VIEWS, feature_names, output_names
from featurekit.clock import DAY
from featurekit.grid import Grid
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import begin_refresh, complete_refresh
from featurekit.online.writer import RedisRowSink
from featurekit.plan import LookupPlan, PlanField, PlanKey, PlanView
from featurekit.rows import LAST_EVENT
from featurekit.types import Field, Int64, Schema, parse_type

ENVIRONMENT: Final = "dev"
NAMESPACE: Final = Namespace(PROJECT, ENVIRONMENT)
AS_OF: Final = 19_723 * DAY  # 2024-01-01
NOW: Final = AS_OF + DAY


def make_tables(seed: int = SEED) -> dict[str, pa.Table]:
    """Return a table of each view: an entity a row, its event's time, its features."""
    random = np.random.default_rng(seed)
    tables = {}
    for view, types in VIEWS.items():
        moments = AS_OF - random.integers(1, DAY, ENTITIES)
        columns = {
            "user_id": pa.array(np.arange(ENTITIES)),
            "event_timestamp": pa.array(moments).cast(pa.timestamp("us", "UTC")),
        }
        for name, kind in zip(feature_names(view), types, strict=True):
            columns[name] = _column(kind, random)
        tables[view] = pa.table(columns)
    return tables


def _column(kind: str, random: np.random.Generator) -> pa.Array:
    match kind:
        case "double":
            return pa.array(random.normal(size=ENTITIES))
        case "bigint":
            return pa.array(random.integers(0, 10**9, ENTITIES))
        case _:
            return pa.array([f"cat_{number:06}" for number in random.integers(0, 10**6, ENTITIES).tolist()])


def write_tables(tables: Mapping[str, pa.Table], folder: Path) -> None:
    """Write each table as FOLDER/VIEW.parquet."""
    for view, table in tables.items():
        pq.write_table(table, folder / f"{view}.parquet")


def write_view(url: str, view: str, table: pa.Table) -> KeySpace:
    """Write a complete refresh of a view, and return where its rows are."""
    planned = _plan_view(view)
    space = KeySpace(namespace=NAMESPACE, view=view, fingerprint=planned.fingerprint, as_of=AS_OF)
    sink = RedisRowSink(
        url=url,
        space=space,
        keys=(Field("user_id", Int64()),),
        fields=tuple(Field(field.name, field.type) for field in planned.fields),
        expires_in_s=86_400,
    )
    store = RedisStore(url)
    refresh = begin_refresh(store, space, expires_in_s=86_400)
    list(sink(iter(table.rename_columns({"event_timestamp": LAST_EVENT}).to_batches())))
    complete_refresh(store, refresh, grid=planned.grid, completed_at=AS_OF, rows=len(table))
    store.close()
    return space


def publish_services(url: str) -> None:
    """Publish all services: their readers find what `write_view` wrote."""
    store = RedisStore(url)
    bodies = [PlanBody.of(_plan(service)) for service in SERVICES]
    publish_plans(store, NAMESPACE, bodies)
    switch_services(store, NAMESPACE, {body.service: body.pointer for body in bodies})
    store.close()


def _plan(service: str) -> LookupPlan:
    types = [parse_type(kind) for view in SERVICES[service] for kind in VIEWS[view]]
    return LookupPlan(
        service=service,
        fingerprint=_fingerprint(service),
        views=tuple(_plan_view(view) for view in SERVICES[service]),
        request=Schema(()),
        on_demand=(),
        outputs=tuple(Field(name, kind) for name, kind in zip(output_names(service), types, strict=True)),
    )


def _plan_view(view: str) -> PlanView:
    fields = tuple(
        PlanField(name=name, type=parse_type(kind), is_latest=True, empty=None, default=None)
        for name, kind in zip(feature_names(view), VIEWS[view], strict=True)
    )
    return PlanView(
        alias=view,
        view=view,
        fingerprint=_fingerprint(view),
        keys=(PlanKey(name="user_id", type=Int64(), request="user_id"),),
        grid=Grid(DAY),
        fields=fields,
    )


def _fingerprint(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()

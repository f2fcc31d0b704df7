"""Real servers for the tests, and small worlds written into them by the real writer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import redis

from featurekit.arrow_types import for_arrow, to_arrow
from featurekit.clock import DAY, Instant
from featurekit.counters import add_counters
from featurekit.grid import Grid
from featurekit.online import embedded
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.redis.address import read_address
from featurekit.online.refresh import Completion, begin_refresh, complete_refresh
from featurekit.online.store import OnlineStore
from featurekit.online.writer import RedisRowSink
from featurekit.plan import LookupPlan, PlanField, PlanKey, PlanView
from featurekit.rows import LAST_EVENT, STATUS_PREFIX
from featurekit.status import Status
from featurekit.types import DataType, Field, Int64, Schema, Timestamp
from tests.online.deployments import KINDS

NAMESPACE = Namespace("shop", "test")
DAILY = Grid(DAY, availability_delay=2 * 3_600_000_000)
FINGERPRINT = "0123456789abcdef" * 4
DEBIAN_SERVER = KINDS["redis"]


@contextmanager
def embedded_server(folder: Path) -> Iterator[str]:
    """Give the URL of an embedded server that lives as long as the block."""
    try:
        yield embedded.start(folder).url
    finally:
        embedded.stop(folder)


def view_plan(
    fields: Sequence[PlanField],
    *,
    name: str = "view",
    alias: str | None = None,
    keys: Mapping[str, DataType] | None = None,
    fingerprint: str = FINGERPRINT,
    grid: Grid = DAILY,
) -> PlanView:
    join_keys = {"user_id": Int64()} if keys is None else keys
    return PlanView(
        alias=alias or name,
        view=name,
        fingerprint=fingerprint,
        keys=tuple(PlanKey(name=key, type=kind, request=key) for key, kind in join_keys.items()),
        grid=grid,
        fields=tuple(fields),
    )


def plan_field(
    name: str, kind: DataType, *, is_latest: bool = False, empty: Any = None, default: Any = None
) -> PlanField:
    return PlanField(name=name, type=kind, is_latest=is_latest, empty=empty, default=default)


def service_plan(*views: PlanView, name: str = "service", fingerprint: str = "f" * 64) -> LookupPlan:
    """Return the plan of a service that gives all fields of these views."""
    return LookupPlan(
        service=name,
        fingerprint=fingerprint,
        views=views,
        request=Schema(()),
        on_demand=(),
        outputs=tuple(Field(f"{view.alias}.{field.name}", field.type) for view in views for field in view.fields),
    )


def offline_batch(
    view: PlanView, rows: Sequence[Mapping[str, Any]], statuses: Mapping[str, Sequence[Status]] | None = None
) -> pa.RecordBatch:
    """Return offline rows as `materialize` makes them; `rows` by key and field name, held as `types` says."""
    columns: dict[str, pa.Array] = {}
    for key in view.keys:
        columns[key.name] = held_array([row[key.name] for row in rows], key.type)
    columns[LAST_EVENT] = held_array([row.get(LAST_EVENT, 1) for row in rows], Timestamp())
    for field in view.fields:
        columns[field.name] = held_array([row[field.name] for row in rows], field.type)
    for field in view.fields:
        if field.is_latest:
            given = (statuses or {}).get(field.name) or [Status.PRESENT] * len(rows)
            columns[STATUS_PREFIX + field.name] = pa.array([int(status) for status in given], pa.int8())
    return pa.record_batch(columns)


def held_array(values: Sequence[Any], kind: DataType) -> pa.Array:
    """Return values, held as `types` says, as an Arrow array of the type."""
    arrow = to_arrow(kind)
    if pa.types.is_temporal(arrow):
        return pa.array(values, pa.int32() if arrow.bit_width == 32 else pa.int64()).view(arrow)
    return pa.array([for_arrow(value, kind) for value in values], arrow)


def row_sink(url: str, view: PlanView, space: KeySpace, *, expires_in_s: int = 3600, **options: Any) -> RedisRowSink:
    return RedisRowSink(
        url=url,
        space=space,
        keys=tuple(Field(key.name, key.type) for key in view.keys),
        fields=tuple(Field(field.name, field.type) for field in view.fields),
        expires_in_s=expires_in_s,
        **options,
    )


def key_space(view: PlanView, as_of: Instant, *, restatement: int = 0) -> KeySpace:
    return KeySpace(
        namespace=NAMESPACE, view=view.view, fingerprint=view.fingerprint, as_of=as_of, restatement=restatement
    )


def materialize(
    store: OnlineStore,
    url: str,
    view: PlanView,
    as_of: Instant,
    *batches: pa.RecordBatch,
    completed_at: Instant | None = None,
    restatement: int = 0,
) -> Completion:
    """Write one refresh from begin to end, as the job does."""
    space = key_space(view, as_of, restatement=restatement)
    refresh = begin_refresh(store, space, expires_in_s=3600)
    written = add_counters(list(row_sink(url, view, space)(iter(batches))))
    return complete_refresh(
        store,
        refresh,
        grid=view.grid,
        completed_at=as_of if completed_at is None else completed_at,
        rows=written["rows"],
    )


def flush(url: str) -> None:
    for client in masters_of(url):
        with client:
            client.flushall()


def masters_of(url: str) -> list[redis.Redis]:
    """Return redis-py's clients of the masters of a store, beside ours."""
    address = read_address(url)
    tls = address.tls
    options: dict[str, Any] = {
        "username": address.login.user,
        "password": address.login.password,
        "db": address.db,
        **(
            {}
            if tls is None
            else {"ssl": True, "ssl_ca_certs": tls.ca, "ssl_certfile": tls.cert, "ssl_keyfile": tls.key}
        ),
    }
    first = address.places[0]
    match address.deployment:
        case "standalone" if first.path:
            return [redis.Redis(unix_socket_path=first.path, **options)]
        case "standalone":
            return [redis.Redis(host=first.host, port=first.port, **options)]
        case "sentinel":
            with redis.Redis(host=first.host, port=first.port) as sentinel:
                host, port = sentinel.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", address.master)
            return [redis.Redis(host=host, port=int(port), **options)]
        case _:
            with redis.RedisCluster(host=first.host, port=first.port) as nodes:
                found = [(node.host, node.port) for node in nodes.get_primaries()]
            return [redis.Redis(host=host, port=port, **options) for host, port in found]

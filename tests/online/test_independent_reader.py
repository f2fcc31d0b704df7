"""A reader made from docs/formats.md alone answers as the client does: drawn worlds, written by the real writer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from featurekit.clock import DAY, HOUR, Instant, parse_instant
from featurekit.online.client import FeatureClient
from featurekit.online.keys import KeySpace
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.reason import Reason
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import begin_refresh, complete_refresh
from featurekit.plan import LookupPlan, PlanView
from featurekit.status import Status
from featurekit.types import (
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int64,
    Null,
    String,
    Timestamp,
    TimestampNtz,
)
from tests.online.independent_reader import Reader, Resp
from tests.online.servers import (
    NAMESPACE,
    flush,
    key_space,
    offline_batch,
    plan_field,
    row_sink,
    service_plan,
    view_plan,
)
from tests.online.strategies import TYPES, values
from tests.online.vector_values import EPOCH, shown, told_by

BEGIN = parse_instant("2013-11-15")
KEYS: tuple[DataType, ...] = (
    Int8(), Int64(), String(), Binary(), Boolean(), Float32(), Float64(), Decimal(9, 2), Date(),
    Timestamp(), TimestampNtz(),
)  # fmt: skip


@dataclass
class World:
    """What was written: a service over some views, the entities that may be asked for, and when."""

    plan: LookupPlan
    entities: list[dict[str, Any]]  # held as `types` says
    instants: list[Instant]


@pytest.fixture
def reader(url: str) -> Iterator[Reader]:
    parts = urlsplit(url)
    resp = Resp(parts.path if parts.scheme == "unix" else (parts.hostname or "", parts.port or 0))
    yield Reader(resp, NAMESPACE.project, NAMESPACE.environment)
    resp.close()


def key_values(kind: DataType) -> st.SearchStrategy[Any]:
    """Values that a caller can pass: the calendar of Python, not that of the stored numbers."""
    match kind:
        case Date():
            return st.integers(-719162, 2932896)
        case Timestamp() | TimestampNtz():
            return st.integers(-62135596800000000, 253402300799999999)
        case _:
            return values(kind)


def fields(kinds: Sequence[DataType]) -> st.SearchStrategy[Any]:
    def field(name: str, kind: DataType) -> st.SearchStrategy[Any]:
        some = st.none() | values(kind)
        return st.builds(plan_field, st.just(name), st.just(kind), is_latest=st.booleans(), empty=some, default=some)

    return st.tuples(*(field(f"f{i}", kind) for i, kind in enumerate(kinds)))


@st.composite
def views(draw: st.DrawFn, name: str, keys: dict[str, DataType]) -> PlanView:
    kinds = draw(st.lists(st.sampled_from([kind for kind in TYPES if kind != Null()]), min_size=1, max_size=7))
    names = draw(st.lists(st.sampled_from(sorted(keys)), min_size=1, unique=True))
    digits = draw(st.text("0123456789abcdef", min_size=64, max_size=64))
    drawn = [
        field if not field.is_latest else plan_field(field.name, field.type, is_latest=True, default=field.default)
        for field in draw(fields(kinds))
    ]
    return view_plan(drawn, name=name, keys={key: keys[key] for key in names}, fingerprint=digits)


@st.composite
def plans(draw: st.DrawFn) -> LookupPlan:
    keys = {"a": draw(st.sampled_from(KEYS)), "b": draw(st.sampled_from(KEYS))}
    drawn = [draw(views(f"v{i}", keys)) for i in range(draw(st.integers(1, 3)))]
    return service_plan(*drawn, fingerprint=draw(st.text("0123456789abcdef", min_size=64, max_size=64)))


def write(data: st.DataObject, url: str, store: RedisStore, plan: LookupPlan) -> World:
    """Write some refreshes of each view for some entities, and damage some of what was written."""
    kinds = {key.request: key.type for view in plan.views for key in view.keys}
    entity = st.fixed_dictionaries({name: st.none() | key_values(kind) for name, kind in kinds.items()})
    entities = data.draw(st.lists(entity, min_size=1, max_size=5))
    instants = {BEGIN}
    for view in plan.views:
        names = [key.name for key in view.keys]
        rows = {tuple(one[name] for name in names): one for one in entities if all(one[n] is not None for n in names)}
        refreshes = data.draw(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=3))
        live = data.draw(st.sampled_from([None, None, 0, 1]))  # in place: all in one space, and the last not complete
        for place, (day, again) in enumerate(sorted(refreshes), start=1):
            as_of = BEGIN + day * DAY
            written = [row for row in rows.values() if data.draw(st.booleans())]
            space = key_space(view, as_of, restatement=again).at(as_of, again, live)
            is_whole = live is None or place < len(refreshes) or data.draw(st.booleans())
            materialized(data, url, store, view, space, written, is_whole=is_whole)
            instants |= {as_of, as_of + 2 * HOUR, as_of + DAY, as_of + 40 * HOUR}
    body = PlanBody.of(plan)
    publish_plans(store, NAMESPACE, [body])
    switch_services(store, NAMESPACE, {body.service: body.pointer})
    return World(plan, entities, sorted(instants))


def materialized(
    data: st.DataObject,
    url: str,
    store: RedisStore,
    view: PlanView,
    space: KeySpace,
    entities: Sequence[dict[str, Any]],
    *,
    is_whole: bool,
) -> None:
    rows = [
        {**{key.name: one[key.name] for key in view.keys}}
        | {field.name: data.draw(st.none() | values(field.type)) for field in view.fields}
        for one in entities
    ]
    missing = st.sampled_from([Status.PRESENT, Status.MISSING, Status.EXPIRED])
    statuses = {
        field.name: data.draw(st.lists(missing, min_size=len(rows), max_size=len(rows)))
        for field in view.fields
        if field.is_latest
    }
    completed = space.as_of + data.draw(st.sampled_from([0, 3 * HOUR, 30 * HOUR]))
    refresh = begin_refresh(store, space, expires_in_s=3600)
    list(row_sink(url, view, space)(iter([offline_batch(view, rows, statuses)])))
    if is_whole:
        complete_refresh(store, refresh, grid=view.grid, completed_at=completed, rows=len(rows))
    damage(data, url, space.row_suffix)


def damage(data: st.DataObject, url: str, suffix: bytes) -> None:
    """Change a byte of a row, cut one, or drop the marker, now and then."""
    choice = data.draw(st.sampled_from(["nothing"] * 4 + ["byte", "cut", "marker"]))
    with redis.Redis.from_url(url) as client:
        if choice == "marker":
            client.delete(NAMESPACE.prefix + b"space:" + suffix[2:])
            return
        found: list[bytes] = sorted(client.scan_iter(b"*" + suffix))
        for key in found[:1] if choice != "nothing" else []:
            row = bytearray(client.get(key) or b"")
            at = data.draw(st.integers(0, len(row) - 1))
            if choice == "cut":
                row = row[:at]
            else:
                row[at] ^= 1 << data.draw(st.integers(0, 7))
            client.set(key, bytes(row), keepttl=True)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(plan=plans(), data=st.data())
def test_the_reader_answers_as_the_client_does(
    reader: Reader, store: RedisStore, url: str, plan: LookupPlan, data: st.DataObject
) -> None:
    flush(url)
    world = write(data, url, store, plan)
    # What is tested is not how busy the machine is.
    client = FeatureClient(project=NAMESPACE.project, environment=NAMESPACE.environment, store=store, timeout_ms=60_000)
    kinds = {key.request: key.type for key in plan.keys}
    for entity in world.entities:
        passed = {name: passable(value, kinds[name]) for name, value in entity.items() if name in kinds}
        told = {name: shown(value, kinds[name]) for name, value in entity.items() if name in kinds}
        for at in world.instants:
            features = client.lookup(plan.service, passed, at=at)
            found = reader.lookup(plan.service, told, at)

            assert found.as_of == features.as_of
            statuses = dict(zip(features.names, (Status(code).name for code in features.statuses[0]), strict=True))
            assert found.statuses == statuses
            reasons = zip(features.names, (Reason(code) for code in features.reasons[0]), strict=True)
            assert found.reasons == {name: reason.name for name, reason in reasons if reason}
            types = {output.name: output.type for output in features.outputs}
            assert found.values == {name: told_by(value, types[name]) for name, value in features.to_dict().items()}


def passable(value: Any, kind: DataType) -> Any:
    """Return a held value as a caller passes it."""
    match kind:
        case _ if value is None:
            return None
        case Date():
            return date(1970, 1, 1) + timedelta(days=value)
        case Timestamp():
            return (EPOCH + timedelta(microseconds=value)).replace(tzinfo=UTC)
        case TimestampNtz():
            return EPOCH + timedelta(microseconds=value)
        case _:
            return value

"""What lookups answer while the store can't: each policy, each way to fail, both clients."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR, MINUTE, from_datetime
from featurekit.errors import (
    BreakerOpenError,
    FeaturesUnavailableError,
    KeyTypeError,
    NotRegisteredError,
    OnlineStoreError,
    OnlineStoreTimeoutError,
    StoreEmptyError,
)
from featurekit.expr.infer import call, literal
from featurekit.expr.nodes import Column
from featurekit.on_unavailable import Instead, OnUnavailable
from featurekit.online.breaker import Breaker
from featurekit.online.degrade import LastKnown
from featurekit.online.planned import Pick, PlannedView
from featurekit.online.publish import PlanBody, publish_plans, switch_services, withdraw_services
from featurekit.online.reason import Reason
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import withdraw_refresh
from featurekit.online.retries import Retries
from featurekit.online.served_log import ServedLog
from featurekit.plan import LookupPlan, PlanExpression
from featurekit.status import Status
from featurekit.types import Boolean, Field, Float64, Int64, Schema, String
from tests.online.clients import KINDS, Client, client_of
from tests.online.deployments import Server, emptied, standalone
from tests.online.servers import NAMESPACE, key_space, materialize, offline_batch, plan_field, service_plan, view_plan

AS_OF = 20 * DAY
NOON = AS_OF + 12 * HOUR
SPEND = view_plan(
    [
        plan_field("orders", Int64(), empty=0),
        plan_field("capped", Int64(), default=-1),
        plan_field("name", String(), default="nobody"),
    ],
    name="spend",
)
LOAD = view_plan([plan_field("load", Float64(), default=0.5)], name="load", keys={"shop": String()})
CAPPED = Column(type=Int64(), nullable=False, name="capped", qualifier="spend")
ORDERS = Column(type=Int64(), nullable=True, name="orders", qualifier="spend")
MORE = PlanExpression(name="sum.more", type=Int64(), node=call("add", CAPPED, literal(1, Int64())), default=None)
MANY = PlanExpression(name="sum.many", type=Int64(), node=call("add", ORDERS, literal(1, Int64())), default=9)
IS_ANY = PlanExpression(name="sum.any", type=Boolean(), node=call("gt", ORDERS, literal(0, Int64())), default=None)
PLAN = replace(
    service_plan(SPEND, LOAD),
    request=Schema(()),
    on_demand=(MORE, MANY, IS_ANY),
    outputs=(
        *service_plan(SPEND, LOAD).outputs,
        Field("sum.more", Int64()),
        Field("sum.many", Int64()),
        Field("sum.any", Boolean()),
    ),
)
ONE = {"user_id": 1, "shop": "north"}
THERE = {
    "spend.orders": 3,
    "spend.capped": 4,
    "spend.name": "ann",
    "load.load": 0.25,
    "sum.more": 5,
    "sum.many": 4,
    "sum.any": True,
}
# One try: what a test waits for is what it asks about.
ONCE = Retries(tries=1)
NULL = OnUnavailable(Instead.NULL)
DEFAULT = OnUnavailable(Instead.DEFAULT)
ERROR = OnUnavailable(Instead.ERROR)
HOUR_OLD = OnUnavailable(Instead.LAST_KNOWN, HOUR)


@pytest.fixture(scope="module")
def module_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with standalone(tmp_path_factory.mktemp("store"), "valkey") as server:
        yield server


@pytest.fixture
def server(module_server: Server) -> Iterator[Server]:
    """A server without data, whatever the test before did to it."""
    with emptied(module_server) as server:
        yield server


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Watch:
    """A clock that goes as the others, and can be moved on; seconds."""

    def __init__(self) -> None:
        self.more = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.more


def publish(server: Server, policy: OnUnavailable | None, *, plan: LookupPlan = PLAN) -> None:
    store = RedisStore(server.url)
    body = PlanBody.of(replace(plan, on_unavailable=policy))
    publish_plans(store, NAMESPACE, [body])
    switch_services(store, NAMESPACE, {plan.service: body.pointer})
    store.close()


def fill(server: Server, *, as_of: int = AS_OF, orders: int = 3, users: tuple[int, ...] = (1, 2, 3)) -> None:
    store = RedisStore(server.url)
    rows = [{"user_id": user, "orders": orders, "capped": 4, "name": "ann"} for user in users]
    materialize(store, server.url, SPEND, as_of, offline_batch(SPEND, rows), completed_at=as_of)
    loads: list[dict[str, Any]] = [{"shop": "north", "load": 0.25}, {"shop": "south", "load": None}]
    materialize(store, server.url, LOAD, as_of, offline_batch(LOAD, loads), completed_at=as_of)
    store.close()


def world(server: Server, policy: OnUnavailable | None) -> None:
    publish(server, policy)
    fill(server)


def asking(kind: str, server: Server, **options: Any) -> AbstractContextManager[Client]:
    given = {"retries": ONCE, "breaker": Breaker(failures=1000), "clock": lambda: NOON, **options}
    return client_of(kind, server.url, **given)


def told(found: Any) -> tuple[set[Any], set[Any]]:
    """Return the statuses and reasons that occur."""
    return set(map(Status, found.statuses.ravel())), set(map(Reason, found.reasons.ravel()))


def test_undeclared_a_store_that_does_not_answer_is_an_error(kind: str, server: Server) -> None:
    world(server, None)
    with asking(kind, server) as client:
        assert client.lookup("service", ONE).to_dict() == THERE
        server.kill()
        with pytest.raises(OnlineStoreError, match="can't be reached"):
            client.lookup("service", ONE)
        server.start()  # without its data
        found = client.lookup("service", ONE)
        assert told(found) == ({Status.UNAVAILABLE}, {Reason.STORE_EMPTY, Reason.INPUT_UNAVAILABLE})
        assert found.as_of == {"spend": None, "load": None}
        with pytest.raises(StoreEmptyError, match="has lost service"):
            client.plan("service")
        publish(server, None)
        assert Reason.NO_REFRESH in told(client.lookup("service", ONE))[1]
        fill(server)
        assert client.lookup("service", ONE).to_dict() == THERE


def test_error_raises_also_where_a_single_value_is_unavailable(kind: str, server: Server) -> None:
    world(server, ERROR)
    with asking(kind, server) as client:
        assert client.lookup("service", ONE).to_dict() == THERE
        store = RedisStore(server.url)
        key = key_space(LOAD, AS_OF).row(b"north")
        (row,) = store.read([key])
        assert row is not None
        store.write({key: row[:-1]})
        store.close()
        with pytest.raises(FeaturesUnavailableError, match="1 of 2 rows") as caught:
            client.lookup("service", {"user_id": [1, 2], "shop": ["north", "south"]})
        assert caught.value.where == "load.load"
        assert "BROKEN_ROW" in str(caught.value.why)
        early = FeaturesUnavailableError
        with pytest.raises(early, match="features of service are UNAVAILABLE for 1 of 1 rows"):
            client.lookup("service", ONE, at=AS_OF - DAY)
        server.kill()
        with pytest.raises(OnlineStoreError, match="can't be reached"):
            client.lookup("service", ONE)
        server.start()
        with pytest.raises(StoreEmptyError):
            client.lookup("service", ONE)


@pytest.mark.parametrize("how", ["killed", "hanging", "empty", "breaker"])
def test_null_never_raises_for_the_store(kind: str, server: Server, how: str) -> None:
    world(server, NULL)
    breaker = Breaker(failures=1, open_ms=60_000)
    with asking(kind, server, breaker=breaker if how == "breaker" else Breaker(failures=99)) as client:
        assert client.lookup("service", ONE).to_dict() == THERE
        reason = _break(server, how, client)
        found = client.lookup("service", [ONE, {"user_id": 9, "shop": None}], timeout_ms=_patience_ms(how))
    assert told(found) == ({Status.UNAVAILABLE}, {reason, Reason.INPUT_UNAVAILABLE})
    assert found.to_dict() == [dict.fromkeys(PLAN_NAMES)] * 2
    assert found.as_of == {"spend": None, "load": None}
    assert {name: rows.tolist() for name, rows in found.found.items()} == {"spend": [False] * 2, "load": [False] * 2}


PLAN_NAMES = [output.name for output in PLAN.outputs]


def _patience_ms(how: str) -> float:
    return 150 if how == "hanging" else 10_000


def _break(server: Server, how: str, client: Client) -> Reason:
    match how:
        case "killed":
            server.kill()
            return Reason.STORE_UNREACHABLE
        case "hanging":
            server.pause()
            return Reason.STORE_TIMEOUT
        case "empty":
            server.kill()
            server.start()
            return Reason.STORE_EMPTY
        case _:
            server.kill()
            client.lookup("service", ONE)
            return Reason.BREAKER_OPEN


def test_default_gives_the_defaults_and_computes_from_them(kind: str, server: Server) -> None:
    world(server, DEFAULT)
    with asking(kind, server) as client:
        whole = client.lookup("service", {"user_id": [1], "shop": ["south"]})
        assert whole.to_dict()[0]["load.load"] == 0.5
        assert whole.reasons[0].tolist()[3] == Reason.NULL
        server.kill()
        for count in (1, 100):  # row by row, and by columns
            found = client.lookup("service", {"user_id": list(range(count)), "shop": ["north"] * count})
            assert found.to_dict()[-1] == {
                "spend.orders": None,
                "spend.capped": -1,
                "spend.name": "nobody",
                "load.load": 0.5,
                "sum.more": 0,
                "sum.many": 9,
                "sum.any": None,
            }
            away, filled, unreachable = Status.UNAVAILABLE, Status.DEFAULTED, Reason.STORE_UNREACHABLE
            assert found.statuses[-1].tolist() == [away, filled, filled, filled, Status.PRESENT, filled, away]
            assert found.reasons[-1].tolist() == [
                unreachable,
                unreachable,
                unreachable,
                unreachable,
                Reason.INPUT_DEGRADED,
                Reason.INPUT_UNAVAILABLE,
                Reason.INPUT_UNAVAILABLE,
            ]


def test_default_stands_in_for_one_view_and_one_row_too(kind: str, server: Server) -> None:
    world(server, DEFAULT)
    store = RedisStore(server.url)
    key = key_space(SPEND, AS_OF).row(b"2")
    (row,) = store.read([key])
    assert row is not None
    store.write({key: row[:-1]})
    withdraw_refresh(store, key_space(LOAD, AS_OF))
    store.close()
    with asking(kind, server) as client:
        found = client.lookup("service", {"user_id": [1, 2], "shop": ["north", "north"]})
    assert [row["spend.capped"] for row in found.to_dict()] == [4, -1]
    assert found.reasons[:, 1].tolist() == [Reason.NONE, Reason.BROKEN_ROW]
    assert [row["load.load"] for row in found.to_dict()] == [0.5, 0.5]
    assert found.reasons[:, 3].tolist() == [Reason.NO_REFRESH] * 2
    assert [row["sum.more"] for row in found.to_dict()] == [5, 0]
    assert found.reasons[:, 4].tolist() == [Reason.NONE, Reason.INPUT_DEGRADED]


def test_last_known_answers_with_what_the_store_said_last(kind: str, server: Server) -> None:
    world(server, HOUR_OLD)
    with asking(kind, server, clock=lambda: NOON) as client:
        client.lookup("service", {"user_id": [1, 7, 2], "shop": ["north", "south", None]})
        server.kill()
        found = client.lookup("service", {"user_id": [2, 7, 3], "shop": ["south", "north", None]})
    rows = found.to_dict()
    assert [row["spend.orders"] for row in rows] == [3, 0, None]  # 7 has no row, and that is known too; 3 was not asked
    assert found.statuses[:, 0].tolist() == [Status.PRESENT, Status.PRESENT, Status.UNAVAILABLE]
    assert found.reasons[:, 0].tolist() == [Reason.LAST_KNOWN, Reason.LAST_KNOWN, Reason.STORE_UNREACHABLE]
    assert [row["spend.capped"] for row in rows] == [4, -1, None]
    assert found.statuses[:, 1].tolist() == [Status.PRESENT, Status.DEFAULTED, Status.UNAVAILABLE]
    assert found.reasons[:, 1].tolist() == [Reason.LAST_KNOWN, Reason.LAST_KNOWN, Reason.STORE_UNREACHABLE]
    assert [row["load.load"] for row in rows] == [0.5, 0.25, 0.5]  # a NULL key has no row, whatever the store says
    assert [row["sum.more"] for row in rows] == [5, 0, None]
    assert found.reasons[:, 4].tolist() == [Reason.INPUT_DEGRADED, Reason.INPUT_DEGRADED, Reason.INPUT_UNAVAILABLE]
    assert found.as_of == {"spend": AS_OF, "load": AS_OF}
    assert found.found["spend"].tolist() == [True, False, False]


@pytest.mark.parametrize("how", ["killed", "hanging", "empty", "breaker"])
def test_last_known_holds_however_the_store_fails(kind: str, server: Server, how: str) -> None:
    world(server, HOUR_OLD)
    breaker = Breaker(failures=1, open_ms=60_000)
    with asking(kind, server, breaker=breaker if how == "breaker" else Breaker(failures=99)) as client:
        client.lookup("service", ONE)
        _break(server, how, client)
        found = client.lookup("service", ONE, timeout_ms=_patience_ms(how))
        assert found.to_dict() == THERE
        assert told(found) == ({Status.PRESENT}, {Reason.LAST_KNOWN, Reason.INPUT_DEGRADED})


def test_last_known_ends_at_its_age_and_begins_again_with_the_store(kind: str, server: Server) -> None:
    world(server, HOUR_OLD)
    watch = Watch()
    with asking(kind, server, elapsed=watch) as client:
        client.lookup("service", ONE)
        watch.more += 3000
        client.lookup("service", ONE)  # confirmed again
        server.kill()
        watch.more += 3590
        assert client.lookup("service", ONE).to_dict() == THERE
        watch.more += 20
        assert told(client.lookup("service", ONE))[0] == {Status.UNAVAILABLE}
        server.start()
        world(server, HOUR_OLD)
        assert told(client.lookup("service", ONE)) == ({Status.PRESENT}, {Reason.NONE})


def test_a_jump_of_the_time_of_day_makes_no_old_row_young(kind: str, server: Server) -> None:
    world(server, HOUR_OLD)
    watch, now = Watch(), [NOON]
    with asking(kind, server, elapsed=watch, clock=lambda: now[0]) as client:
        client.lookup("service", ONE)
        server.kill()
        watch.more += 3700
        now[0] = NOON - HOUR
        assert told(client.lookup("service", ONE))[0] == {Status.UNAVAILABLE}


def test_last_known_rows_of_two_refreshes_are_never_mixed(kind: str, server: Server) -> None:
    world(server, HOUR_OLD)
    now = [NOON]
    with asking(kind, server, clock=lambda: now[0]) as client:
        client.lookup("service", [{"user_id": user, "shop": "north"} for user in (1, 2)])
        fill(server, as_of=AS_OF + DAY, orders=30)
        now[0] = NOON + DAY
        client.lookup("service", [{"user_id": 3, "shop": "north"}])
        server.kill()
        found = client.lookup("service", [{"user_id": user, "shop": "north"} for user in (1, 2, 3)])
        assert [row["spend.orders"] for row in found.to_dict()] == [3, 3, None]  # most of what is known
        assert found.as_of == {"spend": AS_OF, "load": AS_OF + DAY}
        found = client.lookup("service", [{"user_id": user, "shop": "north"} for user in (1, 3)])
        assert [row["spend.orders"] for row in found.to_dict()] == [None, 30]  # of as many the newer
        assert found.as_of["spend"] == AS_OF + DAY


def test_last_known_gives_nothing_of_a_refresh_that_was_not_visible_then(kind: str, server: Server) -> None:
    world(server, HOUR_OLD)
    with asking(kind, server) as client:
        client.lookup("service", ONE)
        server.kill()
        assert told(client.lookup("service", ONE, at=AS_OF + HOUR))[0] == {Status.UNAVAILABLE}
        assert client.lookup("service", ONE, at=AS_OF + 2 * HOUR).to_dict() == THERE


def test_last_known_gives_nothing_of_a_refresh_that_was_taken_back(kind: str, server: Server) -> None:
    world(server, HOUR_OLD)
    fill(server, as_of=AS_OF + DAY, orders=30)
    with asking(kind, server, clock=lambda: NOON + DAY) as client:
        for user in (1, 2):
            found = client.lookup("service", {"user_id": user, "shop": "north"})
            assert found.to_dict()["spend.orders"] == 30
        store = RedisStore(server.url)
        withdraw_refresh(store, key_space(SPEND, AS_OF + DAY))
        store.close()
        assert client.lookup("service", ONE).to_dict() == THERE
        server.kill()
        assert client.lookup("service", ONE).to_dict() == THERE
        found = client.lookup("service", {"user_id": 2, "shop": "north"})
        assert found.status("spend.orders") is Status.UNAVAILABLE


def test_last_known_gives_nothing_of_an_entity_that_was_erased(kind: str, server: Server) -> None:
    world(server, HOUR_OLD)
    watch = Watch()
    with asking(kind, server, elapsed=watch) as client:
        client.lookup("service", {"user_id": [1, 2], "shop": ["north", "south"]})
        store = RedisStore(server.url)
        store.delete(key_space(SPEND, AS_OF).row(b"1"))
        store.write({NAMESPACE.erased: b"a token"})
        store.close()
        watch.more += 1.1
        assert client.lookup("service", {"user_id": 2, "shop": "south"}).to_dict()["spend.orders"] == 3
        server.kill()
        assert client.lookup("service", ONE).status("spend.orders") is Status.UNAVAILABLE
        assert client.lookup("service", {"user_id": 2, "shop": "south"}).status("spend.orders") is Status.PRESENT
        server.start()  # without its data, and so without the token: that erased nobody
        watch.more += 1.1
        assert client.lookup("service", {"user_id": 2, "shop": "south"}).status("spend.orders") is Status.PRESENT


def test_a_row_that_was_read_before_an_erasure_is_not_kept_after_it() -> None:
    now = [100.0]
    known = LastKnown(lambda: now[0])
    view = PlannedView(SPEND, NAMESPACE, ["orders"], 0)
    pick = Pick(as_of=AS_OF, restatement=0, visible_from=AS_OF, marker=b"", row_suffix=b"")

    def recalled() -> bool:
        return known.recall(view, [b"1"], at=NOON, max_age=HOUR, otherwise=Reason.STORE_TIMEOUT) is not None

    assert known.is_due()
    known.heard(None)
    known.put_off()
    assert not known.is_due()
    known.remember(view, pick, [b"1"], [b"row"], known.now())
    assert recalled()
    read_s = known.now()
    now[0] += 1
    assert known.is_due()
    known.heard(b"token")  # by another thread, while the row was on its way
    assert not recalled()
    known.remember(view, pick, [b"1"], [b"row"], read_s)
    assert not recalled()
    known.remember(view, pick, [b"1"], [b"row"], known.now())
    known.heard(b"token")
    assert recalled()


def test_last_known_is_bounded_in_bytes(kind: str, server: Server) -> None:
    world(server, HOUR_OLD)
    with asking(kind, server, last_known_bytes=3000) as client:
        for user in range(20):
            client.lookup("service", {"user_id": user, "shop": "north"})
        assert client.client._lookups._last_known._bytes <= 3000
        server.kill()
        found = client.lookup("service", {"user_id": list(range(20)), "shop": ["north"] * 20})
    known = (found.reasons[:, 0] == Reason.LAST_KNOWN).tolist()
    assert known[19]
    assert not known[0]
    assert 3 <= sum(known) <= 8


def test_a_policy_changes_without_a_new_version(kind: str, server: Server) -> None:
    world(server, None)
    with asking(kind, server) as client:
        fingerprint = client.lookup("service", ONE).fingerprint
        publish(server, NULL)
        assert client.lookup("service", ONE).fingerprint == fingerprint
        server.kill()
        assert told(client.lookup("service", ONE))[0] == {Status.UNAVAILABLE}


def test_who_does_not_know_the_service_hears_what_is_true(kind: str, server: Server) -> None:
    with asking(kind, server) as client:
        with pytest.raises(NotRegisteredError, match="holds no service at all") as caught:
            client.lookup("service", ONE)
        assert "lost its data" in str(caught.value.why)
        world(server, NULL)
        store = RedisStore(server.url)
        store.change(NAMESPACE.pointer("service"), lambda _: None)
        with pytest.raises(StoreEmptyError, match="has lost service"):
            client.lookup("service", ONE)
        with pytest.raises(NotRegisteredError, match="'service@7' is not registered") as caught:
            client.lookup("service@7", ONE)
        assert caught.value.why == "version 7 was dropped, or never registered"
        publish(server, NULL)
        (pointer,) = store.read([NAMESPACE.pointer("service")])
        assert pointer is not None
        store.change(NAMESPACE.plan("service", pointer), lambda _: None)
        with pytest.raises(StoreEmptyError, match="lookup plan of service is gone"):
            client.lookup("service", ONE)
        store.close()
        server.kill()
        with pytest.raises(OnlineStoreError, match="can't be reached"):
            client.lookup("service", ONE)


def test_a_service_that_was_withdrawn_is_not_registered_whatever_stands_in(kind: str, server: Server) -> None:
    world(server, HOUR_OLD)
    with asking(kind, server) as client:
        client.lookup("service", ONE)
        store = RedisStore(server.url)
        withdraw_services(store, NAMESPACE, ["service"])
        store.close()
        for _ in range(2):
            with pytest.raises(NotRegisteredError, match="'service' is not registered"):
                client.lookup("service", ONE)


def test_a_pinned_version_is_asked_by_its_number(kind: str, server: Server) -> None:
    world(server, None)
    store = RedisStore(server.url)
    (pointer,) = store.read([NAMESPACE.pointer("service")])
    assert pointer is not None
    store.write({NAMESPACE.pointer("service@3"): pointer})
    store.close()
    with asking(kind, server) as client:
        found = client.lookup("service@3", ONE)
        assert (found.service, found.to_dict()) == ("service", THERE)
        publish(server, None, plan=replace(service_plan(SPEND), fingerprint="e" * 64))
        assert len(client.lookup("service", {"user_id": 1}).names) == 3
        assert client.lookup("service@3", ONE).to_dict() == THERE


def test_a_plan_that_is_not_the_one_its_pointer_names_is_never_used(kind: str, server: Server) -> None:
    world(server, None)
    store = RedisStore(server.url)
    (pointer,) = store.read([NAMESPACE.pointer("service")])
    assert pointer is not None
    key = NAMESPACE.plan("service", pointer)
    (body,) = store.read([key])
    assert body is not None
    for damaged in (body.replace(b'"orders"', b'"others"'), body[:-5], b"", b"\xff"):
        store.write({key: damaged})
        with (
            asking(kind, server) as client,
            pytest.raises(OnlineStoreError, match="not the one that its pointer names"),
        ):
            client.lookup("service", ONE)
    store.close()


def test_a_wrong_key_is_the_askers_fault_also_without_the_store(kind: str, server: Server) -> None:
    world(server, NULL)
    with asking(kind, server) as client:
        client.lookup("service", ONE)
        server.kill()
        with pytest.raises(KeyTypeError):
            client.lookup("service", {"user_id": "one", "shop": "north"})


def test_a_deadline_is_kept_by_a_server_that_hangs(kind: str, server: Server) -> None:
    world(server, None)
    with asking(kind, server, timeout_ms=5000, retries=Retries(attempt_ms=60)) as client:
        client.lookup("service", ONE)
        server.pause()
        begun = time.monotonic()
        with pytest.raises(OnlineStoreTimeoutError):
            client.lookup("service", ONE, timeout_ms=200)
        assert 0.15 < time.monotonic() - begun < 3
        server.resume()
        assert client.lookup("service", ONE).to_dict() == THERE


def test_a_restart_with_its_data_is_passed_over_by_retries(kind: str, tmp_path: Path) -> None:
    with standalone(tmp_path / "s", "valkey", "appendonly yes", "appendfsync always") as server:
        world(server, None)
        patient = Retries(tries=50, pause_ms=40, per_second=100, burst=100)
        with asking(kind, server, timeout_ms=10_000, retries=patient) as client:
            client.lookup("service", ONE)
            server.kill()
            server.spawn()
            assert client.lookup("service", ONE).to_dict() == THERE


def test_an_open_breaker_answers_at_once_and_closes_by_one_trial(kind: str, server: Server) -> None:
    world(server, None)
    watch = Watch()
    breaker = Breaker(failures=2, open_ms=60_000, elapsed=watch)
    with asking(kind, server, breaker=breaker) as client:
        client.lookup("service", ONE)
        server.pause()
        for _ in range(2):
            with pytest.raises(OnlineStoreTimeoutError):
                client.lookup("service", ONE, timeout_ms=100)
        begun = time.monotonic()
        for _ in range(100):
            with pytest.raises(BreakerOpenError):
                client.lookup("service", ONE, timeout_ms=100)
        assert time.monotonic() - begun < 3  # and not a hundred times 100 ms
        server.resume()
        watch.more += 60
        assert client.lookup("service", ONE).to_dict() == THERE
        assert breaker.state == "closed"


def test_both_clients_name_what_is_published(kind: str, server: Server) -> None:
    world(server, None)
    with asking(kind, server) as client:
        assert client.services() == ("service",)
        assert client.plan("service").on_unavailable is None
        publish(server, OnUnavailable(Instead.LAST_KNOWN, 5 * MINUTE))
        assert client.plan("service").on_unavailable == OnUnavailable(Instead.LAST_KNOWN, 5 * MINUTE)


@pytest.mark.parametrize("sample", [1.0, 0.5])
@pytest.mark.parametrize("policy", [NULL, DEFAULT, HOUR_OLD], ids=lambda policy: policy.instead.value)
def test_the_log_says_what_stood_in(
    kind: str, server: Server, tmp_path: Path, policy: OnUnavailable, sample: float
) -> None:
    world(server, policy)
    asked: dict[str, Any] = {}
    with (
        ServedLog(tmp_path, project="shop", environment="test", sample=sample) as log,
        asking(kind, server, log=log) as client,
    ):
        for name, users in (("whole", [1, 2]), ("whole too", [2, 3, 9]), ("without", [2, 3, 8]), ("without too", [1])):
            if name == "without":
                server.kill()
            request = {"user_id": users, "shop": ["north"] * len(users)}
            asked[name] = client.lookup("service", request, request_id=name), users
    rows = [row for file in (tmp_path / "service").glob("*.parquet") for row in pq.read_table(file).to_pylist()]
    everybody = {1, 2, 3, 8, 9}
    assert {row["user_id"] for row in rows} == everybody if sample == 1 else 0 < len(rows) < 9
    for row in rows:
        found, users = asked[row["request_id"]]
        at = users.index(row["user_id"])
        assert {name: row[name] for name in found.names} == found.to_dict()[at]
        assert list(row["__status"].values()) == found.statuses[at].tolist()
        assert list(row["__reason"].values()) == found.reasons[at].tolist()
        as_ofs = {alias: None if as_of is None else from_datetime(as_of) for alias, as_of in row["__as_of"].items()}
        assert as_ofs == found.as_of
    if policy is HOUR_OLD:
        assert asked["without"][0].as_of == {"spend": AS_OF, "load": AS_OF}

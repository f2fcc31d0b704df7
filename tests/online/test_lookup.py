from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal as Exact
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from featurekit.clock import DAY, HOUR
from featurekit.errors import (
    InputError,
    KeyTypeError,
    NewerWireVersionError,
    NotRegisteredError,
    OnlineStoreError,
    TimeError,
)
from featurekit.expr.infer import call, literal
from featurekit.expr.nodes import Column
from featurekit.online.client import FeatureClient
from featurekit.online.publish import PlanBody, publish_plans, switch_services, withdraw_services
from featurekit.online.reason import Reason
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import begin_refresh, drop_space, withdraw_refresh
from featurekit.plan import LookupPlan, PlanExpression
from featurekit.status import Status
from featurekit.types import (
    Binary,
    Boolean,
    Date,
    Decimal,
    Field,
    Float32,
    Float64,
    Int8,
    Int64,
    Schema,
    String,
    Timestamp,
    TimestampNtz,
)
from tests.online.servers import (
    NAMESPACE,
    flush,
    key_space,
    materialize,
    offline_batch,
    plan_field,
    row_sink,
    service_plan,
    view_plan,
)

AS_OF = 20 * DAY
NOON = AS_OF + 12 * HOUR

SPEND = view_plan(
    [
        plan_field("orders", Int64(), empty=0),
        plan_field("mean", Float64()),
        plan_field("last", Float64(), is_latest=True),
        plan_field("capped", Int64(), default=-1),
    ],
    name="spend",
)
LOAD = view_plan([plan_field("load", Float64(), default=0.5)], name="load", keys={"shop": String()})
PLAN = service_plan(SPEND, LOAD)


def spend_rows(*rows: tuple[int, Any, Any, Any, Any], statuses: list[Status] | None = None) -> pa.RecordBatch:
    named = [dict(zip(("user_id", "orders", "mean", "last", "capped"), row, strict=True)) for row in rows]
    return offline_batch(SPEND, named, None if statuses is None else {"last": statuses})


def load_rows(**loads: float) -> pa.RecordBatch:
    return offline_batch(LOAD, [{"shop": shop, "load": load} for shop, load in loads.items()])


def publish(store: RedisStore, *plans: LookupPlan) -> None:
    bodies = [PlanBody.of(plan) for plan in plans]
    publish_plans(store, NAMESPACE, bodies)
    switch_services(store, NAMESPACE, {body.service: body.pointer for body in bodies})


def client_of(url: str, *, at: int = NOON) -> FeatureClient:
    return FeatureClient(url, project="shop", environment="test", clock=lambda: at)


@pytest.fixture
def world(any_url: str, any_store: RedisStore) -> RedisStore:
    """A service over two views, refreshed as of AS_OF."""
    publish(any_store, PLAN)
    batch = spend_rows((1, 3, 2.5, 9.0, 4), (2, 1, None, None, None), statuses=[Status.PRESENT, Status.EXPIRED])
    materialize(any_store, any_url, SPEND, AS_OF, batch)
    materialize(any_store, any_url, LOAD, AS_OF, load_rows(north=0.25))
    return any_store


@pytest.fixture
def client(world: RedisStore, any_url: str) -> Iterator[FeatureClient]:
    with client_of(any_url) as found:
        yield found


def test_one_entity_is_answered_with_its_values(client: FeatureClient) -> None:
    found = client.lookup("service", {"user_id": 1, "shop": "north"})
    assert found.to_dict() == {
        "spend.orders": 3,
        "spend.mean": 2.5,
        "spend.last": 9.0,
        "spend.capped": 4,
        "load.load": 0.25,
    }
    assert found.statuses.tolist() == [[Status.PRESENT] * 5]
    assert found.found == {"spend": True, "load": True}
    assert found.as_of == {"spend": AS_OF, "load": AS_OF}
    assert found.age == {"spend": timedelta(hours=12), "load": timedelta(hours=12)}


def test_the_six_statuses_but_unavailable_are_told_apart(client: FeatureClient) -> None:
    found = client.lookup("service", {"user_id": [2, 404], "shop": ["south", "north"]})
    assert found.to_dict() == [
        {"spend.orders": 1, "spend.mean": None, "spend.last": None, "spend.capped": -1, "load.load": 0.5},
        {"spend.orders": 0, "spend.mean": None, "spend.last": None, "spend.capped": -1, "load.load": 0.25},
    ]
    assert found.statuses.tolist() == [
        [Status.PRESENT, Status.NULL, Status.EXPIRED, Status.DEFAULTED, Status.DEFAULTED],
        [Status.PRESENT, Status.NULL, Status.MISSING, Status.DEFAULTED, Status.PRESENT],
    ]
    assert found.reasons[:, 3].tolist() == [Reason.NULL, Reason.NULL]
    assert found.found["spend"].tolist() == [True, False]
    assert found.found["load"].tolist() == [False, True]
    assert found.status("spend.last").tolist() == [Status.EXPIRED, Status.MISSING]


@pytest.mark.parametrize(
    "entities",
    [
        [{"user_id": 1, "shop": "north"}, {"user_id": 2, "shop": "south"}],
        {"user_id": [1, 2], "shop": ["north", "south"]},
        {"user_id": np.array([1, 2], np.int32), "shop": np.array(["north", "south"])},
        {"user_id": (1, 2), "shop": pa.array(["north", "south"])},
        pa.table({"user_id": [1, 2], "shop": ["north", "south"]}),
        pa.record_batch({"user_id": [1, 2], "shop": ["north", "south"]}),
    ],
)
def test_entities_come_in_any_of_these_shapes(client: FeatureClient, entities: Any) -> None:
    assert client.lookup("service", entities).matrix()[:, 0].tolist() == [3.0, 1.0]


def test_entities_come_as_a_pandas_frame_too(client: FeatureClient) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user_id": [1, 2], "shop": ["north", "south"]})
    assert client.lookup("service", frame).matrix()[:, 0].tolist() == [3.0, 1.0]
    assert client.lookup("service", {name: frame[name] for name in frame}).to_numpy()["spend.orders"].tolist() == [3, 1]


def test_one_value_beside_columns_holds_for_every_row(client: FeatureClient) -> None:
    found = client.lookup("service", {"user_id": [1, 2]}, {"shop": "north"})
    assert found.matrix(names=["load.load"]).tolist() == [[0.25], [0.25]]


def test_no_entities_are_no_rows(client: FeatureClient) -> None:
    shapes: list[Any] = [[], {"user_id": [], "shop": []}]
    for nobody in shapes:
        found = client.lookup("service", nobody)
        assert len(found) == 0
        assert found.to_dict() == []
        assert found.matrix().shape == (0, 5)
        assert found.to_arrow().num_rows == 0
        assert found.statuses.shape == (0, 5)


@pytest.mark.parametrize(
    ("entities", "request_"),
    [
        ([], {"shop": "north"}),
        ([], []),
        ([], {"shop": []}),
        ({"user_id": 1}, []),
        ({"user_id": []}, {"shop": "north"}),
    ],
)
def test_no_entities_are_no_rows_whatever_is_said_beside_them(
    client: FeatureClient, entities: Any, request_: Any
) -> None:
    assert client.lookup("service", entities, request_).to_dict() == []


def test_a_null_join_key_is_an_entity_without_a_row(client: FeatureClient) -> None:
    found = client.lookup("service", {"user_id": [None, 1, 404], "shop": ["north", None, None]})
    assert found.found["spend"].tolist() == [False, True, False]
    assert found.statuses[0].tolist() == [*found.statuses[2].tolist()[:4], Status.PRESENT]
    assert found.matrix()[:, 0].tolist() == [0.0, 3.0, 0.0]
    assert found.matrix()[:, 4].tolist() == [0.25, 0.5, 0.5]


def test_a_lookup_is_one_round_trip_once_the_service_is_known(world: RedisStore, any_url: str) -> None:
    trips: list[int] = []

    class Counting(RedisStore):
        def read(self, keys: Any, *, timeout_s: float | None = None) -> Any:
            trips.append(len(keys))
            return super().read(keys, timeout_s=timeout_s)

    store = Counting(any_url)
    with FeatureClient(project="shop", environment="test", clock=lambda: NOON, store=store) as client:
        client.lookup("service", {"user_id": 1, "shop": "north"})
        trips.clear()
        client.lookup("service", {"user_id": [1, 2, 3], "shop": ["north"] * 3}).to_dict()
        assert trips == [1 + 2 + 2 + 6]


def test_a_refresh_is_served_from_its_instant_on_and_for_all_entities_at_once(
    client: FeatureClient, world: RedisStore, any_url: str
) -> None:
    visible = AS_OF + DAY + 2 * HOUR
    both = {"user_id": [1, 2], "shop": ["north", "north"]}
    space = key_space(SPEND, AS_OF + DAY)
    begin_refresh(world, space, expires_in_s=60)
    list(row_sink(any_url, SPEND, space)(iter([spend_rows((1, 30, 1.0, 1.0, 1))])))
    assert client.lookup("service", both, at=visible).matrix()[:, 0].tolist() == [3.0, 1.0]  # rows, but not complete
    materialize(world, any_url, SPEND, AS_OF + DAY, spend_rows((1, 30, 1.0, 1.0, 1)), completed_at=visible - 1)
    assert client.lookup("service", both, at=visible - 1).matrix()[:, 0].tolist() == [3.0, 1.0]
    moved = client.lookup("service", both, at=visible)
    assert moved.matrix()[:, 0].tolist() == [30.0, 0.0]  # user 2 has no row any more, and is not served the old one
    assert moved.found["spend"].tolist() == [True, False]
    assert moved.as_of == {"spend": AS_OF + DAY, "load": AS_OF}
    assert client.lookup("service", both, at=NOON).matrix()[:, 0].tolist() == [3.0, 1.0]


def test_a_late_refresh_leaves_the_older_one_served_with_its_age(
    client: FeatureClient, world: RedisStore, any_url: str
) -> None:
    materialize(world, any_url, LOAD, AS_OF + DAY, load_rows(north=1.0), completed_at=AS_OF + DAY + 9 * HOUR)
    at = AS_OF + DAY + 5 * HOUR
    late = client.lookup("service", {"user_id": 1, "shop": "north"}, at=at)
    assert late.as_of["load"] == AS_OF
    assert late.age["load"] == timedelta(hours=29)
    assert client.lookup("service", {"user_id": 1, "shop": "north"}, at=at + 4 * HOUR).as_of["load"] == AS_OF + DAY


def test_a_withdrawn_refresh_is_not_served_any_more(client: FeatureClient, world: RedisStore, any_url: str) -> None:
    materialize(world, any_url, LOAD, AS_OF + DAY, load_rows(north=99.0))
    at = AS_OF + 2 * DAY
    one = {"user_id": 1, "shop": "north"}
    assert client.lookup("service", one, at=at).to_dict()["load.load"] == 99.0
    withdraw_refresh(world, key_space(LOAD, AS_OF + DAY))
    assert client.lookup("service", one, at=at).to_dict()["load.load"] == 0.25


def test_a_restatement_replaces_the_refresh_of_the_same_as_of(
    client: FeatureClient, world: RedisStore, any_url: str
) -> None:
    materialize(world, any_url, LOAD, AS_OF, load_rows(north=7.0), completed_at=NOON + HOUR, restatement=1)
    one = {"user_id": 1, "shop": "north"}
    assert client.lookup("service", one).to_dict()["load.load"] == 0.25
    assert client.lookup("service", one, at=NOON + HOUR).to_dict()["load.load"] == 7.0


def test_a_dropped_key_space_is_unavailable_and_never_missing(client: FeatureClient, world: RedisStore) -> None:
    one = {"user_id": 1, "shop": "north"}
    client.lookup("service", one)
    drop_space(world, key_space(SPEND, AS_OF))
    found = client.lookup("service", one)
    assert found.statuses[0].tolist() == [Status.UNAVAILABLE] * 4 + [Status.PRESENT]
    assert found.reasons[0].tolist() == [Reason.KEY_SPACE_DROPPED] * 4 + [Reason.NONE]
    assert found.to_dict()["spend.capped"] is None  # no default: nothing is known of the entity
    assert found.as_of["spend"] is None
    assert found.age["spend"] is None


def test_a_view_that_was_never_refreshed_is_unavailable(client: FeatureClient, world: RedisStore) -> None:
    early = client.lookup("service", {"user_id": 1, "shop": "north"}, at=AS_OF + 2 * HOUR - 1)
    assert set(early.statuses.ravel().tolist()) == {Status.UNAVAILABLE}
    assert set(early.reasons.ravel().tolist()) == {Reason.NO_REFRESH}
    assert early.found == {"spend": False, "load": False}
    assert all(math.isnan(value) for value in early.matrix().ravel())


def test_a_server_that_lost_its_data_is_no_world_without_entities(
    client: FeatureClient, world: RedisStore, any_url: str
) -> None:
    one = {"user_id": 1, "shop": "north"}
    client.lookup("service", one)
    flush(any_url)
    found = client.lookup("service", one)
    assert set(found.statuses.ravel().tolist()) == {Status.UNAVAILABLE}
    assert set(found.reasons.ravel().tolist()) == {Reason.STORE_EMPTY}
    with client_of(any_url) as stranger, pytest.raises(NotRegisteredError, match="holds no service at all"):
        stranger.lookup("service", one)
    publish(world, PLAN)
    found = client.lookup("service", one)
    assert set(found.reasons.ravel().tolist()) == {Reason.NO_REFRESH}


@pytest.mark.parametrize("how", ["stale", "foreign", "broken", "newer"])
def test_a_planted_row_is_told_for_what_it_is(client: FeatureClient, world: RedisStore, how: str) -> None:
    key = key_space(LOAD, AS_OF).row(b"north")
    (row,) = world.read([key])
    assert row is not None
    bad, reason = {
        "stale": (row[:8] + (AS_OF - DAY).to_bytes(8, "little") + row[16:], Reason.STALE_ROW),
        "foreign": (row[:2] + b"\0" * 6 + row[8:], Reason.FOREIGN_ROW),
        "broken": (row[:-3], Reason.BROKEN_ROW),
        "newer": (b"\x07" + row[1:], Reason.NEWER_ROW),
    }[how]
    world.write({key: bad})
    found = client.lookup("service", {"user_id": [1, 1], "shop": ["north", "south"]})
    assert found.statuses[:, 4].tolist() == [Status.UNAVAILABLE, Status.DEFAULTED]
    assert found.reasons[:, 4].tolist() == [reason, Reason.NULL]
    assert found.matrix()[:, 0].tolist() == [3.0, 3.0]


def test_readers_move_to_another_plan_in_one_step(client: FeatureClient, world: RedisStore) -> None:
    one = {"user_id": 1, "shop": "north"}
    assert len(client.lookup("service", one).names) == 5
    smaller = replace(service_plan(SPEND), fingerprint="e" * 64)
    publish_plans(world, NAMESPACE, [PlanBody.of(smaller)])
    assert len(client.lookup("service", one).names) == 5
    switch_services(world, NAMESPACE, {"service": PlanBody.of(smaller).pointer})
    moved = client.lookup("service", {"user_id": 1})
    assert (moved.fingerprint, len(moved.names)) == (smaller.fingerprint, 4)
    switch_services(world, NAMESPACE, {"service": PlanBody.of(PLAN).pointer})
    assert len(client.lookup("service", one).names) == 5


def test_a_service_nobody_registered_is_named_with_what_is_meant(client: FeatureClient, world: RedisStore) -> None:
    with pytest.raises(NotRegisteredError) as caught:
        client.lookup("servise", {"user_id": 1})
    assert caught.value.exit_code == 2
    assert caught.value.try_ == "did you mean service?"
    withdraw_services(world, NAMESPACE, ["service"])
    with pytest.raises(NotRegisteredError, match="not registered"):
        client.lookup("service", {"user_id": 1, "shop": "north"})


def test_a_plan_whose_body_is_gone_is_the_stores_fault(world: RedisStore, any_url: str) -> None:
    switch_services(world, NAMESPACE, {"service": b"d" * 64 + b".01234567"})
    with client_of(any_url) as client, pytest.raises(OnlineStoreError, match="lookup plan of service is gone"):
        client.lookup("service", {"user_id": 1})


def test_a_head_of_a_later_format_is_refused(client: FeatureClient, world: RedisStore) -> None:
    world.write({key_space(LOAD, AS_OF).head: b'{"format":3,"entries":[]}'})
    with pytest.raises(NewerWireVersionError, match="format 3"):
        client.lookup("service", {"user_id": 1, "shop": "north"})


def test_a_store_that_is_away_is_an_error_with_exit_code_3() -> None:
    with client_of("redis://u:secret@127.0.0.1:1") as client, pytest.raises(OnlineStoreError) as caught:
        client.lookup("service", {"user_id": 1})
    assert caught.value.exit_code == 3
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("entities", "request_", "what"),
    [
        ({"user_id": "1", "shop": "north"}, None, "user_id is '1', a string"),
        ({"user_id": 1.0, "shop": "north"}, None, "user_id is 1.0, a float"),
        ({"user_id": True, "shop": "north"}, None, "user_id is True, a bool"),
        ({"user_id": 2**63, "shop": "north"}, None, "user_id is 9223372036854775808"),
        ({"user_id": 1}, None, "shop is missing"),
        ({"user_id": 1, "shop": "north", "shopp": 1}, None, "nothing reads shopp"),
        ({"user_id": 1, "shop": "north"}, {"shop": "north"}, "shop is given twice"),
        ({"user_id": [1, 2], "shop": ["north"]}, None, "shop has 1 values and user_id has 2"),
        ([{"user_id": 1, "shop": "a"}, {"user_id": 1}], None, "entities[0] has shop and entities[1] has not"),
        ([1], None, "entities[0] is a int"),
        ("UA", None, "entities is a str"),
        ({"user_id": [1, 2, 3]}, {"shop": ["a", "b"]}, "3 entities and 2 rows"),
        ([], [{"shop": "a"}], "0 entities and 1 rows"),
        ([{"user_id": 1}], [], "1 entities and 0 rows"),
        ([], {"shp": "a"}, "nothing reads shp"),
        ({"user_id": []}, None, "shop is missing"),
    ],
)
def test_a_request_that_cannot_be_right_is_refused(
    client: FeatureClient, entities: Any, request_: Any, what: str
) -> None:
    with pytest.raises(KeyTypeError) as caught:
        client.lookup("service", entities, request_)
    assert what in caught.value.what
    assert caught.value.exit_code == 2


def test_an_unknown_name_comes_with_the_nearest_known_one(client: FeatureClient) -> None:
    with pytest.raises(KeyTypeError) as caught:
        client.lookup("service", {"user_i": 1, "shop": "north"})
    assert caught.value.try_ == "did you mean user_id?"


def test_the_request_time_can_be_given_as_a_datetime_with_a_zone(client: FeatureClient) -> None:
    one = {"user_id": 1, "shop": "north"}
    assert client.lookup("service", one, at=datetime(1970, 1, 21, 12, tzinfo=UTC)).at == NOON
    with pytest.raises(TimeError, match="no zone"):
        client.lookup("service", one, at=datetime(1970, 1, 21, 12))  # noqa: DTZ001


EVERY_TYPE = view_plan(
    [
        plan_field("boolean", Boolean()),
        plan_field("tinyint", Int8()),
        plan_field("bigint", Int64()),
        plan_field("float", Float32()),
        plan_field("double", Float64()),
        plan_field("money", Decimal(9, 2)),
        plan_field("huge", Decimal(38, 2)),
        plan_field("string", String()),
        plan_field("binary", Binary()),
        plan_field("date", Date()),
        plan_field("timestamp", Timestamp()),
        plan_field("reading", TimestampNtz()),
    ],
    name="all",
)
HELD: list[Any] = [
    True, -1, 2**63 - 1, 0.10000000149011612, math.nan, Exact("-1.50"), Exact("9" * 36 + ".99"), "é", b"\0", 1,
    1_000_001, 1_000_001,
]  # fmt: skip


@pytest.fixture
def typed(url: str, store: RedisStore) -> Iterator[FeatureClient]:
    names = [field.name for field in EVERY_TYPE.fields]
    rows = [{"user_id": 1, **dict(zip(names, HELD, strict=True))}, {"user_id": 2, **dict.fromkeys(names)}]
    publish(store, service_plan(EVERY_TYPE))
    materialize(store, url, EVERY_TYPE, AS_OF, offline_batch(EVERY_TYPE, rows))
    with client_of(url) as client:
        yield client


def test_values_keep_their_types_as_python_values(typed: FeatureClient) -> None:
    one, nothing = typed.lookup("service", {"user_id": [1, 2]}).to_dict()
    assert list(nothing.values()) == [None] * 12
    assert math.isnan(one.pop("all.double"))
    assert list(one.values()) == [
        True, -1, 2**63 - 1, 0.10000000149011612, Exact("-1.50"), Exact("9" * 36 + ".99"), "é", b"\0",
        date(1970, 1, 2), datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, 0, 0, 1, 1),  # noqa: DTZ001
    ]  # fmt: skip
    assert one.keys() == typed.lookup("service", {"user_id": 1}).to_dict().keys() - {"all.double"}


def test_values_keep_their_types_in_numpy(typed: FeatureClient) -> None:
    whole = typed.lookup("service", {"user_id": [1]}).to_numpy()
    assert [str(column.dtype) for column in whole.values()] == [
        "bool", "int8", "int64", "float32", "float64", "object", "object", "object", "object", "datetime64[D]",
        "datetime64[us]", "datetime64[us]",
    ]  # fmt: skip
    assert not any(isinstance(column, np.ma.MaskedArray) for column in whole.values())
    assert whole["all.bigint"][0] == 2**63 - 1
    gaps = typed.lookup("service", {"user_id": [1, 2]}).to_numpy()
    assert all(np.ma.getmaskarray(column).tolist() == [False, True] for column in gaps.values())
    assert gaps["all.bigint"].dtype == np.int64


def test_values_keep_their_types_in_arrow_and_pandas(typed: FeatureClient) -> None:
    table = typed.lookup("service", {"user_id": [2, 1]}).to_arrow()
    assert [str(kind) for kind in table.schema.types] == [
        "bool", "int8", "int64", "float", "double", "decimal128(9, 2)", "decimal128(38, 2)", "string", "binary",
        "date32[day]", "timestamp[us, tz=UTC]", "timestamp[us]",
    ]  # fmt: skip
    table.validate(full=True)
    assert table.to_pylist()[0] == dict.fromkeys(table.column_names)
    assert table["all.bigint"].to_pylist() == [None, 2**63 - 1]
    assert table["all.boolean"].to_pylist() == [None, True]
    assert table["all.money"].to_pylist() == [None, Exact("-1.50")]
    frame = typed.lookup("service", {"user_id": [2, 1]}).to_pandas()
    assert str(frame.dtypes["all.bigint"]) == "int64[pyarrow]"
    assert frame["all.bigint"][1] == 2**63 - 1


def test_a_matrix_holds_numbers_and_refuses_the_rest(typed: FeatureClient) -> None:
    found = typed.lookup("service", {"user_id": [1, 2]})
    with pytest.raises(InputError, match=r"all\.string is a string"):
        found.matrix()
    numbers = ["all.bigint", "all.boolean", "all.money", "all.float"]
    matrix = found.matrix(np.float32, names=numbers)
    assert matrix.dtype == np.float32
    assert matrix[0].tolist() == [float(np.float32(2**63 - 1)), 1.0, -1.5, 0.10000000149011612]
    assert np.isnan(matrix[1]).all()
    with pytest.raises(InputError) as caught:
        found.matrix(names=["all.bigin"])
    assert caught.value.try_ == "did you mean all.bigint?"


def test_the_two_ends_of_a_batch_answer_like_one_entity(typed: FeatureClient) -> None:
    many = typed.lookup("service", {"user_id": [2, 1, 404] * 30}).to_dict()
    for at, user in enumerate([2, 1, 404]):
        one = typed.lookup("service", {"user_id": user}).to_dict()
        assert repr(one) == repr(many[at]) == repr(many[-3 + at])


def on_demand_plan() -> LookupPlan:
    orders = Column(type=Int64(), nullable=True, name="orders", qualifier="spend")
    capped = Column(type=Int64(), nullable=True, name="capped", qualifier="spend")
    price = Column(type=Float64(), nullable=True, name="price")
    total = call("add", orders, capped)
    return LookupPlan(
        service="service",
        fingerprint="c" * 64,
        views=(SPEND,),
        request=Schema((Field("price", Float64()),)),
        on_demand=(
            PlanExpression(name="calc.total", type=total.type, node=total, default=None),
            PlanExpression(name="calc.price", type=Float64(), node=call("add", price, literal(1.0)), default=7.0),
        ),
        # `capped` is no output: it is read for the expression alone.
        outputs=(
            Field("calc.total", total.type),
            Field("spend.mean", Float64()),
            Field("calc.price", Float64()),
            Field("spend.orders", Int64()),
        ),
    )


def test_on_demand_features_are_computed_from_defaulted_features_and_the_request(
    world: RedisStore, any_url: str
) -> None:
    publish(world, on_demand_plan())
    with client_of(any_url) as client:
        found = client.lookup("service", {"user_id": [1, 2, 404]}, {"price": [0.5, None, 3]})
        assert found.names == ("calc.total", "spend.mean", "calc.price", "spend.orders")
        assert [list(row.values()) for row in found.to_dict()] == [
            [7, 2.5, 1.5, 3],
            [0, None, 7.0, 1],
            [-1, None, 4.0, 0],
        ]
        assert found.statuses[:, 2].tolist() == [Status.PRESENT, Status.DEFAULTED, Status.PRESENT]
        assert found.reasons[1, 2] == Reason.NULL
        drop_space(world, key_space(SPEND, AS_OF))
        away = client.lookup("service", {"user_id": 1, "price": 1.0})
        assert away.to_dict() == {"calc.total": None, "spend.mean": None, "calc.price": 2.0, "spend.orders": None}
        assert away.status("calc.total") is Status.UNAVAILABLE
        assert away.reasons[0].tolist()[0] == Reason.INPUT_UNAVAILABLE
        assert away.status("calc.price") is Status.PRESENT


def test_a_view_can_be_used_twice_under_aliases_with_other_keys(url: str, store: RedisStore) -> None:
    home = replace(LOAD, alias="home", keys=(replace(LOAD.keys[0], request="from_shop"),))
    away = replace(LOAD, alias="away", keys=(replace(LOAD.keys[0], request="to_shop"),))
    publish(store, service_plan(home, away))
    materialize(store, url, LOAD, AS_OF, load_rows(a=1.0, b=2.0))
    with client_of(url) as client:
        found = client.lookup("service", {"from_shop": ["a", "b"], "to_shop": ["b", "zz"]})
        assert found.matrix().tolist() == [[1.0, 2.0], [2.0, 0.5]]
        assert client.plan("service").views[1].alias == "away"


@pytest.mark.parametrize("is_narrow_first", [True, False])
def test_a_key_of_two_integer_types_takes_every_value_of_the_wider_one(
    url: str, store: RedisStore, is_narrow_first: bool
) -> None:
    flush(url)
    big = 1 << 40
    narrow = view_plan([plan_field("n", Int64())], name="narrow", keys={"user_id": Int8()})
    wide = view_plan([plan_field("n", Int64())], name="wide")
    plan = service_plan(*((narrow, wide) if is_narrow_first else (wide, narrow)))
    publish(store, plan)
    materialize(store, url, narrow, AS_OF, offline_batch(narrow, [{"user_id": 1, "n": 5}]))
    materialize(store, url, wide, AS_OF, offline_batch(wide, [{"user_id": 1, "n": 6}, {"user_id": big, "n": 7}]))

    with client_of(url) as client:
        found = client.lookup("service", {"user_id": [1, big]})
        with pytest.raises(KeyTypeError, match="it must be a bigint"):
            client.lookup("service", {"user_id": 1 << 63})

    assert [key.type for key in plan.keys] == [Int64()]
    assert [(row["narrow.n"], row["wide.n"]) for row in found.to_dict()] == [(5, 6), (None, 7)]
    assert found.found["narrow"].tolist() == [True, False]


def test_two_views_and_no_shared_keys_keep_their_own_rows_apart(client: FeatureClient) -> None:
    found = client.lookup("service", {"user_id": [2, 1, 1], "shop": ["x", "north", "x"]})
    assert found.matrix()[:, [0, 4]].tolist() == [[1.0, 0.5], [3.0, 0.25], [3.0, 0.5]]

"""Classes of wrong values that feature stores were reported for, by what is right: keys, types, nulls, statuses."""

from __future__ import annotations

import threading
from decimal import Decimal as Exact
from typing import Any

import numpy as np
import pytest

from featurekit.clock import DAY
from featurekit.online.client import FeatureClient
from featurekit.online.redis import RedisStore
from featurekit.plan import PlanField
from featurekit.status import Status
from featurekit.types import DataType, Decimal, Float32, Float64, Int32, Int64, String
from tests.online.servers import NAMESPACE, key_space, materialize, offline_batch, plan_field, service_plan, view_plan
from tests.online.test_lookup import client_of, publish

AS_OF = 20 * DAY


def served(
    url: str,
    store: RedisStore,
    field: PlanField,
    rows: dict[Any, Any],
    asked: list[Any],
    *,
    key: DataType | None = None,
) -> Any:
    """Return the feature of the asked users, from a view that holds `rows`."""
    view = view_plan([field], keys={"user_id": key or Int64()})
    publish(store, service_plan(view))
    batch = offline_batch(view, [{"user_id": user, field.name: value} for user, value in rows.items()])
    materialize(store, url, view, AS_OF, batch)
    with client_of(url, at=AS_OF + DAY) as client:
        return client.lookup("service", {"user_id": asked})


def test_missing_null_and_zero_do_not_look_alike(url: str, store: RedisStore) -> None:
    found = served(url, store, plan_field("x", Int64(), is_latest=True), {1: None, 2: 0}, [1, 2, 3])
    assert found.statuses.ravel().tolist() == [Status.NULL, Status.PRESENT, Status.MISSING]
    assert [row["view.x"] for row in found.to_dict()] == [None, 0, None]


def test_a_null_string_and_an_empty_one_stay_two_things(url: str, store: RedisStore) -> None:
    found = served(url, store, plan_field("s", String()), {1: None, 2: ""}, [1, 2])
    assert [row["view.s"] for row in found.to_dict()] == [None, ""]
    assert found.to_arrow()["view.s"].to_pylist() == [None, ""]


def test_a_missing_count_has_one_typed_default(url: str, store: RedisStore) -> None:
    found = served(url, store, plan_field("n", Int64(), default=0), {}, [9])
    assert found.to_numpy()["view.n"].tolist() == [0]
    assert found.to_numpy()["view.n"].dtype == np.int64
    assert found.statuses.ravel().tolist() == [Status.DEFAULTED]


@pytest.mark.parametrize("asked", [[None], [None, None]])
def test_a_null_key_matches_nobody(url: str, store: RedisStore, asked: list[None]) -> None:
    found = served(url, store, plan_field("x", Int64()), {0: 5, -1: 6}, asked)
    assert not found.found["view"].any()


def test_a_float_stays_a_float32(url: str, store: RedisStore) -> None:
    value = float(np.float32(1.111))
    column = served(url, store, plan_field("x", Float32()), {1: value}, [1]).to_numpy()["view.x"]
    assert column.dtype == np.float32
    assert column.tobytes() == np.float32(1.111).tobytes()


def test_money_is_exact(url: str, store: RedisStore) -> None:
    found = served(url, store, plan_field("x", Decimal(10, 2)), {1: Exact("0.30")}, [1])
    assert repr(found.to_dict()[0]["view.x"]) == "Decimal('0.30')"


@pytest.mark.parametrize("user", [1001, np.int32(1001), np.int64(1001)])
def test_a_key_finds_its_row_whatever_integer_it_comes_as(url: str, store: RedisStore, user: Any) -> None:
    for key in (Int32(), Int64()):
        found = served(url, store, plan_field("x", Int64()), {1001: 7}, [user], key=key)
        assert found.matrix().tolist() == [[7.0]]


@pytest.mark.parametrize("user", [2147483648, 2**63 - 1, -(2**63)])
def test_keys_have_all_64_bits(url: str, store: RedisStore, user: int) -> None:
    found = served(url, store, plan_field("x", Int64()), {user: 2**63 - 1}, [user])
    assert found.to_dict() == [{"view.x": 2**63 - 1}]
    assert found.to_pandas()["view.x"].tolist() == [2**63 - 1]


def test_strings_that_look_alike_are_different_keys(url: str, store: RedisStore) -> None:
    users = ["é", "e\u0301", "E", "e", " e", "e ", "", "a,b", "{a}", "%2C", "0", "00"]
    rows = {user: float(i) for i, user in enumerate(users)}
    found = served(url, store, plan_field("x", Float64()), rows, users, key=String())
    assert found.matrix().ravel().tolist() == [float(i) for i in range(len(users))]


def test_the_same_request_twice_gives_the_same_answer(url: str, store: RedisStore) -> None:
    view = view_plan([plan_field("x", Int64())])
    publish(store, service_plan(view))
    materialize(store, url, view, AS_OF, offline_batch(view, [{"user_id": 1, "x": 5}]))
    with client_of(url, at=AS_OF + DAY) as client:
        assert [client.lookup("service", {"user_id": 1}).to_dict() for _ in range(3)] == [{"view.x": 5}] * 3


def test_no_answer_mixes_two_refreshes_while_they_come_and_go(url: str, store: RedisStore) -> None:
    view = view_plan([plan_field("day", Int64())])
    publish(store, service_plan(view))
    users = list(range(20))

    def refresh(day: int) -> None:
        batch = offline_batch(view, [{"user_id": user, "day": day} for user in users])
        materialize(store, url, view, AS_OF + day * DAY, batch)

    refresh(0)
    done = threading.Event()
    mixed: list[Any] = []
    answers: set[int] = set()

    def look_up() -> None:
        with FeatureClient(
            url, project=NAMESPACE.project, environment="test", clock=lambda: AS_OF + 999 * DAY
        ) as client:
            while not done.is_set():
                found = client.lookup("service", {"user_id": users})
                days = set(found.to_numpy()["view.day"].tolist())
                answers.update(days)
                if days != {(found.as_of["view"] - AS_OF) // DAY if found.as_of["view"] is not None else None}:
                    mixed.append((days, found.as_of, found.reasons.tolist()))

    readers = [threading.Thread(target=look_up) for _ in range(2)]
    for reader in readers:
        reader.start()
    for day in range(1, 40):
        refresh(day)
    done.set()
    for reader in readers:
        reader.join()
    assert mixed == []
    assert len(answers) > 3


def test_a_row_written_under_anothers_key_space_is_not_served(url: str, store: RedisStore) -> None:
    view = view_plan([plan_field("x", Int64())])
    publish(store, service_plan(view))
    materialize(store, url, view, AS_OF - DAY, offline_batch(view, [{"user_id": 1, "x": 1}]))
    materialize(store, url, view, AS_OF, offline_batch(view, [{"user_id": 1, "x": 2}]))
    (old,) = store.read([key_space(view, AS_OF - DAY).row(b"1")])
    assert old is not None
    store.write({key_space(view, AS_OF).row(b"1"): old})
    with client_of(url, at=AS_OF + DAY) as client:
        assert client.lookup("service", {"user_id": 1}).status("view.x") is Status.UNAVAILABLE


def test_a_request_that_lasts_over_midnight_has_one_time(url: str, store: RedisStore) -> None:
    view = view_plan([plan_field("x", Int64())], keys={"user_id": Int64()})
    publish(store, service_plan(view))
    for as_of, value in ((AS_OF, 1), (AS_OF + DAY, 2)):
        materialize(store, url, view, as_of, offline_batch(view, [{"user_id": 1, "x": value}]))
    times = iter((AS_OF + DAY - 1, AS_OF + 2 * DAY))
    with FeatureClient(url, project="shop", environment="test", clock=lambda: next(times)) as client:
        assert client.lookup("service", {"user_id": 1}).to_dict()["view.x"] == 1
        assert client.lookup("service", {"user_id": 1}).to_dict()["view.x"] == 2

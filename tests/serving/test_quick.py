"""Small lookups are answered in the event loop: as a thread answers them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import redis

from featurekit.clock import fixed_clock
from featurekit.online import lookup
from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.breaker import Breaker
from featurekit.online.client import FeatureClient
from featurekit.online.planned import PlannedService
from featurekit.serving.api import Api, Asked
from featurekit.serving.app import create_app
from featurekit.serving.server import HttpServer
from tests.serving.http import served
from tests.serving.world import BIG, NOW, Shop

PRICE = {"price": 5.0}


def quick_client(shop: Shop) -> AsyncFeatureClient:
    return AsyncFeatureClient(shop.url, project="shop", environment="test", clock=fixed_clock(NOW))


@pytest.fixture
def both(shop: Shop) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    """A server that answers small lookups in its event loop, and one that hands all to threads."""
    quick = create_app(shop.client, shop.store, quick=quick_client(shop))
    with served(HttpServer(quick)) as one, served(HttpServer(create_app(shop.client, shop.store))) as other:
        yield one, other


def test_the_event_loop_answers_as_a_thread_does(
    both: tuple[httpx.Client, httpx.Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_loop: list[bool] = []
    at_once = Api.lookup_at_once

    async def noted(api: Api, service: str, asked: Asked) -> bytes | None:
        found = await at_once(api, service, asked)
        in_loop.append(found is not None)
        return found

    questions: list[tuple[str, object, bool]] = [
        ("score", {"entities": {"user_id": 1}, "request": PRICE}, True),
        ("score", {"entities": [{"user_id": 2}, {"user_id": 99}], "request": PRICE}, True),
        ("score", {"entities": [], "request": PRICE}, True),
        ("spend", {"entities": {"user_id": BIG}, "at": "2013-11-15T01:00Z", "request_id": "a"}, True),
        ("spend", {"entities": {"user_id": 4}}, True),
        ("spend", {"entities": [{"user_id": 1}] * 170}, False),  # 510 values
        ("spend", {"entities": {"user_id": "1"}}, False),
        ("spend", {"entities": {"user_id": 1}, "at": "yesterday"}, False),
        ("spend", {"entities": {"user": 1}}, False),
        ("nothing", {"entities": {"user_id": 1}}, False),
    ]
    for service in ("score", "spend"):  # a service's first lookup is a thread's
        both[0].post(f"/v1/lookup/{service}", json={"entities": {"user_id": 1}})
    monkeypatch.setattr(Api, "lookup_at_once", noted)

    for service, question, is_quick in questions:
        in_loop.clear()
        one, other = (http.post(f"/v1/lookup/{service}", json=question) for http in both)
        assert (one.status_code, one.json()) == (other.status_code, other.json()), question
        assert any(in_loop) == is_quick, question


def test_a_plan_is_compiled_in_a_thread(
    both: tuple[httpx.Client, httpx.Client], shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    by: list[bool] = []

    def planned(*given: Any, **named: Any) -> PlannedService:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            by.append(True)
        else:
            by.append(False)
        return PlannedService(*given, **named)

    monkeypatch.setattr(lookup, "PlannedService", planned)
    question = {"entities": {"user_id": 1}, "request": PRICE}
    for changes in ((), (("price / spend.amount_7d", "price + spend.amount_7d"),)):
        shop.register(*changes)
        answers = [both[0].post("/v1/lookup/score", json=question) for _ in range(3)]
        assert {answer.status_code for answer in answers} == {200}

    assert by == [True] * 3  # the first for both clients, the second for the one in the event loop


def test_types_that_changed_are_read_anew(both: tuple[httpx.Client, httpx.Client], shop: Shop) -> None:
    question = {"entities": {"user_id": 1}, "request": {"price": "2013-11-15T00:00:00Z"}}
    before = [http.post("/v1/lookup/score", json=question).status_code for http in both for _ in range(2)]
    shop.register(
        ("request: {price: double}", "request: {price: timestamp}"), ("price / spend.amount_7d", "hour(price)")
    )
    after = [
        http.post("/v1/lookup/score", json=question).json()["values"]["basket.ratio"] for http in both for _ in "ab"
    ]

    assert (before, after) == ([400] * 4, [0] * 4)


def test_types_that_what_is_asked_could_not_have_been_of_are_read_anew(
    both: tuple[httpx.Client, httpx.Client], shop: Shop
) -> None:
    def ask(price: object) -> list[object]:
        question = {"entities": {"user_id": 1}, "request": {"price": price}}
        answers = [http.post("/v1/lookup/score", json=question) for http in both for _ in range(2)]
        return [answer.json()["values"]["basket.ratio"] if answer.is_success else answer.json() for answer in answers]

    found = []
    for kind, expression, price in (
        ("timestamp", "hour(price)", "2013-11-15T07:00:00Z"),
        ("string", "length(price)", "abc"),
        ("array<double>", "size(price)", [1.0, 2.0]),
    ):
        shop.register(
            ("request: {price: double}", f"request: {{price: {kind}}}"), ("price / spend.amount_7d", expression)
        )
        found.append(ask(price))

    assert found == [[7] * 4, [3] * 4, [2] * 4]


def test_a_wrong_question_is_counted_once(shop: Shop) -> None:
    quick = quick_client(shop)
    with served(HttpServer(create_app(shop.client, shop.store, quick=quick))) as http:
        http.post("/v1/lookup/spend", json={"entities": {"user_id": 1}})
        answer = http.post("/v1/lookup/spend", json={"entities": {"user_id": "1"}})

    assert (answer.status_code, answer.json()["error"]) == (400, "KeyTypeError")
    assert [client.counted().services["spend"].failed.total() for client in (quick, shop.client)] == [1, 0]


def test_a_deadline_that_passes_is_504_in_the_event_loop_and_in_threads(shop: Shop) -> None:
    told = {"featurekit-timeout-ms": "150"}
    questions = [{"entities": {"user_id": 1}}, {"entities": [{"user_id": 1}] * 200}]
    with served(HttpServer(create_app(shop.client, shop.store, quick=quick_client(shop)))) as http:
        for question in questions:
            assert http.post("/v1/lookup/spend", json=question, headers=told).status_code == 200
        with redis.Redis.from_url(shop.url) as store:
            store.client_pause(1500)
            answers = [http.post("/v1/lookup/spend", json=question, headers=told) for question in questions]

    for answer in answers:
        assert (answer.status_code, answer.json()["error"]) == (504, "OnlineStoreTimeoutError")
        assert answer.elapsed.total_seconds() < 1.4


def test_it_is_not_ready_while_the_breaker_is_open_and_ready_once_a_read_may_be_tried(shop: Shop) -> None:
    now = [0.0]
    breaker = Breaker(failures=1, open_ms=1000, elapsed=lambda: now[0])
    client = FeatureClient(project="shop", environment="test", store=shop.store, breaker=breaker)
    with served(HttpServer(create_app(client, shop.store))) as http:
        ready = [http.get("/health/ready")]
        breaker.failed(breaker.admit())
        ready.append(http.get("/health/ready"))
        now[0] = 1.5
        ready.append(http.get("/health/ready"))

    assert [answer.status_code for answer in ready] == [200, 503, 200]
    assert ready[1].json()["error"] == "BreakerOpenError"

"""The server, asked over real HTTP: a real port, a real store, a real model."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest
import redis

from featurekit.errors import SettingsError
from featurekit.online.client import FeatureClient
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.redis import RedisStore
from featurekit.online.served_log import ServedLog
from featurekit.serving.app import create_app
from featurekit.serving.model import ModelClient
from featurekit.serving.register import register_model
from featurekit.serving.server import HttpServer, listen
from featurekit.types import DataType, Int8, Int64
from tests.online.servers import NAMESPACE, service_plan, view_plan
from tests.serving.http import served
from tests.serving.onnx_models import echo
from tests.serving.world import BIG, NOW, ROWS, Shop

PRICE = {"price": 5.0}
SERVE_SLOWLY = """
import sys, time
from featurekit.online.client import FeatureClient
from featurekit.online.redis import RedisStore
from featurekit.serving.app import create_app
from featurekit.serving.server import HttpServer

class Slow(RedisStore):
    def read(self, keys, *, timeout_s=None):
        time.sleep(0.3)
        return super().read(keys, timeout_s=timeout_s)

store = Slow(sys.argv[1])
client = FeatureClient(project="shop", environment="test", store=store)
server = HttpServer(create_app(client, store))
print(server.url, flush=True)
server.run()
print("stopped", flush=True)
"""


@pytest.fixture
def http(shop: Shop) -> Iterator[httpx.Client]:
    """The shop over HTTP, with a model `echo` that answers what it sees of spend.orders_7d and basket.ratio."""
    columns = ["spend.orders_7d", "basket.ratio"]
    onnx = echo(shop.folder / "echo.onnx", len(columns))
    register_model(shop.registry, name="echo", onnx=onnx, service="score", now=NOW, columns=columns)
    app = create_app(shop.client, shop.store, ModelClient(shop.client, shop.registry), max_body_bytes=10_000)
    with served(HttpServer(app)) as client:
        yield client


def post(http: httpx.Client, path: str, body: object) -> Any:
    """Return the answer's JSON, after checking that it is one."""
    answer = http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


def refusal(http: httpx.Client, path: str, body: object, *, status: int) -> dict[str, str]:
    answer = http.post(path, content=body) if isinstance(body, bytes) else http.post(path, json=body)
    assert answer.status_code == status, answer.text
    told: dict[str, str] = answer.json()
    assert told.keys() == {"error", "what", "where", "why", "try"}
    assert told["what"]
    return told


def test_a_lookup_answers_with_values_statuses_and_as_of(http: httpx.Client) -> None:
    assert post(http, "/v1/lookup/score", {"entities": {"user_id": 1}, "request": PRICE}) == {
        "service": "score",
        "at": "2013-11-15T03:00Z",
        "as_of": {"spend": "2013-11-15T00:00Z"},
        "values": {
            "spend.amount_7d": 10.0,
            "spend.orders_7d": 2,
            "spend.last_items": 3,
            "basket.ratio": 0.5,
        },
        "statuses": {
            "spend.amount_7d": "PRESENT",
            "spend.orders_7d": "PRESENT",
            "spend.last_items": "PRESENT",
            "basket.ratio": "PRESENT",
        },
        "reasons": {},
    }


def test_many_entities_are_answered_in_their_order(http: httpx.Client) -> None:
    body = {"entities": [{"user_id": 99}, {"user_id": 1}], "request": [{"price": 1.0}, {"price": 2.0}]}

    answer = post(http, "/v1/lookup/score", body)

    assert [row["spend.last_items"] for row in answer["values"]] == [None, 3]
    assert [row["basket.ratio"] for row in answer["values"]] == [None, 0.2]
    assert [row["spend.last_items"] for row in answer["statuses"]] == ["MISSING", "PRESENT"]


def test_a_default_is_told_with_what_it_stands_for(http: httpx.Client, shop: Shop) -> None:
    shop.materialize([{"user_id": 1, "amount_7d": 1.0, "orders_7d": None, "last_items": 1}])

    answer = post(http, "/v1/lookup/score", {"entities": {"user_id": 1}, "request": PRICE})

    assert answer["values"]["spend.orders_7d"] == 0
    assert answer["statuses"]["spend.orders_7d"] == "DEFAULTED"
    assert answer["reasons"] == {"spend.orders_7d": "NULL"}


def test_whole_numbers_keep_all_their_digits_in_and_out(http: httpx.Client) -> None:
    answer = http.post("/v1/lookup/spend", content=f'{{"entities": [{{"user_id": {BIG}}}, {{"user_id": 2}}]}}')

    rows = answer.json()["values"]
    assert rows[0]["spend.last_items"] == 5  # another key than 2^53, where a double would have ended
    assert f'"spend.orders_7d":{BIG}' in answer.text


@pytest.mark.parametrize("types", [(Int8(), Int64()), (Int64(), Int8())])
def test_a_key_of_two_integer_types_is_read_as_the_wider(shop: Shop, types: tuple[DataType, DataType]) -> None:
    views = [view_plan([], name=f"v{at}", keys={"k": kind}) for at, kind in enumerate(types)]
    plan = service_plan(*views, name="both")
    publish_plans(shop.store, NAMESPACE, [PlanBody.of(plan)])
    switch_services(shop.store, NAMESPACE, {"both": PlanBody.of(plan).pointer})

    with served(HttpServer(create_app(shop.client, shop.store))) as http:
        post(http, "/v1/lookup/both", {"entities": {"k": BIG}})
        told = refusal(http, "/v1/lookup/both", {"entities": {"k": 1 << 63}}, status=400)

    assert "it must be a bigint" in told["what"]


def test_a_value_that_json_has_no_number_for_is_a_string_and_not_null(http: httpx.Client) -> None:
    answer = http.post("/v1/lookup/spend", json={"entities": {"user_id": 4}})

    assert answer.json()["values"]["spend.amount_7d"] == "Infinity"


def test_such_strings_are_read_as_numbers(http: httpx.Client) -> None:
    answer = post(http, "/v1/lookup/score", {"entities": {"user_id": 1}, "request": {"price": "-Infinity"}})

    assert answer["values"]["basket.ratio"] == "-Infinity"


def test_a_time_is_asked_about(http: httpx.Client) -> None:
    body = {"entities": {"user_id": 1}, "request": PRICE, "at": "2013-11-15T01:59:59Z"}

    answer = post(http, "/v1/lookup/score", body)

    assert answer["at"] == "2013-11-15T01:59:59Z"
    assert answer["as_of"] == {"spend": None}
    assert set(answer["statuses"].values()) == {"UNAVAILABLE"}
    assert set(answer["reasons"].values()) == {"NO_REFRESH", "INPUT_UNAVAILABLE"}


def test_a_prediction_answers_with_statuses_as_of_version_and_provider(http: httpx.Client) -> None:
    answer = post(http, "/v1/predict/echo", {"entities": [{"user_id": 1}, {"user_id": 99}], "request": PRICE})

    assert answer["predictions"] == [[2.0, 0.5], [0.0, "NaN"]]
    assert (answer["model"], answer["version"], answer["provider"]) == ("echo", 1, "CPUExecutionProvider")
    assert answer["as_of"] == {"spend": "2013-11-15T00:00Z"}
    assert [row["basket.ratio"] for row in answer["statuses"]] == ["PRESENT", "NULL"]


def test_a_type_that_changed_under_the_server_is_read_anew(http: httpx.Client, shop: Shop) -> None:
    body = {"entities": {"user_id": 1}, "request": {"price": "2013-11-15T00:00:00Z"}}
    assert refusal(http, "/v1/lookup/score", body, status=400)["error"] == "KeyTypeError"
    shop.register(
        ("request: {price: double}", "request: {price: timestamp}"), ("price / spend.amount_7d", "hour(price)")
    )

    answer = post(http, "/v1/lookup/score", body)

    assert answer["values"]["basket.ratio"] == 0


def test_a_request_value_may_have_parts_where_its_type_has(http: httpx.Client, shop: Shop) -> None:
    shop.register(
        (
            "request: {price: double}",
            "request: {prices: array<double>, counts: 'map<string,int>', at: 'struct<a:int>'}",
        ),
        ("ratio: {sql: price / spend.amount_7d}", "ratio: {sql: \"map(prices[1], array(counts['x'], at.a))\"}"),
    )
    shop.materialize()
    one = {"prices": [1.5, "NaN"], "counts": {"x": 2}, "at": {"a": 3}}

    single = post(http, "/v1/lookup/score", {"entities": {"user_id": 1}, "request": one})
    many = post(http, "/v1/lookup/score", {"entities": [{"user_id": 1}, {"user_id": 2}], "request": one})
    wrong = refusal(http, "/v1/lookup/score", {"entities": {"user_id": 1}, "request": {**one, "at": [3]}}, status=400)

    assert single["values"]["basket.ratio"] == [["NaN", [2, 3]]]
    assert [row["basket.ratio"] for row in many["values"]] == [[["NaN", [2, 3]]]] * 2
    assert "must be a struct<a:int>" in wrong["what"]


def test_a_question_that_can_not_be_answered_says_why(http: httpx.Client) -> None:
    why = {
        b"": "the request's body can't be read",
        b"{": "the request's body can't be read",
        b"[]": "the request's body can't be read",
        b"{}": "the request's body can't be read",
        b"\xff": "the request's body can't be read",
        b"[" * 5000: "the request's body can't be read",
        b'{"entities": {"user_id": NaN}}': "the request's body can't be read",
        b'{"entities": {"user_id": 1}, "entity": 1}': "the request's body can't be read",
        b'{"entities": 1}': "the request's body can't be read",
        b'{"entities": {"user_id": [1, 2]}}': "user_id is an array",
        b'{"entities": {"user_id": {}}}': "user_id is an object",
        b'{"entities": {"user_id": "1"}}': "user_id is '1', a string; it must be a bigint",
        b'{"entities": {"user_id": 1.0}}': "user_id is 1.0, a float; it must be a bigint",
        b'{"entities": {"user_id": 9223372036854775808}}': "user_id is 9223372036854775808, an int; it must be"
        " a bigint",
        b'{"entities": {"user": 1}}': "nothing reads user",
        b'{"entities": {"user_id": 1}, "at": "yesterday"}': "'yesterday' is not a time",
        b'{"entities": {"user_id": 1}, "at": "0001-01-01T00:00+14:00"}': "the time is outside the calendar",
        b'{"entities": {"user_id": 1}, "at": "2013-11-15T03:00"}': "'2013-11-15T03:00' has no zone",
    }

    answers = {body: http.post("/v1/lookup/spend", content=body) for body in why}

    assert {body: answer.json()["what"] for body, answer in answers.items()} == why
    assert {answer.status_code for answer in answers.values()} == {400}
    assert {answer.headers["content-type"] for answer in answers.values()} == {"application/json"}


def test_a_service_or_model_nobody_registered_is_not_found(http: httpx.Client) -> None:
    service = refusal(http, "/v1/lookup/scor", {"entities": {"user_id": 1}}, status=404)
    model = refusal(http, "/v1/predict/delay", {"entities": {"user_id": 1}}, status=404)

    assert (service["error"], service["what"]) == ("NotRegisteredError", "service 'scor' is not registered")
    assert (model["error"], model["what"]) == ("NotRegisteredError", "there is no model 'delay'")


def test_a_path_nobody_knows_lists_those_there_are(http: httpx.Client) -> None:
    told = refusal(http, "/v2/lookup/score", {}, status=404)

    assert told["where"] == "/v2/lookup/score"
    assert "/v1/lookup/SERVICE" in told["try"]


def test_a_method_that_is_not_allowed_says_which_is(http: httpx.Client) -> None:
    answer = http.get("/v1/lookup/score")

    assert (answer.status_code, answer.json()["try"]) == (405, "another method: POST")


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_that_is_too_large_is_refused_before_it_is_read(http: httpx.Client, is_chunked: bool) -> None:
    content = b" " * 10_001

    answer = http.post("/v1/lookup/score", content=iter([content]) if is_chunked else content)

    assert answer.status_code == 413
    assert answer.json()["what"] == "the request's body is larger than 10000 bytes"
    assert answer.headers["connection"] == "close"
    assert http.get("/health/live").status_code == 200


@pytest.mark.parametrize("path", ["/v1/lookup/score", "/v1/predict/echo"])
def test_an_answer_that_would_be_too_large_is_refused_and_says_how_much_is_not(shop: Shop, path: str) -> None:
    onnx = echo(shop.folder / "echo.onnx", 1)
    register_model(shop.registry, name="echo", onnx=onnx, service="score", now=NOW, columns=["spend.orders_7d"])
    app = create_app(shop.client, shop.store, ModelClient(shop.client, shop.registry), max_values=11)  # 2 × 4 outputs

    with served(HttpServer(app)) as http:
        users = refusal(http, path, {"entities": [{"user_id": 1}] * 3, "request": PRICE}, status=413)
        prices = refusal(http, path, {"entities": {"user_id": 1}, "request": [PRICE] * 3}, status=413)
        post(http, path, {"entities": [{"user_id": 1}] * 2, "request": PRICE})

    assert users["error"] == "RequestTooLargeError"
    assert (users["where"], prices["where"]) == ("entities", "request")
    assert users["try"] == "ask in parts of at most 2 rows"


def test_a_model_is_answered_by_the_version_it_was_registered_for(http: httpx.Client, shop: Shop) -> None:
    body = {"entities": {"user_id": 1}, "request": PRICE}
    before = post(http, "/v1/predict/echo", body)
    shop.register(("sum(amount), window: 7d", "sum(amount), window: 8d"))
    shop.materialize([{"user_id": 1, "amount_7d": 0.0, "orders_7d": 77, "last_items": 0}])

    assert post(http, "/v1/predict/echo", body) == before
    assert post(http, "/v1/lookup/score@1", body)["values"]["spend.orders_7d"] == 2
    assert post(http, "/v1/lookup/score", body)["values"]["spend.orders_7d"] == 77


def test_a_prediction_without_its_features_is_none(http: httpx.Client) -> None:
    body = {"entities": {"user_id": 1}, "request": PRICE, "at": "2013-11-15T01:59:59Z"}

    told = refusal(http, "/v1/predict/echo", body, status=503)

    assert (told["error"], told["where"]) == ("FeaturesUnavailableError", "spend.orders_7d, basket.ratio")


def test_a_prediction_keeps_to_the_callers_deadline(http: httpx.Client, shop: Shop) -> None:
    body = {"entities": {"user_id": 1}, "request": PRICE}
    told = {"featurekit-timeout-ms": "150"}
    assert http.post("/v1/predict/echo", json=body, headers=told).status_code == 200
    with redis.Redis.from_url(shop.url) as store:
        store.client_pause(1500)
        answer = http.post("/v1/predict/echo", json=body, headers=told)

    assert (answer.status_code, answer.json()["error"]) == (504, "OnlineStoreTimeoutError")
    assert answer.elapsed.total_seconds() < 1.4


def test_a_model_that_moved_to_another_service_is_asked_in_that_ones_types(http: httpx.Client, shop: Shop) -> None:
    body = {"entities": {"user_id": 1}, "request": {"asked": "2013-11-15T07:00:00Z"}}
    refusal(http, "/v1/predict/echo", body, status=400)
    shop.register(
        (
            "on_demand_feature_views:\n",
            "on_demand_feature_views:\n  clock: {request: {asked: timestamp}, features: {hour: {sql: hour(asked)}}}\n",
        ),
        ("feature_services:\n", "feature_services:\n  timed: {features: [spend, clock]}\n"),
    )
    onnx = echo(shop.folder / "clock.onnx", 1)
    register_model(shop.registry, name="echo", onnx=onnx, service="timed", now=NOW, columns=["clock.hour"])

    answer = post(http, "/v1/predict/echo", body)

    assert (answer["service"], answer["version"], answer["predictions"]) == ("timed", 2, 7.0)


def test_health_tells_a_live_process_from_a_store_that_answers(http: httpx.Client) -> None:
    assert http.get("/health/live").json() == {"status": "live"}
    assert http.get("/health/ready").json() == {"status": "ready"}


def test_a_store_that_is_away_is_told_without_its_password(shop: Shop) -> None:
    nowhere = RedisStore("redis://shop:hunter2@127.0.0.1:1/0", timeout_ms=100)
    client = FeatureClient(project="shop", environment="test", store=nowhere)

    with served(HttpServer(create_app(client, nowhere))) as http:
        assert http.get("/health/live").status_code == 200
        answers = [
            http.get("/health/ready"),
            http.post("/v1/lookup/score", json={"entities": {"user_id": 1}, "request": PRICE}),
        ]

    for answer in answers:
        assert (answer.status_code, answer.json()["error"]) == (503, "OnlineStoreError")
        assert "hunter2" not in answer.text


def test_a_server_of_lookups_alone_has_no_models(shop: Shop) -> None:
    with served(HttpServer(create_app(shop.client, shop.store))) as http:
        answer = http.post("/v1/predict/echo", json={"entities": {"user_id": 1}})

    assert (answer.status_code, answer.json()["why"]) == (404, "this server serves lookups alone")


class BrokenStore(RedisStore):
    def read(self, keys: object, *, timeout_s: float | None = None) -> list[bytes | None]:  # noqa: ARG002
        raise ZeroDivisionError("a secret value")


def test_a_bug_is_500_and_says_nothing_of_what_it_saw(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    broken = BrokenStore(shop.url)
    client = FeatureClient(project="shop", environment="test", store=broken)

    with served(HttpServer(create_app(client, broken))) as http:
        told = refusal(http, "/v1/lookup/score", {"entities": {"user_id": 1}}, status=500)
        assert http.get("/health/live").status_code == 200

    assert told["error"] == "ZeroDivisionError"
    assert "secret" not in json.dumps(told)
    assert "a secret value" in caplog.text  # the log has it all


def test_requests_at_once_get_their_own_answers(http: httpx.Client) -> None:
    def ask(number: int) -> object:
        row = ROWS[number % 3]
        body = {"entities": {"user_id": row["user_id"]}}
        return http.post("/v1/lookup/spend", json=body).json()["values"]["spend.last_items"] == row["last_items"]

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(200)))


def test_a_port_that_is_taken_is_a_mistake_in_the_settings(shop: Shop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SettingsError) as caught:
        listen(port=taken.getsockname()[1])

    assert caught.value.why == "Address already in use"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_requests_in_flight_end(shop: Shop, number: signal.Signals) -> None:
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE_SLOWLY, shop.url],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    body = {"entities": {"user_id": 1}, "at": "2013-11-15T03:00Z"}

    with ThreadPoolExecutor(1) as pool, httpx.Client(timeout=30) as client:
        _until(lambda: client.get(f"{url}/health/live").status_code == 200)
        answer = pool.submit(httpx.post, f"{url}/v1/lookup/spend", json=body, timeout=30)
        time.sleep(0.2)
        os.kill(process.pid, number)
        values = answer.result().json()["values"]

    output, errors = process.communicate(timeout=30)
    assert values["spend.last_items"] == 3
    assert (process.returncode, output, errors) == (0, "stopped\n", "")


def _until(holds: Callable[[], bool]) -> None:
    for _ in range(500):
        with contextlib.suppress(httpx.TransportError):
            if holds():
                return
        time.sleep(0.02)
    raise AssertionError("it never held")


def test_what_is_served_over_http_is_logged_with_its_request_id_and_model(shop: Shop, tmp_path: Path) -> None:
    columns = ["spend.orders_7d", "basket.ratio"]
    onnx = echo(shop.folder / "echo.onnx", len(columns))
    register_model(shop.registry, name="echo", onnx=onnx, service="score", now=NOW, columns=columns)
    with ServedLog(tmp_path / "served", project="shop", environment="test") as log:
        client = FeatureClient(project="shop", environment="test", store=shop.store, clock=lambda: NOW, log=log)
        app = create_app(client, shop.store, ModelClient(client, shop.registry))
        with served(HttpServer(app)) as http:
            question = {"entities": {"user_id": 1}, "request": PRICE}
            looked_up = post(http, "/v1/lookup/score", question)
            predicted = post(http, "/v1/predict/echo", {**question, "request_id": "r2"})
    rows = [row for file in (tmp_path / "served/score").iterdir() for row in pq.read_table(file).to_pylist()]
    assert predicted["request_id"] == "r2"
    assert {(row["request_id"], row["model"], row["model_version"]) for row in rows} == {
        (looked_up["request_id"], None, None),
        ("r2", "echo", 1),
    }

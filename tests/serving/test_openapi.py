"""The OpenAPI page: valid, and true of what is asked and answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator, ValidationError
from openapi_spec_validator import validate

from featurekit.serving.app import create_app
from featurekit.serving.auth import parse_api_keys
from featurekit.serving.docs_page import PAGE, POLICY
from featurekit.serving.model import ModelClient
from featurekit.serving.server import HttpServer
from tests.serving.http import served
from tests.serving.world import BIG, Shop

PRICE = {"price": 5.0}


@pytest.fixture
def http(shop: Shop) -> Iterator[httpx.Client]:
    with served(HttpServer(create_app(shop.client, shop.store, ModelClient(shop.client, shop.registry)))) as client:
        yield client


def page(http: httpx.Client, **headers: str) -> Any:
    answer = http.get("/openapi.json", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def check(document: Any, name: str, value: object) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    Draft202012Validator(schema).validate(value)


def test_the_page_is_valid_and_lists_what_is_registered(http: httpx.Client) -> None:
    document = page(http)

    validate(document)
    assert set(document["paths"]) == {
        "/health/live",
        "/health/ready",
        "/v1/lookup/score",
        "/v1/lookup/spend",
        "/v1/predict/{model}",
    }
    assert "security" not in document["paths"]["/v1/lookup/score"]["post"]


@pytest.mark.parametrize(
    "question",
    [
        {"entities": {"user_id": 1}, "request": PRICE},
        {"entities": {"user_id": 1, "price": "Infinity"}, "at": None},
        {"entities": [{"user_id": 1}, {"user_id": 99}], "request": PRICE, "request_id": "a"},
        {"entities": {"user_id": BIG}, "request": [{"price": None}, {"price": "NaN"}]},
        {"entities": [], "request": PRICE, "at": "2013-11-15T01:00Z"},
    ],
)
def test_questions_and_answers_are_what_the_page_says(http: httpx.Client, question: dict[str, Any]) -> None:
    document = page(http)
    answer = http.post("/v1/lookup/score", json=question)

    assert answer.status_code == 200, answer.text
    check(document, "score.Question", question)
    check(document, "score.Answer", answer.json())


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"entities": {"user_id": "1"}},
        {"entities": {"user_id": 1 << 63}},
        {"entities": {"user_id": 1}, "request": {"prices": 1.0}},
        {"entities": {"user_id": 1}, "request": {"price": "5"}},
        {"entities": {"user_id": 1}, "requests": {}},
    ],
)
def test_what_the_page_forbids_is_refused(http: httpx.Client, question: dict[str, Any]) -> None:
    document = page(http)
    answer = http.post("/v1/lookup/score", json=question)

    with pytest.raises(ValidationError):
        check(document, "score.Question", question)
    assert answer.status_code == 400
    check(document, "Error", answer.json())


def test_every_type_has_a_schema_that_its_values_meet(shop: Shop) -> None:
    kinds = {
        "n": ("decimal(9,2)", "12.50"),
        "d": ("date", "2013-11-15"),
        "t": ("timestamp", "2013-11-15T02:00:00Z"),
        "z": ("timestamp_ntz", "2013-11-15T02:00:00"),
        "b": ("binary", "/w=="),
        "m": ("map<string,int>", {"x": 1}),
        "p": ("map<int,boolean>", [[1, True], [2, None]]),
        "s": ("struct<a:int,b:array<float>>", {"a": 1, "b": [0.5, "NaN", None]}),
    }
    declared = ", ".join(f"{name}: '{kind}'" for name, (kind, _) in kinds.items())
    features = "\n".join(f"      out_{name}: {{sql: {name}}}" for name in kinds)
    shop.register(
        ("request: {price: double}", f"request: {{{declared}}}"),
        ("      ratio: {sql: price / spend.amount_7d}", features),
    )
    question = {"entities": {"user_id": 1}, "request": {name: value for name, (_, value) in kinds.items()}}

    with served(HttpServer(create_app(shop.client, shop.store))) as http:
        document = page(http)
        answer = http.post("/v1/lookup/score", json=question)

    validate(document)
    assert answer.status_code == 200, answer.text
    check(document, "score.Question", question)
    check(document, "score.Answer", answer.json())
    assert {name: answer.json()["values"][f"basket.out_{name}"] for name in kinds} == question["request"]


def test_the_page_is_of_what_is_registered_now(http: httpx.Client, shop: Shop) -> None:
    before = page(http)
    shop.register(("feature_services:\n", "feature_services:\n  alone: {features: [spend.last_items]}\n"))
    shop.materialize()

    after = page(http)

    assert after["paths"].keys() - before["paths"].keys() == {"/v1/lookup/alone"}


def test_a_server_with_keys_says_so_and_shows_the_page_to_who_has_one(shop: Shop) -> None:
    keys = parse_api_keys("app=0123456789abcdef")
    with served(HttpServer(create_app(shop.client, shop.store, keys=keys))) as http:
        refused = http.get("/openapi.json")
        document = page(http, authorization="Bearer 0123456789abcdef")

    validate(document)
    assert refused.status_code == 401
    assert document["paths"]["/v1/lookup/score"]["post"]["security"] == [{"bearer": []}, {"header": []}]


def test_the_page_for_people_needs_nothing_from_elsewhere_and_runs_nothing_else(http: httpx.Client) -> None:
    answer = http.get("/docs")

    assert (answer.status_code, answer.content) == (200, PAGE)
    assert answer.headers["content-security-policy"] == POLICY
    assert POLICY.count("'sha256-") == 2
    assert not any(text in PAGE for text in (b"http:", b"https:", b"//", b"src=", b"innerHTML"))

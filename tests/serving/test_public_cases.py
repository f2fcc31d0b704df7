"""Classes of wrong values that feature stores were reported for, by what is right over HTTP as in the SDK."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal as Exact
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

from featurekit.clock import DAY
from featurekit.online.client import FeatureClient
from featurekit.online.keys import entity_key_encoder
from featurekit.online.redis import RedisStore
from featurekit.plan import PlanField
from featurekit.serving.app import create_app
from featurekit.serving.server import HttpServer
from featurekit.types import DataType, Decimal, Float32, Int8, Int16, Int32, Int64, String
from tests.online.servers import flush, materialize, offline_batch, plan_field, service_plan, view_plan
from tests.online.test_lookup import publish
from tests.serving.http import served

AS_OF = 20 * DAY
FLOAT32: float = struct.unpack("<f", struct.pack("<f", 1.111))[0]


def post(http: httpx.Client, path: str, body: object) -> Any:
    answer = http.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@contextmanager
def both(
    url: str, key: DataType, fields: list[PlanField], rows: list[dict[str, Any]]
) -> Iterator[tuple[FeatureClient, httpx.Client]]:
    """Give the SDK and the server of one service."""
    flush(url)
    store = RedisStore(url)
    view = view_plan(fields, keys={"user_id": key})
    publish(store, service_plan(view))
    materialize(store, url, view, AS_OF, offline_batch(view, rows))
    with (
        FeatureClient(url, project="shop", environment="test", clock=lambda: AS_OF + DAY) as client,
        served(HttpServer(create_app(client, store))) as http,
    ):
        yield client, http
    store.close()


@pytest.mark.parametrize(
    ("key", "narrow"), [(Int32(), np.int32), (Int64(), np.int32), (Int16(), np.int16), (Int64(), np.uint16)]
)
def test_an_integer_key_finds_its_row_from_wherever_it_comes(one_server: str, key: DataType, narrow: Any) -> None:
    """1001 as Python's, NumPy's, Arrow's or JSON's number, whatever its width, is one entity."""
    with both(one_server, key, [plan_field("x", Int64())], [{"user_id": 1001, "x": 7}]) as (client, http):
        for asked in (1001, narrow(1001), np.int64(1001)):
            assert client.lookup("service", {"user_id": asked}).to_dict() == {"view.x": 7}
        for width in (pa.int16(), pa.int32(), pa.int64()):
            table = pa.table({"user_id": pa.array([1001], width)})
            assert client.lookup("service", table).to_dict() == [{"view.x": 7}]
        for content in ("1001", "1001.0", "1.001e3"):
            told = http.post("/v1/lookup/service", content=f'{{"entities": {{"user_id": {content}}}}}')
            # A number with a point is no integer: it is refused, and never another entity or none.
            assert told.status_code == (200 if content == "1001" else 400)
        assert post(http, "/v1/lookup/service", {"entities": {"user_id": 1001}})["values"] == {"view.x": 7}


def test_the_text_of_an_integer_key_has_no_width() -> None:
    texts = {tuple(entity_key_encoder([kind])([[100]])) for kind in (Int8(), Int16(), Int32(), Int64())}
    assert texts == {(b"100",)}


def test_over_http_a_float32_keeps_its_bits_and_money_its_digits(one_server: str) -> None:
    fields = [plan_field("f", Float32()), plan_field("money", Decimal(10, 2))]
    with both(one_server, Int64(), fields, [{"user_id": 1, "f": FLOAT32, "money": Exact("0.30")}]) as (client, http):
        answer = http.post("/v1/lookup/service", json={"entities": {"user_id": 1}})
        told = json.loads(answer.text)["values"]
        assert struct.pack("<f", told["view.f"]) == struct.pack("<f", 1.111)
        assert told["view.money"] == "0.30"
        found = client.lookup("service", {"user_id": 1})
        assert found.to_numpy()["view.f"].tobytes() == struct.pack("<f", 1.111)
        assert found.to_dict()["view.money"] == Exact("0.30")


def test_over_http_null_empty_zero_and_missing_do_not_look_alike(one_server: str) -> None:
    fields = [plan_field("n", Int64(), is_latest=True), plan_field("s", String(), is_latest=True)]
    rows: list[dict[str, Any]] = [{"user_id": 1, "n": None, "s": None}, {"user_id": 2, "n": 0, "s": ""}]
    with both(one_server, Int64(), fields, rows) as (_, http):
        answer = post(http, "/v1/lookup/service", {"entities": [{"user_id": 1}, {"user_id": 2}, {"user_id": 3}]})
        assert answer["values"] == [
            {"view.n": None, "view.s": None},
            {"view.n": 0, "view.s": ""},
            {"view.n": None, "view.s": None},
        ]
        assert [row["view.n"] for row in answer["statuses"]] == ["NULL", "PRESENT", "MISSING"]
        assert [row["view.s"] for row in answer["statuses"]] == ["NULL", "PRESENT", "MISSING"]


def test_over_http_a_null_key_is_nobody(one_server: str) -> None:
    with both(one_server, String(), [plan_field("x", Int64(), is_latest=True)], [{"user_id": "null", "x": 1}]) as (
        _,
        http,
    ):
        answer = post(http, "/v1/lookup/service", {"entities": [{"user_id": None}, {"user_id": "null"}]})
        assert [row["view.x"] for row in answer["statuses"]] == ["MISSING", "PRESENT"]

"""What Prometheus reads of a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from featurekit.clock import DAY, fixed_clock
from featurekit.errors import OnlineStoreError, SettingsError
from featurekit.monitoring.metrics import ServerMetrics
from featurekit.online.breaker import Breaker
from featurekit.online.client import FeatureClient
from featurekit.serving.app import create_app
from featurekit.serving.auth import parse_api_keys
from featurekit.serving.server import HttpServer, listen
from tests.online.servers import embedded_server, flush
from tests.serving.http import served
from tests.serving.world import NOW, Shop, open_shop

KEYS = "app=0123456789abcdef, batch=fedcba9876543210"
QUESTION = {"entities": {"user_id": 1}, "at": "2013-11-15T03:00Z"}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with embedded_server(tmp_path) as url:
        flush(url)
        shop = open_shop(tmp_path, url)
        shop.materialize()
        yield shop
        shop.client.close()
        shop.store.close()


def samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """Return each sample by its name and the values of its labels, in the order of the labels' names."""
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_requests_are_counted_by_route_status_and_the_name_of_their_key(shop: Shop) -> None:
    metrics = ServerMetrics([shop.client])
    app = create_app(shop.client, shop.store, keys=parse_api_keys(KEYS), metrics=metrics)
    with served(HttpServer(app)) as http:
        for key, path in (
            ("0123456789abcdef", "/v1/lookup/spend"),
            ("0123456789abcdef", "/v1/lookup/spend"),
            ("fedcba9876543210", "/v1/lookup/spend"),
            ("fedcba9876543210", "/v1/lookup/made_up"),
            ("somebody-elses-key", "/v1/lookup/spend"),
        ):
            http.post(path, json=QUESTION, headers={"x-api-key": key})
        http.get("/health/live")
        refused = http.get("/metrics")
        answer = http.get("/metrics", headers={"x-api-key": "0123456789abcdef"})

    assert refused.status_code == 401
    assert answer.headers["content-type"].startswith("text/plain; version=")
    found = samples(answer.text)
    lookup = "/v1/lookup/{service}"
    assert found["featurekit_http_requests_total", ("app", lookup, "200")] == 2
    assert found["featurekit_http_requests_total", ("batch", lookup, "200")] == 1
    assert found["featurekit_http_requests_total", ("batch", lookup, "404")] == 1
    assert found["featurekit_http_requests_total", ("", lookup, "401")] == 1
    assert found["featurekit_http_requests_total", ("", "/health/live", "200")] == 1
    assert found["featurekit_http_request_seconds_count", (lookup,)] == 5
    assert "made_up" not in answer.text
    assert "somebody" not in answer.text
    assert not any(key.partition("=")[2] in answer.text for key in KEYS.split(", "))


def test_the_state_of_the_breaker_is_shown(shop: Shop) -> None:
    breaker = Breaker(failures=1)
    client = FeatureClient(project="shop", environment="test", store=shop.store, breaker=breaker)
    metrics = ServerMetrics([client])
    closed = samples(metrics.exposition()[0].decode())
    breaker.failed(breaker.admit())
    opened = samples(metrics.exposition()[0].decode())

    states = [
        {state: found["featurekit_breaker_state", (state,)] for state in ("closed", "open", "half-open")}
        for found in (closed, opened)
    ]
    assert states == [
        {"closed": 1, "open": 0, "half-open": 0},
        {"closed": 0, "open": 1, "half-open": 0},
    ]


def test_what_the_clients_count_is_added_up(shop: Shop) -> None:
    other = FeatureClient(project="shop", environment="test", store=shop.store, clock=fixed_clock(NOW))
    away = FeatureClient("redis://127.0.0.1:1/0", project="shop", environment="test", timeout_ms=100)
    for client in (shop.client, other):
        client.lookup("spend", [{"user_id": 1}, {"user_id": 99}]).to_dict()
    other.lookup("spend", {"user_id": 1}, at=NOW - DAY).to_dict()
    with pytest.raises(OnlineStoreError):
        away.lookup("spend", {"user_id": 1})

    text = ServerMetrics([shop.client, other, away]).exposition()[0].decode()
    found = samples(text)

    assert found["featurekit_lookups_total", ("answered", "spend")] == 3
    assert found["featurekit_lookup_entities_total", ("spend",)] == 5
    assert found["featurekit_lookups_total", ("OnlineStoreError", "")] == 1
    assert found["featurekit_unavailable_views_total", ("NO_REFRESH", "spend", "spend")] == 1
    assert found["featurekit_values_total", ("spend", "MISSING", "spend")] == 2
    assert found["featurekit_values_total", ("spend", "UNAVAILABLE", "spend")] == 3
    assert found["featurekit_lookup_seconds_count", ("spend",)] == 3
    buckets = {
        float(key[1][0]): count
        for key, count in found.items()
        if key[0] == "featurekit_lookup_seconds_bucket" and key[1][1] == "spend"
    }
    assert buckets[float("inf")] == 3
    assert [count for _, count in sorted(buckets.items())] == sorted(buckets.values())  # each holds those before it


def test_metrics_have_a_port_of_their_own_where_one_is_asked_for() -> None:
    metrics = ServerMetrics()
    with listen() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match="can't be shown"):
            metrics.listen("127.0.0.1", port)
    with pytest.raises(SettingsError, match=":65536"):
        metrics.listen("127.0.0.1", 65_536)
    metrics.observe(route="/r", status=200, key="", seconds=0.1)
    metrics.listen("127.0.0.1", port)

    found = samples(httpx.get(f"http://127.0.0.1:{port}/metrics").text)
    assert found["featurekit_http_requests_total", ("", "/r", "200")] == 1


def test_the_page_lists_every_metric_with_its_labels(shop: Shop) -> None:
    shop.client.lookup("spend", {"user_id": 99}, at=NOW - DAY).to_dict()
    metrics = ServerMetrics([shop.client])
    metrics.observe(route="/r", status=200, key="", seconds=0.1)
    page = (Path(__file__).parents[2] / "docs" / "serving.md").read_text()
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `featurekit_")]
    told = {
        name: set(re.findall(r"`(\w+)`", labels)) for names, labels in rows for name in re.findall(r"`(\w+)`", names)
    }

    found = {}
    for family in text_string_to_metric_families(metrics.exposition()[0].decode()):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        if not name.endswith("_created"):
            found[name] = {label for sample in family.samples for label in sample.labels} - {"le"}

    assert {name: labels for name, labels in found.items() if labels} == {
        name: told[name] for name in found if found[name]
    }
    assert found.keys() == told.keys()

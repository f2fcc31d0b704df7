"""What Prometheus reads of a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from featurekit.errors import SettingsError
from featurekit.monitoring.metrics import ServerMetrics
from featurekit.online.breaker import Breaker
from featurekit.online.client import FeatureClient
from featurekit.serving.app import create_app
from featurekit.serving.auth import parse_api_keys
from featurekit.serving.server import HttpServer, listen
from tests.online.servers import embedded_server, flush
from tests.serving.http import served
from tests.serving.world import Shop, open_shop

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


def test_metrics_have_a_port_of_their_own_where_one_is_asked_for() -> None:
    metrics = ServerMetrics()
    with listen() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match="can't be shown"):
            metrics.listen("127.0.0.1", port)
    metrics.observe(route="/r", status=200, key="", seconds=0.1)
    metrics.listen("127.0.0.1", port)

    found = samples(httpx.get(f"http://127.0.0.1:{port}/metrics").text)
    assert found["featurekit_http_requests_total", ("", "/r", "200")] == 1

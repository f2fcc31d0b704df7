"""The server and its connections: who is let in, who is waited for, and how it stops under load."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import redis

from featurekit.online.client import FeatureClient
from featurekit.online.redis import RedisStore
from featurekit.serving import server
from featurekit.serving.app import create_app
from featurekit.serving.auth import parse_api_keys
from featurekit.serving.connections import MAX_HEAD_BYTES, BoundedConnection
from featurekit.serving.server import HttpServer
from tests.serving.http import served
from tests.serving.world import Shop

ROOT = Path(__file__).parents[2]
KEY = "0123456789abcdef"
QUESTION = {"entities": {"user_id": 1}, "at": "2013-11-15T03:00Z"}


@contextmanager
def raw(http: httpx.Client) -> Iterator[socket.socket]:
    with socket.create_connection((http.base_url.host, http.base_url.port or 80), timeout=10) as found:
        yield found


def answered(connection: socket.socket) -> bytes:
    """Return all that comes until the server hangs up."""
    found = b""
    try:
        while chunk := connection.recv(65536):
            found += chunk
    except ConnectionResetError:
        pass  # it hung up on bytes that it did not read
    return found


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedConnection, "receive_s", 0.2)
    monkeypatch.setattr(server, "TICKS_PER_LOOK", 1)


@pytest.mark.parametrize("path", ["/v1/lookup/spend", "/v1/predict/echo"])
def test_without_a_key_nothing_is_answered(shop: Shop, path: str, caplog: pytest.LogCaptureFixture) -> None:
    keys = parse_api_keys(f"app={KEY}")
    with served(HttpServer(create_app(shop.client, shop.store, keys=keys))) as http:
        refused = [
            http.post(path, json=QUESTION),
            http.post(path, json=QUESTION, headers={"authorization": f"Bearer {KEY}x"}),
            http.post(path, content=b"{", headers={"authorization": "Bearer " + "s" * 20_000}),
        ]
        health = [http.get("/health/live").status_code, http.get("/health/ready").status_code]
        let_in = http.post("/v1/lookup/spend", json=QUESTION, headers={"authorization": f"Bearer {KEY}"})

    for answer in refused:
        assert (answer.status_code, answer.json()["error"]) == (401, "UnauthorizedError")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert KEY not in answer.text
    assert health == [200, 200]
    assert let_in.status_code == 200
    assert KEY not in caplog.text


def test_no_answer_lets_pages_of_other_places_read_it(shop: Shop) -> None:
    with served(HttpServer(create_app(shop.client, shop.store))) as http:
        asked = {"origin": "http://elsewhere", "access-control-request-method": "POST"}
        preflight = http.options("/v1/lookup/spend", headers=asked)
        answer = http.post("/v1/lookup/spend", json=QUESTION, headers={"origin": "http://elsewhere"})

    assert preflight.status_code == 405
    assert not [name for each in (preflight, answer) for name in each.headers if name.startswith("access-control")]


@pytest.mark.parametrize("is_one", [True, False])
def test_headers_that_are_too_large_are_refused(shop: Shop, is_one: bool) -> None:
    size = MAX_HEAD_BYTES + 1
    headers = {"x-a": "a" * size} if is_one else {f"x-{i}": "a" * 90 for i in range(size // 90)}
    with served(HttpServer(create_app(shop.client, shop.store))) as http:
        answer = http.post("/v1/lookup/spend", json=QUESTION, headers=headers)
        assert http.post("/v1/lookup/spend", json=QUESTION).status_code == 200

    assert (answer.status_code, answer.headers["connection"]) == (431, "close")
    assert answer.json()["error"] == "RequestTooLargeError"


def test_headers_without_an_end_are_cut_off(shop: Shop) -> None:
    sent = 0
    with served(HttpServer(create_app(shop.client, shop.store))) as http, raw(http) as connection:
        connection.sendall(b"GET /health/live HTTP/1.1\r\nx-a: ")
        try:
            while sent < 100 * MAX_HEAD_BYTES:
                connection.sendall(b"a" * 4096)
                sent += 4096
        except OSError:
            pass
        told = answered(connection)

    assert sent < 100 * MAX_HEAD_BYTES
    assert told == b"" or told.startswith(b"HTTP/1.1 431 ")  # a reset may overtake it


@pytest.mark.usefixtures("impatient")
def test_a_request_that_does_not_come_whole_is_not_waited_for(shop: Shop) -> None:
    beginnings = [
        b"",
        b"POST /v1/lookup/spend HT",
        b"POST /v1/lookup/spend HTTP/1.1\r\nhost: x\r\n",
        b"POST /v1/lookup/spend HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{",
    ]
    with served(HttpServer(create_app(shop.client, shop.store))) as http, contextlib.ExitStack() as opened:
        connections = [opened.enter_context(raw(http)) for _ in beginnings]
        for connection, sent in zip(connections, beginnings, strict=True):
            connection.sendall(sent)
        told = [answered(connection) for connection in connections]
        assert http.post("/v1/lookup/spend", json=QUESTION).status_code == 200

    assert [each.partition(b"\r\n")[0] for each in told] == [b"HTTP/1.1 408 Request Timeout"] * 4


@pytest.mark.usefixtures("impatient")
def test_half_a_request_behind_one_that_takes_long_does_not_take_its_answer(shop: Shop) -> None:
    with (
        served(HttpServer(create_app(shop.client, shop.store))) as http,
        redis.Redis.from_url(shop.url) as store,
        raw(http) as connection,
    ):
        store.client_pause(700)
        connection.sendall(
            b"GET /health/ready HTTP/1.1\r\nhost: x\r\n\r\nPOST /v1/lookup/spend HTTP/1.1\r\nhost: x\r\n"
        )
        told = answered(connection)

    first, _, second = told.partition(b'{"status":"ready"}')
    assert first.startswith(b"HTTP/1.1 200 OK\r\n")
    assert second.startswith(b"HTTP/1.1 408 Request Timeout\r\n")


@pytest.mark.usefixtures("impatient")
def test_bytes_that_drip_do_not_keep_a_connection(shop: Shop) -> None:
    with served(HttpServer(create_app(shop.client, shop.store))) as http, raw(http) as connection:
        connection.sendall(b"POST /v1/lookup/spend HTTP/1.1\r\n")
        connection.settimeout(0.05)
        told = b""
        for _ in range(100):
            connection.sendall(b"a: b\r\n")
            try:
                told = connection.recv(65536)
                break
            except TimeoutError:
                continue

    assert told.startswith(b"HTTP/1.1 408 Request Timeout\r\n")


@pytest.mark.usefixtures("impatient")
def test_blank_lines_do_not_keep_a_connection_that_was_answered(shop: Shop) -> None:
    with served(HttpServer(create_app(shop.client, shop.store))) as http, raw(http) as connection:
        connection.sendall(b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n")
        assert connection.recv(65536).endswith(b'{"status":"live"}')
        connection.sendall(b"\r\n")
        told = answered(connection)

    assert told.startswith(b"HTTP/1.1 408 Request Timeout\r\n")


@pytest.mark.usefixtures("impatient")
def test_a_client_that_does_not_take_its_answer_is_not_waited_for(shop: Shop) -> None:
    entities = b",".join([b'{"user_id": 1}'] * 60_000)  # an answer of 11 MB: more than the kernel keeps for a client
    body = b'{"entities": [' + entities + b"]}"
    head = b"POST /v1/lookup/spend HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body)
    with served(HttpServer(create_app(shop.client, shop.store))) as http, raw(http) as connection:
        connection.sendall(head + body)
        begun = connection.recv(1024)
        time.sleep(1)
        told = begun + answered(connection)

    head, _, content = told.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert len(content) < int(head.split(b"content-length: ")[1].split()[0])


def test_a_connection_that_answers_is_kept_for_more(shop: Shop) -> None:
    with served(HttpServer(create_app(shop.client, shop.store))) as http, raw(http) as connection:
        for _ in range(3):
            connection.sendall(b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n")
            assert connection.recv(65536).endswith(b'{"status":"live"}')


@pytest.mark.parametrize("told", ["0", "-1", "1.5", "x", "60001", "9" * 30, ""])
def test_a_deadline_that_is_none_is_refused(shop: Shop, told: str) -> None:
    with served(HttpServer(create_app(shop.client, shop.store))) as http:
        answer = http.post("/v1/lookup/spend", json=QUESTION, headers={"featurekit-timeout-ms": told})

    assert (answer.status_code, answer.json()["where"]) == (400, "the header Featurekit-Timeout-Ms")


def until(holds: Callable[[], object]) -> None:
    for _ in range(3000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it never held")


SERVE = """
import sys
from featurekit.online.client import FeatureClient
from featurekit.online.redis import RedisStore
from featurekit.serving.app import create_app
from featurekit.serving.server import HttpServer

store = RedisStore(sys.argv[1])
client = FeatureClient(project="shop", environment="test", store=store)
server = HttpServer(create_app(client, store), drain_s=float(sys.argv[2]))
print(server.url, flush=True)
server.run()
print("stopped", flush=True)
"""


@contextmanager
def process(shop: Shop, drain_s: float) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, and its URL."""
    started = subprocess.Popen(
        [sys.executable, "-c", SERVE, shop.url, str(drain_s)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stdout is not None
        yield started, started.stdout.readline().strip()
    finally:
        started.kill()
        started.communicate()


def test_no_request_is_dropped_when_it_is_stopped_under_load(shop: Shop) -> None:
    """Clients as behind a balancer: each asks until readiness says no, over connections that it keeps."""
    answers: list[int] = []
    is_ready = threading.Event()
    is_ready.set()
    with process(shop, drain_s=60.0) as (running, url):

        def ask() -> None:
            with httpx.Client(base_url=url, timeout=30) as http:
                while is_ready.is_set():
                    answers.append(http.post("/v1/lookup/spend", json=QUESTION).status_code)

        with ThreadPoolExecutor(8) as pool, httpx.Client(base_url=url, timeout=30) as balancer:
            asking = [pool.submit(ask) for _ in range(8)]
            until(lambda: len(answers) > 50)
            before = len(answers)
            os.kill(running.pid, signal.SIGTERM)
            while balancer.get("/health/ready").status_code == 200:
                time.sleep(0.02)
            told = balancer.get("/health/ready")
            until(lambda: len(answers) > before + 50)  # a balancer takes a while to believe it
            is_ready.clear()
            for each in asking:
                each.result()  # raises what went wrong, if anything did
        time.sleep(0.6)
        os.kill(running.pid, signal.SIGTERM)  # don't wait for the rest of the minute
        output, errors = running.communicate(timeout=30)

    assert (told.status_code, told.headers["connection"], told.json()["what"]) == (
        503,
        "close",
        "the server is about to stop",
    )
    assert set(answers) == {200}
    assert (running.returncode, output, errors) == (0, "stopped\n", "")


def test_a_second_signal_does_not_wait_for_balancers(shop: Shop) -> None:
    with process(shop, drain_s=60.0) as (running, url):
        httpx.get(f"{url}/health/live")
        os.kill(running.pid, signal.SIGTERM)
        time.sleep(0.6)
        is_draining = httpx.get(f"{url}/health/ready").status_code
        os.kill(running.pid, signal.SIGTERM)
        running.wait(timeout=10)

    assert (is_draining, running.returncode) == (503, 0)


def test_it_is_not_ready_while_the_store_is_away(shop: Shop) -> None:
    nowhere = RedisStore("redis://127.0.0.1:1/0", timeout_ms=100)
    client = FeatureClient(project="shop", environment="test", store=nowhere)
    with served(HttpServer(create_app(client, nowhere))) as http:
        assert (http.get("/health/live").status_code, http.get("/health/ready").status_code) == (200, 503)


def test_a_server_for_its_own_machine_answers_to_no_other_name(shop: Shop) -> None:
    app = create_app(shop.client, shop.store, is_for_this_machine=True)
    with served(HttpServer(app)) as http:
        by_name = {
            host: http.post("/v1/lookup/spend", json=QUESTION, headers={"host": host})
            for host in ("localhost:8080", "[::1]:1", "127.0.0.2", "evil.example", "localhost.evil.example:8080", "")
        }
        page = http.get("/openapi.json", headers={"host": "evil.example"})

    assert [answer.status_code for answer in by_name.values()] == [200, 200, 200, 421, 421, 421]
    assert "serve.api_keys" in by_name["evil.example"].json()["try"]
    assert page.status_code == 421

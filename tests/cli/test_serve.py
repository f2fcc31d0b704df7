"""`featurekit serve`, as a process: who is let in, with one worker and with two."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import httpx
import pytest

from featurekit.cli.serve import _clients
from featurekit.clock import SECOND
from featurekit.config import Settings, read_settings
from featurekit.errors import OnlineStoreError
from tests.cli.conftest import ROOT, Cli
from tests.cli.served import Served

KEY = "0123456789abcdef"
QUESTION = {"entities": {"customer_id": 1}, "at": "2026-01-08T12:00Z"}


@contextmanager
def serving(served: Served, *words: str) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """Give the program as it serves, and a client of it."""
    environ = {**os.environ, "FEATUREKIT_SERVE_API_KEYS": f"app={KEY}", "PYTHONPATH": str(ROOT)}
    started = subprocess.Popen(
        [sys.executable, "-m", "featurekit.cli.app", "serve", "--port", "0", "--drain", "200ms", *words],
        cwd=served.settings.root,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stdout is not None
        url = started.stdout.readline().split()[-1]
        with httpx.Client(base_url=url, timeout=30, headers={"authorization": f"Bearer {KEY}"}) as client:
            yield started, client
    finally:
        started.kill()
        started.communicate()


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.long)])
def test_it_answers_who_has_a_key_until_it_is_stopped(served: Served, workers: str) -> None:
    with serving(served, "--workers", workers) as (running, http):
        answers = [http.post("/v1/lookup/customer_spend", json=QUESTION) for _ in range(4)]
        refused = http.post("/v1/lookup/customer_spend", json=QUESTION, headers={"authorization": ""})
        metrics = http.get("/metrics")
        page = http.get("/openapi.json")
        os.kill(running.pid, signal.SIGTERM)
        output, errors = running.communicate(timeout=30)

    assert {answer.status_code for answer in answers} == {200}
    assert answers[0].json()["values"]["customer_spend.orders_7d"] == 3
    assert refused.status_code == 401
    assert metrics.status_code == (200 if workers == "1" else 404)
    assert "/v1/lookup/customer_spend" in page.json()["paths"]
    assert (running.returncode, output, errors) == (0, "", "")


def test_other_machines_are_let_in_by_a_key_or_by_a_decision(cli: Cli, served: Served) -> None:
    found = cli("serve", "--host", "0.0.0.0", "--json")

    assert found.exit_code == 2
    assert found.document["what"] == "the server would answer everybody who reaches 0.0.0.0"


def test_what_the_settings_say_of_failures_is_so_for_its_clients(served: Served) -> None:
    settings = replace(served.settings, redis_tries=1, redis_breaker_failures=2, redis_breaker_open_ms=60_000)

    with _clients(settings, "redis://127.0.0.1:1") as (_, client, quick):
        for state in ("closed", "open"):
            with pytest.raises(OnlineStoreError):
                client.services()
            assert (client.breaker.state, quick.breaker.state) == (state, state)


def test_keys_that_are_none_are_refused_and_not_shown(
    cli: Cli, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEATUREKIT_SERVE_API_KEYS", "app=hunter2")

    found = cli("serve", "--json")

    assert found.exit_code == 2
    assert "entry 1" in found.stdout
    assert "hunter2" not in found.stderr + found.stdout


def test_a_cache_is_kept_where_the_settings_or_the_command_line_say_so(
    cli: Cli, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kept(settings: Settings) -> list[bool]:
        with _clients(settings, served.settings.redis_url or "redis://127.0.0.1:1") as (_, client, quick):
            return [each._cached is not None for each in (client, quick)]

    monkeypatch.setenv("FEATUREKIT_REDIS_CACHE", "5s")
    told = read_settings(start=served.settings.root, environ=os.environ)
    assert told.redis_cache == 5 * SECOND
    assert (kept(served.settings), kept(told)) == ([False, False], [True, True])
    monkeypatch.setenv("FEATUREKIT_REDIS_CACHE", "0s")
    refused = [cli("serve", "--json"), cli("serve", "--cache", "long", "--json")]
    assert [found.exit_code for found in refused] == [2, 2]

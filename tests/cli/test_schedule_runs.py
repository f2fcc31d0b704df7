"""`schedule --once` with Spark: days go by, one is missed, one is bad, and it is killed; each refresh is there once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import format_instant
from featurekit.feature_store import FeatureStore
from featurekit.registry.state import RefreshRecord, RefreshStatus
from tests.alerting.conftest import Receiver, receiver
from tests.cli.conftest import ROOT, Cli, Run

pytestmark = pytest.mark.spark
__all__ = ["receiver"]

EXPECTED = "orders_7d:   {sql: count(*), window: 7d, default: 0, expect: {between: [0, 3]}}"


@pytest.fixture
def shop(project: Path, cli: Cli, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, registered, with an expectation, a folder for reports and somebody to alert."""
    definitions = project / "feature_defs" / "example.yaml"
    written = definitions.read_text().replace("orders_7d:   {sql: count(*), window: 7d, default: 0}", EXPECTED)
    assert EXPECTED in written
    definitions.write_text(written)
    monkeypatch.setenv("FEATUREKIT_SCHEDULE_REPORTS", str(project / "reports"))
    monkeypatch.setenv("FEATUREKIT_ALERTS_WEBHOOK_URL", receiver.url)
    assert cli("register", "--now", "2026-01-08T12:00Z").exit_code == 0
    return project


def refreshes(project: Path) -> list[RefreshRecord]:
    with FeatureStore.from_settings(project / "featurekit.toml") as store:
        (view,) = store.definitions.views.values()
        return list(store.registry.refreshes(view.name, fingerprint=view.fingerprint.data))


def told(receiver: Receiver) -> list[tuple[str, str]]:
    messages = [json.loads(body) for _, _, body in receiver.posts]
    return [(each["subject"], each["turn"]) for message in messages for each in message["changes"]]


def jobs(run: Run) -> list[tuple[str, bool]]:
    found: list[dict[str, Any]] = run.document["done"]
    return [(each["job"], each["error"] is None) for each in found]


def test_days_go_by_and_a_bad_batch_does_not_replace_a_good_one(shop: Path, cli: Cli, receiver: Receiver) -> None:
    first = cli("schedule", "--once", "--now", "2026-01-08T12:00Z", "--json")
    assert (first.exit_code, jobs(first)) == (0, [("materialize", True), ("check", True), ("gc", True)])
    again = cli("schedule", "--once", "--now", "2026-01-08T12:01Z", "--json")
    assert (again.exit_code, jobs(again), receiver.posts) == (0, [], [])
    assert json.loads((shop / "reports" / "check.json").read_text())["passed"]

    # Nothing ran on the 9th and the 10th.
    caught_up = cli("schedule", "--once", "--now", "2026-01-11T03:00Z", "--json")
    assert jobs(caught_up)[0] == ("materialize", True)
    assert sorted((format_instant(one.as_of)[:10], one.online) for one in refreshes(shop)) == [
        ("2026-01-08", True),
        ("2026-01-09", False),
        ("2026-01-10", False),
        ("2026-01-11", True),
    ]

    orders = shop / "data" / "orders.csv"
    good = orders.read_text()
    row = "1,9.00,2026-01-11T09:15:00Z,2026-01-11T09:16:00Z\n"
    orders.write_text(good + row * 4)
    bad = cli("schedule", "--once", "--now", "2026-01-12T03:00Z", "--json")
    assert jobs(bad)[0] == ("materialize", False)
    assert bad.exit_code >= 2
    assert "orders_7d" in bad.document["done"][0]["told"]
    still = cli("lookup", "checkout", "customer_id=1", "basket_amount=1", "--now", "2026-01-12T03:01Z")
    assert "2026-01-11T00:00Z" in still.stdout, still.stdout + still.stderr
    assert ("schedule:materialize:customer_spend", "red") in told(receiver)
    waits = cli("schedule", "--once", "--now", "2026-01-12T03:02Z", "--json")
    assert ("materialize", False) not in jobs(waits)

    orders.write_text(good)
    mended = cli("schedule", "--once", "--now", "2026-01-12T03:10Z", "--json")
    assert jobs(mended) == [("materialize", True)]
    assert told(receiver)[-1] == ("schedule:materialize:customer_spend", "recovered")
    assert [body for _, _, body in receiver.posts if b"customer_id" in body] == []


@pytest.mark.long
@pytest.mark.parametrize("after_s", [9, 17, 24])
def test_killed_at_any_moment_it_goes_on_and_nothing_is_there_twice(shop: Path, after_s: float) -> None:
    words = ["-m", "featurekit.cli.app", "schedule", "--once", "--now", "2026-01-08T12:00Z", "--json"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, *words], cwd=shop, env=environ, stdout=subprocess.DEVNULL) as program:
        time.sleep(after_s)
        program.send_signal(signal.SIGKILL)
    _wait_for_the_lease(shop)
    ended = subprocess.run([sys.executable, *words], cwd=shop, env=environ, stdout=subprocess.PIPE, timeout=300)
    assert ended.returncode == 0
    complete = [one for one in refreshes(shop) if one.status is RefreshStatus.COMPLETE]
    assert len(complete) == 1
    with FeatureStore.from_settings(shop / "featurekit.toml") as store:
        assert {job: run.is_done for job, run in store.registry.schedule.latest().items()} == {
            "materialize:customer_spend": True,
            "check": True,
            "gc": True,
        }
        assert store.registry.checks.runs(last=1)[0].passed


def _wait_for_the_lease(shop: Path) -> None:
    """Wait until what was killed holds nothing any more: two minutes by the database's clock."""
    with FeatureStore.from_settings(shop / "featurekit.toml") as store:
        (view,) = store.definitions.views.values()
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            held = store.registry.leased("(schedule)", "") | store.registry.leased(view.name, view.fingerprint.data)
            if not held:
                return
            time.sleep(1)
    raise AssertionError("a lease of a killed process never ran out")

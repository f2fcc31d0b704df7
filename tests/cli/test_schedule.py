"""`schedule` without Spark: what it would do, who is at work already, and how it ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from featurekit.leasing import leased
from featurekit.online.refresh import read_head
from featurekit.registry.registry import Registry
from featurekit.registry.state import RefreshRecord
from featurekit.scheduled_work import LEASE
from featurekit.scheduling.plan import Job
from tests.cli.conftest import ROOT, Cli
from tests.cli.served import AS_OF, Served

NOON = "2026-01-08T12:00Z"


def registry(served: Served) -> Registry:
    settings = served.settings
    return Registry(
        settings.registry, project=settings.project, environment=settings.environment, models=settings.models
    )


def test_the_plan_says_what_is_due_and_what_comes_next(registered: Served, cli: Cli) -> None:
    found = cli("schedule", "--dry-run", "--now", NOON, "--json").document
    assert [(task["job"], task["view"], task["as_ofs"]) for task in found["due"]] == [
        ("materialize", "customer_spend", ["2026-01-08T00:00Z"]),
        ("check", None, []),
        ("gc", None, []),
    ]
    registered.serve()
    found = cli("schedule", "--dry-run", "--now", NOON, "--json").document
    assert [task["job"] for task in found["due"]] == ["check", "gc"]
    assert [(task["job"], task["due_at"]) for task in found["waiting"]] == [("materialize", "2026-01-09T00:00Z")]
    shown = cli("schedule", "--dry-run", "--now", NOON).stdout
    assert "materialize  customer_spend  2026-01-09T00:00Z  2026-01-09T00:00Z  waits" in shown


def test_a_store_that_restarted_empty_makes_the_refresh_due_again(served: Served, cli: Cli) -> None:
    (entry,) = read_head(served.store, served.space).entries
    space = served.space.at(entry.as_of, entry.restatement, entry.live)
    served.store.delete(space.marker)
    due = cli("schedule", "--dry-run", "--now", NOON, "--json").document["due"]
    assert due[0]["as_ofs"] == ["2026-01-08T00:00Z"]


def completed(served: Served) -> RefreshRecord:
    """Return the record of a refresh as of AS_OF that is complete."""
    known, fingerprint = registry(served), served.space.fingerprint
    record = known.start_refresh(view="customer_spend", fingerprint=fingerprint, as_of=AS_OF, started_at=AS_OF)
    return known.complete_refresh(record, completed_at=AS_OF, visible_from=AS_OF, rows=2, bytes_=1, snapshot="{}")


def test_what_was_rolled_back_is_not_computed_again(registered: Served, cli: Cli) -> None:
    record = completed(registered)
    due = cli("schedule", "--dry-run", "--now", NOON, "--json").document["due"]
    assert "materialize" in [task["job"] for task in due]
    with registry(registered).writing() as writer:
        writer.withdraw([record], AS_OF + 1)
    due = cli("schedule", "--dry-run", "--now", NOON, "--json").document["due"]
    assert [task["job"] for task in due] == ["check", "gc"]


def test_nothing_registered_is_nothing_to_do(project: Path, cli: Cli) -> None:
    run = cli("schedule", "--dry-run", "--now", NOON)
    assert (run.exit_code, run.stdout) == (0, "nothing to do: no view is registered\n")


def test_another_instance_at_work_is_no_failure(served: Served, cli: Cli) -> None:
    with leased(registry(served), LEASE, "", (0,), holder="another machine"):
        run = cli("schedule", "--once", "--now", NOON, "--json")
    assert run.exit_code == 0
    assert "another machine" in run.document["running"]["where"]
    assert registry(served).schedule.latest() == {}


def test_instances_can_share_the_jobs(served: Served, cli: Cli) -> None:
    found = cli("schedule", "--dry-run", "--only", "gc", "--only", "materialize", "--now", NOON, "--json").document
    assert [task["job"] for task in (*found["due"], *found["waiting"])] == ["gc", "materialize"]
    check = list(Job).index(Job.CHECK)
    with leased(registry(served), LEASE, "", (check,), holder="another machine"):
        assert "running" in cli("schedule", "--once", "--now", NOON, "--json").document
        run = cli("schedule", "--once", "--only", "gc", "--now", NOON, "--json")
    assert [(one["job"], one["error"]) for one in run.document["done"]] == [("gc", None)]
    assert list(registry(served).schedule.latest()) == ["gc"]


def test_a_clock_that_stands_still_and_wrong_sinks_are_refused(served: Served, cli: Cli) -> None:
    still = cli("schedule", "--now", NOON)
    assert (still.exit_code, "--once --now TIME" in still.stderr) == (2, True)
    (Path.cwd() / "featurekit.toml").write_text('project = "x"\n[alerts]\nemail_to = "a@b"\n')
    wrong = cli("schedule", "--once")
    assert (wrong.exit_code, "alerts.smtp_url" in wrong.stderr) == (2, True)


@pytest.mark.long
def test_the_program_shows_metrics_and_ends_when_it_is_told(project: Path) -> None:
    settings = project / "featurekit.toml"
    settings.write_text("\n".join(line for line in settings.read_text().splitlines() if not line.startswith("now")))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "featurekit.cli.app", "schedule", "--metrics-port", str(port)]
    environ = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    with subprocess.Popen(command, cwd=project, env=environ, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None
            assert program.stdout.readline().startswith("scheduling ")
            text = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text
            assert "featurekit_batch_up 1.0" in text
            assert 'featurekit_view_promised_as_of_timestamp_seconds{view="customer_spend"}' in text
            began = time.monotonic()
            program.send_signal(signal.SIGTERM)
            assert program.stdout.read() == "stopped\n"
            assert program.wait(20) == 0
            assert time.monotonic() - began < 15
        finally:
            program.kill()


def test_what_is_too_old_to_be_caught_up_is_counted(served: Served, cli: Cli) -> None:
    completed(served)
    due = cli("schedule", "--dry-run", "--now", "2026-01-18T12:00Z", "--json").document["due"][0]
    assert due["as_ofs"] == ["2026-01-18T00:00Z"]
    assert due["missed"][0] == "2026-01-12T00:00Z"
    assert len(due["missed"]) == 6
    assert due["skipped"] == 3

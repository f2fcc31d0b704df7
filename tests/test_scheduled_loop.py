"""The process that looks: it has done what is due, tells when the one that works dies, and stops it gently."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from featurekit.cli.start import write_project
from featurekit.clock import MILLISECOND
from featurekit.config import Settings
from featurekit.errors import FeaturekitError
from featurekit.leasing import leased
from featurekit.online import embedded
from featurekit.registry.registry import Registry
from featurekit.scheduled_loop import ScheduledLoop
from featurekit.scheduled_work import LEASE
from tests.alerting.conftest import Receiver, receiver
from tests.cli.served import registered_project

__all__ = ["receiver"]

WORKS = "import pathlib; pathlib.Path('worked').open('a').write('.')"
SLOW = (
    "import pathlib, signal, sys, time;"
    "signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path('ended').touch(), sys.exit(0)));"
    "pathlib.Path('began').touch(); time.sleep(60)"
)
EVERY = 20 * MILLISECOND


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """The settings of a project that is registered, so that its refresh is due, by the machine's clock."""
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path)
    with registered_project(tmp_path) as found:
        yield replace(found.settings, now=None)
    embedded.stop(tmp_path / ".featurekit")


def run(settings: Settings, program: str, until: Callable[[], bool], *, every: int = EVERY) -> list[FeaturekitError]:
    """Run a loop whose work is `program` until the condition holds, and return what it showed."""
    shown: list[FeaturekitError] = []
    loop = ScheduledLoop(settings, [sys.executable, "-c", program], shown.append, every=every)

    def stop() -> None:
        deadline = time.monotonic() + 60
        while not until() and time.monotonic() < deadline:
            time.sleep(0.02)
        loop.stop()

    waiting = threading.Thread(target=stop)
    waiting.start()
    loop.run()
    waiting.join()
    return shown


def test_what_is_due_is_done_by_a_process_again_and_again_until_it_is_not_due(settings: Settings) -> None:
    worked = Path("worked")
    shown = run(settings, WORKS, lambda: worked.exists() and len(worked.read_text()) >= 2)
    assert shown == []


def test_where_another_instance_is_at_work_no_process_is_started(settings: Settings) -> None:
    registry = Registry(
        settings.registry, project=settings.project, environment=settings.environment, models=settings.models
    )
    began = time.monotonic()
    with leased(registry, LEASE, "", (0,), holder="another machine"):
        shown = run(settings, WORKS, lambda: time.monotonic() - began > 1)
    assert (shown, Path("worked").exists()) == ([], False)


def test_a_process_that_dies_is_told_and_that_it_recovered(settings: Settings, receiver: Receiver) -> None:
    settings = replace(settings, alerts_webhook_url=receiver.url)
    dies_once = (
        "import os, pathlib, signal; first = not pathlib.Path('died').exists(); pathlib.Path('died').touch();"
        "first and os.kill(os.getpid(), signal.SIGKILL)"
    )
    shown = run(settings, dies_once, lambda: len(receiver.posts) >= 2)
    assert ["signal 9" in error.what for error in shown] == [True]
    changes = [json.loads(body)["changes"][0] for _, _, body in receiver.posts]
    assert [(each["subject"], each["turn"]) for each in changes] == [("schedule", "red"), ("schedule", "recovered")]


def test_a_registry_that_can_not_be_read_is_told_and_looked_at_again(settings: Settings) -> None:
    broken = replace(settings, registry_url=f"sqlite:///{settings.root}/featurekit.toml/registry.db")
    began = time.monotonic()
    shown = run(broken, WORKS, lambda: time.monotonic() - began > 0.5)
    assert len(shown) >= 1
    assert {type(error).__name__ for error in shown} == {"RegistryError"}
    assert not Path("worked").exists()


def test_it_stops_after_the_task_that_is_under_way(settings: Settings) -> None:
    shown = run(settings, SLOW, Path("began").exists)
    assert (shown, Path("ended").exists()) == ([], True)

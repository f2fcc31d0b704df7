"""Leases between real processes: one at a time, freed at the end, and freed by time where the holder was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from featurekit.clock import MINUTE, SECOND
from featurekit.errors import RefreshRunningError
from featurekit.leasing import leased
from featurekit.registry.registry import Registry
from tests.registry.states import TODAY

VERSION = ("spend", "spend-a")
HOLDER = """\
import sys, time
from pathlib import Path
from featurekit.leasing import leased
from featurekit.registry.registry import Registry

url, project, length = sys.argv[1:4]
registry = Registry(url, project=project, environment="dev", models=Path())
with leased(registry, "spend", "spend-a", (TODAY,), holder="the other one", length=int(length)):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def other_run(url: str, project: str, *, length: int) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lease until it reads a line."""
    code = HOLDER.replace("TODAY", str(TODAY))
    process = subprocess.Popen(
        [sys.executable, "-c", code, url, project, str(length)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_two_processes_do_not_hold_one_lease(url: str, project: str, registry: Registry) -> None:
    with other_run(url, project, length=MINUTE):
        with pytest.raises(RefreshRunningError) as caught, leased(registry, *VERSION, (TODAY,), holder="me"):
            pass
        assert caught.value.exit_code == 3
        assert "spend as of 2013-11-15T00:00Z is being computed by another run" in str(caught.value)
        assert "the other one" in str(caught.value)
        # Another as-of, another version, another project: not the same.
        with (
            leased(registry, *VERSION, (TODAY + 1,), holder="me"),
            leased(registry, "spend", "b", (TODAY,), holder="m"),
        ):
            pass


def test_one_that_waits_gets_the_lease_when_the_other_run_ends(url: str, project: str, registry: Registry) -> None:
    with other_run(url, project, length=MINUTE) as process:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        with leased(registry, *VERSION, (TODAY,), holder="me", wait=True) as tenancy:
            tenancy.check()


def test_a_lease_outlives_its_length_while_its_run_works(url: str, project: str, registry: Registry) -> None:
    with other_run(url, project, length=2 * SECOND):
        time.sleep(4)
        with pytest.raises(RefreshRunningError), leased(registry, *VERSION, (TODAY,), holder="me"):
            pass


def test_a_run_that_was_killed_frees_the_refresh_when_its_lease_runs_out(
    url: str, project: str, registry: Registry
) -> None:
    with other_run(url, project, length=3 * SECOND) as process:
        os.kill(process.pid, signal.SIGKILL)
        killed = time.monotonic()
        with pytest.raises(RefreshRunningError), leased(registry, *VERSION, (TODAY,), holder="me"):
            pass
        with leased(registry, *VERSION, (TODAY,), holder="me", wait=True):
            assert time.monotonic() - killed < 10


def test_a_run_whose_lease_was_taken_over_is_told_before_it_publishes(
    registry: Registry, open_registry: Callable[[], Registry]
) -> None:
    with leased(registry, *VERSION, (TODAY,), holder="slept", length=MINUTE) as tenancy:
        tenancy.registry.renew_lease(tenancy.lease, length=-MINUTE)  # its time has passed
        with leased(open_registry(), *VERSION, (TODAY,), holder="next"):
            with pytest.raises(RefreshRunningError, match="ran out while it was computed"):
                tenancy.check()
            assert registry.leased(*VERSION) == {TODAY}
    assert registry.leased(*VERSION) == frozenset()


def test_many_as_ofs_are_held_all_or_none(registry: Registry) -> None:
    with leased(registry, *VERSION, (TODAY,), holder="one"):
        with pytest.raises(RefreshRunningError), leased(registry, *VERSION, (TODAY - 1, TODAY), holder="two"):
            pass
        assert registry.leased(*VERSION) == {TODAY}

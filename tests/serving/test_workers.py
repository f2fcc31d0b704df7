"""Workers behind one socket: started anew when they die, stopped all together, gone with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]
# Each answers with its pid and number.
SERVE = """
import os, signal, sys
if sys.argv[1:] == ["killed"] and "_FEATUREKIT_WORKER" in os.environ:
    os.kill(os.getpid(), signal.SIGKILL)
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from featurekit.serving.server import HttpServer, listen, url_of
from featurekit.serving.workers import as_worker, run_workers

async def who(_):
    return JSONResponse([os.getpid(), worker.number], headers={"connection": "close"})

worker = as_worker(os.environ)
if worker is None:
    listening = listen()
    print(url_of(listening), flush=True)
    code = run_workers(2, (sys.executable, *sys.orig_argv[1:]), listening, os.environ)
    print("ended", code, flush=True)
    sys.exit(code)
if len(sys.argv) > 1:
    sys.exit(int(sys.argv[1]))
app = Starlette(routes=[Route("/", who)])
HttpServer(app, listening=worker.listening, drain_s=0.2).run()
"""


@contextmanager
def parent(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    started = subprocess.Popen(
        [sys.executable, "-c", SERVE, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert started.stdout is not None
        yield started, started.stdout.readline().strip()
    finally:
        started.kill()
        started.communicate()


def workers(url: str) -> dict[int, int]:
    """Return the number of each worker that answers, by its pid."""
    found: dict[int, int] = {}
    until(lambda: found.update([httpx.get(url).json()]) or len(found) == 2)
    return found


def until(holds: Callable[[], object]) -> None:
    for _ in range(500):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it never held")


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_worker_that_dies_is_started_again_and_all_stop_with_their_parent() -> None:
    with parent() as (running, url):
        before = workers(url)
        dead = next(pid for pid, number in before.items() if number == 1)
        os.kill(dead, signal.SIGKILL)
        until(lambda: not is_running(dead))
        after = workers(url)
        os.kill(running.pid, signal.SIGTERM)
        output, errors = running.communicate(timeout=30)

    assert sorted(before.values()) == sorted(after.values()) == [0, 1]
    assert len(after.keys() & before.keys()) == 1
    assert dead not in after
    assert (running.returncode, output, errors) == (0, "ended 0\n", "worker 1 ended with -9\n")
    assert not any(map(is_running, after))


def test_workers_do_not_outlive_a_parent_that_is_killed() -> None:
    with parent() as (running, url):
        found = workers(url)
        running.kill()
        running.wait()
        until(lambda: not any(map(is_running, found)))


def test_what_keeps_one_worker_from_beginning_ends_them_all() -> None:
    with parent("3") as (running, _):
        output, errors = running.communicate(timeout=30)

    assert (running.returncode, output) == (3, "ended 3\n")
    assert "ended with 3" in errors


def test_workers_that_are_killed_as_soon_as_they_begin_are_not_started_again_and_again_at_once() -> None:
    with parent("killed") as (running, _):
        time.sleep(2.5)
        os.kill(running.pid, signal.SIGTERM)
        output, errors = running.communicate(timeout=30)

    assert output in ("ended 9\n", "ended 15\n")  # the signal may be there before the worker kills itself
    assert 1 <= errors.count("ended with -9") <= 4

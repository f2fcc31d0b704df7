"""The loop looks when something becomes due, never twice at once, and ends when it is told."""

from __future__ import annotations

import threading
import time

import pytest

from featurekit.clock import HOUR, MILLISECOND, MINUTE, Instant, system_clock
from featurekit.scheduling.loop import Loop


def run_for(looks: int, due_at: Instant | None, *, every: int) -> list[Instant]:
    """Return when a loop looked, which is stopped at the last look."""
    found: list[Instant] = []

    def look() -> Instant | None:
        found.append(system_clock())
        if len(found) == looks:
            threading.Thread(target=loop.stop).start()
        return due_at

    loop = Loop(look, clock=system_clock, every=every)
    loop.run()
    return found


def test_it_looks_again_and_again_until_it_is_stopped() -> None:
    found = run_for(3, None, every=20 * MILLISECOND)
    assert len(found) == 3
    assert found[2] - found[0] >= 40 * MILLISECOND


def test_it_looks_at_once_and_again_when_something_is_due() -> None:
    began = system_clock()
    found = run_for(2, began + 1500 * MILLISECOND, every=MINUTE)
    assert found[0] - began < 1000 * MILLISECOND
    assert 1500 * MILLISECOND <= found[1] - began < 10_000 * MILLISECOND


def test_what_the_machine_slept_through_is_looked_at_as_it_wakes() -> None:
    skips = iter([0, 2 * HOUR])
    loop = Loop(lambda: None, clock=lambda: system_clock() - next(skips, 0), every=20 * MILLISECOND)
    threading.Timer(0.3, loop.stop).start()
    loop.run()
    assert next(skips, None) is None


def test_it_ends_only_after_the_look_that_is_under_way() -> None:
    ended: list[bool] = []

    def look() -> None:
        loop_is_stopped.wait(5)
        time.sleep(0.1)
        ended.append(True)

    loop_is_stopped = threading.Event()
    loop = Loop(look, clock=system_clock)

    def stop() -> None:
        loop.stop()
        loop_is_stopped.set()

    threading.Timer(0.2, stop).start()
    loop.run()
    assert ended == [True]


def test_a_defect_ends_it_and_is_told() -> None:
    def look() -> None:
        raise ZeroDivisionError("a defect")

    with pytest.raises(ZeroDivisionError):
        Loop(look, clock=system_clock).run()

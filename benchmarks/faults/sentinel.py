"""A master killed or hung under lookups, in the middle of a refresh; Sentinel promotes a replica.

`python -m benchmarks.faults.sentinel --rounds 3` prints what came of it and exits with 1 where anything is wrong.
"""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.faults.failover_load import Load, Tally, audit, publish, refresh_until_done, run_alone
from tests.online.deployments import Sentinels, Server, sentinels, until

_REFRESH_S = 0.5


def run(folder: Path, *, rounds: int, seed: int, quick: bool, kind: str = "valkey") -> dict[str, int]:
    """Return what came of `rounds` lost masters; `quick`: without those that hang and come back."""
    tally, draw = Tally(), random.Random(seed)
    took: list[float] = []
    # A master that is only slow must not be taken for lost: one that was just restarted, with an old snapshot, could
    # be promoted then, and that loses what was acknowledged whoever writes.
    with sentinels(folder, kind, replicas=2, down_ms=2000) as deployment:
        publish(deployment.url)
        load = Load(deployment.url, tally, seed)
        refresh_until_done(deployment.url, load, tally, 1)
        with load.running():
            load.await_whole()
            for number in range(rounds):
                is_hung = not quick and number % 3 == 2
                took.append(_lose_master(deployment, load, tally, 2 + number, draw, is_hung=is_hung))
    tally.show()
    return {
        "kills": rounds,
        **tally.counts(),
        "recovery_ms_median": round(1000 * float(np.median(took))),
        "recovery_ms_max": round(1000 * max(took)),
    }


def _lose_master(
    deployment: Sentinels, load: Load, tally: Tally, day: int, draw: random.Random, *, is_hung: bool
) -> float:
    """Return how long after the loss every reader had whole answers again, in seconds."""
    refresh = threading.Thread(target=refresh_until_done, args=(deployment.url, load, tally, day))
    refresh.start()
    time.sleep(draw.random() * _REFRESH_S)
    lost = deployment.master()
    load.breaks += 1
    begun = time.monotonic()
    if is_hung:
        lost.pause()
    else:
        lost.kill()
    until(lambda: deployment.master() is not lost, "a replica to be promoted", limit_s=60)
    recovery = load.await_whole(since=begun)
    refresh.join()
    _bring_back(lost, is_hung=is_hung)
    deployment.await_replicas()
    load.await_whole()
    load.breaks += 1
    load.await_whole()
    audit(deployment.url, tally, day)
    return recovery


def _bring_back(lost: Server, *, is_hung: bool) -> None:
    """Let the old master come back: with what it had, or empty, and believing for a moment that it is the master."""
    if is_hung:
        lost.resume()
    else:
        lost.start()


if __name__ == "__main__":
    run_alone(run, __doc__)

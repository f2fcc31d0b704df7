"""Nodes of a cluster killed and slots moved under lookups, in the middle of refreshes.

`python -m benchmarks.faults.cluster --rounds 3` prints what came of it and exits with 1 where anything is wrong.
"""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.faults.failover_load import Load, Tally, audit, publish, refresh_until_done, run_alone
from tests.online.deployments import Cluster, cluster, until

_REFRESH_S = 0.5
_SLOTS_A_ROUND = 12


def run(folder: Path, *, rounds: int, seed: int, quick: bool, kind: str = "valkey") -> dict[str, int]:
    """Return what came of `rounds` lost nodes and, each time, some slots that were moved; `quick`: a few of them."""
    tally, draw = Tally(), random.Random(seed)
    took: list[float] = []
    moved = 0
    with cluster(folder, kind, masters=3, replicas=1, node_timeout_ms=700) as nodes:
        publish(nodes.url)
        load = Load(nodes.url, tally, seed)
        refresh_until_done(nodes.url, load, tally, 1)
        with load.running():
            load.await_whole()
            for number in range(rounds):
                took.append(_lose_node(nodes, load, tally, 2 + 2 * number, draw))
                moved += _move_slots(nodes, load, tally, 3 + 2 * number, draw, 3 if quick else _SLOTS_A_ROUND)
    tally.show()
    return {
        "kills": rounds,
        "slots_moved": moved,
        **tally.counts(),
        "recovery_ms_median": round(1000 * float(np.median(took))),
        "recovery_ms_max": round(1000 * max(took)),
    }


def _lose_node(nodes: Cluster, load: Load, tally: Tally, day: int, draw: random.Random) -> float:
    """Return how long after the loss every reader had whole answers again, in seconds."""
    refresh = threading.Thread(target=refresh_until_done, args=(nodes.url, load, tally, day))
    refresh.start()
    time.sleep(draw.random() * _REFRESH_S)
    slot = draw.randrange(16_384)
    lost = nodes.owner(slot)
    load.breaks += 1
    begun = time.monotonic()
    lost.kill()
    until(lambda: nodes.owner(slot) is not lost, "a replica to be promoted", limit_s=60)
    recovery = load.await_whole(since=begun)
    refresh.join()
    lost.start()  # empty; it becomes a replica of the one that took its place
    nodes.await_whole()
    load.await_whole()
    load.breaks += 1
    load.await_whole()
    audit(nodes.url, tally, day)
    return recovery


def _move_slots(nodes: Cluster, load: Load, tally: Tally, day: int, draw: random.Random, count: int) -> int:
    """Move slots while a refresh is written; no lookup may fail for it."""
    refresh = threading.Thread(target=refresh_until_done, args=(nodes.url, load, tally, day))
    refresh.start()
    for _ in range(count):
        slot = draw.randrange(16_384)
        masters = {nodes.owner(at) for at in (0, 8_000, 16_000)} - {nodes.owner(slot)}
        nodes.move_slot(slot, draw.choice(sorted(masters, key=lambda node: node.port)))
    refresh.join()
    load.await_whole()
    audit(nodes.url, tally, day)
    return count


if __name__ == "__main__":
    run_alone(run, __doc__)

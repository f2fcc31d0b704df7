"""What the served-feature log costs a lookup: the same lookups with and without it, in one process.

`python -m benchmarks.served_log` prints the table. Calls of the two are mixed one by one, so that what else happens
hits both alike: p50 is the hand-over. The log really writes; its thread shares the interpreter with all lookups, and
what it takes of it is told by the CPU time of the whole process per lookup, of one form alone after the other.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.online_shapes import ENTITIES, PROJECT
from benchmarks.online_turns import calling, in_turns, mixed
from benchmarks.online_world import ENVIRONMENT, NOW, make_tables, publish_services, write_view
from benchmarks.report import finish
from featurekit.online import embedded
from featurekit.online.client import FeatureClient
from featurekit.online.served_log import ServedLog

SERVICE: Final = "numbers"
_BLOCK: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Lookups of so many entities, in microseconds, and the ratios with the log to without, median of the rounds.

    `cpu_ratio` is that of the process's CPU time, the log's thread included; `dropped` is the share of rows that found
    the queue full: lookups without a pause can hand over more than one thread writes.
    """

    entities: int
    plain_p50_us: float
    logged_p50_us: float
    p50_ratio: float
    p99_ratio: float
    cpu_ratio: float
    dropped: float


def measured(*, rounds: int, calls: int) -> list[Cost]:
    """Return what the log costs lookups of 1 and of 100 entities, on a server of our own."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        try:
            return measure(embedded.start(state).url, Path(folder) / "log", rounds=rounds, calls=calls)
        finally:
            embedded.stop(state)


def measure(url: str, folder: Path, *, rounds: int, calls: int, sample: float = 1.0, seed: int = 7) -> list[Cost]:
    """Return what the log costs lookups of 1 and of 100 entities, so many calls a round."""
    random = np.random.default_rng(seed)
    write_view(url, SERVICE, make_tables()[SERVICE])
    publish_services(url)
    found = []
    options: dict[str, Any] = {"project": PROJECT, "environment": ENVIRONMENT, "clock": lambda: NOW}
    for entities in (1, 100):
        users = [int(user) for user in random.integers(0, ENTITIES, entities)]
        asked = [{"user_id": users[0] if entities == 1 else users}]
        with (
            ServedLog(folder / str(entities), project=PROJECT, environment=ENVIRONMENT, sample=sample) as log,
            FeatureClient(url, log=log, **options) as logged,
            FeatureClient(url, **options) as plain,
        ):
            clients = {"plain": partial(_look_up, plain), "logged": partial(_look_up, logged)}
            mix = mixed({name: (call, asked) for name, call in clients.items()}, _BLOCK, seed)
            timings = in_turns(mix, rounds=rounds, turns=-(-calls // _BLOCK))
            alone = {name: calling(call, asked, calls) for name, call in clients.items()}
            cpus = in_turns(alone, rounds=rounds, turns=1)
        counts = log.counts
        if counts.failed:
            raise AssertionError(f"the log could not write: {counts}")
        found.append(
            Cost(
                entities=entities,
                plain_p50_us=timings["plain"].p50_us,
                logged_p50_us=timings["logged"].p50_us,
                p50_ratio=timings["logged"].over(timings["plain"]),
                p99_ratio=timings["logged"].p99_us / timings["plain"].p99_us,
                cpu_ratio=cpus["logged"].cpu_over(cpus["plain"]),
                dropped=counts.dropped / (counts.dropped + counts.written),
            )
        )
    return found


def _look_up(client: FeatureClient, asked: Any) -> None:
    client.lookup(SERVICE, asked).matrix()


def show(found: Sequence[Cost]) -> None:
    """Print the table."""
    print(f"{'entities':>8} {'plain µs':>9} {'logged µs':>9} {'p50':>6} {'p99':>6} {'CPU':>6} {'dropped':>8}")
    for one in found:
        print(
            f"{one.entities:>8} {one.plain_p50_us:9.1f} {one.logged_p50_us:9.1f}"
            f" {one.p50_ratio:6.3f} {one.p99_ratio:6.3f} {one.cpu_ratio:6.3f} {one.dropped:8.2%}"
        )


def main() -> None:
    """Measure against a server of our own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=5000)
    asked = parser.parse_args()
    found = measured(rounds=asked.rounds, calls=asked.calls)
    show(found)
    values = {f"p50_{one.entities}": one.p50_ratio for one in found}
    values |= {f"cpu_{one.entities}": one.cpu_ratio for one in found}
    finish("served-log", values, details=[asdict(one) for one in found], seed=7, file="served_log")


if __name__ == "__main__":
    main()

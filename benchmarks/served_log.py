"""What the served-feature log costs a lookup: the same lookups with and without it, in turns, in one process.

`python -m benchmarks.served_log` prints the table. The log really writes; its thread shares the interpreter with the
lookups, so what it takes from them beyond the hand-over is in p99 and in the whole.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.online_shapes import ENTITIES, PROJECT
from benchmarks.online_turns import Form, Timing, calling, in_turns
from benchmarks.online_world import ENVIRONMENT, NOW, make_tables, publish_services, write_view
from benchmarks.report import finish
from featurekit.online import embedded
from featurekit.online.client import FeatureClient
from featurekit.online.served_log import ServedLog

SERVICE: Final = "numbers"
_BLOCK: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Lookups of so many entities, in microseconds, and the ratios with the log to without, median of the rounds."""

    entities: int
    plain_p50_us: float
    logged_p50_us: float
    p50_ratio: float
    p99_ratio: float
    mean_ratio: float


def measure(url: str, folder: Path, *, rounds: int, calls: int, sample: float = 1.0, seed: int = 7) -> list[Cost]:
    """Return what the log costs lookups of 1 and of 100 entities."""
    random = np.random.default_rng(seed)
    write_view(url, SERVICE, make_tables()[SERVICE])
    publish_services(url)
    found = []
    options: dict[str, Any] = {"project": PROJECT, "environment": ENVIRONMENT, "clock": lambda: NOW}
    with (
        ServedLog(folder, project=PROJECT, environment=ENVIRONMENT, sample=sample) as log,
        FeatureClient(url, log=log, **options) as logged,
        FeatureClient(url, **options) as plain,
    ):
        for entities in (1, 100):
            users = [int(user) for user in random.integers(0, ENTITIES, entities)]
            asked = [{"user_id": users[0] if entities == 1 else users}]
            forms: dict[str, Form] = {
                name: calling(partial(_look_up, client), asked, _BLOCK)
                for name, client in (("plain", plain), ("logged", logged))
            }
            timings = in_turns(forms, rounds=rounds, turns=-(-calls // _BLOCK))
            found.append(_cost(entities, timings))
    if log.counts.lost:
        raise AssertionError(f"the log lost rows: {log.counts}")
    return found


def _look_up(client: FeatureClient, asked: Any) -> None:
    client.lookup(SERVICE, asked).matrix()


def _cost(entities: int, timings: Mapping[str, Timing]) -> Cost:
    samples = [
        {name: np.array([wall for turn in timing.rounds[i] for wall in turn.walls]) for name, timing in timings.items()}
        for i in range(len(timings["plain"].rounds))
    ]

    def ratio(of: Callable[[npt.NDArray[np.float64]], Any]) -> float:
        return float(np.median([of(one["logged"]) / of(one["plain"]) for one in samples]))

    every = {form: np.concatenate([one[form] for one in samples]) for form in samples[0]}
    return Cost(
        entities=entities,
        plain_p50_us=float(np.median(every["plain"])),
        logged_p50_us=float(np.median(every["logged"])),
        p50_ratio=ratio(np.median),
        p99_ratio=ratio(lambda times: np.percentile(times, 99)),
        mean_ratio=ratio(np.mean),
    )


def main() -> None:
    """Measure against a server of our own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=5000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        try:
            found = measure(embedded.start(state).url, Path(folder) / "log", rounds=asked.rounds, calls=asked.calls)
        finally:
            embedded.stop(state)
    print(f"{'entities':>8} {'plain µs':>9} {'logged µs':>9} {'p50':>6} {'p99':>6} {'mean':>6}")
    for one in found:
        print(
            f"{one.entities:>8} {one.plain_p50_us:9.1f} {one.logged_p50_us:9.1f}"
            f" {one.p50_ratio:6.3f} {one.p99_ratio:6.3f} {one.mean_ratio:6.3f}"
        )
    values = {f"p50_{one.entities}": one.p50_ratio for one in found}
    values |= {f"p99_{one.entities}": one.p99_ratio for one in found}
    finish("served-log", values, details=[asdict(one) for one in found], seed=7, file="served_log")


if __name__ == "__main__":
    main()

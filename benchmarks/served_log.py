"""What the served-feature log costs a lookup: the same lookups with and without it, in turns, in one process.

`python -m benchmarks.served_log` prints the table. The log really writes; its thread shares the interpreter with the
lookups, so what it takes from them beyond the hand-over is in p99 and in the whole.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.lookup import _own_server, _turns, _write_world
from benchmarks.report import finish
from featurekit.clock import DAY
from featurekit.online.client import FeatureClient
from featurekit.online.served_log import ServedLog

FEATURES: Final = 50


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
    _write_world(url, FEATURES, random)
    found = []
    with ServedLog(folder, project="bench", environment="lookup", sample=sample) as log:
        logged = FeatureClient(url, project="bench", environment="lookup", clock=lambda: DAY, log=log)
        plain = FeatureClient(url, project="bench", environment="lookup", clock=lambda: DAY)
        with logged, plain:
            for entities in (1, 100):
                users = [int(user) for user in random.integers(0, 10_000, entities)]
                asked = {"user_id": users[0] if entities == 1 else users}
                service = f"service_{FEATURES}"
                forms: dict[str, Callable[[], Any]] = {
                    "plain": partial(_looked_up, plain, service, asked),
                    "logged": partial(_looked_up, logged, service, asked),
                }
                for call in forms.values():
                    for _ in range(100):
                        call()
                found.append(_cost(entities, [_turns(forms, calls) for _ in range(rounds)]))
    if log.counts.lost:
        raise AssertionError(f"the log lost rows: {log.counts}")
    return found


def _looked_up(client: FeatureClient, service: str, asked: Any) -> None:
    client.lookup(service, asked).matrix()


def _cost(entities: int, samples: list[dict[str, npt.NDArray[np.float64]]]) -> Cost:
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
    with _own_server() as url, tempfile.TemporaryDirectory() as folder:
        found = measure(url, Path(folder), rounds=asked.rounds, calls=asked.calls)
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

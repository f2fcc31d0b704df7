"""A process that refreshes views, hour after hour, until it is killed: `benchmarks.faults.kill_materialize` does that.

    python -m benchmarks.faults.materializing FOLDER URL FIRST LAST [--spark]

It says `begin HOUR` and `end HOUR` around each. Without `--spark` all of a refresh is real (lease, gate, history, rows,
head, registry) but the executors: their work is done by threads of this process.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from featurekit.arrow_types import to_arrow_schema
from featurekit.clock import HOUR, MINUTE, SECOND, Instant, parse_instant
from featurekit.config import Settings
from featurekit.feature_store import FeatureStore
from featurekit.refreshing import refresh_view
from featurekit.types import Schema

START: Final = parse_instant("2026-01-02")
VIEWS: Final = ("apart", "in_place")
Batches = Iterator[pa.RecordBatch]


@dataclass
class ThreadEngine:
    """What a refresh of newest rows asks of a batch engine, by threads."""

    root: Path
    is_local: bool = True
    parallelism: int = 2

    def numbered(self, parts: int) -> list[list[pa.RecordBatch]]:
        return [[pa.record_batch({"id": pa.array([number], pa.int64())})] for number in range(parts)]

    def map_batches(
        self, frame: list[list[pa.RecordBatch]], function: Callable[[Batches], Batches], schema: Schema
    ) -> Callable[[], pa.Table]:
        def run() -> pa.Table:
            with ThreadPoolExecutor(self.parallelism) as pool:
                found = pool.map(lambda part: list(function(iter(part))), frame)
            return pa.Table.from_batches([batch for part in found for batch in part], to_arrow_schema(schema))

        return run

    def to_arrow(self, frame: Callable[[], pa.Table]) -> pa.Table:
        return frame()


def store_of(folder: Path, url: str, environment: str, hour: int) -> FeatureStore:
    """Return the store of the world in a folder, a little after the hour."""
    settings = Settings(
        root=folder,
        environment=environment,
        definitions=folder / "defs",
        state=folder / environment,
        now=as_of(hour) + MINUTE,
        redis_url=url,
        history_path=folder / environment / "history",  # else Spark is asked whether this machine is all there is
    )
    return FeatureStore(settings)


def as_of(hour: int) -> Instant:
    return START + hour * HOUR


def refresh(store: FeatureStore, hour: int, engine: Any) -> None:
    """Refresh all views as of an hour; what a killed run holds is free again after a second."""
    to = replace(store._deployment(store.definitions.views.values()), lease=SECOND)
    for name in VIEWS:
        refresh_view(
            store.definitions.views[name], as_of(hour), engine=engine, to=to, clock=store.settings.clock, wait=True
        )


def main(arguments: list[str]) -> None:
    """Refresh until somebody kills this."""
    folder, url = Path(arguments[0]), arguments[1]
    engine: Any = ThreadEngine(folder)
    for hour in range(int(arguments[2]), int(arguments[3])):
        with store_of(folder, url, "killed", hour) as store:
            if "--spark" in arguments:
                engine = store.engine
            print(f"begin {hour}", flush=True)
            refresh(store, hour, engine)
            print(f"end {hour}", flush=True)
    signal.pause()


if __name__ == "__main__":
    main(sys.argv[1:])

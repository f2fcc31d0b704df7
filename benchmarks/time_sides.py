"""The sides that `benchmarks.time` compares, as one process that does one thing a line: `ours FOLDER` or `join FOLDER`.

Each answer is a line of JSON: how long it took, of wall and of CPU time of the process and all its children.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.time_data import AGGREGATES, WINDOWS
from benchmarks.tree import tree_cpu_seconds
from featurekit.compiled import CompiledService
from featurekit.compiler import compile_repository
from featurekit.config import Settings
from featurekit.definitions.repo import load_repo
from featurekit.offline.labels import LabelSpec
from featurekit.offline.point_in_time import point_in_time, training_table
from featurekit.offline.session import SparkEngine, start_engine


def main(arguments: list[str]) -> int:
    """Serve commands from stdin until it ends."""
    scratch = Path(arguments[0])
    engine = start_engine(Settings(root=scratch, state=scratch / "state"))
    services: dict[str, CompiledService] = {}
    for line in sys.stdin:
        command, folder, *rest = line.split()
        base = Path(folder)
        if folder not in services:
            (services[folder],) = compile_repository(load_repo(base / "defs"), base).services.values()
        engine = SparkEngine(engine.session, base)
        cpu, started = tree_cpu_seconds(), time.perf_counter()
        found = SIDES[command](engine, services[folder], base, *rest)
        taken = {"wall": time.perf_counter() - started, "cpu": tree_cpu_seconds() - cpu, "rows": found}
        print(json.dumps(taken), flush=True)
    engine.stop()
    return 0


def ours(engine: SparkEngine, service: CompiledService, base: Path) -> int:
    """Write the training set as Parquet."""
    return _written(engine, point_in_time(engine, service, LabelSpec(path="labels.parquet")), base / "ours")


def join(engine: SparkEngine, _: CompiledService, base: Path) -> int:
    """Write the same by one join of labels and events, and all aggregates in it."""
    frames = {name: engine.read_parquet(f"{name}.parquet") for name in ("events", "labels")}
    return _written(engine, engine.query(JOIN, frames), base / "join")


def to_pandas(engine: SparkEngine, service: CompiledService, base: Path) -> int:
    """Have the training set as a pandas frame here, which is what Feast returns; keep it the first time."""
    frame = training_table(engine, service, LabelSpec(path="labels.parquet")).to_pandas()
    if not (base / "ours.parquet").exists():
        frame.to_parquet(base / "ours.parquet")
    return len(frame)


def _written(engine: SparkEngine, frame: Any, folder: Path) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    engine.write_parquet(frame, folder)
    return 0


SIDES = {"ours": ours, "join": join, "pandas": to_pandas}


def _aggregates() -> str:
    columns = []
    for window, length in WINDOWS.items():
        inside = f"e.at >= l.event_timestamp - INTERVAL '{length // 1_000_000}' SECOND"
        for label, sql in AGGREGATES.items():
            call, _, condition = sql.partition(" FILTER (WHERE ")
            both = f"{inside} AND {condition}" if condition else f"{inside})"
            columns.append(f"{call} FILTER (WHERE {both} AS {label}_{window}")
    return ",\n  ".join(columns)


# An inner join, so that Spark may broadcast the labels; those without any event come back in the outer one.
JOIN = f"""
WITH joined AS (
  SELECT l.row, {_aggregates()}
  FROM labels AS l JOIN events AS e
    ON l.user_id = e.user_id AND e.at < l.event_timestamp AND e.at >= l.event_timestamp - INTERVAL '30' DAY
  GROUP BY l.row
)
SELECT l.*, j.* EXCEPT (row) FROM labels AS l LEFT JOIN joined AS j ON l.row = j.row
"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

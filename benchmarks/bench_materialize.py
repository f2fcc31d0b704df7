"""A refresh of 50 features from Parquet to Redis, beside raw pipelined SETs and beside Feast's Spark engine.

    python -m benchmarks.bench_materialize [--quick] [--rounds 3] [--seed 7]

All sides write into the same redis-server (the machine's own, without persistence), in turns; sessions are started and
warmed by a first turn that is left out. Ours is the whole of `store.materialize`: lease, gate, history, rows, head. All
that was written is read back by the lookup client and compared with the source. Exits with 1 where a value differs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.materialize import write_source
from benchmarks.report import fail, finish
from benchmarks.sides import Side, feast_python
from featurekit.offline.java import java_home

SIZES: Final = (100_000, 316_000, 1_000_000)
QUICK_SIZES: Final = (5_000, 10_000, 20_000)
FEATURES: Final = 50
FEAST: Final = "feast[redis,spark]==0.67.0"
Taken = dict[str, float]


@contextmanager
def redis_server(folder: Path) -> Iterator[int]:
    """Give the port of a redis-server of this machine, on the loopback, as long as the block runs."""
    program = shutil.which("redis-server")
    if program is None:
        fail("no redis-server on this machine (Debian: apt-get install redis-server)")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(folder)]
    process = subprocess.Popen([str(program), *options], stdout=subprocess.DEVNULL)
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.wait()


def measured(scratch: Path, sizes: Sequence[int], rounds: int, seed: int, *, beside: bool) -> dict[str, Any]:
    """Return every turn of each side: ours by size, raw SETs and Feast at the smallest; and what differs."""
    worlds = {size: scratch / str(size) for size in sizes}
    for size, world in worlds.items():
        write_source(world, entities=size, features=FEATURES, seed=seed)
    least = worlds[sizes[0]]
    turns: dict[str, list[Taken]] = {"raw": [], "feast": [], **{str(size): [] for size in sizes}}
    differing = 0
    with redis_server(scratch) as port:
        with Side(sys.executable, "benchmarks.materialize_sides", f"redis://127.0.0.1:{port}") as ours:
            ours.ask("ours", least)
            with _feast(scratch, port, beside=beside) as feast:
                if feast is not None:
                    feast.ask("feast", least)
                for _ in range(rounds):
                    turns[str(sizes[0])].append(ours.ask("ours", least))
                    turns["raw"].append(ours.ask("raw", least))
                    if feast is not None:
                        turns["feast"].append(feast.ask("feast", least))
        for size, world in worlds.items():
            # A session of its own: the peak of its memory is that of its size.
            with Side(sys.executable, "benchmarks.materialize_sides", f"redis://127.0.0.1:{port}") as ours:
                ours.ask("ours", world)
                turns[str(size)] += [ours.ask("ours", world) for _ in range(rounds)]
                differing += int(ours.ask("differ", world)["differ"])
    return {"turns": turns, "differ": differing}


@contextmanager
def _feast(scratch: Path, port: int, *, beside: bool) -> Iterator[Side | None]:
    if not beside:
        yield None
        return
    os.environ["JAVA_HOME"] = str(java_home(os.environ, scratch / "java"))
    with Side(feast_python("feast-spark", FEAST), "benchmarks.materialize_feast", str(scratch), str(port)) as side:
        yield side


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table and the RESULT line, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, and no Feast: does it run at all?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    sizes = QUICK_SIZES if options.quick else SIZES
    with tempfile.TemporaryDirectory(prefix="featurekit-materialize-") as folder:
        found = measured(Path(folder), sizes, options.rounds, options.seed, beside=not options.quick)
    medians = {name: _median(turns) for name, turns in found["turns"].items() if turns}
    print(f"{'':>16}     rows/s   wall s    CPU s   peak GiB")
    for name, one in medians.items():
        print(f"{name:>16} {one['speed']:10,.0f} {one['wall']:8.2f} {one['cpu']:8.2f} {one['gib']:10.2f}")
    least, most = medians[str(sizes[0])], medians[str(sizes[-1])]
    walls = [medians[str(size)]["wall"] for size in sizes]
    feast = medians.get("feast")
    values = {
        "rows_per_s": round(least["speed"]),
        "rows_per_s_1m": round(most["speed"]),
        "vs_raw": least["speed"] / medians["raw"]["speed"],
        **(
            {"vs_feast": least["speed"] / feast["speed"], "vs_feast_1m": most["speed"] / feast["speed"]}
            if feast
            else {}
        ),
        # On a machine that others use, too, this says more than the time that passed.
        **({"cpu_vs_feast": feast["cpu"] / least["cpu"]} if feast else {}),
        "exponent": float(np.polyfit(np.log(sizes), np.log(walls), 1)[0]),
        "peak_gib": most["gib"],
        "peak_gib_100k": least["gib"],
        "differ": found["differ"],
    }
    file = "bench-materialize-quick" if options.quick else None
    finish("bench-materialize", values, details=found["turns"], seed=options.seed, file=file)
    return 1 if found["differ"] else 0


def _median(turns: Sequence[Taken]) -> Taken:
    found = {key: statistics.median(turn[key] for turn in turns) for key in ("wall", "cpu", "gib")}
    return {**found, "speed": statistics.median(turn["rows"] / turn["wall"] for turn in turns)}


if __name__ == "__main__":
    sys.exit(main())

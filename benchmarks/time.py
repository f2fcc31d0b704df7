"""Training sets: how fast, beside a plain Spark join and beside Feast, on the same data in the same run.

    python -m benchmarks.time [--events 2000000 --entities 20000 --labels 100000 --rounds 3] [--only feast size join]

`join`  24 aggregates over four windows, keys alike and skewed, written as Parquet by both sides in one Spark session
`feast` ten latest values, as a pandas frame from both sides, each in its own process; a first round of each is left out
`size`  featurekit alone at 1x, 2x and 4x events, entities and labels, with the exponent that fits

Rounds alternate; times are medians, without the start of sessions. Values are compared with the other side's.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.report import finish
from benchmarks.sides import Side, feast_python
from benchmarks.time_compare import against_feast, differing_from_join
from benchmarks.time_data import Shape, write_latest_world, write_world

FEAST: Final = "feast[duckdb]==0.67.0"
# The share of the key of rank r is (r + 1)^-skew: with 0.7 a plain join goes through some 80 million pairs, which takes
# it minutes; with the 0.87 of many real logs it would be 450 million.
SKEW: Final = 0.7
SIZES: Final = (1, 2, 4)


def beside_join(scratch: Path, shape: Shape, rounds: int) -> dict[str, Any]:
    """Return medians of both sides on one shape of data, and in how many values they differ."""
    world = scratch / f"skew{shape.skew}"
    pairs = write_world(world, shape)
    runs: dict[str, list[dict[str, float]]] = {"ours": [], "join": []}
    with Side(sys.executable, "benchmarks.time_sides", str(scratch / "spark")) as side:
        side.ask("ours", world)  # workers and code that both need later
        for _ in range(rounds):
            for name, found in runs.items():
                found.append(side.ask(name, world))
    return {"pairs": pairs, "differ": differing_from_join(world), **_medians(runs), "runs": runs}


def beside_feast(scratch: Path, rows: int, labels: int, rounds: int, seed: int) -> dict[str, Any]:
    """Return medians of the three sides, and where their values differ."""
    world = scratch / "latest"
    write_latest_world(world, rows=rows, entities=max(1, rows // 10), labels=labels, seed=seed)
    python = feast_python("feast", FEAST)
    runs: dict[str, list[dict[str, float]]] = {"ours": [], "dask": [], "duckdb": []}
    with (
        Side(sys.executable, "benchmarks.time_sides", str(scratch / "spark")) as ours,
        Side(python, "benchmarks.time_feast", str(scratch), "dask") as dask,
        Side(python, "benchmarks.time_feast", str(scratch), "duckdb") as duckdb,
    ):
        sides = {"ours": (ours, "pandas"), "dask": (dask, "feast"), "duckdb": (duckdb, "feast")}
        for turn in range(rounds + 1):
            for name, (side, command) in sides.items():
                taken = side.ask(command, world)
                if turn:
                    runs[name].append(taken)
    compared = {store: against_feast(world, store) for store in ("dask", "duckdb")}
    return {**_medians(runs), "compared": compared, "runs": runs}


def by_size(scratch: Path, shape: Shape, rounds: int) -> dict[str, Any]:
    """Return featurekit's medians at each size, alone in its process, and the exponent of rows that fits them."""
    found: dict[int, dict[str, float]] = {}
    for factor in SIZES:
        world = scratch / f"size{factor}"
        write_world(world, shape.times(factor))
        with Side(sys.executable, "benchmarks.time_sides", str(scratch / "spark")) as side:
            side.ask("ours", world)
            runs = [side.ask("ours", world) for _ in range(rounds)]
        found[factor] = {key: statistics.median(run[key] for run in runs) for key in ("wall", "cpu", "gib")}
    walls = [found[factor]["wall"] for factor in SIZES]
    exponent = float(np.polyfit(np.log(SIZES), np.log(walls), 1)[0])
    return {"sizes": found, "exponent": exponent}


def _medians(runs: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, float]]:
    return {
        name: {key: statistics.median(run[key] for run in found) for key in ("wall", "cpu", "gib")}
        for name, found in runs.items()
    }


def _table(title: str, medians: dict[str, Any], names: Sequence[str]) -> None:
    print(f"{title:<34} wall s   CPU s   peak GiB")
    for name in names:
        found = medians[name]
        print(f"  {name:<30} {found['wall']:8.2f} {found['cpu']:7.2f} {found['gib']:10.2f}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Measure, print the tables and the RESULT line, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--entities", type=int, default=20_000)
    parser.add_argument("--labels", type=int, default=100_000)
    parser.add_argument("--feast-rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--skewed-rounds", type=int, default=1, help="a plain join takes minutes on skewed keys (1)")
    parser.add_argument("--only", nargs="*", choices=("feast", "size", "join"), default=("feast", "size", "join"))
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    values: dict[str, Any] = {}
    details: dict[str, Any] = {}
    shape = Shape(events=options.events, entities=options.entities, labels=options.labels, skew=0.0, seed=options.seed)
    with tempfile.TemporaryDirectory(prefix="featurekit-time-") as folder:
        scratch = Path(folder)
        if "feast" in options.only:
            found = details["feast"] = beside_feast(
                scratch, options.feast_rows, options.labels, options.rounds, options.seed
            )
            _table("ten latest values", found, ("ours", "dask", "duckdb"))
            for store in ("dask", "duckdb"):
                values[f"vs_feast_{store}"] = found[store]["wall"] / found["ours"]["wall"]
                print(f"  {store}: {found['compared'][store]}")
        if "size" in options.only:
            found = details["size"] = by_size(scratch, shape, options.rounds)
            _table("by size", {str(size): part for size, part in found["sizes"].items()}, [str(size) for size in SIZES])
            values["exponent"] = found["exponent"]
            values["peak_gib"] = found["sizes"][1]["gib"]
        if "join" in options.only:
            for name, skew, rounds in (("plain", 0.0, options.rounds), ("skew", SKEW, options.skewed_rounds)):
                skewed = Shape(**{**vars_of(shape), "skew": skew})
                found = details[name] = beside_join(scratch, skewed, rounds)
                _table(f"{name} keys, {found['pairs']:,} pairs", found, ("ours", "join"))
                values[f"{name}_vs_join"] = found["join"]["wall"] / found["ours"]["wall"]
    values["differ"] = sum(details[name]["differ"] for name in ("plain", "skew") if name in details)
    values["differ"] += sum(part["unexplained"] for part in details.get("feast", {}).get("compared", {}).values())
    finish("bench-time", values, details=details, seed=options.seed, file="bench-time")
    return 1 if values["differ"] else 0


def vars_of(shape: Shape) -> dict[str, Any]:
    return {name: getattr(shape, name) for name in Shape.__slots__}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

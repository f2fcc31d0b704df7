"""The first numbers: lookups, a refresh and an import, each beside its floor in the same run.

    python -m benchmarks.bench [--quick]

Exits with 1 where importing the client loads a library that it must not.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from benchmarks import bench_online, imports, materialize
from benchmarks.online_shapes import SHAPES
from benchmarks.online_turns import Timing, in_turns
from benchmarks.online_world import make_tables, publish_services, write_view
from benchmarks.report import finish
from featurekit.online import embedded

SEED: Final = 7
CLIENT: Final = "from featurekit.online.client import FeatureClient"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables and the RESULT line, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and entities: does it run at all?")
    quick = parser.parse_args(arguments).quick
    costs = imports.measure_all(("import featurekit", "import redis, numpy", CLIENT))
    imports.print_table(costs)
    with tempfile.TemporaryDirectory(prefix="featurekit-bench-") as folder:
        state = Path(folder) / "state"
        try:
            server = embedded.start(state)
            timings = _lookups(server.url, rounds=2 if quick else 5)
            bench_online.print_table(timings, {})
            speed = materialize.measure(
                Path(folder), entities=10_000 if quick else 100_000, features=50, rounds=2 if quick else 5, seed=SEED
            )
        finally:
            embedded.stop(state)
    print(f"\nmaterialize {speed.entities:,} x {speed.features}, rows of {speed.row_bytes} bytes")
    print(f"  featurekit {speed.rows_per_s:10,.0f} rows/s    MSET {speed.mset_rows_per_s:10,.0f} rows/s")
    client = costs[-1]
    forbidden = tuple(name for cost in (costs[0], client) for name in cost.loaded)
    finish(
        "bench",
        {
            "lookup_1x50_vs_raw": _vs_raw(timings["1x50_numbers"]),
            "lookup_100x50_vs_raw": _vs_raw(timings["100x50_numbers"]),
            "materialize_rows_per_s": round(speed.rows_per_s),
            "materialize_vs_mset": speed.vs_mset,
            "import_ms": client.ms,
            "import_rss_mb": client.rss_mib,
        },
        details={
            "imports": [asdict(cost) for cost in costs],
            "lookup": bench_online.details(timings),
            "materialize": asdict(speed),
            "heavy_libraries_loaded": forbidden,
        },
        seed=SEED,
    )
    return 1 if forbidden else 0


def _lookups(url: str, *, rounds: int) -> bench_online.Results:
    """Return what lookups of fifty numbers take, of one entity and of a hundred."""
    spaces = {view: write_view(url, view, table) for view, table in make_tables(SEED).items()}
    publish_services(url)
    shapes = [shape for shape in SHAPES if shape.name in ("1x50_numbers", "100x50_numbers")]
    with asyncio.Runner() as runner, bench_online.Sides(url, spaces, runner, feast=None) as sides:
        return {shape.name: in_turns(sides.forms(shape), rounds=rounds, turns=2) for shape in shapes}


def _vs_raw(forms: Mapping[str, Timing]) -> float:
    return forms["numpy"].over(forms["raw"])


if __name__ == "__main__":
    sys.exit(main())

"""The first numbers: lookups, a refresh and an import, each beside its floor in the same run.

    python -m benchmarks.bench [--quick]

Exits with 1 where importing the client loads a library that it must not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from benchmarks import imports, lookup, materialize
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
            timings = lookup.measure(server.url, rounds=2 if quick else 5, calls=200 if quick else 1000, seed=SEED)
            lookup.print_table(timings)
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
            "lookup_1x50_vs_raw": timings.get("numpy", 1, 50).vs_raw,
            "lookup_100x50_vs_raw": timings.get("numpy", 100, 50).vs_raw,
            "materialize_rows_per_s": round(speed.rows_per_s),
            "materialize_vs_mset": speed.vs_mset,
            "import_ms": client.ms,
            "import_rss_mb": client.rss_mib,
        },
        details={
            "imports": [asdict(cost) for cost in costs],
            "lookup": asdict(timings),
            "materialize": asdict(speed),
            "heavy_libraries_loaded": forbidden,
        },
        seed=SEED,
    )
    return 1 if forbidden else 0


if __name__ == "__main__":
    sys.exit(main())

"""What importing the lookup client costs, beside redis-py and NumPy alone, and what it must not load.

    python -m benchmarks.bench_imports [--rounds 15]

Medians of fresh processes, in turns. Exits with 1 where a library is loaded that a client must not need.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from benchmarks import imports
from benchmarks.report import finish

CLIENT: Final = "from featurekit import FeatureClient"
STATEMENTS: Final = (
    "pass",
    "import redis, numpy",
    "import featurekit",
    CLIENT,
    "from featurekit import AsyncFeatureClient",
)


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table and the RESULT line, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    costs = imports.measure_all(STATEMENTS, rounds=parser.parse_args(arguments).rounds)
    imports.print_table(costs)
    client = next(cost for cost in costs if cost.statement == CLIENT)
    loaded = sorted({name for cost in costs if "featurekit" in cost.statement for name in cost.loaded})
    finish(
        "bench-imports",
        {"ms": client.ms, "cpu_ms": client.cpu_ms, "rss_mib": client.rss_mib, "loaded": ",".join(loaded) or "none"},
        details=[asdict(cost) for cost in costs],
        file="bench-imports",
    )
    return 1 if loaded else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

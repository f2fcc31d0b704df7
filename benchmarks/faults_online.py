"""Everything that breaks around the online store, broken on purpose again and again, with counts of what came of it.

    python -m benchmarks.faults_online [--quick] [--only restart sentinel] [--seed 7]

`kill_materialize`  the materializing process killed at random points, and run again
`restart`           the store's server killed and started under lookups, with its data and without; clocks that jump
`sentinel`          masters lost, and a replica promoted by Sentinel
`cluster`           nodes of a cluster lost, and slots moved
`switch`            registrations and rollbacks under lookups

Each part is a module of benchmarks.faults and a command of its own. Exits with 1 where anything was torn, lost, stale
over new, mixed or wrong, or an error was one that nobody declared.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.report import finish

SEED: Final = 7
# What must not happen, and what must have been tried: the sums over the parts.
_BAD: Final = ("torn", "lost", "stale_over_new", "mixed", "wrong", "unexplained_errors")
_SUMS: Final = ("kills", "torn", "lost", "stale_over_new", "switch_lookups", "mixed", "wrong", "unexplained_errors")


class Rounds(NamedTuple):
    whole: int
    quick: int


PARTS: Final[Mapping[str, Rounds]] = {
    "kill_materialize": Rounds(100, 3),
    "restart": Rounds(20, 2),
    "sentinel": Rounds(20, 1),
    "cluster": Rounds(20, 1),
    "switch": Rounds(100, 3),
}


def main(arguments: Sequence[str]) -> int:
    """Break everything, print the counts and the RESULT line, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few rounds of each: does it run at all?")
    parser.add_argument("--only", nargs="*", choices=tuple(PARTS), default=tuple(PARTS), help="these parts")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    details: dict[str, dict[str, Any]] = {}
    for name in options.only:
        rounds = PARTS[name].quick if options.quick else PARTS[name].whole
        part = importlib.import_module(f"benchmarks.faults.{name}")
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="featurekit-faults-") as folder:
            found = part.run(Path(folder), rounds=rounds, seed=options.seed, quick=options.quick)
        details[name] = {**found, "rounds": rounds, "seconds": round(time.monotonic() - started)}
        print(f"{name}: " + " ".join(f"{key}={value}" for key, value in details[name].items()), flush=True)
    values = {key: sum(found.get(key, 0) for found in details.values()) for key in _SUMS}
    finish("faults-online", values, details=details, seed=options.seed, file="faults-online")
    return 1 if any(values[key] for key in _BAD) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What importing costs: milliseconds and memory in a fresh process, and proof of what it does not load."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

HEAVY: Final = ("pyspark", "pandas", "pyarrow", "sqlglot", "pydantic", "great_expectations", "sqlalchemy", "yaml")
_PROBE: Final = """
import json, sys, time
start, cpu = time.perf_counter(), time.process_time()
{statement}
elapsed, cpu = time.perf_counter() - start, time.process_time() - cpu
# Not getrusage: its peak counts the parent, from before this process became another program.
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({{
    "ms": elapsed * 1000,
    "cpu_ms": cpu * 1000,
    "rss_mib": int(peak) / 1024,
    "loaded": [name for name in {heavy!r} if name in sys.modules],
}}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCost:
    """The median of several fresh processes; `loaded` are heavy libraries that came along."""

    statement: str
    ms: float
    cpu_ms: float  # what is left of it where other processes wait for the same cores
    rss_mib: float
    loaded: tuple[str, ...]


def measure_all(statements: Sequence[str], *, rounds: int = 7) -> list[ImportCost]:
    """Return what each statement costs in a fresh interpreter; they take turns."""
    found: dict[str, list[dict[str, Any]]] = {statement: [] for statement in statements}
    for _ in range(rounds):
        for statement, costs in found.items():
            costs.append(_once(statement))
    return [
        ImportCost(
            statement=statement,
            ms=statistics.median(one["ms"] for one in costs),
            cpu_ms=statistics.median(one["cpu_ms"] for one in costs),
            rss_mib=statistics.median(one["rss_mib"] for one in costs),
            loaded=tuple(costs[0]["loaded"]),
        )
        for statement, costs in found.items()
    ]


def print_table(costs: Sequence[ImportCost]) -> None:
    """Print the costs, a line each."""
    print("import, fresh process                             ms  CPU ms  RSS MiB")
    for cost in costs:
        loaded = f"  loads {', '.join(cost.loaded)}" if cost.loaded else ""
        print(f"{cost.statement[-44:]:44} {cost.ms:7.1f} {cost.cpu_ms:7.1f} {cost.rss_mib:8.1f}{loaded}")


def _once(statement: str) -> dict[str, Any]:
    probe = _PROBE.format(statement=statement, heavy=HEAVY)
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found

"""What importing costs: milliseconds and memory in a fresh process, and proof of what it does not load."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Final

HEAVY: Final = ("pyspark", "pandas", "pyarrow", "sqlglot", "pydantic", "great_expectations", "sqlalchemy", "yaml")
_PROBE: Final = """
import json, sys, time
start = time.perf_counter()
{statement}
elapsed = time.perf_counter() - start
# Not getrusage: its peak counts the parent, from before this process became another program.
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({{
    "ms": elapsed * 1000,
    "rss_mib": int(peak) / 1024,
    "loaded": [name for name in {heavy!r} if name in sys.modules],
}}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCost:
    """The median of several fresh processes; `loaded` are heavy libraries that came along."""

    statement: str
    ms: float
    rss_mib: float
    loaded: tuple[str, ...]


def measure(statement: str, *, rounds: int = 7) -> ImportCost:
    """Return what a statement costs in a fresh interpreter."""
    found = [_once(statement) for _ in range(rounds)]
    return ImportCost(
        statement=statement,
        ms=statistics.median(one["ms"] for one in found),
        rss_mib=statistics.median(one["rss_mib"] for one in found),
        loaded=tuple(found[0]["loaded"]),
    )


def _once(statement: str) -> dict[str, Any]:
    probe = _PROBE.format(statement=statement, heavy=HEAVY)
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found

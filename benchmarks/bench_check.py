"""What checks cost: an audit of 1,000 entities × 50 features, a replay of 100,000 requests, the log on the lookup path.

    python -m benchmarks.bench_check [--entities 10000] [--requests 100000] [--sizes] [--world FOLDER]

Each audit and replay is a command in a process of its own, so it is timed with Spark's start. Nothing was planted: a
difference that one of them finds fails the run. `--sizes` also times other sizes of the sample; `--world` keeps the
world in a folder, and takes the one that is there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks import served_log
from benchmarks.check_world import FEATURES, SERVICE, command, serve_world, write_world
from benchmarks.report import finish
from featurekit.online import embedded

SEED: Final = 11
ENTITIES: Final = 1_000
AUDIT_SIZES: Final = (100, ENTITIES, 10_000)
REPLAY_SIZES: Final = (100, 1_000, 10_000)
_LIMIT_S: Final = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One command: what it looked at, how long it took, and how many values it found to differ."""

    kind: str
    rows: int
    values: int
    seconds: float
    differing: int
    exit_code: int

    @property
    def is_clean(self) -> bool:
        return self.exit_code == 0 and not self.differing and self.values > 0


def audit(folder: Path, entities: int) -> Run:
    """Return what an audit of so many entities comes to."""
    exit_code, document, seconds = _timed(folder, "check", "--max-entities", str(entities), "--json")
    (view,) = document["views"]
    return Run(
        kind="audit",
        rows=view["entities"]["sampled"],
        values=document["cells"],
        seconds=seconds,
        differing=document["mismatches"],
        exit_code=exit_code,
    )


def replay(folder: Path, requests: int) -> Run:
    """Return what a replay of so many requests comes to."""
    words = ("check", "--replay", str(folder / "served"), SERVICE, "--max-requests", str(requests), "--json")
    exit_code, document, seconds = _timed(folder, *words)
    (service,) = document["services"]
    values = service["values"]
    return Run(
        kind="replay",
        rows=service["rows"]["sampled"],
        values=values["compared"],
        seconds=seconds,
        differing=values["logic"] + values["evaluator"],
        exit_code=exit_code,
    )


def _timed(folder: Path, *words: str) -> tuple[int, Any, float]:
    """Run a command as a process of its own; return its exit code, its document and how long it took."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "featurekit.cli.app", *command(folder, *words)],
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    seconds = time.monotonic() - started
    if done.returncode not in (0, 1):
        raise AssertionError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.returncode, json.loads(done.stdout), seconds


def main() -> None:
    """Make a world, or take the one that is there, and measure in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--world", type=Path)
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = asked.world or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "world"
        stack.callback(embedded.stop, folder / ".featurekit")
        if not folder.exists():
            write_world(folder, entities=asked.entities, seed=SEED)
            serve_world(folder, entities=asked.entities, requests=asked.requests, seed=SEED)
        whole = audit(folder, ENTITIES), replay(folder, asked.requests)
        others = [audit(folder, size) for size in AUDIT_SIZES if size != ENTITIES] if asked.sizes else []
        others += [replay(folder, size) for size in REPLAY_SIZES] if asked.sizes else []
        costs = served_log.measured(rounds=5, calls=1000)
    runs = sorted([*whole, *others], key=lambda run: (run.kind, run.rows))
    print(f"{'':8} {'rows':>8} {'values':>10} {'seconds':>8} {'differ':>7}")
    for run in runs:
        print(f"{run.kind:8} {run.rows:>8,} {run.values:>10,} {run.seconds:8.1f} {run.differing:>7,}")
    served_log.show(costs)
    values = {
        "audit_s": whole[0].seconds,
        "replay_s": whole[1].seconds,
        "log_overhead_p50": max(cost.p50_ratio for cost in costs),
        "entities": whole[0].rows,
        "features": FEATURES,
        "requests": whole[1].rows,
        "differing": sum(run.differing for run in runs),
    }
    finish(
        "bench-check",
        values,
        details={"runs": [asdict(run) for run in runs], "log": [asdict(c) for c in costs]},
        seed=SEED,
    )
    sys.exit(0 if all(run.is_clean for run in runs) else 1)


if __name__ == "__main__":
    main()

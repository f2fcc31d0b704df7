"""Worlds drawn from seeds: `materialize`, the sweep, `point_in_time` and a plain reference give the same bits.

Seeds come in rounds of a few worlds that share definitions, so that one Spark job computes them all. A round in which
something differs is shrunk to the smallest world that still does, and printed as a test.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import getcontext
from pathlib import Path
from typing import Final

from benchmarks.agree_shrink import EngineAt, as_test, shrink
from benchmarks.report import finish
from featurekit.config import Settings
from featurekit.offline.session import SparkEngine, start_engine
from tests.offline.drawn_paths import Difference, compare_round
from tests.offline.drawn_worlds import WORLDS, Round, drawn_round

_SHOWN: Final = 5
_SHRUNK: Final = 3  # a defect shows in many rounds: the first few say what it is


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResult:
    number: int
    seeds: int
    rows: dict[str, int]
    differ: int
    first: str | None
    seconds: float


def compare_seeds(first: int, count: int) -> int:
    """Compare the worlds of seeds `first` and on; return the exit code, 1 where something differs."""
    getcontext().prec = 80
    started = time.monotonic()
    results = []
    with tempfile.TemporaryDirectory(prefix="featurekit-agree-") as scratch:

        def engine_at(root: Path) -> SparkEngine:
            return start_engine(Settings(root=root, state=Path(scratch) / "state", spark_master="local[2]"))

        engine = engine_at(Path(scratch))
        for number, seeds in rounds(first, count):
            drawn = drawn_round(number, seeds)
            result, differences = _compare(engine_at, Path(scratch) / f"round{number}", drawn, len(seeds))
            results.append(result)
            if differences and sum(one.differ > 0 for one in results) <= _SHRUNK:
                folder = Path(scratch) / f"shrink{number}"
                print(as_test(*shrink(engine_at, folder, drawn, differences[0])), flush=True)
        engine.stop()
    differ = sum(result.differ for result in results)
    rows = sum((Counter(result.rows) for result in results), Counter[str]())
    finish(
        "agree",
        {
            "seeds": count,
            "rows": rows.total(),
            **rows,
            "differ": differ,
            "seconds": round(time.monotonic() - started),
        },
        seed=first,
        details={"rounds": [asdict(result) for result in results]},
        file="agree_seeds",
    )
    return 1 if differ else 0


def rounds(first: int, count: int) -> list[tuple[int, Sequence[int]]]:
    """Return the seeds by round: a seed is always of the same one."""
    numbers = range(first // WORLDS, (first + count - 1) // WORLDS + 1)
    asked = range(first, first + count)
    return [(number, [seed for seed in asked if seed // WORLDS == number]) for number in numbers]


def _compare(engine_at: EngineAt, base: Path, drawn: Round, seeds: int) -> tuple[RoundResult, tuple[Difference, ...]]:
    started = time.monotonic()
    outcome = compare_round(engine_at(base), base, drawn)
    result = RoundResult(
        number=drawn.number,
        seeds=seeds,
        rows=dict(outcome.rows),
        differ=len(outcome.differences),
        first=str(outcome.differences[0]) if outcome.differences else None,
        seconds=round(time.monotonic() - started, 1),
    )
    zone = drawn.views[0].meaning.source.zone
    rows = sum(result.rows.values())
    line = f"round {result.number:>3}: {seeds} seeds near {zone:<20} {rows:>5} rows, {result.differ} differ"
    print(f"{line}, {result.seconds:.0f} s", flush=True)
    for difference in outcome.differences[:_SHOWN]:
        print(f"  {difference}", flush=True)
    return result, outcome.differences

"""Random typed expressions on random rows: Spark beside every evaluator of ours, bit by bit.

    python -m benchmarks.fuzz [--cells 1000000] [--seed 1 --seed 2 …] [--rows 1000]

A cell is one expression on one row. What differs is shrunk to a line for tests/semantics/*.sql: record it there.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from functools import partial

from benchmarks.report import finish
from featurekit.expr.functions import FUNCTIONS
from tests.semantics import session
from tests.semantics.draws import ROWS
from tests.semantics.fuzz import TARGETS, Fuzz, Tally

_SHOWN = 40


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cells", type=int, default=1_000_000, help="cells for each seed (1,000,000)")
    parser.add_argument("--seed", type=int, action="append", help="what is drawn; may be repeated (1, 2 and 3)")
    parser.add_argument("--rows", type=int, default=1000, help="rows of the table (1000)")
    parser.add_argument("--function", action="append", help="only this function as the root; may be repeated")
    options = parser.parse_args(arguments)
    spark = session.start()
    tallies: list[Tally] = []
    seeds = options.seed or [1, 2, 3]
    started = time.monotonic()
    for seed in seeds:
        fuzz = Fuzz(spark, seed, options.rows, only=options.function)
        tally = fuzz.run(options.cells, partial(_progress, seed, started))
        print(_line(seed, tally), flush=True)
        for difference in tally.differences[:_SHOWN]:
            print(f"  {difference}")
        tallies.append(tally)
    depths = [depth for tally in tallies for depth in tally.depths]
    cells = sum(tally.cells for tally in tallies)
    functions = set().union(*(tally.functions for tally in tallies))
    never = sorted({row.name for row in ROWS} - functions) if options.function is None else []
    differ = sum(len(tally.differences) for tally in tallies)
    finish(
        "fuzz",
        {
            "cells": cells,
            "expressions": len(set().union(*(tally.expressions for tally in tallies))),
            "functions": len(functions & FUNCTIONS.keys()),
            "depth_median": int(statistics.median(depths)),
            "depth_max": max(depths),
            "null_share": round(sum(tally.nulls for tally in tallies) / cells, 3),
            "targets": "+".join(("spark", *TARGETS)),
            "seeds": ",".join(map(str, seeds)),
            "seconds": round(time.monotonic() - started),
            "differ": differ,
        },
        seed=seeds[0],
        details={
            "never_drawn": never,
            "differences": [str(difference) for tally in tallies for difference in tally.differences[:_SHOWN]],
        },
    )
    if never:
        print(f"never drawn: {', '.join(never)}", file=sys.stderr)
    return 1 if differ or never else 0


def _line(seed: int, tally: Tally) -> str:
    return f"seed {seed}: {tally.cells} cells, {len(tally.expressions)} expressions, {len(tally.differences)} differ"


def _progress(seed: int, started: float, tally: Tally) -> None:
    if sys.stderr.isatty():
        print(f"\r{_line(seed, tally)}, {time.monotonic() - started:.0f} s", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

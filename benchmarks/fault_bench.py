"""Faults planted one at a time and in pairs, in all rows, in a tenth and in a hundredth: seen, and rightly named?

    python -m benchmarks.fault_bench [--quick] [--only KIND …] [--shares 1 0.1 0.01] [--no-clean] [--seed 7]

A live run: flights in Parquet, Spark, a Redis-compatible server, the lookup client, `check`. Each kind is planted where
it sits in real pipelines (see benchmarks.planted), written by the real writer under the honest key space, checked, and
put back. What a right name of a kind is stands beside it. A share of 0.01 means that the rows of a hundredth of all
entities are wrong, chosen by a hash of their keys among those that the fault changes at all (all of them, where those
are fewer).

`named_first` is the share of single faults whose first cause, in the order of the report, is right; `pairs_named_first`
that of pairs whose first two causes are right, one for each fault; `cells_named` is the mean share of differing cells
whose cause is right. `unknown` counts what was named by no cause, `wrong` what was named by a wrong one. Clean runs
(see benchmarks.planted.clean) plant nothing: each finding there is a false alarm. `--workers` are processes with a
world each, that take what nobody has begun.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from benchmarks.planted.clean import DAYS, CleanRun, clean_runs
from benchmarks.planted.flights import AT
from benchmarks.planted.judge import Case, judged
from benchmarks.planted.kind import Kind
from benchmarks.planted.kinds import KINDS, PAIRS
from benchmarks.planted.world import World
from benchmarks.report import finish
from featurekit.consistency.sample import SampleRule

SEED: Final = 7
SHARES: Final = (1.0, 0.1, 0.01)
SAMPLE: Final = 1000
QUICK: Final = ("null → 0", "previous refresh", "training takes a logarithm that serving forgets", "rows missing")


def run_cases(world: World, cases: Iterable[tuple[Kind, ...]], shares: Sequence[float]) -> Iterator[Case]:
    """Yield each case as it ends: plant, check, put back."""
    for kinds in cases:
        rows = world.rows_of(kinds)
        for share in shares if not any(kind.everywhere for kind in kinds) else (1.0,):
            started = time.monotonic()
            rule = SampleRule(max_entities=SAMPLE, seed=str(world.seed))
            with world.planted(kinds, rows, share) as hits:
                (view,) = world.store.check([kinds[0].view], sample=rule, at=AT, record=False).views
            yield judged(kinds, share, hits, view, time.monotonic() - started)


def shown(case: Case) -> str:
    """Return a line about a case."""
    mark = "ok" if case.named_first else "unknown" if case.unnamed else "WRONG"
    what = ", ".join(f"{cause} ×{cells}" for cause, cells in case.named[:4])
    also = f" (also {', '.join(sorted(case.also))})" if case.also else ""
    wanted = "" if case.named_first else f"; right: {' + '.join('/'.join(sorted(each)) for each in case.right)}"
    return f"{mark:8} {' + '.join(case.kinds)} @ {case.share:g}: {what}{also}{wanted}  {case.seconds:.1f} s"


def confusion(cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    """Return for each kind, or pair, how often which cause was named first."""
    found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for case in cases:
        found[" + ".join(case.kinds)][case.first] += 1
    return {kind: dict(firsts) for kind, firsts in found.items()}


def _document(case: Case) -> dict[str, Any]:
    return {
        **asdict(case),
        "also": sorted(case.also),
        "right": [sorted(right) for right in case.right],
        "named_first": case.named_first,
        "seconds": round(case.seconds, 1),
    }


def share_named(cases: Sequence[Case]) -> float:
    return sum(case.named_first for case in cases) / len(cases) if cases else 0.0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="four kinds, a pair and a clean run: does it run at all?")
    parser.add_argument("--only", nargs="*", choices=tuple(KINDS), help="these kinds, and no pairs")
    parser.add_argument("--shares", nargs="*", type=float, default=SHARES, help="of the rows that are wrong")
    parser.add_argument("--no-pairs", action="store_true", help="only single faults")
    parser.add_argument("--no-clean", action="store_true", help="only faults")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that share the cases")
    parser.add_argument("--taking", type=Path, help=argparse.SUPPRESS)  # where workers say what they have begun
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="featurekit-planted-") as scratch:
        folder = Path(scratch)
        if options.taking is not None:
            found = measure(folder, options)
            (options.taking / f"{os.getpid()}.found").write_bytes(pickle.dumps(found))
            return 0
        if options.workers > 1:
            return report(*measure_together(folder, options.workers, arguments), options)
        return report(*measure(folder, options), options)


def measure_together(folder: Path, workers: int, arguments: Sequence[str]) -> tuple[list[Case], list[CleanRun]]:
    """Return what so many processes measured; SystemExit where one of them failed."""
    command = [sys.executable, "-m", "benchmarks.fault_bench", *arguments, "--taking", str(folder)]
    running = [subprocess.Popen(command) for _ in range(workers)]
    codes = [worker.wait() for worker in running]
    if any(codes):
        raise SystemExit(70)
    cases, clean = [], []
    for path in folder.glob("*.found"):
        theirs = pickle.loads(path.read_bytes())
        cases += theirs[0]
        clean += theirs[1]
    order = [*((name,) for name in KINDS), *(tuple(kind.name for kind in pair) for pair in PAIRS)]
    return sorted(cases, key=lambda case: (order.index(case.kinds), -case.share)), clean


def _taken(folder: Path | None, what: str) -> bool:
    """Return whether it is this process that does something: the first that asks."""
    if folder is None:
        return True
    try:
        (folder / f"{what}.begun").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def measure(folder: Path, options: argparse.Namespace) -> tuple[list[Case], list[CleanRun]]:
    """Return what came of the faults that were asked for and of the clean runs; each is printed as it ends."""
    chosen = [KINDS[name] for name in options.only or (QUICK if options.quick else KINDS)]
    pairs = () if options.no_pairs or options.only else PAIRS[:1] if options.quick else PAIRS
    started = time.monotonic()
    world = World(folder / "planted", seed=options.seed, views=tuple(dict.fromkeys(kind.view for kind in chosen)))
    print(f"the world is there after {time.monotonic() - started:.0f} s", flush=True)
    cases, clean = [], []
    asked = [*((kind,) for kind in chosen), *pairs]
    ours = (kinds for number, kinds in enumerate(asked) if _taken(options.taking, str(number)))
    try:
        for case in run_cases(world, ours, options.shares):
            cases.append(case)
            print(shown(case), flush=True)
    finally:
        world.close()
    if not options.no_clean and _taken(options.taking, "clean"):
        departures = folder / "planted" / "flights" / "departures.parquet"
        for one in clean_runs(folder / "clean", departures, seed=options.seed, days=1 if options.quick else DAYS):
            clean.append(one)
            print(f"clean    {one.at} after {one.after}: {one.cells} cells", *one.alarms, sep="\nALARM    ", flush=True)
    return cases, clean


def report(cases: Sequence[Case], clean: Sequence[CleanRun], options: argparse.Namespace) -> int:
    """Print the result; return 1 where a fault was not seen or an alarm was false, else 0."""
    singles = [case for case in cases if len(case.kinds) == 1]
    without_effect = sum(not case.differing for case in cases)
    undetected = sum(not case.detected for case in cases)
    alarms = sum(len(one.alarms) for one in clean)
    values: dict[str, Any] = {
        "kinds": len({case.kinds for case in singles}),
        "cases": len(cases),
        "detected": f"{len(cases) - undetected}/{len(cases)}",
        "named_first": share_named(singles),
        "pairs_named_first": share_named([case for case in cases if len(case.kinds) == 2]),
        "cells_named": sum(case.right_share for case in cases) / max(len(cases), 1),
        "unknown": sum(case.unnamed and not case.named_first for case in cases),
        "wrong": sum(not case.unnamed and not case.named_first for case in cases),
        "clean_runs": len(clean),
        "false_alarms": alarms,
    }
    for kind, firsts in confusion(cases).items():
        print(f"{kind}: " + ", ".join(f"{cause} ×{count}" for cause, count in firsts.items()))
    if without_effect:
        print(f"{without_effect} cases changed no sampled cell: the world is the wrong one for them")
    part = options.only or options.quick or options.no_pairs or options.no_clean or tuple(options.shares) != SHARES
    finish(
        "fault-bench",
        values,
        details={
            "confusion": confusion(cases),
            "cases": [_document(case) for case in cases],
            "clean": [asdict(one) for one in clean],
        },
        seed=options.seed,
        file="fault-bench-part" if part else None,
    )
    return 1 if undetected or alarms else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

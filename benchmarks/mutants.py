"""Defects seeded on purpose, and whether what is recorded and tested sees each of them.

    python -m benchmarks.mutants [--only TEXT] [--workers 2]

A defect is one text replaced by another in a copy of the tree (`mutants_list`). First every recorded case is run there
on both evaluators (`mutants_quick`), then the tests that need no JVM. One that neither sees has survived: then a case
or a test is missing. A text that is not found exactly once is an error: the list follows the code.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue
from typing import Final

from benchmarks.mutants_base import Mutant
from benchmarks.mutants_list import MUTANTS
from benchmarks.mutants_quick import DIFFERS
from benchmarks.report import fail, finish

ROOT: Final = Path(__file__).parents[1]
_COPIED: Final = ("featurekit", "tests", "benchmarks", "feature_defs", "jobs", "docs")
_IGNORED: Final = shutil.ignore_patterns("__pycache__", "results", "spark-warehouse")
# The recorded cases, which the quick leg runs, are left away here.
_TESTS: Final = ("tests/targets", "tests/expr", "tests/types", "tests/aggregates", "tests/offline", "tests/semantics")
_AGGREGATE_TESTS: Final = ("tests/test_exact.py", "tests/test_lower_aggregates.py", *_TESTS[3:], *_TESTS[:3])
_WITHOUT_CASES: Final = ("aggregates/", "exact.py", "targets/arrow.py")
"""Files whose defects no recorded case can see."""
_PATIENCE_S: Final = 900


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one defect: the leg that saw it (None: it survived), and what it saw."""

    mutant: Mutant
    leg: str | None
    seen: str
    seconds: float


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.mutants", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="those whose file or meaning has this text")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--trust", action="store_true", help="don't run the tree without defects first")
    options = parser.parse_args(arguments)
    chosen = [mutant for mutant in MUTANTS if options.only in f"{mutant.file} {mutant.what}"]
    if mistakes := [mistake for mutant in chosen if (mistake := mutant.mistake(ROOT))]:
        fail("\n".join(mistakes))
    start = time.monotonic()
    with _trees(options.workers) as trees:
        if not options.trust:
            _check_unchanged(trees)
        outcomes = list(_outcomes(chosen, trees, options.workers))
    survived = [outcome for outcome in outcomes if outcome.leg is None]
    print(f"\n{len(survived)} survived{':' if survived else ''}")
    for outcome in survived:
        print(f"  {outcome.mutant.file}: {outcome.mutant.what}")
    values = {
        "seeded": len(outcomes),
        "caught": len(outcomes) - len(survived),
        "by_cases": sum(outcome.leg == "cases" for outcome in outcomes),
        "by_tests": sum(outcome.leg == "tests" for outcome in outcomes),
        "files": len({mutant.file for mutant in chosen}),
        "minutes": (time.monotonic() - start) / 60,
    }
    finish("mutants", values, details=[asdict(outcome) for outcome in outcomes])
    return 1 if survived else 0


@contextmanager
def _trees(count: int) -> Iterator[Queue[Path]]:
    """Yield copies of the tree, one for each worker."""
    with tempfile.TemporaryDirectory(prefix="featurekit-mutants-") as folder:
        trees: Queue[Path] = Queue()
        for number in range(count):
            tree = Path(folder, str(number))
            for name in _COPIED:
                shutil.copytree(ROOT / name, tree / name, ignore=_IGNORED)
            for file in ROOT.iterdir():
                if file.is_file():
                    shutil.copy2(file, tree / file.name)
            trees.put(tree)
        yield trees


def _check_unchanged(trees: Queue[Path]) -> None:
    """End the command where the tree fails without any defect: nothing would be told then."""
    tree = trees.get()
    for seen in (_by_cases(tree), _by_tests(tree, "")):
        if seen is not None:
            fail(f"the tree fails as it is: {seen}")
    trees.put(tree)


def _outcomes(mutants: Sequence[Mutant], trees: Queue[Path], workers: int) -> Iterator[Outcome]:
    printing = threading.Lock()

    def judged(mutant: Mutant) -> Outcome:
        tree = trees.get()
        start = time.monotonic()
        with _defect(tree / "featurekit" / mutant.file, mutant):
            leg, seen = _seen(tree, mutant)
        trees.put(tree)
        outcome = Outcome(mutant, leg, seen, round(time.monotonic() - start, 1))
        with printing:
            print(f"{leg or 'SURVIVED':<9}{outcome.seconds:>6.1f} s  {mutant.family:<28} {mutant.what}", flush=True)
        return outcome

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(judged, mutants)


@contextmanager
def _defect(path: Path, mutant: Mutant) -> Iterator[None]:
    """Seed the defect in a file, and take it out again; no compiled module of either outlives it."""
    text = path.read_text(encoding="utf-8")
    compiled = Path(importlib.util.cache_from_source(str(path)))
    try:
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        compiled.unlink(missing_ok=True)
        yield
    finally:
        path.write_text(text, encoding="utf-8")
        compiled.unlink(missing_ok=True)


def _seen(tree: Path, mutant: Mutant) -> tuple[str | None, str]:
    if not mutant.file.startswith(_WITHOUT_CASES) and (seen := _by_cases(tree)) is not None:
        return "cases", seen
    if (seen := _by_tests(tree, mutant.file)) is not None:
        return "tests", seen
    return None, ""


def _by_cases(tree: Path) -> str | None:
    """Return what the recorded cases see, None where all are as recorded."""
    done = _run(tree, "benchmarks.mutants_quick")
    if done is None:
        return "it never ends"
    if done.returncode == 0:
        return None
    return done.stdout.strip() if done.returncode == DIFFERS else f"no case runs: {done.stderr.strip()[-500:]}"


def _by_tests(tree: Path, file: str) -> str | None:
    """Return the first test that fails, None where none does; the examples in the file itself come first."""
    folders = _AGGREGATE_TESTS if file.startswith(("aggregates/", "exact.py")) else _TESTS
    paths = [folder for folder in folders if (tree / folder).exists()]
    examples = [f"featurekit/{file}"] if file else []
    done = _run(
        tree, "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not spark",
        "--ignore=tests/semantics/test_targets.py", *examples, *paths,
    )  # fmt: skip
    if done is None:
        return "it never ends"
    if done.returncode == 0:
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0] if lines else f"{done.stdout[-300:]}{done.stderr[-300:]}"


def _run(tree: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    """Run a module in a tree, whose own packages come before those that are installed; None where it does not end."""
    environ = {**os.environ, "PYTHONPATH": str(tree)}
    try:
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=tree, env=environ, capture_output=True, text=True, check=False, timeout=_PATIENCE_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

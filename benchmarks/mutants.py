"""Defects seeded on purpose, and whether what is recorded and tested sees each of them.

    python -m benchmarks.mutants [--only TEXT] [--workers 2]

A defect is one text replaced by another in a copy of the tree (`mutants_list`). First every recorded case is run there
on both evaluators (`mutants_quick`), then the tests that need no JVM. A defect of the SQL that we render is judged by
Spark (`mutants_spark`). One that nothing sees has survived: then a case or a test is missing. A text that is not found
exactly once is an error: the list follows the code.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
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
from benchmarks.mutants_sql import SQL
from benchmarks.report import fail, finish
from featurekit.offline.java import java_home

ROOT: Final = Path(__file__).parents[1]
_COPIED: Final = ("featurekit", "tests", "benchmarks", "feature_defs", "jobs", "docs")
_IGNORED: Final = shutil.ignore_patterns("__pycache__", "results", "spark-warehouse")
# The recorded cases, which the quick leg runs, are left away here.
_TESTS: Final = (
    "tests/expr", "tests/semantics/test_own_meaning.py", "tests/targets", "tests/types", "tests/aggregates",
    "tests/offline", "tests/semantics",
)  # fmt: skip
_AGGREGATE_TESTS: Final = (
    "tests/test_exact.py", "tests/aggregates/test_values.py", "tests/aggregates/test_hyperloglog.py",
    "tests/aggregates", "tests/test_lower_aggregates.py", *_TESTS,
)  # fmt: skip
# Where Spark's own meaning is not ours, nothing is recorded: these hold both paths to each other, in Spark.
_SPARK_TESTS: Final = tuple(
    f"tests/{name}.py"
    for name in (
        "semantics/test_own_meaning",
        "semantics/test_time_extremes",
        "semantics/test_text_bounds",
        "targets/test_cast",
    )
)
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
    os.environ["JAVA_HOME"] = str(java_home(os.environ, ROOT / ".featurekit" / "jdks" / "own"))
    with _trees(options.workers) as trees:
        if not options.trust:
            _check_unchanged(trees)
        run = [mutant for mutant in chosen if mutant not in SQL]
        outcomes = [*_outcomes(run, trees, options.workers, {})]
        rendered = [mutant for mutant in chosen if mutant in SQL]
        outcomes += _outcomes(rendered, trees, options.workers, _by_spark(rendered, trees, options.workers))
    survived = [outcome for outcome in outcomes if outcome.leg is None]
    print(f"\n{len(survived)} survived{':' if survived else ''}")
    for outcome in survived:
        print(f"  {outcome.mutant.file}: {outcome.mutant.what}")
    values = {
        "seeded": len(outcomes),
        "caught": len(outcomes) - len(survived),
        "by_cases": sum(outcome.leg == "cases" for outcome in outcomes),
        "by_spark": sum(outcome.leg == "spark" for outcome in outcomes),
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
    for seen in (_by_cases(tree), _by_tests(tree, "not spark", _TESTS), _by_tests(tree, "spark", _SPARK_TESTS)):
        if seen is not None:
            fail(f"the tree fails as it is: {seen}")
    trees.put(tree)


def _by_spark(mutants: Sequence[Mutant], trees: Queue[Path], workers: int) -> dict[Mutant, str]:
    """Return what Spark sees of the defects of the SQL; those of which it sees nothing are not there."""

    def changed(mutant: Mutant) -> dict[str, str]:
        tree = trees.get()
        with _defect(tree / "featurekit" / mutant.file, mutant):
            found = _rendered(tree)
        trees.put(tree)
        return {case: sql for case, sql in found.items() if sql != right[case]}

    if not mutants:
        return {}
    tree = trees.get()
    right = _rendered(tree)
    trees.put(tree)
    with ThreadPoolExecutor(workers) as pool:
        texts = {str(place): found for place, found in enumerate(pool.map(changed, mutants))}
    seen = _judged(texts, trees)
    return {mutant: found for place, mutant in enumerate(mutants) if (found := seen[str(place)]) is not None}


def _rendered(tree: Path) -> dict[str, str]:
    """Return the SQL of every recorded case, as a tree renders it."""
    answer = tree / "rendered.json"
    done = _run(tree, "benchmarks.mutants_spark", "--render", str(answer))
    if done is None or done.returncode:
        fail(f"no case is rendered: {done.stderr[-1000:] if done else 'it never ends'}")
    found: dict[str, str] = json.loads(answer.read_text(encoding="utf-8"))
    return found


def _judged(texts: dict[str, dict[str, str]], trees: Queue[Path]) -> dict[str, str | None]:
    tree = trees.get()
    asked, answer = tree / "changed.json", tree / "judged.json"
    asked.write_text(json.dumps(texts), encoding="utf-8")
    done = _run(tree, "benchmarks.mutants_spark", "--judge", str(asked), str(answer))
    trees.put(tree)
    if done is None or done.returncode:
        fail(f"Spark does not judge: {done.stderr[-1000:] if done else 'it never ends'}")
    found: dict[str, str | None] = json.loads(answer.read_text(encoding="utf-8"))
    return found


def _outcomes(
    mutants: Sequence[Mutant], trees: Queue[Path], workers: int, by_spark: dict[Mutant, str]
) -> Iterator[Outcome]:
    """Yield what became of each defect; of those that Spark has seen that is known already."""
    printing = threading.Lock()

    def judged(mutant: Mutant) -> Outcome:
        tree = trees.get()
        start = time.monotonic()
        with _defect(tree / "featurekit" / mutant.file, mutant):
            leg, seen = ("spark", by_spark[mutant]) if mutant in by_spark else _seen(tree, mutant)
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
    if mutant in SQL:
        seen = _by_tests(tree, "spark", _SPARK_TESTS)
        return (None, "") if seen is None else ("tests", seen)
    if not mutant.file.startswith(_WITHOUT_CASES) and (seen := _by_cases(tree)) is not None:
        return "cases", seen
    folders = _AGGREGATE_TESTS if mutant.file.startswith(("aggregates/", "exact.py")) else _TESTS
    if (seen := _by_tests(tree, "not spark", (f"featurekit/{mutant.file}", *folders))) is not None:
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


def _by_tests(tree: Path, mark: str, paths: Sequence[str]) -> str | None:
    """Return the first test that fails, None where none does."""
    there = [path for path in paths if (tree / path).exists()]
    without_cases = "--ignore=tests/semantics/test_targets.py"
    done = _run(tree, "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", mark, without_cases, *there)
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

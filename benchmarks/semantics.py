"""Every recorded case on every target and every Java: types and bits.

    python -m benchmarks.semantics [--java 17 --java 21 --java 25]

The recorded values are Spark's own, on one Java. Here both evaluators are held to them, and so is the SQL that we
render, with ANSI on and off, on each Java. At least two lines of Java have to be there; those that the machine lacks
are installed beside the environment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from benchmarks.javas import java_homes
from benchmarks.report import fail, finish
from tests.semantics import legs, session
from tests.semantics.legs import OVER_EDGES, Leg

LINES: Final = (17, 21, 25)
_SHOWN: Final = 40


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.semantics", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--java", type=int, action="append", help="a line of Java; may be repeated (17, 21 and 25)")
    parser.add_argument("--spark-into", type=Path, help=argparse.SUPPRESS)  # how the command asks itself, by Java
    options = parser.parse_args(arguments)
    if options.spark_into:
        options.spark_into.write_text(json.dumps(_spark_legs()), encoding="utf-8")
        return 0
    homes = java_homes(options.java or LINES)
    if len(homes) < (1 if options.java else 2):
        fail(f"of Java {', '.join(map(str, options.java or LINES))} only {sorted(homes)} can be had here")
    found = [legs.own_leg(name, evaluate) for name, evaluate in OVER_EDGES.items()]
    for line, home in homes.items():
        found += _on_java(line, home)
    for leg in found:
        print(f"{leg.name:<24} {leg.cells:>7} cells  {len(leg.differences):>5} differ", flush=True)
    differing = [f"{leg.name}: {difference}" for leg in found for difference in leg.differences]
    for difference in differing[:_SHOWN]:
        print(f"  {difference}")
    values = {
        "functions": len(legs.functions()),
        "cases": len(legs.CASES),
        "cells": sum(leg.cells for leg in found),
        "cells_scalar": next(leg.cells for leg in found if leg.name == "python"),
        "targets": "+".join(OVER_EDGES),
        "java": "+".join(map(str, homes)),
        "differ": len(differing),
    }
    finish("semantics", values, details={"legs": [asdict(leg) for leg in found]})
    return 1 if differing else 0


def _on_java(line: int, home: Path) -> list[Leg]:
    with tempfile.TemporaryDirectory(prefix="featurekit-semantics-") as folder:
        answer = Path(folder, "legs.json")
        command = [sys.executable, "-m", "benchmarks.semantics", "--spark-into", str(answer)]
        environ = {**os.environ, "JAVA_HOME": str(home)}
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            fail(f"Spark on Java {line} failed:\n{done.stderr[-3000:]}")
        read: list[dict[str, Any]] = json.loads(answer.read_text(encoding="utf-8"))
    return [Leg(f"Java {line} {leg['name']}", leg["cells"], leg["differences"]) for leg in read]


def _spark_legs() -> list[dict[str, Any]]:
    spark = session.start()
    return [asdict(legs.spark_leg(spark, ansi=ansi)) for ansi in (True, False)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Inferred types beside those of Spark's analyser, on expressions made from the whole catalogue.

    python -m benchmarks.types [--seed 20131115] [--per-function 30]

Each function and operator on columns of all types, each cast, mixtures of types in CASE, COALESCE, IN and their like,
decimals of many precisions, and what has to be refused. What we don't refuse has to have the type that Spark gives to
the text as it is written (where Spark has such a function), and to the SQL that we render.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from benchmarks.report import finish
from tests.semantics import session
from tests.types.compared import Compared, compare
from tests.types.oracle import Analyser
from tests.types.written import PER_FUNCTION, written

SEED: Final = 20131115
_SHOWN: Final = 60


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.types", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--per-function", type=int, default=PER_FUNCTION, help="combinations of types tried")
    options = parser.parse_args(arguments)
    found = compare(written(options.seed, options.per_function), Analyser(session.start()))
    _show(found)
    wrong = [each for each in found if each.wrong]
    values = {
        "expressions": len(found),
        "wrong": len(wrong),
        "refused": sum(each.inferred is None for each in found),
        "typed": sum(each.inferred is not None for each in found),
        "types": len({each.inferred for each in found if each.inferred}),
    }
    finish("types", values, details={"wrong": [asdict(each) for each in wrong]}, seed=options.seed)
    return 1 if wrong else 0


def _show(found: Sequence[Compared]) -> None:
    groups = dict.fromkeys(each.written.group for each in found)
    counts = Counter((each.written.group, _verdict(each)) for each in found)
    print(f"{'group':<12} {'right':>7} {'wrong':>7} {'refused':>7}")
    for group in groups:
        print(f"{group:<12} " + " ".join(f"{counts[group, verdict]:>7}" for verdict in ("right", "wrong", "refused")))
    for each in [each for each in found if each.wrong][:_SHOWN]:
        print(f"  {each.written.text}: {each.wrong}")


def _verdict(each: Compared) -> str:
    if each.wrong:
        return "wrong"
    return "refused" if each.inferred is None else "right"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

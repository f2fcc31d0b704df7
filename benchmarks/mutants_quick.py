"""The quick leg of `benchmarks.mutants`: every recorded case, in a tree that may hold a defect, until one differs.

    python -m benchmarks.mutants_quick

Types, nullability, both evaluators, and the expression as JSON, as tests/semantics/test_targets.py has them. The first
difference is printed, and the exit code is then 3.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Final

import featurekit
from featurekit.expr.serialize import from_json, to_json
from tests.semantics.corpus import Recorded
from tests.semantics.legs import CASES, OVER_EDGES, differences, parsed

DIFFERS: Final = 3
_ROOT: Final = Path(__file__).parents[1]


def main() -> int:
    if not Path(featurekit.__file__).is_relative_to(_ROOT):
        raise AssertionError(f"featurekit comes from {featurekit.__file__}, not from {_ROOT}")
    # A defect shows in few files; in a mixed order the first case that sees it comes early.
    recorded = [case for case in CASES if case.type is not None]
    for case in random.Random(0).sample(recorded, len(recorded)):
        if found := _first(case):
            print(f"{case.id}: {found}"[:500])
            return DIFFERS
    return 0


def _first(case: Recorded) -> str | None:
    """Return what is wrong with a case, None where it is as recorded."""
    try:
        node = parsed(case.expression)
        if node.type.name != case.type:
            return f"type {node.type.name}, Spark says {case.type}"
        if not node.nullable and "NULL" in case.values:
            return "NULL, though it is said to be never"
        if repr(from_json(to_json(node))) != repr(node):
            return "JSON does not keep it"
        for name, evaluate in OVER_EDGES.items():
            if found := differences(case, evaluate(node)):
                return f"{name} {found[0]}"
    except Exception as error:  # noqa: BLE001 - whatever a defect raises, it is seen
        return f"raised {error!r}"
    return None


if __name__ == "__main__":
    sys.exit(main())

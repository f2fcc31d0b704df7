"""Prints a digest of what the evaluators answer over the recorded cases; run by `test_environment` in many worlds."""

from __future__ import annotations

import decimal
import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor

from featurekit.expr.nodes import Node
from tests.semantics import legs, values

STEP = 5  # each so many-th case


def answers(nodes: list[Node]) -> list[str]:
    """Return the values of both evaluators, as fixtures write them."""
    return [values.write(value, node.type) for node in nodes for leg in legs.OVER_EDGES.values() for value in leg(node)]


def main() -> None:
    nodes = [legs.parsed(case.expression) for case in legs.CASES[::STEP]]
    if "context" in sys.argv[1:]:
        # What an application may have set for decimals of its own.
        decimal.setcontext(decimal.Context(prec=3, rounding=decimal.ROUND_UP, traps=[decimal.Inexact]))
    found = answers(nodes)
    if "threads" in sys.argv[1:]:
        with ThreadPoolExecutor(8) as pool:
            many = list(pool.map(lambda _: answers(nodes[::5]), range(16)))
        assert all(one == many[0] for one in many)
    print(len(found), hashlib.sha256("\n".join(found).encode("utf-8", "surrogatepass")).hexdigest())


if __name__ == "__main__":
    main()

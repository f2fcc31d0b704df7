"""Which evaluator computes a request's expressions: the generated loop for few rows, vectors for many.

Both give the same bits, so this is about time alone. `python -m benchmarks.expr --curve` measures where they cross
(docs/decisions/0008-two-evaluators-of-one-ir.md has the numbers).
"""

from __future__ import annotations

from typing import Final

FEWEST_ROWS_OF_VECTORS: Final = 128


def takes_vectors(rows: int) -> bool:
    """Return whether so many rows are computed faster over columns."""
    return rows >= FEWEST_ROWS_OF_VECTORS

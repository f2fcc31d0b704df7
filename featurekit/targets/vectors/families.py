"""Which kernel computes a node over whole columns; what has none is looped over, row by row, by the scalar kernels."""

from __future__ import annotations

from typing import Final

import numpy as np

from featurekit.clock import DAY, SECOND
from featurekit.expr.nodes import Call, Case, Cast, Node
from featurekit.targets.vectors import arrays, distances, hashes, logic, mathematics, numeric, times
from featurekit.targets.vectors.kernel import Computed, VectorFactory, VectorKernel, partial, propagating, unless
from featurekit.targets.vectors.vector import Values
from featurekit.types import Boolean, DataType, Date, Int64, Timestamp, is_float, is_integer

# Worth making arrays of a loop's results for; what is lighter joins the loop that made its arguments.
_HEAVY: Final[dict[str, VectorFactory]] = {
    **hashes.VECTORS,
    **arrays.VECTORS,
    **times.VECTORS,
    **distances.VECTORS,
    **mathematics.VECTORS,
}
VECTORS: Final[dict[str, VectorFactory]] = {**numeric.VECTORS, **logic.VECTORS, **_HEAVY}
HEAVY: Final[frozenset[str]] = numeric.HEAVY | _HEAVY.keys()


def vector_kernel(node: Node) -> VectorKernel | None:
    """Return the kernel of a node over its dynamic arguments' vectors, None where rows have to be looped over."""
    match node:
        case Call():
            factory = VECTORS.get(node.function)
            return factory(node) if factory else None
        case Cast():
            return _cast(node.value.type, node.type)
        case Case():
            return logic.case(node)
        case _:
            return None


def is_heavy(node: Node) -> bool:
    return isinstance(node, Call) and node.function in HEAVY


def _cast(source: DataType, target: DataType) -> VectorKernel | None:
    match source, target:
        case Timestamp(), Date():
            return propagating(lambda micros: micros // DAY)
        case Date(), Timestamp():
            return partial(_midnight)
        case Timestamp(), Int64():
            return propagating(lambda micros: micros // SECOND)
        case _:
            pass
    if all(isinstance(kind, Boolean) or is_integer(kind) or is_float(kind) for kind in (source, target)):
        return numeric.cast_number(source, target)
    return None


_LAST_DAY: Final = ((1 << 63) - 1) // DAY


def _midnight(days: Values) -> Computed:
    return days * DAY, unless(np.abs(days) > _LAST_DAY)

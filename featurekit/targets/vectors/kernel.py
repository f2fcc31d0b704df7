"""What a vector kernel is: from the arguments' vectors to the result's, chosen when the plan is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featurekit.expr.nodes import Call
from featurekit.targets.vectors.vector import Mask, Values, Vector, both

VectorKernel = Callable[[Sequence[Vector]], Vector]
# Like a scalar kernel's factory; None where there is no vector kernel for these types: then rows are looped over.
VectorFactory = Callable[[Call], VectorKernel | None]
# Values, and where they are not NULL (None: everywhere).
Computed = tuple[Values, Mask | None]


def propagating(compute: Callable[..., Values]) -> VectorKernel:
    """Return the kernel of a function of arrays that is NULL where an argument is, and nowhere else."""

    def kernel(args: Sequence[Vector]) -> Vector:
        return Vector(compute(*(arg.values for arg in args)), _where_all(args))

    return kernel


def partial(compute: Callable[..., Computed]) -> VectorKernel:
    """Return the kernel of a function of arrays that is also NULL where it says so."""

    def kernel(args: Sequence[Vector]) -> Vector:
        values, defined = compute(*(arg.values for arg in args))
        return Vector(values, both(_where_all(args), defined))

    return kernel


def _where_all(args: Sequence[Vector]) -> Mask | None:
    mask: Mask | None = None
    for arg in args:
        mask = both(mask, arg.valid)
    return mask


def unless(bad: Mask) -> Mask | None:
    """Return where it is not bad, None where it never is."""
    return ~bad if bad.any() else None


def select(condition: Mask, taken: Vector, otherwise: Vector) -> Vector:
    """Return one vector's rows where the condition is true, the other's elsewhere."""
    values = np.where(condition, taken.values, otherwise.values)
    if values.dtype == np.object_:
        return Vector(values)  # None where NULL
    if taken.valid is None and otherwise.valid is None:
        return Vector(values)
    return Vector(values, np.where(condition, as_mask(taken), as_mask(otherwise)))


def as_mask(vector: Vector) -> Any:
    return True if vector.valid is None else vector.valid

"""Similarity of arrays: element by element in order, each step for all rows at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from featurekit.expr.nodes import Call
from featurekit.targets.kernels import KERNELS
from featurekit.targets.kernels.kernel import Inline
from featurekit.targets.vectors.kernel import VectorFactory, VectorKernel, unless
from featurekit.targets.vectors.vector import Mask, Vector, both
from featurekit.types import Array, Float64

Doubles = NDArray[np.float64]
# Elements by place: one row of this for each place in the arrays. And the rows where no element is missing.
_Places = tuple[Doubles, Mask | None]


def _places(vector: Vector, valid: Mask | None) -> _Places | None:
    """Return the elements of arrays of doubles by place, None where the arrays differ in length."""
    rows = np.arange(len(vector)) if valid is None else np.flatnonzero(valid)
    if not rows.size:
        return np.zeros((0, len(vector))), None
    found = _of_run(vector, rows) if vector.lists is not None else _of_tuples(vector, rows)
    if found is None:
        return None
    elements, missing = found
    places = np.zeros((elements.shape[1], len(vector)))
    places[:, rows] = elements.T
    if missing is None:
        return places, None
    whole = np.ones(len(vector), np.bool_)
    whole[rows[missing.any(axis=1)]] = False
    return places, whole


def _of_run(vector: Vector, rows: NDArray[np.intp]) -> tuple[Doubles, Mask | None] | None:
    assert vector.lists is not None
    offsets, elements = vector.lists.offsets, vector.lists.elements
    lengths = np.diff(offsets)[rows]
    if (lengths != lengths[0]).any():
        return None
    at = offsets[:-1][rows][:, None] + np.arange(lengths[0])
    return elements.values[at], None if elements.valid is None else ~elements.valid[at]


def _of_tuples(vector: Vector, rows: NDArray[np.intp]) -> tuple[Doubles, Mask | None] | None:
    arrays = vector.values[rows].tolist()
    length = len(arrays[0])
    if set(map(len, arrays)) != {length}:
        return None
    flat = np.array(list(chain.from_iterable(arrays)), np.float64)  # None becomes NaN
    missing: Mask | None = None
    if (odd := np.flatnonzero(flat != flat)).size:
        missing = np.zeros(flat.shape, np.bool_)
        missing[odd] = [arrays[at // length][at % length] is None for at in odd.tolist()]
        missing = missing.reshape(len(arrays), length)
    return flat.reshape(len(arrays), length), missing


_Fold = Callable[..., tuple[Doubles, Mask | None]]


def _folded(fold: _Fold) -> VectorFactory:
    """Return the factory of a fold over the places of one or two columns of arrays."""

    def factory(call: Call) -> VectorKernel | None:
        scalar = KERNELS[call.function](call)
        if isinstance(scalar, Inline) or any(arg.type != Array(Float64()) for arg in call.args):
            return None

        def one_by_one(args: Sequence[Vector], count: int) -> Vector:
            rows = zip(*(arg.held(count) for arg in args), strict=True)
            return Vector.of_held([None if None in row else scalar(*row) for row in rows], Float64())

        def kernel(args: Sequence[Vector]) -> Vector:
            count = max(len(arg) for arg in args) if all(len(arg) for arg in args) else 0
            args = [arg.over(count) for arg in args]
            valid: Mask | None = None
            for arg in args:
                valid = both(valid, arg.valid)
            found = [_places(arg, valid) for arg in args]
            whole = [part for part in found if part is not None]
            if len(whole) < len(args) or len({part[0].shape for part in whole}) > 1:
                return one_by_one(args, count)
            for _, complete in whole:
                valid = both(valid, complete)
            values, defined = fold(*(places for places, _ in whole))
            return Vector(values, both(valid, defined))

        return kernel

    return factory


def _products(left: Doubles, right: Doubles) -> Doubles:
    total = np.zeros(left.shape[1])
    for x, y in zip(left, right, strict=True):
        total += x * y
    return total


def _cosine(left: Doubles, right: Doubles) -> tuple[Doubles, Mask | None]:
    norms = np.sqrt(_products(left, left)) * np.sqrt(_products(right, right))
    return _products(left, right) / norms, unless(norms == 0)


def _distance(left: Doubles, right: Doubles) -> tuple[Doubles, Mask | None]:
    apart = left - right
    return np.sqrt(_products(apart, apart)), None


VECTORS: Final[dict[str, VectorFactory]] = {
    "dot_product": _folded(lambda left, right: (_products(left, right), None)),
    "cosine_similarity": _folded(_cosine),
    "l2_norm": _folded(lambda only: (np.sqrt(_products(only, only)), None)),
    "l2_distance": _folded(_distance),
}

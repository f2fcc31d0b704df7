"""Logic of three values, choice and membership over vectors: the kernels that decide about NULL themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from featurekit.expr.nodes import Call, Case, Literal
from featurekit.targets.vectors.kernel import VectorFactory, VectorKernel, as_mask, propagating, select
from featurekit.targets.vectors.numeric import equal, greater
from featurekit.targets.vectors.vector import OBJECT, Mask, Values, Vector, dtype_of
from featurekit.types import is_float

_MOST_COMPARED: Final = 16  # as many constants are compared one by one


def _logic(decides: bool) -> VectorKernel:
    """Return the kernel of OR (`decides` is true) or AND: one operand of that value decides, whatever the other is."""

    def kernel(args: Sequence[Vector]) -> Vector:
        left, right = args
        if left.valid is None and right.valid is None:
            return Vector(left.values | right.values if decides else left.values & right.values)
        decided = _is(left, decides) | _is(right, decides)
        known = decided | (as_mask(left) & as_mask(right))
        return Vector(decided if decides else ~decided, known)

    return kernel


def _is(vector: Vector, value: bool) -> Mask:
    same = vector.values if value else ~vector.values
    return same if vector.valid is None else same & vector.valid


def _is_null(args: Sequence[Vector]) -> Vector:
    valid = args[0].valid
    return Vector(np.zeros(len(args[0].values), np.bool_) if valid is None else ~valid)


def _is_not_null(args: Sequence[Vector]) -> Vector:
    valid = args[0].valid
    return Vector(np.ones(len(args[0].values), np.bool_) if valid is None else valid)


def _equal_null_safe(call: Call) -> VectorKernel | None:
    kind = call.args[0].type
    if dtype_of(kind) == OBJECT:
        return None
    compare = equal if is_float(kind) else np.equal

    def kernel(args: Sequence[Vector]) -> Vector:
        left, right = args
        same = compare(left.values, right.values)
        if left.valid is None and right.valid is None:
            return Vector(same)
        here, there = np.asarray(as_mask(left)), np.asarray(as_mask(right))
        return Vector(np.where(here & there, same, here == there))

    return kernel


def _coalesce(_: Call) -> VectorKernel:
    def kernel(args: Sequence[Vector]) -> Vector:
        result = args[-1]
        for arg in reversed(args[:-1]):
            result = arg if arg.valid is None else select(arg.valid, arg, result)
        return result

    return kernel


def _extreme(call: Call) -> VectorKernel | None:
    """greatest and least: NULLs are passed over; of equal values the first stays (0.0 before -0.0)."""
    if dtype_of(call.type) == OBJECT:
        return None
    above: Callable[[Values, Values], Mask] = greater if is_float(call.type) else np.greater
    largest = call.function == "greatest"

    def kernel(args: Sequence[Vector]) -> Vector:
        best = args[0]
        for arg in args[1:]:
            better = above(arg.values, best.values) if largest else above(best.values, arg.values)
            if arg.valid is None and best.valid is None:
                best = Vector(np.where(better, arg.values, best.values))
                continue
            here, there = np.asarray(as_mask(best)), np.asarray(as_mask(arg))
            taken = there & (better | ~here)
            best = Vector(np.where(taken, arg.values, best.values), np.broadcast_to(here | there, taken.shape))
        return best

    return kernel


def _member(call: Call) -> VectorKernel | None:
    kind = call.args[0].type
    literals = [other.value for other in call.args[1:] if isinstance(other, Literal)]
    if dtype_of(kind) == OBJECT or len(literals) < len(call.args) - 1:
        return None
    numbers = np.array([value for value in literals if value is not None and value == value], dtype_of(kind))
    with_nan = any(value != value for value in literals)

    def found(values: Values) -> Mask:
        if len(numbers) > _MOST_COMPARED:
            mask = np.isin(values, numbers)
        else:
            mask = np.zeros(values.shape, np.bool_)
            for number in numbers:
                mask |= values == number
        return mask | (values != values) if with_nan else mask

    if None not in literals:
        return lambda args: propagating(found)(args[:1])

    def found_or_unknown(args: Sequence[Vector]) -> Vector:
        mask = found(args[0].values)
        return Vector(mask, mask if args[0].valid is None else mask & args[0].valid)

    return found_or_unknown


def case(_: Case) -> VectorKernel:
    """Return the kernel of CASE: its arguments are condition, value, condition, value …, otherwise.

    All branches are computed for all rows, which nobody can tell: no operator raises.
    """

    def kernel(args: Sequence[Vector]) -> Vector:
        result = args[-1]
        for place in range(len(args) - 3, -1, -2):
            result = select(_is(args[place], True), args[place + 1], result)
        return result

    return kernel


VECTORS: Final[dict[str, VectorFactory]] = {
    "and": lambda _: _logic(False),
    "or": lambda _: _logic(True),
    "not": lambda _: propagating(np.logical_not),
    "is_null": lambda _: _is_null,
    "is_not_null": lambda _: _is_not_null,
    "eq_null_safe": _equal_null_safe,
    "coalesce": _coalesce,
    "greatest": _extreme,
    "least": _extreme,
    "in": _member,
}

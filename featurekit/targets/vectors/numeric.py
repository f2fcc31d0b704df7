"""Arithmetic, rounding and comparison over arrays: the scalar kernels' bits, by IEEE and whole-number operations only.

What does not fit is found after the fact: NumPy's integers wrap silently, and the operands' signs tell that they did.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from featurekit.expr.nodes import Call, Literal, Node
from featurekit.targets.kernels import numeric as scalar
from featurekit.targets.kernels.kernel import Inline, literal_value
from featurekit.targets.vectors.kernel import (
    Computed,
    VectorFactory,
    VectorKernel,
    partial,
    propagating,
    unless,
)
from featurekit.targets.vectors.vector import OBJECT, Mask, Values, dtype_of
from featurekit.types import DataType, Decimal, Int64, String, integer_range, is_float, is_integer

_LOW: Final = -(1 << 63)
_BEYOND: Final = 2.0**63


def _arithmetic(
    compute: Callable[[Values, Values], Values], whole: Callable[[Values, Values], Computed]
) -> VectorFactory:
    """Return the factory of + - *; `whole` does it for int64."""

    def factory(call: Call) -> VectorKernel | None:
        if isinstance(call.type, Decimal):
            return None
        if is_float(call.type):
            return propagating(compute)  # of float32: the same as in double, rounded once
        return partial(whole if call.type == Int64() else _narrow(call.type, compute))

    return factory


def _narrow(kind: DataType, compute: Callable[[Values, Values], Values]) -> Callable[[Values, Values], Computed]:
    """Return an operation on integers that int64 holds every result of."""
    return lambda left, right: fit(compute(left.astype(np.int64), right.astype(np.int64)), kind)


def fit(values: Values, kind: DataType) -> Computed:
    """Return int64 values in a narrower type, and where they fit."""
    low, high = integer_range(kind)
    return values.astype(dtype_of(kind)), unless((values < low) | (values > high))


def _add(left: Values, right: Values) -> Computed:
    total = left + right
    return total, unless(((left ^ total) & (right ^ total)) < 0)


def _subtract(left: Values, right: Values) -> Computed:
    difference = left - right
    return difference, unless(((left ^ right) & (left ^ difference)) < 0)


def _multiply(left: Values, right: Values) -> Computed:
    product = left * right
    # A product of doubles is off by less than 2^-51 of itself, so below 2^62 nothing wrapped.
    close = np.flatnonzero(np.abs(left.astype(np.float64) * right.astype(np.float64)) >= 2.0**62)
    if not close.size:
        return product, None
    pairs = zip(*(np.broadcast_to(side, product.shape)[close].tolist() for side in (left, right)), strict=True)
    bad = np.zeros(product.shape, np.bool_)
    bad[close] = [not _LOW <= a * b < -_LOW for a, b in pairs]
    return product, unless(bad)


def _divide(call: Call) -> VectorKernel | None:
    return None if isinstance(call.type, Decimal) else partial(lambda a, b: (a / b, unless(b == 0)))


def _remainder(call: Call) -> VectorKernel | None:
    if isinstance(call.type, Decimal):
        return None
    return partial(_rest_of_whole if is_integer(call.type) else lambda a, b: (np.fmod(a, b), unless(b == 0)))


def _rest_of_whole(left: Values, right: Values) -> Computed:
    # By -1 as by 1, and not by zero: neither is left to the processor.
    divisor = np.where((right == 0) | (right == -1), right.dtype.type(1), right)
    return np.fmod(left, divisor), unless(right == 0)


def _div(_: Call) -> VectorKernel:
    return partial(_whole_division)


def _whole_division(left: Values, right: Values) -> Computed:
    bad = (right == 0) | ((right == -1) & (left == _LOW))
    divisor = np.where(bad, 1, right)
    quotient = left // divisor
    towards_zero = (quotient < 0) & (quotient * divisor != left)
    return quotient + towards_zero, unless(bad)


def _negate(call: Call) -> VectorKernel | None:
    return _unless_smallest(call, np.negative)


def _absolute(call: Call) -> VectorKernel | None:
    return _unless_smallest(call, np.abs)


def _unless_smallest(call: Call, compute: Callable[[Values], Values]) -> VectorKernel | None:
    if isinstance(call.type, Decimal):
        return None
    if is_float(call.type):
        return propagating(compute)
    low = integer_range(call.type)[0]
    return partial(lambda values: (compute(values), unless(values == low)))


def _round(call: Call) -> VectorKernel | None:
    digits = literal_value(call, 1) if len(call.args) == 2 else 0
    if digits is None or not is_float(call.type) or not 0 <= digits <= scalar.EXACT_POWERS:
        return None
    exact = scalar.KERNELS["round"](call)
    assert not isinstance(exact, Inline)
    power = float(10**digits)

    def compute(values: Values) -> Values:
        wide = values.astype(np.float64)
        size = np.abs(wide * power)
        whole = np.floor(size)
        over = size - whole - 0.5
        unsure = ~((np.abs(over) > size * scalar.UNSURE) & (size < scalar.NEAR_BELOW))
        whole += over > 0
        rounded = np.where(whole == 0, 0.0, np.copysign(whole / power, wide)).astype(values.dtype)
        if unsure.any():
            rounded[unsure] = [exact(value) for value in values[unsure].tolist()]
        return rounded

    return propagating(compute)


def _to_whole(compute: Callable[[Values], Values]) -> VectorFactory:
    """Return the factory of floor and ceil."""

    def whole(values: Values) -> Computed:
        inside = (values >= -_BEYOND) & (values < _BEYOND)
        return np.where(inside, compute(values), 0.0).astype(np.int64), unless(~inside & (values == values))

    def factory(call: Call) -> VectorKernel | None:
        return partial(whole) if is_float(call.args[0].type) else None

    return factory


def _square_root(_: Call) -> VectorKernel:
    return propagating(np.sqrt)  # IEEE has it exact; NaN below zero


Comparison = Callable[[Values, Values], Mask]


def equal(left: Values, right: Values) -> Mask:
    return (left == right) | ((left != left) & (right != right))  # type: ignore[no-any-return]


def greater(left: Values, right: Values) -> Mask:
    return (left > right) | ((left != left) & (right == right))  # type: ignore[no-any-return]


def _not_equal(left: Values, right: Values) -> Mask:
    return ~equal(left, right)


def _not_greater(left: Values, right: Values) -> Mask:
    return ~greater(left, right)


def _less(left: Values, right: Values) -> Mask:
    return greater(right, left)


def _not_less(left: Values, right: Values) -> Mask:
    return ~greater(right, left)


# By name: what plain numbers do, what floats do with NaN, and what they do when the second is not NaN.
_COMPARISONS: Final[dict[str, tuple[Any, Comparison, Comparison]]] = {
    "eq": (np.equal, equal, np.equal),
    "ne": (np.not_equal, _not_equal, np.not_equal),
    "lt": (np.less, _less, np.less),
    "le": (np.less_equal, _not_greater, np.less_equal),
    "gt": (np.greater, greater, lambda left, right: ~(left <= right)),
    "ge": (np.greater_equal, _not_less, lambda left, right: ~(left < right)),
}


def _compare(call: Call) -> VectorKernel | None:
    plain, floats, with_number = _COMPARISONS[call.function]
    kind = call.args[0].type
    if kind == String() and call.function in ("eq", "ne"):
        return propagating(plain)
    if dtype_of(kind) == OBJECT:
        return None
    if not is_float(kind):
        return propagating(plain)
    return propagating(with_number if _is_number(call.args[1]) else floats)


def _is_number(node: Node) -> bool:
    return isinstance(node, Literal) and node.value is not None and node.value == node.value


def cast_number(source: DataType, target: DataType) -> VectorKernel | None:
    """Return the kernel of CAST among booleans, integers, float and double."""
    if is_float(source) and is_integer(target):
        return partial(lambda values: _whole_part(values, target))
    if is_integer(source) and is_integer(target):
        return partial(lambda values: fit(values, target))
    dtype = dtype_of(target)
    if dtype == np.bool_:
        return propagating(lambda values: values != 0)
    return propagating(lambda values: values.astype(dtype)) if is_float(target) or is_integer(target) else None


def _whole_part(values: Values, kind: DataType) -> Computed:
    low, high = integer_range(kind)
    wide = values.astype(np.float64)
    # Spark compares with the bounds as doubles: 2^63 passes, and becomes 2^63 - 1.
    inside = (np.floor(wide) <= float(high)) & (np.ceil(wide) >= float(low)) & np.isfinite(wide)
    over = wide >= _BEYOND
    whole = np.where(inside & ~over, np.trunc(wide), 0.0).astype(np.int64)
    if over.any():
        whole[over] = (1 << 63) - 1
    return np.minimum(whole, high).astype(dtype_of(kind)), unless(~inside)


VECTORS: Final[dict[str, VectorFactory]] = {
    "add": _arithmetic(np.add, _add),
    "subtract": _arithmetic(np.subtract, _subtract),
    "multiply": _arithmetic(np.multiply, _multiply),
    "divide": _divide,
    "remainder": _remainder,
    "div": _div,
    "negate": _negate,
    "abs": _absolute,
    "round": _round,
    "floor": _to_whole(np.floor),
    "ceil": _to_whole(np.ceil),
    "sqrt": _square_root,
    **dict.fromkeys(_COMPARISONS, _compare),
}
HEAVY: Final = frozenset({"round", "sqrt"})

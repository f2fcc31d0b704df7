"""The vector kernels of mathematical functions: `maths` and `angles`, and what needs no algorithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from featurekit.expr.nodes import Call
from featurekit.targets.kernels.maths import DEGREE, RADIAN
from featurekit.targets.vectors import angles, maths
from featurekit.targets.vectors.kernel import Computed, VectorFactory, VectorKernel, partial, propagating
from featurekit.targets.vectors.maths import Bools, Floats, blocked


def _always(kernel: VectorKernel) -> VectorFactory:
    return lambda _: kernel


def _log(call: Call) -> VectorKernel:
    return partial(maths.log if len(call.args) == 1 else maths.log_to_base)


def _log_ratio(a: Floats, b: Floats) -> tuple[Floats, Bools]:
    divisible = b != 0.0
    with np.errstate(all="ignore"):
        values, valid = maths.log(a / np.where(divisible, b, 1.0))
    return values, valid & divisible


@blocked
def _signum(x: Floats) -> Floats:
    return np.where((x == 0.0) | (x != x), x, np.copysign(1.0, x))


_PARTIAL: Final[dict[str, Callable[..., Computed]]] = {
    "ln": maths.log,
    "log10": maths.log10,
    "log2": maths.log2,
    "log1p": maths.log1p,
    "sin": angles.sin,
    "cos": angles.cos,
    "tan": angles.tan,
    "cot": angles.cot,
    "sec": angles.sec,
    "csc": angles.csc,
    "haversine": angles.haversine,
    "log_ratio": _log_ratio,
}
_TOTAL: Final[dict[str, Callable[..., Floats]]] = {
    "exp": maths.exp,
    "expm1": maths.expm1,
    "pow": maths.power,
    "sinh": maths.sinh,
    "cosh": maths.cosh,
    "asin": angles.asin,
    "acos": angles.acos,
    "atan": angles.atan,
    "atan2": angles.atan2,
    "hypot": angles.hypot,
    "tanh": angles.tanh,
    "cbrt": angles.cbrt,
    "signum": _signum,
    "rint": np.rint,
    "degrees": blocked(lambda x: x * RADIAN),
    "radians": blocked(lambda x: x * DEGREE),
}
VECTORS: Final[dict[str, VectorFactory]] = {
    "log": _log,
    **{name: _always(partial(compute)) for name, compute in _PARTIAL.items()},
    **{name: _always(propagating(compute)) for name, compute in _TOTAL.items()},
}
HEAVY: Final = frozenset(VECTORS)

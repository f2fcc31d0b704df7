"""Bits of integers: Python's own, cut to the type."""

from __future__ import annotations

from typing import Final

from featurekit.expr.nodes import Call
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always
from featurekit.types import INTEGER_BITS, Boolean


def _shift_left(call: Call) -> Kernel:
    size = INTEGER_BITS[call.type]
    bound = {"places": size - 1, "half": 1 << (size - 1), "all": (1 << size) - 1}
    return Inline("((({0} << ({1} & {places})) + {half} & {all}) - {half})", bound)


def _shift_right(call: Call) -> Kernel:
    return Inline("({0} >> ({1} & {places}))", {"places": INTEGER_BITS[call.type] - 1})


def _shift_right_unsigned(call: Call) -> Kernel:
    size = INTEGER_BITS[call.type]
    bound = {"places": size - 1, "half": 1 << (size - 1), "all": (1 << size) - 1}
    return Inline("(((({0} & {all}) >> ({1} & {places})) + {half} & {all}) - {half})", bound)


def _bit_count(call: Call) -> Kernel:
    if isinstance(call.args[0].type, Boolean):
        return Inline("int({0})")
    return Inline("({0} & {all}).bit_count()", {"all": (1 << 64) - 1})


def _bit_get(call: Call) -> Kernel:
    return Inline("({0} >> {1} & 1 if 0 <= {1} < {size} else None)", {"size": INTEGER_BITS[call.args[0].type]})


KERNELS: Final[dict[str, Factory]] = {
    "bitwise_and": always(Inline("({0} & {1})")),
    "bitwise_or": always(Inline("({0} | {1})")),
    "bitwise_xor": always(Inline("({0} ^ {1})")),
    "bitwise_not": always(Inline("(~{0})")),
    "shiftleft": _shift_left,
    "shiftright": _shift_right,
    "shiftrightunsigned": _shift_right_unsigned,
    "bit_count": _bit_count,
    "bit_get": _bit_get,
}

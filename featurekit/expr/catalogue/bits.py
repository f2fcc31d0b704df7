"""Bits of integers, two's complement."""

from __future__ import annotations

from typing import Final

from featurekit.expr import maths_forms as forms
from featurekit.expr import maths_rules as rules
from featurekit.expr.catalogue.row import INTEGER, Function, Param, Takes, operator, scalar
from featurekit.types import Boolean

_TWO = (Param("a", INTEGER), Param("b", INTEGER, edges=(1, 255, -1, 0)))
_SHIFT = (Param("a", INTEGER), Param("count", INTEGER, edges=(1, 0, 3, 31, 33, 64, -1)))
_COUNTED = Takes("integer or boolean", (*INTEGER.kinds, Boolean))

ROWS: Final[tuple[Function, ...]] = (
    operator("bitwise_and", "&", _TWO, rules.bits, "({0} & {1})", "The bits that both have."),
    operator("bitwise_or", "|", _TWO, rules.bits, "({0} | {1})", "The bits that one of them has."),
    operator("bitwise_xor", "^", _TWO, rules.bits, "({0} ^ {1})", "The bits that only one of them has."),
    operator("bitwise_not", "~", (Param("a", INTEGER),), rules.bits, "(~ {0})", "The other bits."),
    operator("shiftleft", "<<", _SHIFT, rules.shift, "shiftleft({0}, {1})",
             "An int or bigint moved left by the count modulo its size; bits beyond the left end are dropped.",
             spellings=("shiftleft",)),
    operator("shiftright", ">>", _SHIFT, rules.shift, "shiftright({0}, {1})",
             "An int or bigint moved right by the count modulo its size; the sign moves in.",
             spellings=("shiftright",)),
    operator("shiftrightunsigned", ">>>", _SHIFT, rules.shift, "shiftrightunsigned({0}, {1})",
             "An int or bigint moved right by the count modulo its size; zeros move in.",
             spellings=("shiftrightunsigned",)),
    scalar("bit_count", (Param("a", _COUNTED),), rules.bit_count, "bit_count({0})",
           "How many bits are set; of a negative number, in 64 bits."),
    scalar("bit_get", (Param("a", INTEGER), Param("place", INTEGER, edges=(0, 1, 7, 31, 63, 64, -1))), rules.bit_get,
           forms.bit_get, "The bit at a place, 0 or 1; NULL where the type has no such place.", raises=True,
           spellings=("bit_get", "getbit")),
)  # fmt: skip

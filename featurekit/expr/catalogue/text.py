"""Text. Positions and lengths count code points; nothing is trimmed, folded or normalised unasked."""

from __future__ import annotations

from typing import Final

from featurekit.expr import signatures as rules
from featurekit.expr import spark_forms as forms
from featurekit.expr.catalogue.row import INT, STRING, Function, Param, scalar
from featurekit.types import Int32

_ONE = (Param("text", STRING),)

ROWS: Final[tuple[Function, ...]] = (
    scalar("lower", _ONE, rules.text(), forms.letter_case("lower"), "In lower case, by the Unicode tables of the JVM.",
           spellings=("lower", "lcase")),
    scalar("upper", _ONE, rules.text(), forms.letter_case("upper"), "In upper case, by the Unicode tables of the JVM.",
           spellings=("upper", "ucase")),
    scalar("trim", _ONE, rules.text(), "trim({0})", "Without the spaces (U+0020 only) at both ends."),
    scalar("length", _ONE, rules.text(result=Int32()), "length({0})", "The number of code points.",
           spellings=("length", "len", "char_length", "character_length")),
    scalar("concat", (Param("text", STRING, repeated=True),), rules.texts, forms.listed("concat"),
           "All strings in a row; NULL when one is.", operator="||"),
    scalar("substring",
           (Param("text", STRING), Param("position", INT, edges=(1, 0, 2, -1, -30)),
            Param("count", INT, optional=True, edges=(3, 0, 1, -1))),
           rules.text(Int32(), Int32()), forms.listed("substring"),
           "From a position (1 is the first, negative counts from the end), so many code points.",
           spellings=("substring", "substr")),
)  # fmt: skip

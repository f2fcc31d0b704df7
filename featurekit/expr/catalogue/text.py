"""Text. Positions and lengths count code points; nothing is trimmed, folded or normalised unasked.

Where a function takes bytes too, they are counted instead. What lpad, rpad, space and repeat would make beyond
`text_forms.MAX_MADE` is NULL.
"""

from __future__ import annotations

from typing import Final

from featurekit.expr import nested_rules, text_forms
from featurekit.expr import spark_forms as forms
from featurekit.expr import text_rules as rules
from featurekit.expr.catalogue.row import ARRAY, BYTES, INT, INTEGER, STRING, Function, Nulls, Param, Takes, scalar
from featurekit.types import Boolean, Int32, Int64, String

_ONE = (Param("text", STRING),)
_CHARS = ("a", " a", "", "\u00e9\U0001f600", "cba")
_PARTS = ("a", "", "b", ".", "ab", "\U0001f600", "\u03a3")
_COUNTS = (1, 0, 2, -1, 3, -2, 7, 2**31 - 1, -(2**31))
_SIZES = (3, 0, 1, 7, -1, 100, 10_001, 2**31 - 1, -(2**31))
_TEXT = Param("text", STRING)
_PART = Param("part", STRING, edges=_PARTS)
_DELIMITER = Param("delimiter", STRING, edges=(".", "", " ", "a", "aa", "\U0001f600"))
_TWO_TEXTS = rules.text(String())
_STRIPPED = (_TEXT, Param("characters", STRING, edges=_CHARS))
_FOUND = (Param("text", BYTES), Param("part", BYTES))
_TEXTS = Takes("string or array of strings", (*STRING.kinds, *ARRAY.kinds))
_IN_A_ROW = Takes("string, binary or array", (*BYTES.kinds, *ARRAY.kinds))
_PADDED = (Param("text", BYTES), Param("length", INT, edges=_SIZES), Param("padding", BYTES, optional=True))

ROWS: Final[tuple[Function, ...]] = (
    scalar("lower", _ONE, rules.text(), forms.letter_case("lower"), "In lower case, by the Unicode tables of the JVM.",
           spellings=("lower", "lcase")),
    scalar("upper", _ONE, rules.text(), forms.letter_case("upper"), "In upper case, by the Unicode tables of the JVM.",
           spellings=("upper", "ucase")),
    scalar("initcap", _ONE, rules.text(), "initcap({0})",
           "The first letter of each word in title case, the others in lower case; only U+0020 parts words."),
    scalar("trim", _ONE, rules.text(), "trim({0})",
           "Without the spaces (U+0020 only) at both ends. `TRIM(BOTH 'xy' FROM text)` takes other characters away."),
    scalar("ltrim", _ONE, rules.text(), "ltrim({0})", "Without the spaces (U+0020 only) at the start."),
    scalar("rtrim", _ONE, rules.text(), "rtrim({0})", "Without the spaces (U+0020 only) at the end."),
    scalar("btrim", (_TEXT, Param("characters", STRING, optional=True, edges=_CHARS)), _TWO_TEXTS,
           forms.listed("btrim"), "Without the spaces, or those characters, at both ends."),
    scalar("trim_leading", _STRIPPED, _TWO_TEXTS, "trim(LEADING {1} FROM {0})",
           "Without those characters at the start. `TRIM(LEADING 'xy' FROM text)`.", spellings=()),
    scalar("trim_trailing", _STRIPPED, _TWO_TEXTS, "trim(TRAILING {1} FROM {0})",
           "Without those characters at the end. `TRIM(TRAILING 'xy' FROM text)`.", spellings=()),
    scalar("length", (Param("text", BYTES),), rules.either(None, result=Int32()), "length({0})",
           "The number of code points, or of bytes.",
           spellings=("length", "len", "char_length", "character_length")),
    scalar("octet_length", (Param("text", BYTES),), rules.either(None, result=Int32()), "octet_length({0})",
           "The number of bytes, of a text in UTF-8."),
    scalar("bit_length", (Param("text", BYTES),), rules.either(None, result=Int32()), "bit_length({0})",
           "The number of bits, of a text in UTF-8."),
    scalar("concat", (Param("text", _IN_A_ROW, repeated=True),), nested_rules.or_arrays(rules.either(None)),
           forms.listed("concat"), "All texts, all bytes, or the elements of all arrays, in a row; NULL when one is.",
           operator="||"),
    scalar("concat_ws", (Param("separator", STRING, edges=(",", "", "\U0001f600")),
                         Param("text", _TEXTS, optional=True, repeated=True)),
           rules.joined, forms.listed("concat_ws"),
           "All texts, and all elements of arrays, with the separator between them; those that are NULL are left away.",
           nulls=Nulls.ANY),
    scalar("substring",
           (Param("text", BYTES), Param("position", INT, edges=(1, 0, 2, -1, -30)),
            Param("count", INT, optional=True, edges=(3, 0, 1, -1))),
           rules.either(None, Int32()), forms.listed("substring"),
           "From a position (1 is the first, negative counts from the end), so many code points or bytes. "
           "Also `SUBSTRING(text FROM position FOR count)`.",
           spellings=("substring", "substr")),
    scalar("left", (Param("text", BYTES), Param("count", INT, edges=_COUNTS)), rules.either(None, Int32()),
           "left({0}, {1})", "The first so many code points or bytes."),
    scalar("right", (_TEXT, Param("count", INT, edges=_COUNTS)), rules.text(Int32()), "right({0}, {1})",
           "The last so many code points."),
    scalar("lpad", _PADDED, rules.either(None, Int32(), None), text_forms.made("lpad", 1),
           "Filled from the left up to a length, cut where it is longer; with spaces (bytes: zeros) unless said.",
           raises=True),
    scalar("rpad", _PADDED, rules.either(None, Int32(), None), text_forms.made("rpad", 1),
           "Filled from the right up to a length, cut where it is longer; with spaces (bytes: zeros) unless said.",
           raises=True),
    scalar("repeat", (_TEXT, Param("count", INT, edges=_SIZES)), rules.text(Int32()), text_forms.repeated,
           "The text so many times; empty for a count below 1.", raises=True),
    scalar("space", (Param("count", INT, edges=_SIZES),), rules.exactly(Int32(), result=String()),
           text_forms.made("space", 0), "So many spaces.", raises=True),
    scalar("reverse", (Param("text", _IN_A_ROW),), nested_rules.or_arrays(rules.either(None)), "reverse({0})",
           "The code points, bytes or elements, from the last to the first."),
    scalar("replace", (_TEXT, Param("part", STRING, edges=_PARTS),
                       Param("replacement", STRING, optional=True, edges=("", "xy", "\U0001f600"))),
           rules.text(String(), String()), forms.listed("replace"),
           "Every place of a part replaced, or removed; an empty part is found nowhere."),
    scalar("translate", (_TEXT, Param("from", STRING, edges=("abc", "", "aa", "\U0001f600\u00e9")),
                         Param("to", STRING, edges=("xyz", "", "x", "\u00df\x00"))),
           rules.text(String(), String()), "translate({0}, {1}, {2})",
           "Each character of the second text replaced by the third's at its place, removed where there is none."),
    scalar("overlay", (Param("text", BYTES), Param("replacement", BYTES),
                       Param("position", INT, edges=_COUNTS), Param("count", INT, optional=True, edges=_COUNTS)),
           rules.either(None, None, Int32()), forms.listed("overlay"),
           "With a replacement from a position on in place of so many code points or bytes (its own length unless "
           "said). `OVERLAY(text PLACING replacement FROM position FOR count)`."),
    scalar("instr", (_TEXT, _PART), rules.text(String(), result=Int32()), "instr({0}, {1})",
           "The position of the first place of a part; 0 where there is none."),
    scalar("locate", (_PART, _TEXT, Param("position", INT, optional=True, edges=_COUNTS)),
           rules.exactly(String(), String(), Int32(), result=Int32()), forms.listed("locate"),
           "The position of the first place of a part, searched from a position on (NULL or below 1: found nowhere); "
           "0 where there is none. Also `POSITION(part IN text)`.",
           spellings=("locate", "position"), nulls=Nulls.ANY),
    scalar("find_in_set", (_PART, Param("list", STRING, edges=("a,b", "", ",", "abc,b,ab,c,def"))),
           rules.text(String(), result=Int32()), "find_in_set({0}, {1})",
           "The place of a text in a list of texts parted by commas; 0 where it is not there or has a comma."),
    scalar("startswith", _FOUND, rules.either(None, result=Boolean()), "startswith({0}, {1})",
           "Whether it begins with a part."),
    scalar("endswith", _FOUND, rules.either(None, result=Boolean()), "endswith({0}, {1})",
           "Whether it ends with a part."),
    scalar("contains", _FOUND, rules.either(None, result=Boolean()), "contains({0}, {1})",
           "Whether it has a part."),
    scalar("substring_index", (_TEXT, _DELIMITER, Param("count", INT, edges=_COUNTS)),
           rules.text(String(), Int32()), "substring_index({0}, {1}, {2})",
           "What stands before so many delimiters, a negative count: behind so many from the end."),
    scalar("split_part", (_TEXT, _DELIMITER, Param("part", INT, edges=_COUNTS)),
           rules.text(String(), Int32()), text_forms.split_part,
           "A part of what delimiters part: 1 is the first, -1 the last; empty beyond them, NULL for part 0.",
           raises=True),
    scalar("ascii", _ONE, rules.text(result=Int32()), "ascii({0})",
           "The number of the first code point; 0 for an empty text."),
    scalar("chr", (Param("number", INTEGER, edges=(65, 0, 233, 256, 8364, -1, 2**63 - 1)),),
           rules.exactly(Int64(), result=String()), "chr({0})",
           "The character of a number's last eight bits; empty for a negative number.", spellings=("chr", "char")),
    scalar("quote", _ONE, rules.text(), "quote({0})", "In single quotes, with a backslash before each in it."),
    scalar("levenshtein", (_TEXT, Param("other", STRING), Param("threshold", INT, optional=True, edges=_COUNTS)),
           rules.text(String(), Int32(), result=Int32()), text_forms.levenshtein,
           "How many code points have to be put in, left away or replaced; -1 where that is beyond the threshold."),
    scalar("soundex", _ONE, rules.text(), "soundex({0})",
           "The Soundex code of an English word; the text itself where it begins with no ASCII letter."),
    scalar("luhn_check", _ONE, rules.text(result=Boolean()), "luhn_check({0})",
           "Whether it is digits of which the last checks the others by Luhn's algorithm."),
)  # fmt: skip

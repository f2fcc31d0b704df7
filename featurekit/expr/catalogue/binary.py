"""Bytes, and text that stands for bytes."""

from __future__ import annotations

from typing import Final

from featurekit.expr import spark_forms as forms
from featurekit.expr import text_forms
from featurekit.expr import text_rules as rules
from featurekit.expr.catalogue.row import BINARY, BYTES, INTEGER, STRING, Exactness, Function, Param, Takes, scalar
from featurekit.types import Binary, Boolean, String

_HEX = Takes("integer, string or binary", (*INTEGER.kinds, *BYTES.kinds))
_BYTES = (Param("bytes", BINARY),)
_TEXT = (Param("text", STRING),)

ROWS: Final[tuple[Function, ...]] = (
    scalar("hex", (Param("value", _HEX),), rules.hexadecimal, "hex({0})",
           "The bytes in upper-case hexadecimal, of a text in UTF-8; an integer's 64 bits without leading zeros."),
    scalar("unhex", (Param("text", STRING, edges=("4142", "F", "", "fF0", "G0", " 41")),), rules.text(result=Binary()),
           "unhex({0})", "The bytes of hexadecimal digits, NULL where it has anything else; an odd one stands alone.",
           raises=True),
    scalar("base64", (Param("bytes", BYTES),), rules.either(None, result=String()), text_forms.base64,
           "The bytes, of a text in UTF-8, in base64: lines of 76 letters, parted by \\r\\n."),
    scalar("unbase64", (Param("text", STRING, edges=("QUI=", "QQ", "Q!Q==", "a", "=", "")),),
           rules.text(result=Binary()), text_forms.unbase64,
           "The bytes of base64; other characters are passed over, NULL where its letters don't come out even.",
           raises=True),
    scalar("encode", (Param("text", STRING), Param("charset", STRING, literal=True, edges=rules.CHARSETS)),
           rules.coded(String(), Binary(), rules.CHARSETS), "encode({0}, {1})",
           "The bytes of a text in a charset; utf-16 is big-endian with a mark at its start."),
    scalar("decode_bytes", (Param("bytes", BINARY), Param("charset", STRING, literal=True, edges=("utf-8", "UTF-8"))),
           rules.coded(Binary(), String(), ("utf-8",)), "try_validate_utf8(CAST({0} AS STRING))",
           "The text of bytes in UTF-8; NULL where they are none. `decode(bytes, 'UTF-8')`.",
           spellings=(), raises=True),
    scalar("is_valid_utf8", _BYTES, rules.exactly(Binary(), result=Boolean()), "is_valid_utf8({0})",
           "Whether the bytes are a text in UTF-8."),
    scalar("validate_utf8", _BYTES, rules.exactly(Binary(), result=String()), "try_validate_utf8({0})",
           "The text of bytes in UTF-8; NULL where they are none.",
           spellings=("validate_utf8", "try_validate_utf8"), raises=True),
    scalar("make_valid_utf8", _BYTES, rules.exactly(Binary(), result=String()), "make_valid_utf8({0})",
           "The text of bytes in UTF-8, with U+FFFD for what is none."),
    scalar("to_binary",
           (Param("text", STRING, edges=("4142", "F", "QUI=", "QQ", "")),
            Param("format", STRING, literal=True, optional=True, edges=rules.BINARY_FORMATS)),
           rules.to_binary, forms.listed("try_to_binary"),
           "The bytes that a text stands for in a format ('hex' unless said); NULL where it is not in it.",
           spellings=("to_binary", "try_to_binary"), raises=True),
    scalar("url_encode", _TEXT, rules.text(), "url_encode({0})",
           "As forms send it: + for a space, %XX for UTF-8 bytes of all but ASCII letters and digits and `.-*_`."),
    scalar("url_decode", (Param("text", STRING, edges=("a+b", "%C3%A9", "%C3", "%zz", "%+1", "%2")),), rules.text(),
           # Before Java 25, %+1 and %\uff11\u0661 were hexadecimal digits as well; %zz is none on any.
           "try_url_decode(regexp_replace({0}, '%(?![0-9A-Fa-f]{{2}})', '%zz'))",
           "The text that url_encode gave; U+FFFD for bytes that are no UTF-8, NULL where % is not followed by two "
           "hexadecimal digits (ASCII).",
           spellings=("url_decode", "try_url_decode"), raises=True, exactness=Exactness.REDEFINED),
)  # fmt: skip

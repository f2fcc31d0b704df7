"""Bytes, and text that stands for bytes."""

from __future__ import annotations

import binascii
import re
from typing import Final

from featurekit.expr.nodes import Call
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always, literal_value
from featurekit.types import Binary, String

_HEX_DIGITS: Final = frozenset("0123456789abcdefABCDEF")
_NOT_BASE64: Final = re.compile("[^A-Za-z0-9+/]+")
# Between the letters Spark lets stand what Java calls white space, the same on each Java.
_BASE64: Final = re.compile("[A-Za-z0-9+/\t-\r\x1c-\x20\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]*=?=?")
# What the first = of base64 is followed by, when so many letters are left over from groups of four.
_PADDING: Final = {2: re.compile("==[^A-Za-z0-9+/]*"), 3: re.compile("=[^A-Za-z0-9+/]*")}
_LINE: Final = 57  # bytes of a line of 76 letters
_PLAIN_IN_URL: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-*_")
_URL: Final = ["+" if byte == 32 else chr(byte) if byte in _PLAIN_IN_URL else f"%{byte:02X}" for byte in range(256)]
_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_ESCAPED: Final = re.compile("(?:%[0-9A-Fa-f]{2})+")


def _hex(call: Call) -> Kernel:
    match call.args[0].type:
        case Binary():
            return Inline("{0}.hex().upper()")
        case String():
            return Inline("{0}.encode().hex().upper()")
        case _:
            return Inline("{format}({0} & 0xFFFFFFFFFFFFFFFF, 'X')", {"format": format})


def _unhex(value: str) -> bytes | None:
    if not _HEX_DIGITS.issuperset(value):
        return None
    return bytes.fromhex(value if len(value) % 2 == 0 else f"0{value}")


def _base64(value: bytes) -> str:
    lines = (value[start : start + _LINE] for start in range(0, len(value), _LINE))
    return "\r\n".join(binascii.b2a_base64(line, newline=False).decode() for line in lines)


def _unbase64(value: str) -> bytes | None:
    """Return what java.util's MIME decoder returns, None where it throws."""
    head, point, tail = value.partition("=")
    letters = _NOT_BASE64.sub("", head)
    left_over = len(letters) % 4
    if left_over == 1 or (point and left_over == 0):
        return None
    if point and not _PADDING[left_over].fullmatch(point + tail):
        return None
    return binascii.a2b_base64(letters + "=" * (-len(letters) % 4))


def _strict_base64(value: str) -> bytes | None:
    letters = len(_NOT_BASE64.sub("", value))
    padding = value.count("=")
    if not _BASE64.fullmatch(value) or (padding and (letters + padding) % 4):
        return None
    return _unbase64(value)


def _encode(call: Call) -> Kernel:
    match literal_value(call, 1).lower():
        case "utf-8":
            return Inline("{0}.encode()")
        case "utf-16le":
            return Inline("{0}.encode('utf-16-le')")
        case "utf-16be":
            return Inline("{0}.encode('utf-16-be')")
        case _:
            return _utf16


def _utf16(value: str) -> bytes:
    return b"\xfe\xff" + value.encode("utf-16-be") if value else b""


def _decode(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _to_binary(call: Call) -> Kernel:
    match literal_value(call, 1).lower() if len(call.args) == 2 else "hex":
        case "hex":
            return _unhex
        case "base64":
            return _strict_base64
        case _:
            return Inline("{0}.encode()")


def _url_encode(value: str) -> str:
    return "".join(map(_URL.__getitem__, value.encode()))


def _java_text(value: bytes) -> str:
    # Java takes half a surrogate pair for one mistake, Python for one in each of its bytes.
    return _SURROGATE.sub("\ufffd".encode(), value).decode(errors="replace")


def _url_decode(value: str) -> str | None:
    parts = _ESCAPED.split(value.replace("+", " "))
    if any("%" in part for part in parts):
        return None
    escaped = [_java_text(bytes.fromhex(run.replace("%", ""))) for run in _ESCAPED.findall(value)]
    return "".join(part + more for part, more in zip(parts, [*escaped, ""], strict=True))


KERNELS: Final[dict[str, Factory]] = {
    "hex": _hex,
    "unhex": always(_unhex),
    "base64": lambda call: _base64 if call.args[0].type == Binary() else lambda value: _base64(value.encode()),
    "unbase64": always(_unbase64),
    "encode": _encode,
    "decode_bytes": always(_decode),
    "is_valid_utf8": always(lambda value: _decode(value) is not None),
    "validate_utf8": always(_decode),
    "make_valid_utf8": always(Inline("{0}.decode(errors='replace')")),
    "to_binary": _to_binary,
    "url_encode": always(_url_encode),
    "url_decode": always(_url_decode),
}

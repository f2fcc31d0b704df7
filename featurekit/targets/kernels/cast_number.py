"""Text to numbers and truth values, by Spark's grammar; None for text that names none, or one out of range."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal as PyDecimal
from fractions import Fraction
from typing import Final

from featurekit.targets.kernels.cast_text import TRIMMED
from featurekit.targets.kernels.numeric import fit, to_float32
from featurekit.types import DataType, Decimal, integer_range

# What Java's String.trim takes away, which floats and decimals are read after.
_BLANKS: Final = "".join(map(chr, range(0x21)))
_MAX_DIGITS: Final = 38
_TRUE: Final = frozenset(("t", "true", "y", "yes", "1"))
_FALSE: Final = frozenset(("f", "false", "n", "no", "0"))
_INTEGER: Final = re.compile(r"([+-]?)0*([0-9]{0,19})", re.ASCII)
_UNSIGNED: Final = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_DECIMAL: Final = re.compile(rf"([+-]?{_UNSIGNED})(?:[eE]([+-]?)0*([0-9]{{1,4}}))?")
_FLOAT: Final = re.compile(rf"([+-]?{_UNSIGNED}(?:[eE][+-]?[0-9]+)?)[fFdD]?")
_HEX_FLOAT: Final = re.compile(
    r"(?P<sign>[+-]?)0[xX](?P<whole>[0-9a-fA-F]*)(?:\.(?P<part>[0-9a-fA-F]*))?[pP](?P<power>[+-]?[0-9]+)[fFdD]?"
)
_SPECIAL: Final[dict[str, float]] = {
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), math.inf),
    **dict.fromkeys(("-inf", "-infinity"), -math.inf),
    "nan": math.nan,
}
_FARTHEST_POWER: Final = 5000  # of two, with the digits' own: beyond it every double is 0 or infinite


def text_to_boolean(text: str) -> bool | None:
    """Return what `t true y yes 1` and `f false n no 0` say, in any case.

    >>> text_to_boolean(" Yes\\n"), text_to_boolean("0"), text_to_boolean("on")
    (True, False, None)
    """
    word = text.strip(TRIMMED)
    if len(word) > len("false"):
        return None
    word = word.lower()
    return True if word in _TRUE else False if word in _FALSE else None


def text_to_integer(kind: DataType) -> Callable[[str], int | None]:
    """Return the function that reads a whole number: a sign and digits, without point or exponent.

    >>> from featurekit.types import Int8
    >>> [text_to_integer(Int8())(text) for text in (" +12 ", "128", "1.0")]
    [12, None, None]
    """
    low, high = integer_range(kind)

    def kernel(text: str) -> int | None:
        match = _INTEGER.fullmatch(text.strip(TRIMMED))
        if match is None or not match[0][-1:].isdigit():
            return None
        value = int(match[1] + (match[2] or "0"))
        return value if low <= value <= high else None

    return kernel


def text_to_decimal(kind: Decimal) -> Callable[[str], PyDecimal | None]:
    """Return the function that reads a decimal and rounds it half up: `1`, `.5`, `-1.25e3`.

    >>> [text_to_decimal(Decimal(4, 2))(text) for text in ("1.005", "1e2", "1d")]
    [Decimal('1.01'), None, None]
    """
    into = fit(kind)
    zero = into(PyDecimal(0))

    def kernel(text: str) -> PyDecimal | None:
        match = _DECIMAL.fullmatch(text.strip(_BLANKS))
        if match is None:
            return None
        sign, digits, exponent = PyDecimal(match[1]).as_tuple()
        exponent = int(exponent) + (int(match[2] + match[3]) if match[3] else 0)
        if len(digits) + exponent > _MAX_DIGITS and any(digits):
            return None
        return into(PyDecimal((sign, digits, exponent))) if any(digits) else zero

    return kernel


def text_to_double(text: str) -> float | None:
    """Return the double nearest to the number, as Java's Double.parseDouble; and `inf`, `infinity`, `nan` in any case.

    >>> text_to_double(" 1.5e3d "), text_to_double("-Inf"), text_to_double("1_000"), text_to_double("0x1.8p1")
    (1500.0, -inf, None, 3.0)
    """
    word = text.strip(_BLANKS)
    if match := _FLOAT.fullmatch(word):
        return float(match[1])
    if match := _HEX_FLOAT.fullmatch(word):
        exact = _hexadecimal(match)
        if exact is None:
            return None
        return exact if isinstance(exact, float) else _nearest(exact)
    return _special(word)


def text_to_float32(text: str) -> float | None:
    """Return the float32 nearest to the number, rounded once."""
    word = text.strip(_BLANKS)
    if match := _FLOAT.fullmatch(word):
        near = float(match[1])
        return narrow(near, PyDecimal(match[1])) if near and math.isfinite(near) else near
    if match := _HEX_FLOAT.fullmatch(word):
        exact = _hexadecimal(match)
        if exact is None or isinstance(exact, float):
            return exact
        near = _nearest(exact)
        return narrow(near, exact) if near and math.isfinite(near) else near
    return _special(word)


def narrow(near: float, exact: int | PyDecimal | Fraction) -> float:
    """Return the float32 nearest to an exact number, `near` being its nearest double."""
    # Through the nearest double it could land on the wrong side of a tie: an odd last bit remembers lost digits.
    if near != exact and math.frexp(near)[0] * 2**53 % 2 == 0:
        near = math.nextafter(near, math.inf if exact > near else -math.inf)
    return to_float32(near)


def _special(word: str) -> float | None:
    if word in ("+NaN", "-NaN"):
        return math.nan
    return _SPECIAL.get(word.lower()) if word.isascii() else None


def _hexadecimal(match: re.Match[str]) -> Fraction | float | None:
    """Return the exact number, a float where it is a zero or an infinity, None where it has no digits."""
    part = match["part"] or ""
    digits = match["whole"] + part
    if not digits:
        return None
    sign = -1.0 if match["sign"] == "-" else 1.0
    mantissa = int(digits, 16)
    power = int(match["power"]) - 4 * len(part)
    magnitude = mantissa.bit_length() + power
    if not mantissa or magnitude < -_FARTHEST_POWER:
        return sign * 0.0
    if magnitude > _FARTHEST_POWER:
        return sign * math.inf
    return Fraction(int(sign) * mantissa) * Fraction(2) ** power


def _nearest(exact: Fraction) -> float:
    sign = 1.0 if exact > 0 else -1.0
    try:
        return exact.numerator / exact.denominator or sign * 0.0
    except OverflowError:
        return sign * math.inf

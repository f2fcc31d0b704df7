"""The numbers behind sin, cos and tan: both paths, rows and columns, compute with these.

An angle is taken as q quarter turns and a rest, by four parts of π/2. q times each of the first three is exact for
|q| < 2^23, and so is the difference from the first two (all are multiples of 2^-53). The series of the rest are those
Sun published with fdlibm 5.3 (k_sin.c, k_cos.c).
"""

from __future__ import annotations

from typing import Final

CYCLE_LIMIT: Final = 10_000_000.0  # beyond, NULL; 6.4 million quarter turns are fewer than 2^23
INVERSE_HALF_PI: Final = float.fromhex("0x1.45f306dc9c883p-1")
_DIGITS: Final = 0x1921FB54442D18469898CC51701B839A252049C1  # π/2 · 2^156


def _part(high: int, low: int) -> float:
    """Return the bits of π/2 from 2^-high (excluded) to 2^-low."""
    return float((_DIGITS >> (156 - low)) - ((_DIGITS >> (156 - high)) << (low - high))) * 2.0**-low


TURNS: Final = (
    float(_DIGITS >> (156 - 29)) * 2.0**-29,
    _part(29, 52),
    _part(52, 82),
    float(_DIGITS - ((_DIGITS >> (156 - 82)) << (156 - 82))) * 2.0**-156,
)
SIN_TINY: Final = 2.0**-27  # below, the sine is the angle
SIN: Final = (
    float.fromhex("-0x1.5555555555549p-3"),
    float.fromhex("0x1.111111110f8a6p-7"),
    float.fromhex("-0x1.a01a019c161d5p-13"),
    float.fromhex("0x1.71de357b1fe7dp-19"),
    float.fromhex("-0x1.ae5e68a2b9cebp-26"),
    float.fromhex("0x1.5d93a5acfd57cp-33"),
)
COS: Final = (
    float.fromhex("0x1.555555555554cp-5"),
    float.fromhex("-0x1.6c16c16c15177p-10"),
    float.fromhex("0x1.a01a019cb1590p-16"),
    float.fromhex("-0x1.27e4f809c52adp-22"),
    float.fromhex("0x1.1ee9ebdb4b1c4p-29"),
    float.fromhex("-0x1.8fae9be8838d4p-37"),
)

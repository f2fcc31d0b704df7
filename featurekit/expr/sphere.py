"""The numbers behind haversine: both paths, rows and columns, compute with these.

The sine of an angle from 0 to 90 degrees is s + s³ p(s²), s in radians and p the polynomial through (sin s - s) / s³ at
the eight Chebyshev points of 0 to (π/2)², which is within 2e-18 of it.
"""

from __future__ import annotations

from typing import Final

DIAMETER: Final = 12742.0176  # kilometres: twice the mean radius of the Earth as the IUGG defines it
QUARTER_TURN: Final = 90.0
HALF_TURN: Final = 180.0
ANGLE: Final = float.fromhex("0x1.1df46a2529d39p-6")  # π / 180
SINE: Final = (
    float.fromhex("-0x1.5555555555555p-3"),
    float.fromhex("0x1.1111111111107p-7"),
    float.fromhex("-0x1.a01a01a018aadp-13"),
    float.fromhex("0x1.71de3a5456716p-19"),
    float.fromhex("-0x1.ae6455a1d7087p-26"),
    float.fromhex("0x1.6124015b5ee3ap-33"),
    float.fromhex("-0x1.ae5138c1216b3p-41"),
    float.fromhex("0x1.89a4866f527ebp-49"),
)

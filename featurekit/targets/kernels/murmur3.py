"""Murmur3 for 32 bits, as Spark computes it: the bytes after the last whole word are mixed one by one, as words."""

from __future__ import annotations

import struct
from typing import Final

_MASK: Final = 0xFFFFFFFF
_C1: Final = 0xCC9E2D51
_C2: Final = 0x1B873593


def _mixed(seed: int, word: int) -> int:
    word = word * _C1 & _MASK
    seed ^= ((word << 15 | word >> 17) & _MASK) * _C2 & _MASK
    return ((seed << 13 | seed >> 19) & _MASK) * 5 + 0xE6546B64 & _MASK


def _finished(seed: int, length: int) -> int:
    seed ^= length
    seed = (seed ^ seed >> 16) * 0x85EBCA6B & _MASK
    seed = (seed ^ seed >> 13) * 0xC2B2AE35 & _MASK
    return seed ^ seed >> 16


def murmur3_int(value: int, seed: int) -> int:
    """Return the unsigned hash of a value of 32 bits, signed or not."""
    return _finished(_mixed(seed, value & _MASK), 4)


def murmur3_long(value: int, seed: int) -> int:
    return _finished(_mixed(_mixed(seed, value & _MASK), value >> 32 & _MASK), 8)


def murmur3_bytes(value: bytes, seed: int) -> int:
    length = len(value)
    words = length >> 2
    for word in struct.unpack_from(f"<{words}I", value):
        word = word * _C1 & _MASK
        seed ^= ((word << 15 | word >> 17) & _MASK) * _C2 & _MASK
        seed = ((seed << 13 | seed >> 19) & _MASK) * 5 + 0xE6546B64 & _MASK
    for byte in value[words << 2 :]:
        seed = _mixed(seed, byte if byte < 128 else byte | 0xFFFFFF00)
    return _finished(seed, length)

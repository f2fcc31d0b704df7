"""xxHash for 64 bits: the published algorithm, with a seed."""

from __future__ import annotations

import struct
from typing import Final

_MASK: Final = 0xFFFFFFFFFFFFFFFF
_P1: Final = 0x9E3779B185EBCA87
_P2: Final = 0xC2B2AE3D27D4EB4F
_P3: Final = 0x165667B19E3779F9
_P4: Final = 0x85EBCA77C2B2AE63
_P5: Final = 0x27D4EB2F165667C5


def _finished(acc: int) -> int:
    acc = (acc ^ acc >> 33) * _P2 & _MASK
    acc = (acc ^ acc >> 29) * _P3 & _MASK
    return acc ^ acc >> 32


def xxhash64_int(value: int, seed: int) -> int:
    """Return the unsigned hash of a value of 32 bits, signed or not."""
    acc = seed + _P5 + 4 & _MASK ^ (value & 0xFFFFFFFF) * _P1 & _MASK
    return _finished((acc << 23 | acc >> 41) * _P2 + _P3 & _MASK)


def xxhash64_long(value: int, seed: int) -> int:
    lane = value * _P2 & _MASK
    acc = (seed + _P5 + 8 & _MASK) ^ (lane << 31 | lane >> 33) * _P1 & _MASK
    return _finished(((acc << 27 | acc >> 37) & _MASK) * _P1 + _P4 & _MASK)


def xxhash64_bytes(value: bytes, seed: int) -> int:
    length = len(value)
    if length >= 32:
        acc, done = _stripes(value, seed), length & ~31
    else:
        acc, done = seed + _P5, 0
    acc = acc + length & _MASK
    left = length - done
    for lane in struct.unpack_from(f"<{left >> 3}Q", value, done):
        lane = lane * _P2 & _MASK
        acc ^= (lane << 31 | lane >> 33) * _P1 & _MASK
        acc = ((acc << 27 | acc >> 37) & _MASK) * _P1 + _P4 & _MASK
    done += left & ~7
    if length - done >= 4:
        acc ^= int.from_bytes(value[done : done + 4], "little") * _P1 & _MASK
        acc = ((acc << 23 | acc >> 41) & _MASK) * _P2 + _P3 & _MASK
        done += 4
    for byte in value[done:]:
        acc ^= byte * _P5 & _MASK
        acc = ((acc << 11 | acc >> 53) & _MASK) * _P1 & _MASK
    acc = (acc ^ acc >> 33) * _P2 & _MASK
    acc = (acc ^ acc >> 29) * _P3 & _MASK
    return acc ^ acc >> 32


def _stripes(value: bytes, seed: int) -> int:
    """Return four running lanes over the whole stripes of 32 bytes, joined into one."""
    lanes = [seed + _P1 + _P2, seed + _P2, seed, seed - _P1]
    for stripe in struct.iter_unpack("<4Q", value[: len(value) & ~31]):
        for place, word in enumerate(stripe):
            lanes[place] = _rotated(lanes[place] + word * _P2 & _MASK, 31) * _P1 & _MASK
    first, second, third, fourth = lanes
    acc = _rotated(first, 1) + _rotated(second, 7) + _rotated(third, 12) + _rotated(fourth, 18)
    for lane in lanes:
        acc ^= _rotated(lane * _P2 & _MASK, 31) * _P1 & _MASK
        acc = (acc & _MASK) * _P1 + _P4 & _MASK
    return acc


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK

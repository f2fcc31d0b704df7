"""Spark's 64-bit hash and its estimate of distinct values once more, in slow plain Python."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from typing import Any

WORD = 2**64 - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
SEED = 42


def xxhash64(value: Any, kind: str) -> int:
    """Return the hash of a value of a type as Spark names it, such as `decimal(12,2)`."""
    if kind in ("boolean", "int", "date"):
        return of_bytes(struct.pack("<i", int(value)))
    if kind == "float":
        return of_bytes(struct.pack("<f", value))
    if kind in ("bigint", "timestamp"):
        return of_bytes(struct.pack("<q", value))
    if kind == "double":
        return of_bytes(struct.pack("<d", value))
    if kind.startswith("decimal"):
        precision, scale = map(int, kind[8:-1].split(","))
        unscaled = int(Decimal(value).scaleb(scale))
        if precision <= 18:
            return of_bytes(struct.pack("<q", unscaled))
        bits = (unscaled if unscaled >= 0 else ~unscaled).bit_length()
        return of_bytes(unscaled.to_bytes(bits // 8 + 1, "big", signed=True))  # as Java's BigInteger writes it
    return of_bytes(value.encode() if isinstance(value, str) else value)


def of_bytes(data: bytes) -> int:
    """Return XXH64 with seed 42, as its specification has it."""
    place = 0
    if len(data) >= 32:
        lanes = [(SEED + P1 + P2) & WORD, (SEED + P2) & WORD, SEED, (SEED - P1) & WORD]
        while place + 32 <= len(data):
            for lane in range(4):
                (word,) = struct.unpack_from("<Q", data, place + 8 * lane)
                lanes[lane] = stirred(lanes[lane], word)
            place += 32
        found = sum(rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & WORD
        for lane in lanes:
            found = ((found ^ stirred(0, lane)) * P1 + P4) & WORD
    else:
        found = SEED + P5
    found = (found + len(data)) & WORD
    while place + 8 <= len(data):
        (word,) = struct.unpack_from("<Q", data, place)
        found = (rotated(found ^ stirred(0, word), 27) * P1 + P4) & WORD
        place += 8
    if place + 4 <= len(data):
        (word,) = struct.unpack_from("<I", data, place)
        found = (rotated(found ^ (word * P1 & WORD), 23) * P2 + P3) & WORD
        place += 4
    for byte in data[place:]:
        found = rotated(found ^ (byte * P5 & WORD), 11) * P1 & WORD
    for shift, factor in ((33, P2), (29, P3)):
        found = (found ^ (found >> shift)) * factor & WORD
    return found ^ (found >> 32)


def stirred(lane: int, word: int) -> int:
    return rotated((lane + word * P2) & WORD, 31) * P1 & WORD


def rotated(word: int, by: int) -> int:
    return ((word << by) | (word >> (64 - by))) & WORD


def hyperloglog(hashes: set[int], precision: int) -> int:
    """Return the estimate where registers are counted that are empty: few values, which is all these logs have."""
    registers: dict[int, int] = {}
    for value in hashes:
        text = f"{value & WORD:064b}"
        place, rest = int(text[:precision], 2), text[precision:]
        registers[place] = max(registers.get(place, 0), len(rest) - len(rest.lstrip("0")) + 1)
    size: int = 2**precision
    return math.floor(size * math.log(size / (size - len(registers))) + 0.5)

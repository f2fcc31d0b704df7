"""The column hashes over whole columns: each takes the hashes so far as seeds, one a row, and returns the next ones.

Hashes are signed here, as Spark's are. Rows that are NULL keep their seed; that is the caller's to do.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]

P1: Final = np.uint64(0x9E3779B185EBCA87)
P2: Final = np.uint64(0xC2B2AE3D27D4EB4F)
P3: Final = np.uint64(0x165667B19E3779F9)
P4: Final = np.uint64(0x85EBCA77C2B2AE63)
P5: Final = np.uint64(0x27D4EB2F165667C5)
_C1: Final = np.uint32(0xCC9E2D51)
_C2: Final = np.uint32(0x1B873593)


def rotated64(values: U64, bits: int) -> U64:
    return (values << np.uint64(bits)) | (values >> np.uint64(64 - bits))


def finished64(acc: U64) -> Int64s:
    """Return what xxHash64 makes of its accumulator at the end."""
    acc = (acc ^ (acc >> np.uint64(33))) * P2
    acc = (acc ^ (acc >> np.uint64(29))) * P3
    return (acc ^ (acc >> np.uint64(32))).view(np.int64)


def xxhash64_int32(values: Int32s, seeds: Int64s) -> Int64s:
    words = values.astype(np.uint32, copy=False).astype(np.uint64)
    acc = (seeds.view(np.uint64) + (P5 + np.uint64(4))) ^ (words * P1)
    return finished64(rotated64(acc, 23) * P2 + P3)


def xxhash64_int64(values: Int64s, seeds: Int64s) -> Int64s:
    lanes = rotated64(values.view(np.uint64) * P2, 31) * P1
    acc = (seeds.view(np.uint64) + (P5 + np.uint64(8))) ^ lanes
    return finished64(rotated64(acc, 27) * P1 + P4)


def xxhash64_float64(values: NDArray[np.float64], seeds: Int64s) -> Int64s:
    return xxhash64_int64(float64_bits(values), seeds)


def xxhash64_float32(values: NDArray[np.float32], seeds: Int64s) -> Int64s:
    return xxhash64_int32(float32_bits(values), seeds)


def mixed32(seeds: U32, words: U32) -> U32:
    """Return Murmur3's next state, after one more word."""
    words = words * _C1
    seeds = seeds ^ ((words << np.uint32(15)) | (words >> np.uint32(17))) * _C2
    return ((seeds << np.uint32(13)) | (seeds >> np.uint32(19))) * np.uint32(5) + np.uint32(0xE6546B64)


def finished32(seeds: U32, length: int) -> Int32s:
    """Return what Murmur3 makes of its state after so many bytes."""
    seeds = seeds ^ np.uint32(length)
    seeds = (seeds ^ (seeds >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    seeds = (seeds ^ (seeds >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return (seeds ^ (seeds >> np.uint32(16))).view(np.int32)


def murmur3_int32(values: Int32s, seeds: Int32s) -> Int32s:
    return finished32(mixed32(seeds.view(np.uint32), values.view(np.uint32)), 4)


def murmur3_int64(values: Int64s, seeds: Int32s) -> Int32s:
    words = values.view(np.uint64)
    low, high = words.astype(np.uint32), (words >> np.uint64(32)).astype(np.uint32)
    return finished32(mixed32(mixed32(seeds.view(np.uint32), low), high), 8)


def murmur3_float64(values: NDArray[np.float64], seeds: Int32s) -> Int32s:
    return murmur3_int64(float64_bits(values), seeds)


def murmur3_float32(values: NDArray[np.float32], seeds: Int32s) -> Int32s:
    return murmur3_int32(float32_bits(values), seeds)


def float64_bits(values: NDArray[np.float64]) -> Int64s:
    """Return the doubles' bits; of -0.0 those of 0.0, of each NaN the same."""
    bits = (values + 0.0).view(np.int64)
    return np.where(np.isnan(values), np.int64(0x7FF8000000000000), bits)


def float32_bits(values: NDArray[np.float32]) -> Int32s:
    bits = (values + np.float32(0)).view(np.int32)
    return np.where(np.isnan(values), np.int32(0x7FC00000), bits)


def bucketed(hashes: Int64s, buckets: int) -> NDArray[Any]:
    """Return pmod(hash, buckets): 0 to buckets - 1, of the type that holds them as `hash_bucket` has it."""
    places = np.mod(hashes, np.int64(buckets))
    return places.astype(np.int32) if buckets <= np.iinfo(np.int32).max else places

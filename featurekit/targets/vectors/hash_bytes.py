"""The column hashes of bytes: values of one length are hashed together, as a table of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from featurekit.targets.kernels.murmur3 import murmur3_bytes
from featurekit.targets.kernels.xxhash64 import xxhash64_bytes

_U32 = NDArray[np.uint32]
_U64 = NDArray[np.uint64]
_P1: Final = np.uint64(0x9E3779B185EBCA87)
_P2: Final = np.uint64(0xC2B2AE3D27D4EB4F)
_P3: Final = np.uint64(0x165667B19E3779F9)
_P4: Final = np.uint64(0x85EBCA77C2B2AE63)
_P5: Final = np.uint64(0x27D4EB2F165667C5)
_C1: Final = np.uint32(0xCC9E2D51)
_C2: Final = np.uint32(0x1B873593)
_LONGEST: Final = 31  # xxHash goes on in stripes from 32 bytes
_FEWEST: Final = 16  # fewer values of one length are not worth a table


def xxhash64_of_bytes(values: Sequence[bytes], seeds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the hash of each value with its seed, both signed."""
    return _by_length(values, seeds.view(np.uint64), _xxhash64_table, xxhash64_bytes).view(np.int64)


def murmur3_of_bytes(values: Sequence[bytes], seeds: NDArray[np.int32]) -> NDArray[np.int32]:
    return _by_length(values, seeds.view(np.uint32), _murmur3_table, murmur3_bytes).view(np.int32)


def _by_length(
    values: Sequence[bytes],
    seeds: NDArray[Any],
    of_table: Callable[[NDArray[np.uint8], NDArray[Any]], NDArray[Any]],
    of_one: Callable[[bytes, int], int],
) -> NDArray[Any]:
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    hashes = np.empty(len(values), seeds.dtype)
    for length, count in enumerate(np.bincount(lengths).tolist()):
        if not count:
            continue
        places = np.flatnonzero(lengths == length)
        chosen = [values[place] for place in places.tolist()]
        if count < _FEWEST or length > _LONGEST:
            hashes[places] = [of_one(value, seed) for value, seed in zip(chosen, seeds[places].tolist(), strict=True)]
        else:
            table = np.frombuffer(b"".join(chosen), np.uint8).reshape(count, length)
            hashes[places] = of_table(table, seeds[places])
    return hashes


def _words(table: NDArray[np.uint8], start: int, dtype: Any) -> NDArray[Any]:
    """Return the whole words of each row from a byte on, a column for each."""
    size = np.dtype(dtype).itemsize
    end = start + (table.shape[1] - start) // size * size
    return np.ascontiguousarray(table[:, start:end]).view(dtype)


def _rotated(values: _U64, bits: int) -> _U64:
    return (values << np.uint64(bits)) | (values >> np.uint64(64 - bits))


def _xxhash64_table(table: NDArray[np.uint8], seeds: _U64) -> _U64:
    length = table.shape[1]
    acc = seeds + (_P5 + np.uint64(length))
    for lane in _words(table, 0, "<u8").T:
        acc = _rotated(acc ^ _rotated(lane * _P2, 31) * _P1, 27) * _P1 + _P4
    done = length & ~7
    for word in _words(table, done, "<u4").T:
        acc = _rotated(acc ^ word.astype(np.uint64) * _P1, 23) * _P2 + _P3
    for byte in table[:, length & ~3 :].T:
        acc = _rotated(acc ^ byte.astype(np.uint64) * _P5, 11) * _P1
    acc = (acc ^ (acc >> np.uint64(33))) * _P2
    acc = (acc ^ (acc >> np.uint64(29))) * _P3
    return acc ^ (acc >> np.uint64(32))


def _murmur3_table(table: NDArray[np.uint8], seeds: _U32) -> _U32:
    length = table.shape[1]
    for word in _words(table, 0, "<u4").T:
        seeds = _mixed(seeds, word)
    for byte in table[:, length & ~3 :].T:
        seeds = _mixed(seeds, byte.astype(np.int8).astype(np.int32).view(np.uint32))
    seeds = seeds ^ np.uint32(length)
    seeds = (seeds ^ (seeds >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    seeds = (seeds ^ (seeds >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return seeds ^ (seeds >> np.uint32(16))


def _mixed(seeds: _U32, words: _U32) -> _U32:
    words = words * _C1
    seeds = seeds ^ ((words << np.uint32(15)) | (words >> np.uint32(17))) * _C2
    return ((seeds << np.uint32(13)) | (seeds >> np.uint32(19))) * np.uint32(5) + np.uint32(0xE6546B64)

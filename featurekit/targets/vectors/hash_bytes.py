"""The column hashes of bytes: values of one length are hashed together, as a table of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from featurekit.targets.kernels.murmur3 import murmur3_bytes
from featurekit.targets.kernels.xxhash64 import xxhash64_bytes
from featurekit.targets.vectors.hashing import (
    P1,
    P2,
    P3,
    P4,
    P5,
    U32,
    U64,
    finished32,
    finished64,
    mixed32,
    rotated64,
)

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


def _xxhash64_table(table: NDArray[np.uint8], seeds: U64) -> U64:
    length = table.shape[1]
    acc = seeds + (P5 + np.uint64(length))
    for lane in _words(table, 0, "<u8").T:
        acc = rotated64(acc ^ rotated64(lane * P2, 31) * P1, 27) * P1 + P4
    done = length & ~7
    for word in _words(table, done, "<u4").T:
        acc = rotated64(acc ^ word.astype(np.uint64) * P1, 23) * P2 + P3
    for byte in table[:, length & ~3 :].T:
        acc = rotated64(acc ^ byte.astype(np.uint64) * P5, 11) * P1
    return finished64(acc).view(np.uint64)


def _murmur3_table(table: NDArray[np.uint8], seeds: U32) -> U32:
    length = table.shape[1]
    for word in _words(table, 0, "<u4").T:
        seeds = mixed32(seeds, word)
    for byte in table[:, length & ~3 :].T:
        seeds = mixed32(seeds, byte.astype(np.int8).astype(np.int32).view(np.uint32))
    return finished32(seeds, length).view(np.uint32)

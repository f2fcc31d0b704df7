"""The column hashes as vector kernels: a fold over the arguments, in which NULL leaves the hash as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from featurekit.expr.nodes import Call, Node
from featurekit.targets.kernels.hashing import SEED
from featurekit.targets.kernels.kernel import literal_value
from featurekit.targets.vectors import hashing
from featurekit.targets.vectors.hash_bytes import murmur3_of_bytes, xxhash64_of_bytes
from featurekit.targets.vectors.kernel import VectorFactory, VectorKernel
from featurekit.targets.vectors.vector import Vector
from featurekit.types import (
    Binary,
    Boolean,
    DataType,
    Date,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    String,
    Timestamp,
    TimestampNtz,
)

Hashes = NDArray[Any]
_Hasher = Callable[[NDArray[Any], Hashes], Hashes]
_INT: Final = (Boolean, Int8, Int16, Int32, Date)
_LONG: Final = (Int64, Timestamp, TimestampNtz)


def _hasher(kind: DataType, *, is_long: bool) -> _Hasher | None:
    """Return xxhash64 (`is_long`) or murmur3 of a type's values, None where rows have to be looped over."""
    match kind:
        case _ if isinstance(kind, _INT):
            of_int = hashing.xxhash64_int32 if is_long else hashing.murmur3_int32
            return lambda values, seeds: of_int(values.astype(np.int32), seeds)
        case _ if isinstance(kind, _LONG):
            of_long = hashing.xxhash64_int64 if is_long else hashing.murmur3_int64
            return lambda values, seeds: of_long(np.ascontiguousarray(values), seeds)
        case Float32():
            return hashing.xxhash64_float32 if is_long else hashing.murmur3_float32
        case Float64():
            return hashing.xxhash64_float64 if is_long else hashing.murmur3_float64
        case String():
            of_text = xxhash64_of_bytes if is_long else murmur3_of_bytes
            return lambda values, seeds: of_text([value.encode() for value in values.tolist()], seeds)
        case Binary():
            of_bytes = xxhash64_of_bytes if is_long else murmur3_of_bytes
            return lambda values, seeds: of_bytes(values.tolist(), seeds)
        case _:
            return None


def _folded(args: Sequence[Node], *, is_long: bool) -> Callable[[Sequence[Vector]], Hashes] | None:
    found = [_hasher(arg.type, is_long=is_long) for arg in args]
    hashers = [hasher for hasher in found if hasher is not None]
    if len(hashers) < len(found):
        return None
    dtype = np.dtype(np.int64 if is_long else np.int32)

    def fold(vectors: Sequence[Vector]) -> Hashes:
        count = _rows(vectors)
        hashes = np.full(count, SEED, dtype)
        for hasher, vector in zip(hashers, vectors, strict=True):
            whole = vector.over(count)
            if whole.valid is None:
                hashes = hasher(whole.values, hashes)
            else:
                hashes[whole.valid] = hasher(whole.values[whole.valid], hashes[whole.valid])
        return hashes

    return fold


def _rows(vectors: Sequence[Vector]) -> int:
    # One value stands for any number of rows: among others it says nothing, also where they have none.
    lengths = {len(vector) for vector in vectors}
    return lengths.pop() if len(lengths) == 1 else next(iter(lengths - {1}))


def _hash(call: Call) -> VectorKernel | None:
    fold = _folded(call.args, is_long=call.function == "xxhash64")
    return fold and (lambda args: Vector(fold(args)))


def _cross_hash(call: Call) -> VectorKernel | None:
    fold = _folded(call.args[1:], is_long=True)
    buckets = literal_value(call, 0)
    return fold and (lambda args: Vector(hashing.bucketed(fold(args), buckets)))


def _hash_bucket(call: Call) -> VectorKernel | None:
    fold = _folded(call.args[:1], is_long=True)
    buckets = literal_value(call, 1)
    return fold and (lambda args: Vector(hashing.bucketed(fold(args), buckets), args[0].valid))


VECTORS: Final[dict[str, VectorFactory]] = {
    "hash": _hash,
    "xxhash64": _hash,
    "cross_hash": _cross_hash,
    "hash_bucket": _hash_bucket,
}

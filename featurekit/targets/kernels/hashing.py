"""Hashes, digests and feature crosses.

The column hashes are folds: each value that is not NULL is hashed with what came before as its seed. So a hasher takes
a value and a seed, both unsigned here, and NULL leaves the seed as it is.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable
from decimal import Decimal as PyDecimal
from functools import cache, lru_cache
from typing import Any, Final

from featurekit.expr.nodes import Call
from featurekit.targets.kernels.kernel import MOST_NESTED, Factory, Inline, Kernel, literal_value
from featurekit.targets.kernels.murmur3 import murmur3_bytes, murmur3_int, murmur3_long
from featurekit.targets.kernels.numeric import WIDE
from featurekit.targets.kernels.xxhash64 import xxhash64_bytes, xxhash64_int, xxhash64_long
from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Null,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
)

SEED: Final = 42
_REMEMBERED: Final = 1 << 14
_SHORT: Final = 32
Hasher = Callable[[Any, int], int]
# Of a 32-bit value, of a 64-bit value, of bytes.
_Base = tuple[Hasher, Hasher, Hasher]
_MURMUR3: Final[_Base] = (murmur3_int, murmur3_long, murmur3_bytes)
_XXHASH64: Final[_Base] = (xxhash64_int, xxhash64_long, xxhash64_bytes)
_MAX_LONG_DIGITS: Final = 18


def _hasher(kind: DataType, base: _Base) -> Hasher:
    """Return the hasher of one type: what Spark makes of its values, and which of the three takes them."""
    of_int, of_long, of_bytes = base
    match kind:
        case Boolean() | Int8() | Int16() | Int32() | Date():
            return of_int
        case Int64() | Timestamp() | TimestampNtz():
            return of_long
        case Float32():
            return lambda value, seed: of_int(float32_bits(value), seed)
        case Float64():
            return lambda value, seed: of_long(float64_bits(value), seed)
        case Decimal(precision=precision, scale=scale) if precision <= _MAX_LONG_DIGITS:
            return lambda value, seed: of_long(_unscaled(value, scale), seed)
        case Decimal(scale=scale):
            return lambda value, seed: of_bytes(_shortest(_unscaled(value, scale)), seed)
        case String():
            return _of_text(of_bytes)
        case Binary():
            return of_bytes
        case Array(element=element):
            return _of_elements(_hasher(element, base))
        case Struct(fields=fields):
            return _of_fields(tuple(_hasher(field, base) for _, field in fields))
        case Null():
            return lambda _, seed: seed
        case _:
            raise AssertionError(f"{kind.name} has no hash")


@cache
def _of_text(of_bytes: Callable[[bytes, int], int]) -> Hasher:
    """Return the hasher of text by its UTF-8; it remembers short texts, since most hashed columns are categories."""

    def of_text(value: str, seed: int) -> int:
        return of_bytes(value.encode(), seed)

    known = lru_cache(maxsize=_REMEMBERED)(of_text)
    return lambda value, seed: known(value, seed) if len(value) <= _SHORT else of_text(value, seed)


def float32_bits(value: float) -> int:
    """Return a float32's bits as an int; of -0.0 those of 0.0, of NaN always the same."""
    if value != value:
        return 0x7FC00000
    return int.from_bytes(struct.pack(">f", value + 0.0))


def float64_bits(value: float) -> int:
    if value != value:
        return 0x7FF8000000000000
    return int.from_bytes(struct.pack(">d", value + 0.0))


def _unscaled(value: PyDecimal, scale: int) -> int:
    return int(value.scaleb(scale, WIDE))


def _shortest(value: int) -> bytes:
    """Return an int as the fewest bytes that hold it and its sign, the highest first."""
    bits = (value if value >= 0 else ~value).bit_length()
    return value.to_bytes(bits // 8 + 1, "big", signed=True)


def _of_elements(hasher: Hasher) -> Hasher:
    def of_elements(values: Any, seed: int) -> int:
        for value in values:
            if value is not None:
                seed = hasher(value, seed)
        return seed

    return of_elements


def _of_fields(hashers: tuple[Hasher, ...]) -> Hasher:
    def of_fields(values: Any, seed: int) -> int:
        for value, hasher in zip(values, hashers, strict=True):
            if value is not None:
                seed = hasher(value, seed)
        return seed

    return of_fields


def _fold(kinds: tuple[DataType, ...], base: _Base) -> tuple[str, dict[str, Any]]:
    """Return the text of the unsigned hash of several values, NULLs passed over, and what it calls by name."""
    names = [f"{{{place}}}" for place in range(len(kinds))]
    hashers = tuple(_hasher(kind, base) for kind in kinds)
    if len(kinds) > MOST_NESTED:
        return f"{{fold}}(({', '.join(names)}), {{seed}})", {"seed": SEED, "fold": _of_fields(hashers)}
    text = "{seed}"
    for place, value in enumerate(names):
        # A hash is never None: the first condition is there for its assignment.
        text = f"({{t}} if ({{t}} := {text}) is None or {value} is None else {{hash{place}}}({value}, {{t}}))"
    return text, {"seed": SEED, **{f"hash{place}": hasher for place, hasher in enumerate(hashers)}}


def _signed(kinds: tuple[DataType, ...], base: _Base, bits: int) -> Inline:
    fold, bound = _fold(kinds, base)
    text = f"({{t}} if ({{t}} := {fold}) < {{half}} else {{t}} - {{whole}})"
    return Inline(text, {**bound, "half": 1 << (bits - 1), "whole": 1 << bits})


def _hash(call: Call) -> Kernel:
    return _signed(tuple(arg.type for arg in call.args), _MURMUR3, 32)


def _xxhash64(call: Call) -> Kernel:
    return _signed(tuple(arg.type for arg in call.args), _XXHASH64, 64)


def _bucket(kinds: tuple[DataType, ...], buckets: int) -> Inline:
    """Return the hash's place among so many buckets, 0 to buckets - 1."""
    signed = _signed(kinds, _XXHASH64, 64)
    return Inline(f"{signed.text} % {{buckets}}", {**signed.bound, "buckets": buckets})


def _cross_hash(call: Call) -> Kernel:
    return _bucket(tuple(arg.type for arg in call.args[1:]), literal_value(call, 0))


def _hash_bucket(call: Call) -> Kernel:
    return _bucket((call.args[0].type,), literal_value(call, 1))


def _digest(algorithm: Callable[..., Any]) -> Factory:
    def factory(call: Call) -> Kernel:
        if call.args[0].type == String():
            return lambda value: algorithm(value.encode(), usedforsecurity=False).hexdigest()
        return lambda value: algorithm(value, usedforsecurity=False).hexdigest()

    return factory


_SHA2: Final[dict[int, Callable[..., Any]]] = {
    0: hashlib.sha256,
    224: hashlib.sha224,
    256: hashlib.sha256,
    384: hashlib.sha384,
    512: hashlib.sha512,
}


def _sha2(call: Call) -> Kernel:
    return _digest(_SHA2[literal_value(call, 1)])(call)


def _crc32(call: Call) -> Kernel:
    crc32 = zlib.crc32
    return (lambda value: crc32(value.encode())) if call.args[0].type == String() else crc32


KERNELS: Final[dict[str, Factory]] = {
    "hash": _hash,
    "xxhash64": _xxhash64,
    "cross_hash": _cross_hash,
    "hash_bucket": _hash_bucket,
    "md5": _digest(hashlib.md5),
    "sha1": _digest(hashlib.sha1),
    "sha2": _sha2,
    "crc32": _crc32,
}

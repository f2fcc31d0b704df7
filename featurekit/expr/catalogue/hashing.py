"""Hashes, digests and feature crosses."""

from __future__ import annotations

from typing import Final

from featurekit.expr import spark_forms as forms
from featurekit.expr.catalogue.row import ATOMIC, BYTES, INTEGER, Exactness, Function, Nulls, Param, Takes, scalar
from featurekit.expr.nodes import Call, Node
from featurekit.expr.signatures import Rule, Signature, literal_int, mismatch
from featurekit.types import (
    Array,
    Binary,
    DataType,
    Int32,
    Int64,
    Map,
    Null,
    String,
    Struct,
    holds,
    integer_range,
)

HASHED: Final = Takes("any type without maps", (*ATOMIC.kinds, Array, Struct))
SHA2_BITS: Final = (224, 256, 384, 512, 0)
_BUCKET_EDGES: Final = (1000, 1, 2, 7, 2**31 - 1, 2**40)
_VALUES: Final = (Param("a", HASHED, repeated=True),)
_BYTES: Final = Param("bytes", BYTES)


def _hashable(args: tuple[Node, ...], values: tuple[Node, ...]) -> tuple[DataType, ...]:
    if any(holds(value.type, Map) for value in values):
        raise mismatch(
            args,
            "two equal maps can hold their keys in another order, and would hash apart",
            "hash the values of its keys",
        )
    return tuple(value.type for value in values)


def _hashed(result: DataType) -> Rule:
    return lambda args: Signature(_hashable(args, args), result)


def _bucketed(place: int) -> Rule:
    """The number of buckets, at `place`, gives the result its type."""

    def rule(args: tuple[Node, ...]) -> Signature:
        buckets = literal_int(args, place, "the number of buckets")
        if buckets < 1:
            raise mismatch(args, f"the number of buckets is {buckets}; it has to be 1 or more")
        kinds = list(_hashable(args, args))
        kinds[place] = Int32() if buckets <= integer_range(Int32())[1] else Int64()
        return Signature(tuple(kinds), kinds[place])

    return rule


def _bucket(call: Call, values: tuple[str, ...], buckets: str) -> str:
    place = f"pmod(xxhash64({', '.join(values)}), CAST({buckets} AS BIGINT))"
    return f"CAST({place} AS INT)" if call.type == Int32() else place


def _cross_hash(call: Call, args: tuple[str, ...]) -> str:
    return _bucket(call, args[1:], args[0])


def _hash_bucket(call: Call, args: tuple[str, ...]) -> str:
    place = _bucket(call, args[:1], args[1])
    return f"(CASE WHEN {args[0]} IS NOT NULL THEN {place} END)" if call.args[0].nullable else place


def _digested(result: DataType) -> Rule:
    """Bytes, or text as its UTF-8."""

    def rule(args: tuple[Node, ...]) -> Signature:
        kind = String() if isinstance(args[0].type, Null) else args[0].type
        if not isinstance(kind, String | Binary):
            raise mismatch(args, "it takes text or bytes", "xxhash64(x) hashes values of any type")
        if len(args) == 1:
            return Signature((kind,), result)
        if (bits := literal_int(args, 1, "the number of bits")) not in SHA2_BITS:
            raise mismatch(args, f"SHA-2 has no form of {bits} bits", "224, 256, 384 or 512; 0 is 256")
        return Signature((kind, Int32()), result)

    return rule


def _of_bytes(name: str) -> forms.Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        data = f"CAST({args[0]} AS BINARY)" if call.args[0].type == String() else args[0]
        return f"{name}({', '.join((data, *args[1:]))})"

    return form


ROWS: Final[tuple[Function, ...]] = (
    scalar("hash", _VALUES, _hashed(Int32()), forms.listed("hash"),
           "Murmur3 of all arguments, seed 42; a NULL changes nothing. -0.0 is 0.0.", nulls=Nulls.NEVER),
    scalar("xxhash64", _VALUES, _hashed(Int64()), forms.listed("xxhash64"),
           "xxHash of all arguments, seed 42; a NULL changes nothing. -0.0 is 0.0.", nulls=Nulls.NEVER),
    scalar("cross_hash", (Param("buckets", INTEGER, literal=True, edges=_BUCKET_EDGES), *_VALUES), _bucketed(0),
           _cross_hash, "A feature cross: the bucket, 0 to buckets - 1, of all arguments together, "
           "pmod(xxhash64(a, …), buckets).", nulls=Nulls.NEVER, exactness=Exactness.REDEFINED),
    scalar("hash_bucket", (Param("a", HASHED), Param("buckets", INTEGER, literal=True, edges=_BUCKET_EDGES)),
           _bucketed(1), _hash_bucket, "The bucket, 0 to buckets - 1, of one value: pmod(xxhash64(a), buckets).",
           exactness=Exactness.REDEFINED),
    scalar("md5", (_BYTES,), _digested(String()), _of_bytes("md5"), "MD5 in hexadecimal; of text, that of its UTF-8."),
    scalar("sha1", (_BYTES,), _digested(String()), _of_bytes("sha1"), "SHA-1 in hexadecimal.",
           spellings=("sha1", "sha")),
    scalar("sha2", (_BYTES, Param("bits", INTEGER, literal=True, edges=SHA2_BITS)), _digested(String()),
           _of_bytes("sha2"), "SHA-2 of so many bits, in hexadecimal."),
    scalar("crc32", (_BYTES,), _digested(Int64()), _of_bytes("crc32"), "The CRC of 32 bits that zip and gzip use."),
)  # fmt: skip

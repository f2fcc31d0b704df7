"""Hashes: published vectors, the form over whole columns, and what a cross promises."""

from __future__ import annotations

from decimal import Decimal as PyDecimal
from typing import Any

import numpy as np
import pytest

from featurekit.errors import TypeMismatchError
from featurekit.expr import infer
from featurekit.expr.nodes import Column, Node
from featurekit.targets.kernels.murmur3 import murmur3_bytes, murmur3_int, murmur3_long
from featurekit.targets.kernels.xxhash64 import xxhash64_bytes, xxhash64_int, xxhash64_long
from featurekit.targets.python import compile_row
from featurekit.targets.vectors import hashing
from featurekit.targets.vectors.hash_bytes import murmur3_of_bytes, xxhash64_of_bytes
from featurekit.types import DataType, Float64, Int32, Int64, String, parse_type

LONGS = [0, 1, -1, 2**63 - 1, -(2**63), 12345678901, -42, 2**32, 2**31]
INTS = [0, 1, -1, 2**31 - 1, -(2**31), 65536, -42]
DOUBLES = [0.0, -0.0, 1.5, float("nan"), -float("nan"), float("inf"), 5e-324, -1e300]


@pytest.mark.parametrize(
    ("text", "seed", "want"),
    [
        (b"", 0, 0xEF46DB3751D8E999),
        (b"a", 0, 0xD24EC4F1A98C6E5B),
        (b"abc", 0, 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0, 0xFBCEA83C8A378BF1),
    ],
)
def test_xxhash64_has_its_published_values(text: bytes, seed: int, want: int) -> None:
    assert xxhash64_bytes(text, seed) == want


@pytest.mark.parametrize(("seed", "want"), [(0, 0), (1, 0x514E28B7), (0xFFFFFFFF, 0x81F16F39)])
def test_murmur3_of_nothing_has_its_published_values(seed: int, want: int) -> None:
    assert murmur3_bytes(b"", seed) == want


def test_murmur3_of_whole_words_has_its_published_value() -> None:
    assert murmur3_bytes(b"\x21\x43\x65\x87", 0) == 0xF55B516B


def _signed(values: list[int], bits: int) -> list[int]:
    return [value - (1 << bits) if value >> (bits - 1) else value for value in values]


def test_columns_hash_as_single_values_do() -> None:
    for seed in (42, 2**63 + 5):
        (signed,) = _signed([seed], 64)
        longs = np.full(len(LONGS), signed, np.int64)
        assert hashing.xxhash64_int64(np.array(LONGS), longs).tolist() == _signed(
            [xxhash64_long(value, seed) for value in LONGS], 64
        )
        ints = hashing.xxhash64_int32(np.array(INTS, np.int32), longs[: len(INTS)])
        assert ints.tolist() == _signed([xxhash64_int(value, seed) for value in INTS], 64)
    for seed in (42, 2**31 + 5):
        (signed,) = _signed([seed], 32)
        shorts = np.full(len(LONGS), signed, np.int32)
        assert hashing.murmur3_int64(np.array(LONGS), shorts).tolist() == _signed(
            [murmur3_long(value, seed) for value in LONGS], 32
        )
        ints32 = hashing.murmur3_int32(np.array(INTS, np.int32), shorts[: len(INTS)])
        assert ints32.tolist() == _signed([murmur3_int(value, seed) for value in INTS], 32)


def test_columns_of_doubles_hash_as_single_doubles_do() -> None:
    evaluate = _compiled("xxhash64", _column(Float64()))
    murmur = _compiled("hash", _column(Float64()))
    seeds = np.full(len(DOUBLES), 42, np.int64)
    found = hashing.xxhash64_float64(np.array(DOUBLES), seeds)
    assert found.tolist() == [evaluate([value])[0] for value in DOUBLES]
    found32 = hashing.murmur3_float64(np.array(DOUBLES), seeds.astype(np.int32))
    assert found32.tolist() == [murmur([value])[0] for value in DOUBLES]
    floats = np.array(DOUBLES[:-1], np.float32)
    single = _compiled("xxhash64", _column(parse_type("float")))
    assert hashing.xxhash64_float32(floats, seeds[:-1]).tolist() == [single([value])[0] for value in floats.tolist()]
    single = _compiled("hash", _column(parse_type("float")))
    found32 = hashing.murmur3_float32(floats, seeds[:-1].astype(np.int32))
    assert found32.tolist() == [single([value])[0] for value in floats.tolist()]


def test_buckets_of_columns_are_those_of_single_values() -> None:
    hashes = hashing.xxhash64_int64(np.array(LONGS), np.full(len(LONGS), 42, np.int64))
    for buckets in (1, 7, 1000, 2**31 - 1, 2**40):
        node = infer.call("hash_bucket", _column(Int64()), infer.literal(buckets))
        evaluate = compile_row([node], [_column(Int64())])
        places = hashing.bucketed(hashes, buckets)
        assert places.tolist() == [evaluate([value])[0] for value in LONGS]
        assert places.dtype == (np.int32 if node.type == Int32() else np.int64)


def _column(kind: DataType) -> Column:
    return Column(name="x", type=kind, nullable=True)


def _compiled(function: str, *args: Node) -> Any:
    return compile_row([infer.call(function, *args)], [arg for arg in args if isinstance(arg, Column)])


def test_zero_has_one_hash_and_nan_has_one() -> None:
    evaluate = _compiled("hash", _column(Float64()))
    assert evaluate([0.0]) == evaluate([-0.0])
    assert evaluate([float("nan")]) == evaluate([-float("nan")])


def test_null_leaves_the_seed_as_it_is() -> None:
    left, right = (Column(name=name, type=String(), nullable=True) for name in "ab")
    both = compile_row([infer.call("xxhash64", left, right)], [left, right])
    one = compile_row([infer.call("xxhash64", left)], [left])
    assert both(["x", None]) == both([None, "x"]) == one(["x"])
    assert one([None]) == (42,)


def test_a_cross_depends_on_the_order_of_its_values_and_stays_in_its_range() -> None:
    left, right = (Column(name=name, type=String(), nullable=True) for name in "ab")
    cross = compile_row([infer.call("cross_hash", infer.literal(1000), left, right)], [left, right])
    places = {cross([carrier, f"O{origin}"])[0] for carrier in ("AA", "UA", None) for origin in range(300)}
    assert cross(["AA", "UA"]) != cross(["UA", "AA"])
    assert min(places) >= 0
    assert max(places) < 1000
    assert len(places) > 500  # spread out, not heaped


def test_decimals_of_more_than_eighteen_digits_hash_as_bytes() -> None:
    wide, narrow = (
        compile_row([infer.call("hash", column)], [column])
        for column in (_column(parse_type("decimal(19,0)")), _column(parse_type("decimal(18,0)")))
    )
    assert wide([PyDecimal(1)]) != narrow([PyDecimal(1)])


@pytest.mark.parametrize(
    ("function", "args", "why"),
    [
        ("hash_bucket", (infer.literal(1), infer.literal(0)), "1 or more"),
        ("hash_bucket", (infer.literal(1), _column(Int32())), "decides how"),
        ("cross_hash", (infer.literal(-5), infer.literal("a")), "1 or more"),
        ("sha2", (infer.literal("a"), infer.literal(128)), "no form of 128 bits"),
        ("md5", (infer.literal(1),), "text or bytes"),
        ("hash", (_column(parse_type("array<map<string,int>>")),), "another order"),
    ],
)
def test_what_has_no_hash_is_refused_with_a_reason(function: str, args: tuple[Node, ...], why: str) -> None:
    with pytest.raises(TypeMismatchError, match=why):
        infer.call(function, *args)


@pytest.mark.parametrize("count", [15, 16, 40])
def test_values_of_a_length_are_hashed_with_their_own_seeds_wherever_they_stand(count: int) -> None:
    """16 of one length are hashed as a table, and stand between others here: the first rows' seeds are not theirs."""
    values = [b"first", b"a second", *(b"%05d, long" % number for number in range(count)), b"", b"last" * 20]
    seeds = [(-1) ** row * 7919 * row for row in range(len(values))]
    xx = xxhash64_of_bytes(values, np.array(seeds, np.int64))
    murmur = murmur3_of_bytes(values, np.array(seeds, np.int32))
    for row, (value, seed) in enumerate(zip(values, seeds, strict=True)):
        assert int(xx[row]) % 2**64 == xxhash64_bytes(value, seed % 2**64)
        assert int(murmur[row]) % 2**32 == murmur3_bytes(value, seed % 2**32)

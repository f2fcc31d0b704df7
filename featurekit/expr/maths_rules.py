"""Type rules of the mathematical functions, bits and buckets."""

from __future__ import annotations

from itertools import pairwise
from math import isfinite

from featurekit.expr import signatures as rules
from featurekit.expr.coerce import as_decimal, common_type, decimal_remainder, wider_decimal
from featurekit.expr.nodes import Literal, Node
from featurekit.expr.signatures import Signature, mismatch, numbers
from featurekit.types import (
    Array,
    Boolean,
    DataType,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int32,
    Int64,
    Null,
    String,
    is_float,
    is_integer,
    is_numeric,
)

MAX_EXACT_DIGITS = 34  # Spark takes sums and remainders of decimals to 34 digits


def integers(args: tuple[Node, ...]) -> None:
    for arg in args:
        if not is_integer(arg.type) and not isinstance(arg.type, Null):
            raise mismatch(args, "it takes integers", "CAST(x AS BIGINT) for other numbers")


def pmod(args: tuple[Node, ...]) -> Signature:
    signature = rules.arithmetic(decimal_remainder)(args)
    left, right = signature.args
    if isinstance(left, Decimal) and wider_decimal(left, as_decimal(right)).precision > MAX_EXACT_DIGITS:
        raise mismatch(args, f"Spark rounds such decimals to {MAX_EXACT_DIGITS} digits", "cast to narrower decimals")
    return signature


def is_nan(args: tuple[Node, ...]) -> Signature:
    numbers(args)
    kind = args[0].type if isinstance(args[0].type, Float32) else Float64()
    return Signature((kind,), Boolean())


def not_nan(args: tuple[Node, ...]) -> Signature:
    """nanvl(a, b): float where both are, else double."""
    numbers(args)
    known = {type(arg.type) for arg in args if not isinstance(arg.type, Null)}
    kind: DataType = Float32() if known == {Float32} else Float64()
    return Signature((kind, kind), kind)


def factorial(args: tuple[Node, ...]) -> Signature:
    integers(args)
    return Signature((Int32(),), Int64())


def binary_text(args: tuple[Node, ...]) -> Signature:
    integers(args)
    return Signature((Int64(),), String())


def bits(args: tuple[Node, ...]) -> Signature:
    """& | ^ ~: integers of the wider type."""
    integers(args)
    shared = common_type(arg.type for arg in args)
    kind = Int32() if shared is None or isinstance(shared, Null) else shared
    return Signature((kind,) * len(args), kind)


def shift(args: tuple[Node, ...]) -> Signature:
    """<< >> >>>: an int or a bigint, by an int."""
    integers(args)
    kind = Int64() if args[0].type == Int64() else Int32()
    return Signature((kind, Int32()), kind)


def bit_count(args: tuple[Node, ...]) -> Signature:
    kind = args[0].type
    if isinstance(kind, Boolean):
        return Signature((kind,), Int32())
    integers(args)
    return Signature((Int32() if isinstance(kind, Null) else kind,), Int32())


def bit_get(args: tuple[Node, ...]) -> Signature:
    integers(args)
    return Signature((Int32() if isinstance(args[0].type, Null) else args[0].type, Int32()), Int8())


def width_bucket(args: tuple[Node, ...]) -> Signature:
    numbers(args[:3])
    integers(args[3:])
    return Signature((Float64(), Float64(), Float64(), Int64()), Int64())


def bucketize(args: tuple[Node, ...]) -> Signature:
    """A number and literal bounds, each larger than the one before; all in their common type."""
    numbers(args)
    values = [arg.value for arg in args[1:] if isinstance(arg, Literal) and is_numeric(arg.type)]
    if len(values) < len(args) - 1 or not all(value is not None and isfinite(value) for value in values):
        raise mismatch(args, "the bounds decide how the function is compiled", "write them as numbers: 0, 10, 100")
    if not all(lower < higher for lower, higher in pairwise(values)):
        raise mismatch(args, "each bound has to be larger than the one before", "bucketize(x, 0, 10, 100)")
    shared = common_type(arg.type for arg in args)
    assert shared is not None
    if any(is_float(arg.type) and arg.type != shared for arg in args[1:]):
        raise mismatch(args, f"a bound is a float, the value {shared.name}", "write the bounds without F")
    if isinstance(shared, Decimal) and shared.precision > MAX_EXACT_DIGITS:
        raise mismatch(args, "the value and the bounds have no common decimal type", "cast the value to double")
    return Signature((shared,) * len(args), Int32())


def vectors(args: tuple[Node, ...]) -> Signature:
    """Arrays of doubles or floats, which stay what they are; a double comes out."""
    for arg in args:
        if not isinstance(arg.type, Array) or not is_float(arg.type.element):
            raise mismatch(args, "it takes arrays of doubles or floats", "CAST(x AS ARRAY<DOUBLE>)")
    return Signature(tuple(arg.type for arg in args), Float64())

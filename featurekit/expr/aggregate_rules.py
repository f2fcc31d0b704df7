"""Type rules of aggregates (see `signatures`): what they take, and the type of what they give."""

from __future__ import annotations

from decimal import Decimal as PyDecimal
from fractions import Fraction
from typing import Final

from featurekit.expr.nodes import Literal, Node
from featurekit.expr.signatures import Signature, literal_int, mismatch
from featurekit.types import (
    Array,
    Boolean,
    DataType,
    Float64,
    Int32,
    Int64,
    Map,
    Null,
    Struct,
    is_numeric,
)

MAX_VALUES: Final = 1000
LARGEST_DEVIATION: Final = Fraction("0.39")
SMALLEST_DEVIATION: Final = Fraction("0.0087")


def counted_if(args: tuple[Node, ...]) -> Signature:
    _condition(args, "count_if")
    return Signature((Boolean(),), Int64())


def all_or_any(args: tuple[Node, ...]) -> Signature:
    _condition(args, "bool_and")
    return Signature((Boolean(),), Boolean())


def _condition(args: tuple[Node, ...], name: str) -> None:
    if not isinstance(args[0].type, Boolean):
        raise mismatch(args, "it takes a condition", f"compare the value, such as {name}(x > 0)")


def spread(args: tuple[Node, ...]) -> Signature:
    """Variances and deviations: of any numbers, a double."""
    kind = args[0].type
    if not is_numeric(kind):
        advice = "avg(CASE WHEN … THEN 1.0D ELSE 0.0D END) is the share of a condition"
        raise mismatch(args, "it takes numbers", advice if isinstance(kind, Boolean) else "use a numeric column")
    return Signature((kind,), Float64())


def at_an_end(args: tuple[Node, ...]) -> Signature:
    """first(x), last(x), and whether to skip NULL."""
    kinds = (_valued(args), Boolean())[: len(args)]
    if len(args) == 2 and not _is_constant(args[1], bool):
        raise mismatch(args, "whether NULL is skipped decides how it is compiled", "true or false; or IGNORE NULLS")
    return Signature(kinds, args[0].type)


def at_an_extreme(args: tuple[Node, ...]) -> Signature:
    """min_by(x, y), max_by(x, y)."""
    return Signature((_valued(args), _ordered(args, args[1])), args[0].type)


def greatest_values(args: tuple[Node, ...]) -> Signature:
    kind = _ordered(args, args[0])
    _limit(args)
    return Signature((kind, Int32()), Array(kind))


def last_values(args: tuple[Node, ...]) -> Signature:
    kind = _valued(args)
    _limit(args)
    return Signature((kind, Int32()), Array(kind))


def distinct(args: tuple[Node, ...]) -> Signature:
    return Signature((_plain(args),), Int64())


def roughly_distinct(args: tuple[Node, ...]) -> Signature:
    kind = _plain(args)
    if len(args) == 1:
        return Signature((kind,), Int64())
    asked = args[1].value if isinstance(args[1], Literal) else None
    if isinstance(asked, bool) or not isinstance(asked, PyDecimal | float | int) or asked != asked:
        raise mismatch(args, "the relative deviation decides how it is compiled", "write it as a number, such as 0.05")
    if not SMALLEST_DEVIATION <= Fraction(asked) <= LARGEST_DEVIATION:
        low, high = float(SMALLEST_DEVIATION), float(LARGEST_DEVIATION)
        advice = "count(DISTINCT x) is exact" if asked < SMALLEST_DEVIATION else "0.05, the default, takes 512 bytes"
        raise mismatch(args, f"the relative deviation is {asked}; it can be {low} to {high}", advice)
    return Signature((kind, args[1].type), Int64())


def _valued(args: tuple[Node, ...]) -> DataType:
    if isinstance(args[0].type, Null):
        raise mismatch(args, "NULL has no type of its own", "CAST(NULL AS …)")
    return args[0].type


def _ordered(args: tuple[Node, ...], arg: Node) -> DataType:
    if isinstance(arg.type, Null | Array | Map | Struct):
        raise mismatch(args, f"it takes values that have an order, and {arg.type.name} has none here")
    return arg.type


def _plain(args: tuple[Node, ...]) -> DataType:
    if isinstance(args[0].type, Null | Array | Map | Struct):
        raise mismatch(args, "it counts values without parts", "count a field, an element, or a hash of them")
    return args[0].type


def _limit(args: tuple[Node, ...]) -> None:
    limit = literal_int(args, 1, "the number of values")
    if not 1 <= limit <= MAX_VALUES:
        raise mismatch(args, f"the number of values is {limit}; it can be 1 to {MAX_VALUES}")


def _is_constant(node: Node, kind: type) -> bool:
    return isinstance(node, Literal) and isinstance(node.value, kind)

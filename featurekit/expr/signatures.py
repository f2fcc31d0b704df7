"""Type rules: what a function's arguments must be, what they are first widened to, and what comes out.

A rule takes the argument nodes and returns a Signature, or raises TypeMismatchError. Literals matter to a few rules
(Spark types the 2 in `price * 2` as decimal(1,0)), so rules see nodes, not only types.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from featurekit.errors import TypeMismatchError
from featurekit.expr.coerce import (
    as_decimal,
    common_type,
    decimal_mean,
    decimal_remainder,
    decimal_round,
    decimal_total,
    literal_decimal,
    tightest_type,
)
from featurekit.expr.nodes import Literal, Node
from featurekit.types import (
    INTEGER_BITS,
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int32,
    Int64,
    Map,
    Null,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
    holds,
    is_float,
    is_integer,
    is_numeric,
)


@dataclass(frozen=True, slots=True)
class Signature:
    """The types the arguments are widened to, in order, and the type of the result.

    `fails` says that these very arguments can have no value where the catalogue row says that such types always have.
    """

    args: tuple[DataType, ...]
    result: DataType
    fails: bool = False


Rule = Callable[[tuple[Node, ...]], Signature]
DecimalRule = Callable[[Decimal, Decimal], Decimal]
MAX_ROUND_DIGITS: Final = 38
MAX_NEGATED_DIGITS: Final = 34
MAX_QUOTIENT_DIGITS: Final = 39


def mismatch(args: tuple[Node, ...], why: str, try_: str | None = None) -> TypeMismatchError:
    """Return the error for arguments of the wrong types; `infer` puts the function's name before it."""
    return TypeMismatchError(f"can't take ({', '.join(arg.type.name for arg in args)})", why=why, try_=try_)


def numbers(args: tuple[Node, ...]) -> None:
    """Refuse arguments that are neither numbers nor NULL."""
    for arg in args:
        if not is_numeric(arg.type) and not isinstance(arg.type, Null):
            raise mismatch(args, "it takes numbers", _number_advice(arg.type))


def _number_advice(kind: DataType) -> str:
    match kind:
        case Boolean():
            return "count a condition by CASE WHEN … THEN 1 ELSE 0 END"
        case String():
            return "store the column as a number; text that looks like one is not converted silently"
        case Timestamp() | TimestampNtz() | Date():
            return "t + INTERVAL 1 DAY moves a time; unix_timestamp(t) is seconds, datediff(a, b) days between dates"
        case Array():
            return "a[0] is an element, aggregate(a, 0, (total, x) -> total + x) the sum of all, size(a) how many"
        case _:
            return "use a numeric column"


def text_advice(kind: DataType) -> str:
    """Return how a value of another type becomes text."""
    match kind:
        case Array():
            return "transform(a, x -> lower(x)) does it with each element; array_join(a, ',') makes one text of them"
        case Boolean():
            return "OR joins conditions; CAST(… AS STRING) makes text of one"
        case Timestamp() | TimestampNtz() | Date():
            return "date_format(t, 'yyyy-MM-dd')"
        case Struct():
            return "take a field of it, such as place.city"
        case Map():
            return "take a value of it, such as m['key']"
        case Float32() | Float64():
            return "text functions don't turn numbers into text by themselves: CAST(CAST(x AS DECIMAL(17,2)) AS STRING)"
        case _:
            return "text functions don't turn numbers into text by themselves: CAST(… AS STRING)"


def _shared(args: tuple[Node, ...]) -> DataType:
    """Return the common type of the arguments, an error that teaches where there is none."""
    shared = common_type(arg.type for arg in args)
    if shared is None:
        names = {type(arg.type) for arg in args}
        advice = "make both sides one type"
        if Array in names and len(names) > 1:
            advice = "array_contains(a, x), or a[0] for one element"
        elif String in names:
            advice = "compare text with text: quote the literal, or declare the column with the type it has"
        elif Boolean in names:
            advice = "write the condition itself, or CASE WHEN … THEN 1 ELSE 0 END for a number"
        raise mismatch(args, "these types have no common type without guessing", advice)
    return shared


def _operand(node: Node) -> Decimal:
    """Return an operand's decimal type as Spark takes it: an int literal is only as wide as its digits."""
    if isinstance(node, Literal) and is_integer(node.type) and node.value is not None:
        return literal_decimal(node.value)
    return as_decimal(node.type)


def arithmetic(decimal_rule: DecimalRule, *, division: bool = False) -> Rule:
    """The rule of + - * / %: integers widen to the wider one, decimals grow by `decimal_rule`, else double."""

    def rule(args: tuple[Node, ...]) -> Signature:
        numbers(args)
        shared = common_type(arg.type for arg in args)
        if isinstance(shared, Decimal):
            kinds = [arg.type if not isinstance(arg.type, Null) else None for arg in args]
            known = [_operand(arg) for arg, kind in zip(args, kinds, strict=True) if kind is not None]
            left, right = known if len(known) == 2 else known * 2  # NULL takes the other operand's type
            return Signature((left, right), decimal_rule(left, right))
        if shared is None or isinstance(shared, Null) or division:
            shared = Float64()
        return Signature((shared, shared), shared)

    return rule


def remainder(args: tuple[Node, ...]) -> Signature:
    signature = arithmetic(decimal_remainder)(args)
    left, right = signature.args
    if (
        isinstance(left, Decimal)
        and isinstance(right, Decimal)
        and left.precision - left.scale + right.scale > MAX_QUOTIENT_DIGITS
    ):
        raise mismatch(
            args,
            f"Spark fails where the whole quotient has more than {MAX_QUOTIENT_DIGITS} digits",
            "cast to decimals with fewer digits, such as decimal(30,6)",
        )
    return signature


def whole_division(args: tuple[Node, ...]) -> Signature:
    numbers(args)
    if not all(is_integer(arg.type) or isinstance(arg.type, Null) for arg in args):
        raise mismatch(args, "div is whole division of integers", "floor(a / b) for other numbers")
    return Signature((Int64(), Int64()), Int64())


def same_number(args: tuple[Node, ...]) -> Signature:
    """+x: the type stays."""
    numbers(args)
    kind = Float64() if isinstance(args[0].type, Null) else args[0].type
    return Signature((kind,), kind)


def negated(args: tuple[Node, ...]) -> Signature:
    """-x, abs(x): the type stays."""
    signature = same_number(args)
    kind = signature.result
    if isinstance(kind, Decimal) and kind.precision > MAX_NEGATED_DIGITS:
        raise mismatch(
            args,
            f"Spark rounds to {MAX_NEGATED_DIGITS} digits when it negates a decimal, and fails where that carries",
            "0 - x is exact; or cast to a narrower decimal first",
        )
    return signature


def rounded(args: tuple[Node, ...]) -> Signature:
    numbers(args)
    kind = Float64() if isinstance(args[0].type, Null) else args[0].type
    digits = literal_int(args, 1, "the number of digits") if len(args) == 2 else 0
    if abs(digits) > MAX_ROUND_DIGITS:
        raise mismatch(args, f"the number of digits is {digits}; it can be -{MAX_ROUND_DIGITS} to {MAX_ROUND_DIGITS}")
    rest = tuple(Int32() for _ in args[1:])
    if not isinstance(kind, Decimal):
        return Signature((kind, *rest), kind, fails=is_float(kind) and digits < 0)
    result = decimal_round(kind, digits)
    if kind.precision - kind.scale == MAX_ROUND_DIGITS and digits < 0:
        raise mismatch(args, "rounding all 38 digits up can overflow", "cast to a narrower decimal first")
    return Signature((kind, *rest), result)


def to_whole(args: tuple[Node, ...]) -> Signature:
    """floor(x), ceil(x): a decimal without fraction, else bigint."""
    numbers(args)
    kind = args[0].type
    if isinstance(kind, Decimal):
        return Signature((kind,), decimal_round(kind, 0) if kind.scale else kind)
    return Signature((Int64(),), Int64()) if is_integer(kind) else Signature((Float64(),), Int64())


def doubles(args: tuple[Node, ...]) -> Signature:
    """Numbers, all widened to double; a double comes out."""
    numbers(args)
    return Signature((Float64(),) * len(args), Float64())


def comparison(args: tuple[Node, ...]) -> Signature:
    shared = comparable(args, _shared(args))
    if isinstance(shared, Array | Struct) and tightest_type(args[0].type, args[1].type) is None:
        raise mismatch(args, "Spark looks for no common type of the decimals in them", "cast both sides to one type")
    if isinstance(shared, Null):
        shared = Boolean()
    return Signature((shared,) * len(args), Boolean())


def logic(args: tuple[Node, ...]) -> Signature:
    for arg in args:
        if not isinstance(arg.type, Boolean | Null):
            raise mismatch(args, "AND, OR and NOT take conditions", "compare the value, such as x <> 0")
    return Signature((Boolean(),) * len(args), Boolean())


def any_to_boolean(args: tuple[Node, ...]) -> Signature:
    return Signature(tuple(arg.type for arg in args), Boolean())


def comparable(args: tuple[Node, ...], kind: DataType) -> DataType:
    """Return the type, an error where its values can't be compared."""
    if holds(kind, Map):
        raise mismatch(args, "maps have no order and are never equal in Spark", "map_entries(m) can be compared")
    return kind


def one_of(args: tuple[Node, ...]) -> Signature:
    """coalesce: all arguments and the result have the common type."""
    shared = _shared(args)
    return Signature((shared,) * len(args), shared)


def extreme(args: tuple[Node, ...]) -> Signature:
    """greatest, least: one common type, with an order."""
    shared = comparable(args, _shared(args))
    return Signature((shared,) * len(args), shared)


def expect(args: tuple[Node, ...], index: int, wanted: DataType) -> None:
    """Refuse an argument that is not of the wanted type, a narrower integer than wanted, or NULL."""
    kind = args[index].type
    if isinstance(kind, Null) or kind == wanted:
        return
    if is_integer(kind) and is_integer(wanted) and INTEGER_BITS[kind] <= INTEGER_BITS[wanted]:
        return
    raise mismatch(args, f"it takes {wanted.name} there", _advice(kind, wanted))


def _advice(kind: DataType, wanted: DataType) -> str:
    match kind, wanted:
        case String(), Binary():
            return "encode(x, 'UTF-8') gives a text's bytes"
        case Binary(), String():
            return "decode(x, 'UTF-8') gives the text of bytes, NULL where they are none"
        case _, String():
            return text_advice(kind)
        case _:
            return f"CAST(… AS {wanted.name.upper()})"


def literal_int(args: tuple[Node, ...], index: int, what: str) -> int:
    arg = args[index]
    if not isinstance(arg, Literal) or not isinstance(arg.value, int) or not is_integer(arg.type):
        raise mismatch(args, f"{what} decides how the function is compiled", f"write {what} as a whole number")
    return arg.value


def literal_text(args: tuple[Node, ...], index: int, what: str) -> str:
    arg = args[index]
    if not isinstance(arg, Literal) or not isinstance(arg.value, str):
        raise mismatch(args, f"{what} decides how the function is compiled", f"write {what} as a quoted literal")
    return arg.value


def counted(args: tuple[Node, ...]) -> Signature:
    return Signature(tuple(arg.type for arg in args), Int64())


def total(args: tuple[Node, ...]) -> Signature:
    """sum: bigint for integers, ten more digits for decimals, double for floats."""
    kind = _summable(args)
    if isinstance(kind, Decimal):
        return Signature((kind,), decimal_total(kind))
    return Signature((kind,), Float64() if is_float(kind) else Int64())


def mean(args: tuple[Node, ...]) -> Signature:
    kind = _summable(args)
    return Signature((kind,), decimal_mean(kind) if isinstance(kind, Decimal) else Float64())


def _summable(args: tuple[Node, ...]) -> DataType:
    if not is_numeric(args[0].type):
        raise mismatch(args, "it adds numbers", _number_advice(args[0].type))
    return args[0].type


def smallest_or_largest(args: tuple[Node, ...]) -> Signature:
    kind = args[0].type
    if isinstance(kind, Null | Array | Map | Struct):
        advice = "array_max(a) of one array; max_by(x, y), the value where another is largest; top_k(x, 10)"
        raise mismatch(args, "it takes values without parts", advice)
    return Signature((kind,), kind)

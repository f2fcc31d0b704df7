"""Spark's rules for the type that two types share, and for the precision and scale of decimal results.

Spark 4.3 with ANSI on and `spark.sql.decimalOperations.allowPrecisionLoss` at its default, true. Where Spark would turn
a string into a number by itself, there is no common type here: such comparisons hide mistakes, and are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal as PyDecimal
from functools import reduce
from typing import Final

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
    Int8,
    Int16,
    Int32,
    Int64,
    Map,
    Null,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
    is_float,
    is_integer,
)

MAX_DIGITS: Final = 38
# A double becomes a decimal through its text, and from 2^53 on Java 17 prints some with a digit too many (and some of
# the smallest, which are 0 in every decimal).
WHOLE_DIGITS_OF_DOUBLE: Final = 15
# Of the doubles below 10^15 it is powers of two that Java 17 prints otherwise, from 2^-24 on: that has 24 digits.
FRACTION_DIGITS_OF_DOUBLE: Final = 23
_MIN_ADJUSTED_SCALE: Final = 6
_DIGITS_OF_SECONDS: Final = 13  # of the farthest instant's
_DIGITS_OF_PRODUCT: Final = 34  # that Spark multiplies seconds to, on one of its two ways to evaluate
_TIMES: Final = (Date, Timestamp, TimestampNtz)
_DIGITS_OF_INTEGER: Final[dict[DataType, int]] = {Int8(): 3, Int16(): 5, Int32(): 10, Int64(): 20}


def common_type(kinds: Iterable[DataType]) -> DataType | None:
    """Return the type all of `kinds` widen to, None where they have none; Null gives way to every other type.

    >>> common_type([Int32(), Decimal(5, 2)]).name
    'decimal(12,2)'
    """
    start: DataType | None = Null()
    return reduce(_wider_or_none, kinds, start)


def _wider_or_none(left: DataType | None, right: DataType) -> DataType | None:
    return None if left is None else _wider(left, right)


def _wider(left: DataType, right: DataType) -> DataType | None:
    if left == right or isinstance(right, Null):
        return left
    if isinstance(left, Null):
        return right
    if is_integer(left) and is_integer(right):
        return max(left, right, key=lambda kind: INTEGER_BITS[kind])
    if _is_number(left) and _is_number(right):
        if is_float(left) or is_float(right):
            return Float64()  # also int with float: float32 would not hold every int
        return wider_decimal(as_decimal(left), as_decimal(right))
    if isinstance(left, _TIMES) and isinstance(right, _TIMES):
        return Timestamp() if Timestamp() in (left, right) else TimestampNtz()
    return _wider_nested(left, right, _wider)


def _wider_nested(
    left: DataType, right: DataType, wider: Callable[[DataType, DataType], DataType | None]
) -> DataType | None:
    """Return the common type of two arrays, maps or structs: that of their parts, by `wider`."""
    match left, right:
        case Array(), Array():
            element = wider(left.element, right.element)
            return None if element is None else Array(element)
        case Map(), Map():
            key, value = wider(left.key, right.key), wider(left.value, right.value)
            if key is None or value is None or not (_same_keys(left.key, key) and _same_keys(right.key, key)):
                return None
            return Map(key, value)
        case Struct(), Struct() if [name for name, _ in left.fields] == [name for name, _ in right.fields]:
            pairs = zip(left.fields, right.fields, strict=True)
            fields = [(name, wider(one, other)) for (name, one), (_, other) in pairs]
            return Struct(tuple((name, kind) for name, kind in fields if kind)) if all(k for _, k in fields) else None
        case _:
            return None


def tightest_type(left: DataType, right: DataType) -> DataType | None:
    """Return the common type of two if it needs no decimal to grow: Spark finds no other for parts that it compares.

    >>> tightest_type(Int32(), Decimal(12, 2)), tightest_type(Int32(), Decimal(5, 2))
    (Decimal(precision=12, scale=2), None)
    """
    if isinstance(left, Array | Map | Struct):
        return left if left == right else _wider_nested(left, right, tightest_type)
    shared = _wider(left, right)
    if left == right or not {Decimal} & {type(left), type(right)} or {Null} & {type(left), type(right)}:
        return shared
    fits = shared in (left, right) and (is_integer(left) or is_integer(right))
    return shared if fits else None  # of two decimals, or a decimal and a float, none


def floats_meet_integers(left: DataType, right: DataType) -> bool:
    """Return whether somewhere in two types a float stands beside an integer, which Spark's array functions narrow."""
    match left, right:
        case Array(), Array():
            return floats_meet_integers(left.element, right.element)
        case Map(), Map():
            return floats_meet_integers(left.key, right.key) or floats_meet_integers(left.value, right.value)
        case Struct(), Struct():
            return any(floats_meet_integers(a, b) for (_, a), (_, b) in zip(left.fields, right.fields, strict=False))
        case _:
            return Float32() in (left, right) and (is_integer(left) or is_integer(right))


def _is_number(kind: DataType) -> bool:
    return is_integer(kind) or is_float(kind) or isinstance(kind, Decimal)


def as_decimal(kind: DataType) -> Decimal:
    """Return the decimal type that holds every value of an integer or decimal type."""
    return kind if isinstance(kind, Decimal) else Decimal(_DIGITS_OF_INTEGER[kind], 0)


def literal_decimal(value: int | PyDecimal) -> Decimal:
    """Return the narrowest decimal type of a literal, as Spark types `1.50` (decimal(3,2)) and the 2 in `x * 2`."""
    digits, exponent = PyDecimal(value).as_tuple()[1:]
    scale = max(0, -int(exponent))
    return Decimal(max(len(digits), scale, 1), scale)


def wider_decimal(left: Decimal, right: Decimal) -> Decimal:
    """Return the decimal type both widen to; past 38 digits the fraction gives way, not the whole part."""
    scale = max(left.scale, right.scale)
    precision = max(left.precision - left.scale, right.precision - right.scale) + scale
    excess = max(0, precision - MAX_DIGITS)
    return Decimal(precision - excess, max(0, scale - excess))


def _adjusted(precision: int, scale: int) -> Decimal:
    """Return decimal(precision, scale), or where that is too wide the one that keeps the whole part and ≥ 6 digits."""
    if precision <= MAX_DIGITS:
        return Decimal(precision, scale)
    whole = precision - scale
    return Decimal(MAX_DIGITS, max(MAX_DIGITS - whole, min(scale, _MIN_ADJUSTED_SCALE)))


def decimal_sum(left: Decimal, right: Decimal) -> Decimal:
    """Return the type of `left + right` and `left - right`."""
    scale = max(left.scale, right.scale)
    return _adjusted(max(left.precision - left.scale, right.precision - right.scale) + scale + 1, scale)


def decimal_product(left: Decimal, right: Decimal) -> Decimal:
    return _adjusted(left.precision + right.precision + 1, left.scale + right.scale)


def decimal_quotient(left: Decimal, right: Decimal) -> Decimal:
    scale = max(6, left.scale + right.precision + 1)
    return _adjusted(left.precision - left.scale + right.scale + scale, scale)


def decimal_remainder(left: Decimal, right: Decimal) -> Decimal:
    scale = max(left.scale, right.scale)
    return _adjusted(min(left.precision - left.scale, right.precision - right.scale) + scale, scale)


def decimal_round(kind: Decimal, digits: int) -> Decimal:
    """Return the type of `round(x, digits)`: one whole digit more, because 9.9 rounds to 10."""
    whole = kind.precision - kind.scale + 1
    if digits < 0:
        return Decimal(min(max(whole, 1 - digits), MAX_DIGITS), 0)
    scale = min(digits, kind.scale)
    return Decimal(min(whole + scale, MAX_DIGITS), scale)


def decimal_total(kind: Decimal) -> Decimal:
    """Return the type of `sum(x)`: room for ten billion rows, as far as 38 digits go."""
    return Decimal(min(kind.precision + 10, MAX_DIGITS), kind.scale)


def decimal_mean(kind: Decimal) -> Decimal:
    """Return the type of `avg(x)`; like every bounded type it keeps the scale and loses whole digits past 38."""
    return Decimal(min(kind.precision + 4, MAX_DIGITS), min(kind.scale + 4, MAX_DIGITS))


def castable(source: DataType, target: DataType) -> bool:
    """Return whether CAST from `source` to `target` has one meaning here, exact on every target."""
    if source == target or isinstance(source, Null):
        return True
    match source, target:
        case Array(), Array():
            return castable(source.element, target.element)
        case Map(), Map():
            return _same_keys(source.key, target.key) and castable(source.value, target.value)
        case Struct(), Struct():
            return len(source.fields) == len(target.fields) and all(
                castable(one, other) for (_, one), (_, other) in zip(source.fields, target.fields, strict=True)
            )
        case _, String():
            return _has_text(source)
        case String(), _:
            return not isinstance(target, Array | Map | Struct | Null)
        case ((Float32() | Float64()), Decimal()):
            whole = target.precision - target.scale
            return whole <= WHOLE_DIGITS_OF_DOUBLE and target.scale <= FRACTION_DIGITS_OF_DOUBLE
        case ((Date() | Timestamp() | TimestampNtz()), (Date() | Timestamp() | TimestampNtz())):
            return True
        case Timestamp(), _:
            return _is_number(target)
        case Decimal(), Timestamp():
            whole = min(source.precision - source.scale, _DIGITS_OF_SECONDS)
            return whole + source.scale <= _DIGITS_OF_PRODUCT
        case _, Timestamp():
            return _is_number(source)
        case Boolean(), _:
            return _is_number(target)
        case _, Boolean():
            return _is_number(source)
        case _:
            return _is_number(source) and _is_number(target)


def _same_keys(source: DataType, target: DataType) -> bool:
    """Return whether a map's keys can be cast: each to one of its own, so that no key is NULL and no two are one."""
    if source == target:
        return True
    if isinstance(source, Null):
        return True
    if not (is_integer(source) or isinstance(source, Decimal)) or isinstance(target, Float32 | Float64 | Boolean):
        return False
    cut = isinstance(target, Decimal) and as_decimal(source).scale > target.scale
    return _is_number(target) and not cut and widens(source, target)


def _has_text(kind: DataType, *, inside: bool = False) -> bool:
    """Return whether CAST to string has one answer: floats are printed differently by different Java versions."""
    match kind:
        case Array():
            return _has_text(kind.element, inside=True)
        case Map():
            return _has_text(kind.key, inside=True) and _has_text(kind.value, inside=True)
        case Struct():
            return all(_has_text(field, inside=True) for _, field in kind.fields)
        case Binary():
            return not inside  # of bytes that are no text, Spark would print some
        case _:
            return not is_float(kind)


def widens(source: DataType, target: DataType) -> bool:
    """Return whether every value of `source` has a form in `target`, its parts too, so that no NULL comes in."""
    if source == target or isinstance(source, Null):
        return True
    match source, target:
        case Array(), Array():
            return widens(source.element, target.element)
        case Map(), Map():
            return widens(source.key, target.key) and widens(source.value, target.value)
        case Struct(), Struct():
            return all(widens(one, other) for (_, one), (_, other) in zip(source.fields, target.fields, strict=True))
        case _, String():
            return not isinstance(source, Binary)
        case String(), _:
            return isinstance(target, Binary)
        case ((Date() | Timestamp() | TimestampNtz()), _):
            return _time_widens(source, target)
        case _, Timestamp():
            return _always_an_instant(source)
        case Boolean(), _:
            return not isinstance(target, Decimal) or target.precision > target.scale
        case _:
            return _number_widens(source, target)


def _time_widens(source: DataType, target: DataType) -> bool:
    if isinstance(target, Timestamp | TimestampNtz):
        return not isinstance(source, Date)  # a date reaches farther than 64 bits of microseconds
    if isinstance(target, Decimal):
        return target.precision - target.scale >= _DIGITS_OF_SECONDS
    return isinstance(target, Date | Float32 | Float64) or target == Int64()


def _always_an_instant(source: DataType) -> bool:
    """Return whether every number of the type is an instant, as seconds since 1970."""
    if isinstance(source, Decimal):
        return source.precision - source.scale < _DIGITS_OF_SECONDS
    return is_integer(source) and source != Int64()


def _number_widens(source: DataType, target: DataType) -> bool:
    if isinstance(target, Float32 | Float64 | Boolean):
        return True  # an overflow is an infinity, a loss is a rounding: neither is NULL
    if is_integer(source) and is_integer(target):
        return INTEGER_BITS[source] <= INTEGER_BITS[target]
    if isinstance(target, Decimal) and (is_integer(source) or isinstance(source, Decimal)):
        exact = as_decimal(source)
        spare = 0 if exact.scale <= target.scale else 1  # dropping digits can carry into one more whole digit
        return target.precision - target.scale >= exact.precision - exact.scale + spare
    return False

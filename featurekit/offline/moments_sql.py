"""Exact sums of values and of their squares in Spark SQL, for variances and deviations (`aggregates.moments`).

A double x is cut into a high and a low half of 26 bits, x = h + l, by Veltkamp's subtraction; then h*h, 2*h*l and l*l
are exact doubles, and add up to x*x. Their digits of 32 bits are integers, whose sums are exact in any order (`exact`).
What the digits can't hold is collected. Integers are squared by halves of 32 bits, so that no product overflows;
decimals of up to 18 digits are integers of their last place, wider ones are collected.
"""

from __future__ import annotations

from typing import Final

from featurekit.aggregates.moments import SQUARE_EXPONENTS, VALUE_EXPONENTS, VALUES_BELOW
from featurekit.compiled import Slot
from featurekit.exact import DIGIT_BITS
from featurekit.offline.sql import Sql, call, case, cast, double, filtered, name, try_cast
from featurekit.types import Decimal, Float64, Int64, String, is_float

_LONG_DIGITS: Final = 18
_TERMS: Final = ("hh", "hl", "ll")
_SPLITTER: Final = double(2.0**27 + 1.0)


def _label(argument: str, part: str) -> str:
    return f"{argument}_m_{part}"


def half_columns(argument: str) -> tuple[tuple[str, Sql], ...]:
    """Return whether the digits hold a float column's value and its square, and the value's high half."""
    value = cast(name(argument), Float64())
    # NaN is larger than any number to Spark, and AND does not look further than a false.
    fits = f"abs({value}) < {double(VALUES_BELOW)} AND ({value} * {double(2.0 ** -VALUE_EXPONENTS[0])}) % 1.0D = 0.0D"
    return (
        (_label(argument, "fits"), fits),
        (_label(argument, "high"), f"({value} * {_SPLITTER}) - (({value} * {_SPLITTER}) - {value})"),
    )


def square_columns(argument: str) -> tuple[tuple[str, Sql], ...]:
    """Return the three exact parts of the square."""
    value, high = cast(name(argument), Float64()), name(_label(argument, "high"))
    low = f"({value} - {high})"
    parts = (f"{high} * {high}", f"2.0D * {high} * {low}", f"{low} * {low}")
    return tuple((_label(argument, term), part) for term, part in zip(_TERMS, parts, strict=True))


def moment_digit_columns(argument: str) -> tuple[tuple[str, Sql], ...]:
    """Return the digits of the value, those of its square, and the value itself where it has none."""
    value, fits = cast(name(argument), Float64()), name(_label(argument, "fits"))
    squares = tuple(name(_label(argument, term)) for term in _TERMS)
    digits = [_digit((value,), exponent) for exponent in VALUE_EXPONENTS]
    digits += [_digit(squares, exponent) for exponent in SQUARE_EXPONENTS]
    columns = [(label, case((fits, digit))) for label, digit in zip(_digit_names(argument), digits, strict=True)]
    return (*columns, (_label(argument, "rest"), case((f"NOT {fits}", value))))


def _digit(parts: tuple[Sql, ...], exponent: int) -> Sql:
    digits = (f"({part} * {double(2.0**-exponent)}) % {double(2.0**DIGIT_BITS)}" for part in parts)
    return " + ".join(try_cast(digit, Int64()) for digit in digits)


def _digit_names(argument: str) -> tuple[str, ...]:
    return tuple(_label(argument, str(place)) for place in range(len(VALUE_EXPONENTS) + len(SQUARE_EXPONENTS)))


def moments_sql(slot: Slot, argument: str, conditions: tuple[Sql, ...], counted: Sql) -> Sql:
    """Return a variance or a deviation over the rows for which the conditions hold."""
    assert slot.argument is not None
    kind, which = slot.argument.type, f"'{slot.function}'"
    if is_float(kind):
        sums = [filtered(f"sum({name(label)})", conditions) for label in _digit_names(argument)]
        rest = filtered(f"collect_list({name(_label(argument, 'rest'))})", conditions)
        return call("featurekit_moments", call("array", *sums), rest, counted, which)
    if isinstance(kind, Decimal) and kind.precision > _LONG_DIGITS:
        values = filtered(f"collect_list({name(argument)})", conditions)
        return call("featurekit_decimal_moments", values, which)
    scale = kind.scale if isinstance(kind, Decimal) else 0
    sums = [cast(filtered(f"sum({part})", conditions), String()) for part in _whole_parts(argument, scale)]
    return call("featurekit_whole_moments", call("array", *sums), counted, str(scale), which)


def _whole_parts(argument: str, scale: int) -> tuple[Sql, ...]:
    """Return an integer column's value and the three products of its halves, in types whose sums don't overflow."""
    value = name(argument)
    if scale:
        value = f"{value} * {cast(str(10**scale) + 'BD', Decimal(scale + 1, 0))}"
    value = cast(value, Int64())
    high, low = f"shiftright({value}, 32)", f"({value} & 4294967295L)"
    wide = Decimal(38, 0)
    small = cast(low, Decimal(10, 0))  # up to 2^32 - 1; its square fits into no bigint
    return (
        cast(value, wide),
        cast(f"{high} * {high}", wide),
        cast(f"{high} * {low}", wide),
        cast(f"{small} * {small}", wide),
    )

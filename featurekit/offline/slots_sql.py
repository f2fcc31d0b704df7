"""Slots as Spark SQL aggregates whose result no order of rows changes (DESIGN V2, V4).

Counts are counts. Integers are summed as decimal(38,0) and narrowed once. A float is summed by its digits (see
`exact`), which are integers; what has no digits is collected; `featurekit_sum` puts them together. Decimals are summed
as decimals where Spark has ten digits to spare, and are collected where it has not.
"""

from __future__ import annotations

from typing import Final

from featurekit.aggregates.hyperloglog import deviation_of
from featurekit.compiled import Slot, SlotFunction
from featurekit.exact import DIGIT_BITS, DIGIT_EXPONENTS, LARGEST_IN_DIGITS
from featurekit.offline.moments_sql import moments_sql
from featurekit.offline.sql import Sql, call, canonical, case, cast, double, filtered, name, try_cast
from featurekit.types import DataType, Decimal, Float64, Int64, is_float, is_integer

# A sum of decimal(p,s) has ten digits more; beyond decimal(28,s) those don't fit, and sums could overflow half way.
_ROOMY_PRECISION: Final = 28
ROW_ORDER: Final = "$row"
"""The column that rows are ordered by: a struct of event timestamp, created timestamp, the view's columns (T4)."""


def needs_digits(slot: Slot) -> bool:
    return (
        slot.function in (SlotFunction.SUM, SlotFunction.AVG)
        and slot.argument is not None
        and is_float(slot.argument.type)
    )


def digit_names(argument: str) -> tuple[str, ...]:
    return tuple(f"{argument}_{position}" for position in range(len(DIGIT_EXPONENTS)))


def rest_name(argument: str) -> str:
    return f"{argument}_rest"


def fits_name(argument: str) -> str:
    return f"{argument}_fits"


def fits_column(argument: str) -> tuple[str, Sql]:
    """Return whether the digits hold a float column's value."""
    value = cast(name(argument), Float64())
    # NaN is larger than any number to Spark, and AND does not look further than a false.
    fits = f"abs({value}) < {double(LARGEST_IN_DIGITS)} AND ({value} * {double(2.0**128)}) % 1.0D = 0.0D"
    return fits_name(argument), fits


def digit_columns(argument: str) -> tuple[tuple[str, Sql], ...]:
    """Return the digits of a float column, NULL where it has none, and the value itself where it has none."""
    value, fits = cast(name(argument), Float64()), name(fits_name(argument))
    digits = [
        (label, case((fits, try_cast(f"({value} * {double(2.0**-exponent)}) % {double(2.0**DIGIT_BITS)}", Int64()))))
        for label, exponent in zip(digit_names(argument), DIGIT_EXPONENTS, strict=True)
    ]
    return (*digits, (rest_name(argument), case((f"NOT {fits}", value))))


def slot_sql(slot: Slot, argument: str | None, by: str | None, conditions: tuple[Sql, ...]) -> Sql:
    """Return a slot's aggregate over the rows for which the conditions hold; `argument` and `by` are its columns."""
    counted = filtered("count(*)" if argument is None else f"count({name(argument)})", conditions)
    if argument is None or slot.argument is None:
        return counted
    kind = slot.argument.type
    match slot.function:
        case SlotFunction.COUNT:
            return counted
        case SlotFunction.MIN | SlotFunction.MAX:
            return filtered(f"{slot.function}({canonical(name(argument), kind)})", conditions)
        case SlotFunction.SUM:
            return _sum(argument, kind, slot.type, conditions, counted)
        case SlotFunction.AVG:
            return _average(argument, kind, slot.type, conditions, counted)
        case SlotFunction.VAR_POP | SlotFunction.VAR_SAMP | SlotFunction.STDDEV_POP | SlotFunction.STDDEV_SAMP:
            return moments_sql(slot, argument, conditions, counted)
        case SlotFunction.COUNT_DISTINCT:
            values = filtered(f"collect_set({canonical(name(argument), kind)})", conditions)
            return cast(call("size", values), Int64())
        case SlotFunction.APPROX_COUNT_DISTINCT:
            assert slot.parameter is not None
            deviation = double(deviation_of(slot.parameter))
            return filtered(f"approx_count_distinct({canonical(name(argument), kind)}, {deviation})", conditions)
        case SlotFunction.MIN_BY | SlotFunction.MAX_BY | SlotFunction.TOP_K | SlotFunction.COLLECT_LAST:
            return _by_order(slot, canonical(name(argument), kind), by, conditions)
        case SlotFunction.LATEST:
            raise AssertionError("the latest row is one for all its slots")


def _by_order(slot: Slot, value: Sql, by: str | None, conditions: tuple[Sql, ...]) -> Sql:
    """Return the values of the rows that come first or last; Spark's max_by(x, y, n) gives the greatest first."""
    if slot.function is SlotFunction.TOP_K:
        return filtered(call("max_by", value, value, str(slot.parameter)), conditions)
    if slot.function is SlotFunction.COLLECT_LAST:
        known = (f"{value} IS NOT NULL", *conditions)
        return call("reverse", filtered(call("max_by", value, name(ROW_ORDER), str(slot.parameter)), known))
    # Structs compare field by field, NULL smallest and NaN largest.
    order = name(ROW_ORDER) if by is None else call("struct", name(by), name(ROW_ORDER))
    return filtered(call(slot.function.value, value, order), conditions)


def _sum(argument: str, kind: DataType, result: DataType, conditions: tuple[Sql, ...], counted: Sql) -> Sql:
    if is_float(kind):
        return _float_sum(argument, conditions, counted)
    if is_integer(kind):
        return try_cast(_integer_sum(argument, conditions), result)
    return try_cast(_decimal_sum(argument, kind, conditions), result)


def _average(argument: str, kind: DataType, result: DataType, conditions: tuple[Sql, ...], counted: Sql) -> Sql:
    if isinstance(kind, Decimal):
        assert isinstance(result, Decimal)
        total = cast(_decimal_sum(argument, kind, conditions), Decimal(38, kind.scale))
        if kind.precision > _ROOMY_PRECISION:
            total = _decimal_sum(argument, kind, conditions)
        text = f"CAST({total} AS STRING)"
        return try_cast(call("featurekit_decimal_average", text, counted, str(result.scale)), result)
    total = (
        _float_sum(argument, conditions, counted)
        if is_float(kind)
        else cast(_integer_sum(argument, conditions), Float64())
    )
    # try_divide: there may be no rows, and then nothing to divide.
    return call("try_divide", total, cast(counted, Float64()))


def _float_sum(argument: str, conditions: tuple[Sql, ...], counted: Sql) -> Sql:
    sums = [filtered(f"sum({name(digit)})", conditions) for digit in digit_names(argument)]
    rest = filtered(f"collect_list({name(rest_name(argument))})", conditions)
    return call("featurekit_sum", call("array", *sums), rest, counted)


def _integer_sum(argument: str, conditions: tuple[Sql, ...]) -> Sql:
    return filtered(f"sum({cast(name(argument), Decimal(38, 0))})", conditions)


def _decimal_sum(argument: str, kind: DataType, conditions: tuple[Sql, ...]) -> Sql:
    assert isinstance(kind, Decimal)
    if kind.precision <= _ROOMY_PRECISION:
        return filtered(f"sum({name(argument)})", conditions)
    return call("featurekit_decimal_sum", filtered(f"collect_list({name(argument)})", conditions))

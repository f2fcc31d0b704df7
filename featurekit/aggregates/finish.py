"""What becomes of an exact total and a count: narrowed once, at the end; None where the type has no such value."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any, Final

from featurekit.exact import divide_half_up
from featurekit.types import DataType, Decimal, integer_range, is_integer

_LARGEST_DECIMAL: Final = 10**38
_WIDE: Final = decimal.Context(prec=80)


def finish_total(result: DataType, argument: DataType, *, average: bool) -> Callable[[Any, int], Any]:
    """Return what makes a sum's or an average's value of the exact total of `count` values, which is at least one.

    The total of floats is their rounded sum, of integers an int, of decimals an int of unscaled digits (DESIGN V2, V4).
    """
    if isinstance(result, Decimal):
        assert isinstance(argument, Decimal)
        return _decimal(result, argument.scale, average)
    if average:
        return lambda total, count: float(total) / count
    if is_integer(result):
        low, high = integer_range(result)
        return lambda total, _: total if low <= total <= high else None
    return lambda total, _: total


def _decimal(result: Decimal, scale: int, average: bool) -> Callable[[int, int], decimal.Decimal | None]:
    wider, limit = 10 ** (result.scale - scale), 10**result.precision

    def finish(total: int, count: int) -> decimal.Decimal | None:
        if average:
            # The sum narrows once, to 38 digits, before it is divided.
            if abs(total) >= _LARGEST_DECIMAL:
                return None
            total = divide_half_up(total * wider, count)
        return decimal.Decimal(total).scaleb(-result.scale, _WIDE) if abs(total) < limit else None

    return finish

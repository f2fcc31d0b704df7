"""What turns a recomputed cell into another one without looking at anything else: the fixed ones, by a field's type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.clock import DAY, HOUR, MINUTE
from featurekit.consistency.cells import Cells, FieldSpec
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.cell_values import Doubles, is_temporal, mapped, present, with_values
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.null_factors import fills, losses
from featurekit.consistency.diagnosis.text_factors import text_factors
from featurekit.types import Date, Float64, Int64, String, is_float, is_integer, is_numeric

Function = Callable[[Doubles], Doubles]

_SCALES: Final = ((2, 3), (10, 2), (24, 2), (60, 1), (100, 0), (1000, 0), (3600, 1), (86400, 2), (1e6, 1), (1e9, 3))
"""What units differ by, each with the bits that it costs on top."""
_LOGARITHMS: Final[tuple[tuple[str, Function, Function], ...]] = (
    ("log1p", np.log1p, np.expm1),
    ("ln", np.log, np.exp),
    ("log10", np.log10, lambda x: 10.0**x),
    ("log2", np.log2, np.exp2),
)


def value_factors(spec: FieldSpec) -> tuple[Factor, ...]:
    """Return the factors that can turn cells of a field, none with a parameter from the data."""
    found = [*fills(spec), *losses(spec)]
    if is_numeric(spec.type):
        found += [*_scales(), *_steps(spec)]
    if is_float(spec.type):
        found += [*_curves(), *_narrowed(spec)]
    if isinstance(spec.type, Int64):
        found += _narrow_integers()
    if is_temporal(spec.type):
        found += _times(spec)
    if isinstance(spec.type, String):
        found += text_factors()
    return tuple(found)


def _number(cause: Cause, told: str, function: Function, extra: int = 0) -> Factor:
    return Factor(cause=cause, told=f"The served value is {told}.", cells=mapped(function), extra=extra)


def _scales() -> Iterator[Factor]:
    for by, extra in _SCALES:
        yield _number(Cause.SCALED, f"the recomputed one times {by:g}", _times_by(by), extra)
        yield _number(Cause.SCALED, f"the recomputed one divided by {by:g}", _times_by(1, by), extra)


def _steps(spec: FieldSpec) -> Iterator[Factor]:
    yield _number(Cause.SIGN_FLIPPED, "the recomputed one with the other sign", np.negative)
    yield _number(Cause.SIGN_DROPPED, "the absolute recomputed one", np.abs)
    if is_integer(spec.type):
        return
    yield _number(Cause.INTEGER_TRUNCATED, "the recomputed one without its fraction", lambda x: np.trunc(x) + 0.0)
    yield _number(Cause.FLOORED, "the recomputed one, rounded down", np.floor)
    yield _number(Cause.CEILED, "the recomputed one, rounded up", np.ceil)
    for digits in range(7):
        to = f"the recomputed one, rounded to {digits} digits"
        yield _number(Cause.ROUNDED, to, _half_up(digits), digits // 3)
        yield _number(Cause.ROUNDED, f"{to} (half to even)", _half_even(digits), digits // 3)


def _times_by(by: float, divisor: float = 1) -> Function:
    # Divided by 100 is not times 0.01: the last bit differs.
    return lambda x: x / divisor if divisor != 1 else x * by


def _plus(amount: float) -> Function:
    return lambda x: x + amount


def _cut(unit: float, divisor: float) -> Function:
    return lambda x: np.floor(x / divisor) * unit


def _between(low: float, high: float) -> Function:
    return lambda x: np.clip(x, low, high)


def _half_up(digits: int) -> Function:
    scale = 10.0**digits
    return lambda x: np.sign(x) * np.floor(np.abs(x) * scale + 0.5) / scale


def _half_even(digits: int) -> Function:
    return lambda x: np.round(x, digits)


def _curves() -> Iterator[Factor]:
    for name, logarithm, power in _LOGARITHMS:
        extra = 0 if name in ("ln", "log1p") else 2
        yield _number(Cause.LOGARITHM_TAKEN, f"{name} of the recomputed one", logarithm, extra)
        yield _number(Cause.LOGARITHM_UNDONE, f"the recomputed one without its {name}", power, extra)
        told = f"{name} of the recomputed one, -Infinity and NaN where it has none"
        yield Factor(
            cause=Cause.LOGARITHM_TAKEN,
            told=f"The served value is {told}.",
            cells=_unbounded(logarithm),
            extra=extra + 1,
        )
    yield _number(Cause.SQUARED, "the square of the recomputed one", np.square)
    yield _number(Cause.SQUARE_ROOT, "the square root of the recomputed one", np.sqrt)


def _unbounded(function: Function) -> Callable[[Cells, FieldSpec], Cells | None]:
    """Return a function of doubles as NumPy has it: what Spark has no value for is an infinity or NaN."""

    def turn(cells: Cells, spec: FieldSpec) -> Cells | None:
        numbers = np.asarray(cells.values.to_numpy(zero_copy_only=False), np.float64)
        with np.errstate(all="ignore"):
            turned = pa.array(function(numbers)).cast(cells.values.type)
        return with_values(cells, spec, present(cells), turned)

    return turn


def _narrowed(spec: FieldSpec) -> Iterator[Factor]:
    if isinstance(spec.type, Float64):
        told = "the recomputed one after a detour through float32"
        yield _number(Cause.FLOAT32_ROUNDED, told, lambda x: x.astype(np.float32).astype(np.float64))
    told = "the recomputed one after a detour through float16"
    yield _number(Cause.FLOAT16_ROUNDED, told, lambda x: x.astype(np.float16).astype(np.float64))
    zero = Factor(
        cause=Cause.NEGATIVE_ZERO,
        told="The served zero has lost its sign.",
        cells=mapped(lambda x: x + 0.0),
        conditional=True,
    )
    yield zero


def _narrow_integers() -> Iterator[Factor]:
    for bits, wraps, stops in (
        (32, Cause.INT32_WRAPPED, Cause.INT32_SATURATED),
        (16, Cause.INT16_WRAPPED, Cause.INT16_SATURATED),
    ):
        low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        told = f"The served value is the low {bits} bits of the recomputed one."
        yield Factor(cause=wraps, told=told, cells=_wrapped(bits), conditional=True)
        told = f"The served value is the bound of {bits} bits that the recomputed one is beyond."
        clip = mapped(_between(low, high))
        yield Factor(cause=stops, told=told, cells=clip, conditional=True)


def _wrapped(bits: int) -> Callable[[Cells, FieldSpec], Cells | None]:
    narrow = np.int32 if bits == 32 else np.int16

    def turn(cells: Cells, spec: FieldSpec) -> Cells | None:
        wide = np.asarray(pc.fill_null(cells.values, 0).to_numpy(zero_copy_only=False), np.int64)
        return with_values(cells, spec, present(cells), pa.array(wide.astype(narrow).astype(np.int64)))

    return turn


def _times(spec: FieldSpec) -> Iterator[Factor]:
    if isinstance(spec.type, Date):
        for days in (-1, 1):
            told = f"{abs(days)} day {'before' if days < 0 else 'after'} the recomputed one"
            yield _number(Cause.HOURS_OFF, told, _plus(days))
        return
    for hours in (*range(-12, 0), *range(1, 15)):
        told = f"{abs(hours)} h {'before' if hours < 0 else 'after'} the recomputed one"
        yield _number(Cause.HOURS_OFF, told, _plus(hours * HOUR))
    for by in (1000.0, 1e6):
        yield _number(Cause.VALUE_TIME_UNIT, f"the recomputed one times {by:g}", _times_by(by))
        yield _number(Cause.VALUE_TIME_UNIT, f"the recomputed one divided by {by:g}", _cut(1, by))
    for name, unit in (("ms", 1000), ("second", 1_000_000), ("minute", MINUTE), ("hour", HOUR), ("day", DAY)):
        told = f"the recomputed one cut to the {name}"
        yield _number(Cause.FLOORED, told, _cut(unit, unit), 1)

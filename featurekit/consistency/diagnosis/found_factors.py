"""Factors with a parameter that is found from the data: a constant, a ratio, a bound, what nulls are filled with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import held_values
from featurekit.consistency.cells import Cells, FieldSpec
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.cell_values import (
    Doubles,
    as_doubles,
    is_temporal,
    mapped,
    present,
    repeated,
    with_values,
)
from featurekit.consistency.diagnosis.coding import Coding, Numbers
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.null_factors import codes_of, fill
from featurekit.consistency.diagnosis.text_factors import cut_at
from featurekit.consistency.show import show_value
from featurekit.status import Status
from featurekit.types import Boolean, String, is_float, is_numeric

_FEWEST: Final = 3
_MOST: Final = 0.75
_MOST_BITS: Final = 40


def found_factors(coding: Coding, asked: Numbers) -> Iterator[Factor]:
    """Yield what the cells that are asked about suggest."""
    spec, served = coding.spec, present(coding.served_cells)
    filled = asked[served[asked] & ~present(coding.honest_cells)[asked]]
    turned = asked[served[asked] & present(coding.honest_cells)[asked]]
    yield from _fills(coding, filled)
    yield from _constants(coding, asked[served[asked]])
    yield from _defaults(coding, asked)
    if coding.noise[asked].any():
        told = "The served value is the recomputed one, but for the last bits of a sum."
        yield Factor(cause=Cause.FLOAT_NOISE, told=told, cells=_noise(coding))
    if is_numeric(spec.type) or is_temporal(spec.type):
        yield from _numbers(coding, turned)
    if isinstance(spec.type, Boolean) and len(turned) >= _MOST * present(coding.honest_cells).sum():
        # A wrong flag is always the opposite: it is no evidence cell by cell, but that hardly any is right is.
        told = "The served flag is the opposite of the recomputed one."
        yield Factor(cause=Cause.INVERTED, told=told, cells=_inverted, extra=-min(len(turned), _MOST_BITS))
    if isinstance(spec.type, String) and len(turned) >= _FEWEST:
        lengths = [len(text) for text in _held(coding.served_cells, turned)]
        if max(lengths) > 0:
            yield cut_at(max(lengths), extra=4)


def _fills(coding: Coding, filled: Numbers) -> Iterator[Factor]:
    """Yield the one value that stands where training has none: near the mean, near the median, or any."""
    spec = coding.spec
    if len(filled) < 2 or isinstance(spec.type, Boolean):
        return
    value, count = _commonest(coding.served_cells, filled)
    if count < len(filled) / 2:
        return
    shown = show_value(value, spec.type)
    for cause, name in _centres(coding, value):
        yield fill(cause, value, f"Training has no value here; the row holds {shown}, which is the {name}.")
    if count >= _FEWEST:
        yield fill(Cause.NULL_FILLED_WITH_CONSTANT, value, f"Training has no value here; the row holds {shown}.")


def _defaults(coding: Coding, asked: Numbers) -> Iterator[Factor]:
    """Yield another default than the declared one, where lookups say themselves that it is a default."""
    defaulted = asked[coding.served_cells.statuses[asked] == Status.DEFAULTED]
    if not len(defaulted):
        return
    value, _ = _commonest(coding.served_cells, defaulted)

    def turn(cells: Cells, spec: FieldSpec) -> Cells:
        lacking = ~present(cells)
        values = pc.if_else(pa.array(lacking), repeated(value, cells, spec), cells.values)
        return Cells(values=values, statuses=np.where(lacking, np.uint8(Status.DEFAULTED), cells.statuses))

    told = f"The default that lookups apply is {show_value(value, coding.spec.type)}, which is not the declared one."
    yield Factor(cause=Cause.OTHER_DEFAULT, told=told, cells=turn, conditional=True)


def _centres(coding: Coding, value: Any) -> Iterator[tuple[Cause, str]]:
    """Yield what a value is of the field's other values, as far as a sample can tell."""
    spec = coding.spec
    if not is_numeric(spec.type):
        return
    known = as_doubles(coding.honest_cells.values, spec.type)[present(coding.honest_cells)]
    known = known[np.isfinite(known)]
    if len(known) < _FEWEST:
        return
    number, step = float(value), 0.0 if is_float(spec.type) else 1.0
    error = max(4 * float(known.std()) / len(known) ** 0.5, step, 1e-9 * abs(number))
    if abs(number - known.mean()) <= error:
        yield Cause.NULL_FILLED_WITH_MEAN, f"field's mean, as far as the sample tells ({known.mean():.6g})"
    spread = 2 / len(known) ** 0.5
    low, high = np.quantile(known, [max(0.5 - spread, 0), min(0.5 + spread, 1)])
    if low - step <= number <= high + step:
        yield Cause.NULL_FILLED_WITH_MEDIAN, f"field's median, as far as the sample tells ({np.median(known):.6g})"


def _constants(coding: Coding, served: Numbers) -> Iterator[Factor]:
    """Yield the one value that most of the cells hold, whatever training says."""
    spec = coding.spec
    if not len(served) or isinstance(spec.type, Boolean):
        return
    value, count = _commonest(coding.served_cells, served)
    shown = show_value(value, spec.type)
    if value in codes_of(spec) or value != value:
        yield _constant(Cause.ERROR_CODE, value, f"The code {shown} is served.")
    elif count >= max(_FEWEST, len(served) / 2):
        yield _constant(Cause.CONSTANT, value, f"The served value is always {shown}.")


def _constant(cause: Cause, value: Any, told: str) -> Factor:
    def turn(cells: Cells, spec: FieldSpec) -> Cells:
        return with_values(cells, spec, np.ones(len(cells.statuses), np.bool_), repeated(value, cells, spec))

    return Factor(cause=cause, told=told, cells=turn)


def _numbers(coding: Coding, turned: Numbers) -> Iterator[Factor]:
    spec = coding.spec
    if len(turned) < _FEWEST:
        return
    served, honest = (
        as_doubles(cells.values, spec.type)[turned] for cells in (coding.served_cells, coding.honest_cells)
    )
    with np.errstate(all="ignore"):
        if not is_temporal(spec.type) and (ratio := _common(served / honest, served)) is not None:
            told = f"The served value is the recomputed one times {ratio:.9g}."
            yield Factor(cause=Cause.RATIO, told=told, cells=mapped(_times(ratio)))
        if (offset := _common(served - honest, served)) is not None:
            told = f"The served value is the recomputed one plus {_shown_offset(offset, spec)}."
            yield Factor(cause=Cause.OFFSET, told=told, cells=mapped(_plus(offset)))
    every = as_doubles(coding.served_cells.values, spec.type)[present(coding.served_cells)]
    for bound, which, clip in ((np.nanmax(every), "most", np.minimum), (np.nanmin(every), "least", np.maximum)):
        at = served == bound
        if at.sum() >= _FEWEST and bool((clip(honest[at], bound) == bound).all()):
            told = f"The served value is at {which} {bound:.9g}."
            yield Factor(cause=Cause.CLIPPED, told=told, cells=mapped(_clipped(clip, bound)))


def _common(numbers: Doubles, served: Doubles) -> float | None:
    """Return the number that at least half of some are, but for the last bits, where it fits two values or more."""
    finite = np.isfinite(numbers) & (numbers != 0)
    if finite.sum() < _FEWEST:
        return None
    middle = float(np.median(numbers[finite]))
    near = finite & (np.abs(numbers - middle) <= 1e-9 * np.maximum(abs(middle), np.abs(served)))
    if near.sum() < max(_FEWEST, len(numbers) / 2) or len(np.unique(served[near])) < 2:
        return None
    rounded = float(f"{middle:.10g}")
    return rounded if abs(rounded - middle) <= 1e-9 * abs(middle) else middle


def _shown_offset(offset: float, spec: FieldSpec) -> str:
    return f"{offset / 1_000_000:g} s" if is_temporal(spec.type) and spec.type.name != "date" else f"{offset:.9g}"


def _times(by: float) -> Callable[[Doubles], Doubles]:
    return lambda x: x * by


def _plus(amount: float) -> Callable[[Doubles], Doubles]:
    return lambda x: x + amount


def _clipped(clip: Callable[..., Any], bound: float) -> Callable[[Doubles], Doubles]:
    def turn(numbers: Doubles) -> Doubles:
        bounded: Doubles = clip(numbers, bound)
        return bounded

    return turn


def _noise(coding: Coding) -> Callable[[Cells, FieldSpec], Cells]:
    def turn(cells: Cells, spec: FieldSpec) -> Cells:
        return with_values(cells, spec, coding.noise, coding.served_cells.values)

    return turn


def _inverted(cells: Cells, spec: FieldSpec) -> Cells:
    return with_values(cells, spec, present(cells), pc.invert(cells.values))


def _commonest(cells: Cells, at: Numbers) -> tuple[Any, int]:
    (found,) = Counter(_held(cells, at)).most_common(1)
    return found


def _held(cells: Cells, at: Numbers) -> Sequence[Any]:
    return tuple(held_values(cells.values.take(pa.array(at))))

"""What becomes of cells without a value, and of values that are taken for none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.consistency.cells import Cells, FieldSpec, Flags
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.cell_values import present, repeated, with_values, without_values
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.status import Status
from featurekit.types import Boolean, String, is_float, is_integer, is_numeric

CODES: Final = (-1, -9, -99, -999, -9999, 99, 999, 9999, 99999, -(2**31), 2**31 - 1)
TEXT_CODES: Final = ("null", "NULL", "None", "nan", "NaN", "N/A", "NA", "unknown", "UNKNOWN", "-1", "error")


def fills(spec: FieldSpec) -> Iterator[Factor]:
    """Yield the values that stand where none is."""
    if spec.default is not None:
        told = f"Training has no value here; the row holds the default {spec.default!r} as if it had been measured."
        yield fill(Cause.NULL_FILLED_WITH_DEFAULT, spec.default, told)
    if is_numeric(spec.type):
        zeros = (0, -0.0) if is_float(spec.type) else (0,)
        told = "Training has no value here; the row holds 0 as if it had been measured."
        yield from (fill(Cause.NULL_FILLED_WITH_ZERO, zero, told) for zero in zeros if spec.default != 0)
    if is_float(spec.type):
        yield fill(Cause.NULL_FILLED_WITH_NAN, float("nan"), "Training has no value here; the row holds NaN.")
    if isinstance(spec.type, String):
        yield fill(Cause.NULL_FILLED_WITH_EMPTY, "", "Training has no value here; the row holds an empty text.")
    if isinstance(spec.type, Boolean):
        yield fill(Cause.NULL_FILLED_WITH_FALSE, False, "Training has no value here; the row holds false.")
    for code in codes_of(spec):
        told = f"Training has no value here; the row holds the code {code!r}."
        yield fill(Cause.NULL_FILLED_WITH_CODE, code, told)


def fill(cause: Cause, value: Any, told: str, *, extra: int = 0) -> Factor:
    """Return the factor that puts one value where none is."""

    def filled(cells: Cells, spec: FieldSpec) -> Cells | None:
        lacking = ~present(cells)
        return with_values(cells, spec, lacking, repeated(value, cells, spec)) if lacking.any() else None

    return Factor(cause=cause, told=told, cells=filled, conditional=True, extra=extra)


def losses(spec: FieldSpec) -> Iterator[Factor]:
    """Yield the values that are taken for none, and statuses for one another."""
    if spec.default is not None:
        for status in (Status.NULL, Status.MISSING, Status.EXPIRED):
            yield Factor(
                cause=Cause.DEFAULT_MISSING,
                told=f"The declared default {spec.default!r} is not applied: {status.name} is served.",
                cells=_undefaulted(status),
                conditional=True,
                extra=0 if status is Status.NULL else 1,
            )
    for status in (Status.NULL, Status.MISSING, Status.EXPIRED):
        told = f"Whatever the reason why there is no value, {status.name} is served."
        yield Factor(cause=Cause.STATUS_LOST, told=told, cells=_told_as(status), conditional=True)
    if is_float(spec.type):
        yield _lost(Cause.NAN_AS_NULL, "NaN is served as NULL.", lambda cells: pc.is_nan(cells.values), rare=True)
    if isinstance(spec.type, String):
        told = "An empty text is served as NULL."
        yield _lost(Cause.EMPTY_AS_NULL, told, lambda cells: pc.equal(cells.values, ""), rare=True)
    if is_numeric(spec.type):
        told = "0 is served as NULL."
        yield _lost(Cause.ZERO_AS_NULL, told, lambda cells: pc.equal(cells.values, _zero(cells)), rare=True)
    yield _lost(Cause.VALUE_AS_NULL, "A value is served as NULL.", lambda cells: cells.values.is_valid(), rare=False)


def codes_of(spec: FieldSpec) -> tuple[Any, ...]:
    """Return the values of a type that stand for a failed call in many programs."""
    if isinstance(spec.type, String):
        return TEXT_CODES
    if is_float(spec.type):
        return (*map(float, CODES), float("inf"), float("-inf"))
    if is_integer(spec.type):
        bits = {"tinyint": 7, "smallint": 15, "int": 31}.get(spec.type.name, 63)
        return tuple(code for code in CODES if -(2**bits) <= code < 2**bits)
    return ()


def _zero(cells: Cells) -> pa.Scalar:
    return pa.scalar(0, cells.values.type)


def _undefaulted(status: Status) -> Callable[[Cells, FieldSpec], Cells | None]:
    def turn(cells: Cells, _spec: FieldSpec) -> Cells | None:
        at: Flags = cells.statuses == Status.DEFAULTED
        if not at.any():
            return None
        values = pc.if_else(pa.array(at), pa.scalar(None, cells.values.type), cells.values)
        return Cells(values=values, statuses=np.where(at, np.uint8(status), cells.statuses).astype(np.uint8))

    return turn


def _told_as(status: Status) -> Callable[[Cells, FieldSpec], Cells | None]:
    lacks = (Status.NULL, Status.MISSING, Status.EXPIRED)

    def turn(cells: Cells, _spec: FieldSpec) -> Cells | None:
        at = np.isin(cells.statuses, lacks) & (cells.statuses != status)
        if not at.any():
            return None
        return Cells(values=cells.values, statuses=np.where(at, np.uint8(status), cells.statuses).astype(np.uint8))

    return turn


def _lost(cause: Cause, told: str, where: Callable[[Cells], pa.Array], *, rare: bool) -> Factor:
    def turn(cells: Cells, spec: FieldSpec) -> Cells | None:
        which = pc.fill_null(where(cells), False).to_numpy(zero_copy_only=False)
        at: Flags = np.asarray(which, np.bool_) & present(cells)
        return without_values(cells, spec, at) if at.any() else None

    return Factor(cause=cause, told=told, cells=turn, conditional=rare)

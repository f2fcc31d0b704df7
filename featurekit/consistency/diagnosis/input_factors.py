"""What other source columns would have said: nulls filled, another unit or type, a logarithm, another spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.compiled import CompiledView
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.source_rows import SourceRows
from featurekit.consistency.diagnosis.visible import groups_of
from featurekit.expr.nodes import Column, Node
from featurekit.expr.nodes import columns as columns_of
from featurekit.offline.source import column_name, key_names
from featurekit.types import Float64, String, is_float, is_integer, is_numeric

Doubles = npt.NDArray[np.float64]
ColumnChange = Callable[[pa.Array], pa.Array | None]
_SCALES: Final = (100.0, 1000.0, 60.0, 3600.0)
_CURVES: Final[tuple[tuple[str, Callable[[Doubles], Doubles]], ...]] = (
    ("log", np.log),
    ("log1p", np.log1p),
    ("exp", np.exp),
    ("expm1", np.expm1),
)


def input_factors(view: CompiledView, rows: SourceRows) -> Iterator[Factor]:
    """Yield the ways in which a column that the view's features read may have been another; none that changes none."""
    for column in _read(view):
        for factor in _of_column(view, column):
            assert factor.rows is not None
            if factor.rows(rows) is not None:
                yield factor


def _read(view: CompiledView) -> tuple[Column, ...]:
    """Return the columns that features and `where` read, apart from the time column, which has factors of its own."""
    nodes: list[Node] = [] if view.where is None else [view.where]
    nodes += [part for slot in view.slots for part in (slot.argument, slot.by, slot.filter) if part is not None]
    found = dict.fromkeys(column for node in nodes for column in columns_of(node))
    return tuple(column for column in found if column.name != view.source.event_timestamp)


def _of_column(view: CompiledView, column: Column) -> Iterator[Factor]:
    def factor(cause: Cause, told: str, change: ColumnChange, extra: int = 0) -> Factor:
        told = f"The source's column {column.name} is read {told}."
        return Factor(cause=cause, told=told, rows=partial(changed, column, change), extra=extra)

    if is_numeric(column.type):
        yield factor(Cause.INPUT_NULL_ZERO, "with 0 in place of NULL", _null_as_zero)
        yield factor(Cause.INPUT_NULL_MEAN, "with its mean in place of NULL", _null_as_mean)
        told = f"The source's column {column.name} is read with its mean over the entity in place of NULL."
        yield Factor(cause=Cause.INPUT_NULL_MEAN, told=told, rows=partial(_null_as_own_mean, view, column), extra=1)
    if is_float(column.type):
        if column.type == Float64():
            yield factor(Cause.INPUT_FLOAT32, "as float32", _as_float32)
        yield factor(Cause.INPUT_TRUNCATED, "without its fraction", partial(_by, np.trunc))
        for scale in _SCALES:
            yield factor(Cause.INPUT_SCALED, f"times {scale:g}", partial(_times, scale))
            yield factor(Cause.INPUT_SCALED, f"divided by {scale:g}", partial(_divided, scale))
        for name, curve in _CURVES:
            yield factor(Cause.INPUT_LOGARITHM, f"through {name}", partial(_by, curve))
    if is_integer(column.type):
        for scale in _SCALES:
            yield factor(Cause.INPUT_SCALED, f"times {scale:g}", partial(_times, scale))
    if column.type == String():
        nfc = partial(pc.utf8_normalize, form="NFC")
        yield factor(Cause.INPUT_TRIMMED, "without blanks around it", pc.utf8_trim_whitespace)
        yield factor(Cause.INPUT_LOWER_CASED, "in lower case", pc.utf8_lower)
        yield factor(Cause.INPUT_LOWER_CASED, "in upper case", pc.utf8_upper, 1)
        yield factor(Cause.INPUT_NORMALISED, "in Unicode's form NFC", nfc)
        yield factor(Cause.INPUT_NULL_ZERO, "with '' in place of NULL", _null_as_empty)


def changed(column: Column, change: ColumnChange, rows: SourceRows) -> SourceRows | None:
    """Return the rows with a column changed; None where no value is another."""
    label = column_name(column)
    before = rows.table[label].combine_chunks()
    after = change(before)
    if after is None or after.equals(before):
        return None
    table = rows.table
    return replace(rows, table=table.set_column(table.column_names.index(label), label, after.cast(before.type)))


def _null_as_zero(column: pa.Array) -> pa.Array:
    return column.fill_null(pa.scalar(0, column.type))


def _null_as_mean(column: pa.Array) -> pa.Array | None:
    mean = pc.mean(column)
    return column.fill_null(_as_value(mean.as_py(), column.type)) if mean.is_valid else None


def _null_as_own_mean(view: CompiledView, column: Column, rows: SourceRows) -> SourceRows | None:
    entities = groups_of([rows.table[label] for label in key_names(view)])

    def filled(values: pa.Array) -> pa.Array | None:
        if not values.null_count or pa.types.is_decimal(values.type):
            return None
        valid = np.asarray(values.is_valid().to_numpy(zero_copy_only=False), np.bool_)
        numbers = values.fill_null(0).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        count = np.bincount(entities, valid)
        with np.errstate(invalid="ignore"):
            means = (np.bincount(entities, np.where(valid, numbers, 0.0)) / count)[entities]
        means = np.where(np.isfinite(means), means, 0.0)
        own = pa.array(means if is_float(column.type) else np.rint(means)).cast(values.type, safe=False)
        return pc.if_else(values.is_valid(), values, own)

    return changed(column, filled, rows)


def _null_as_empty(column: pa.Array) -> pa.Array:
    return column.fill_null("")


def _as_value(number: float, kind: pa.DataType) -> pa.Scalar:
    return pa.scalar(number if pa.types.is_floating(kind) else round(number)).cast(kind)


def _as_float32(column: pa.Array) -> pa.Array:
    return _by(lambda values: values.astype(np.float32).astype(np.float64), column)


def _by(curve: Callable[[Doubles], Doubles], column: pa.Array) -> pa.Array:
    """Return floats through a function; what it has no value for is NULL, as a column of such values would be."""
    valid = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), np.bool_)
    values = column.fill_null(0.0).cast(pa.float64()).to_numpy(zero_copy_only=False)
    with np.errstate(all="ignore"):
        found = curve(values)
        lost = ~np.isfinite(found) & np.isfinite(values)
    return pa.array(found, mask=~valid | lost).cast(column.type, safe=False)


def _times(scale: float, column: pa.Array) -> pa.Array | None:
    if pa.types.is_floating(column.type):
        return _by(lambda values: values * scale, column)
    wide = pc.multiply(column.cast(pa.float64(), safe=False), scale)
    low, high = (getattr(np.iinfo(column.type.to_pandas_dtype()), end) for end in ("min", "max"))
    fits = pc.fill_null(pc.and_(pc.greater_equal(wide, float(low)), pc.less(wide, float(high))), True)
    return pc.multiply(column.cast(pa.int64()), int(scale)).cast(column.type) if pc.all(fits).as_py() else None


def _divided(scale: float, column: pa.Array) -> pa.Array:
    return _by(lambda values: values / scale, column)

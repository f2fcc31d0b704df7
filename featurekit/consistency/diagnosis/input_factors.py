"""What other source columns would have said: nulls filled, another unit or type, a logarithm, another spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Context
from decimal import Decimal as PyDecimal
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
from featurekit.expr.nodes import Column
from featurekit.expr.nodes import columns as columns_of
from featurekit.offline.source import column_name, key_names
from featurekit.types import Float64, String, is_float, is_integer, is_numeric

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
ColumnChange = Callable[[pa.Array], pa.Array | None]
_WIDE: Final = Context(prec=80)
_SCALES: Final = (100.0, 1000.0, 60.0, 3600.0)
_UNITS: Final = (1.609344, 1.852, 0.3048, 0.45359237)
"""Miles, nautical miles, feet and pounds."""
_CURVES: Final[tuple[tuple[str, Callable[[Doubles], Doubles]], ...]] = (
    ("log", np.log),
    ("log1p", np.log1p),
    ("exp", np.exp),
    ("expm1", np.expm1),
)


def input_factors(view: CompiledView, rows: SourceRows) -> Iterator[Factor]:
    """Yield the ways in which a column that the view's features read may have been another; none that changes none."""
    for column, fields in _read(view).items():
        for factor in _of_column(view, rows, column, fields):
            assert factor.rows is not None
            if factor.rows(rows) is not None:
                yield factor


def _read(view: CompiledView) -> dict[Column, frozenset[str] | None]:
    """Return the columns that decide values, each with the features that read it; None where `where` does.

    The time column is none of them: it has factors of its own. A feature that is the latest value of the very column
    is left out: whatever is done to that column may as well have been done to the value.
    """
    read: dict[Column, frozenset[str]] = {}
    for feature in view.features:
        names = {column.name for column in columns_of(feature.expression)}
        slots = [slot for slot in view.slots if slot.name in names]
        if feature.is_latest and all(isinstance(slot.argument, Column) for slot in slots):
            continue
        nodes = [part for slot in slots for part in (slot.argument, slot.by, slot.filter) if part is not None]
        for column in dict.fromkeys(column for node in nodes for column in columns_of(node)):
            read[column] = read.get(column, frozenset()) | {feature.name}
    for_all = () if view.where is None else columns_of(view.where)
    found = {column: None if column in for_all else read[column] for column in (*for_all, *read)}
    return {column: fields for column, fields in found.items() if column.name != view.source.event_timestamp}


def _of_column(view: CompiledView, rows: SourceRows, column: Column, fields: frozenset[str] | None) -> Iterator[Factor]:
    def factor(cause: Cause, told: str, change: ColumnChange, extra: int = 0) -> Factor:
        told = f"The source's column {column.name} is read {told}."
        return Factor(cause=cause, told=told, rows=partial(changed, column, change), fields=fields, extra=extra)

    if is_numeric(column.type):
        yield factor(Cause.INPUT_NULL_ZERO, "with 0 in place of NULL", _null_as_zero)
        for mean in rows.means.get(column.name, ()):
            yield factor(Cause.INPUT_NULL_MEAN, f"with its mean, {mean:.6g}, in place of NULL", partial(_filled, mean))
        told = "with its mean over the entity in place of NULL"
        yield factor(Cause.INPUT_NULL_MEAN, told, partial(_filled_by_entity, _entities(view, rows)), 1)
    if is_float(column.type):
        if column.type == Float64():
            yield factor(Cause.INPUT_FLOAT32, "as float32", _as_float32)
        yield factor(Cause.INPUT_TRUNCATED, "without its fraction", partial(_by, np.trunc))
        for name, curve in _CURVES:
            yield factor(Cause.INPUT_LOGARITHM, f"through {name}", partial(_by, curve))
    if is_float(column.type) or is_integer(column.type):
        scales = (*_SCALES, *(_UNITS if is_float(column.type) else ()))
        for scale in scales:
            yield factor(Cause.INPUT_SCALED, f"times {scale:g}", partial(_times, scale))
            if is_float(column.type):
                yield factor(Cause.INPUT_SCALED, f"divided by {scale:g}", partial(_divided, scale))
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
    return _filled(0.0, column)


def _filled(number: float, column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_decimal(kind):
        return column.fill_null(
            pa.scalar(PyDecimal(number).quantize(PyDecimal(1).scaleb(-kind.scale), context=_WIDE), kind)
        )
    return column.fill_null(pa.scalar(number if pa.types.is_floating(kind) else round(number), kind))


def _entities(view: CompiledView, rows: SourceRows) -> Ints:
    return groups_of([rows.table[label] for label in key_names(view)])


def _filled_by_entity(entities: Ints, column: pa.Array) -> pa.Array | None:
    if not column.null_count or pa.types.is_decimal(column.type):
        return None
    valid = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), np.bool_)
    numbers = column.fill_null(0).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        means = np.bincount(entities, np.where(valid, numbers, 0.0)) / np.bincount(entities, valid)
    means = np.where(np.isfinite(means), means, 0.0)[entities]
    own = pa.array(means if pa.types.is_floating(column.type) else np.rint(means)).cast(column.type, safe=False)
    return pc.if_else(column.is_valid(), column, own)


def _null_as_empty(column: pa.Array) -> pa.Array:
    return column.fill_null("")


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

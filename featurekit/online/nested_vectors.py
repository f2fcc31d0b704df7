"""Columns of stored arrays as the vector evaluator takes them: their run of elements is used as it is."""

from __future__ import annotations

from featurekit.online.nested_columns import Column, Fixed
from featurekit.online.nested_columns import Lists as ListColumn
from featurekit.targets.vectors.vector import OBJECT, Lists, Vector, dtype_of
from featurekit.types import Array, Boolean


def nested_vector(column: Column) -> Vector:
    """Return a column's values as a vector."""
    if isinstance(column, ListColumn) and isinstance(column.kind, Array):
        return Vector.of_lists(Lists(column.offsets, nested_vector(column.parts[0])), column.valid)
    if isinstance(column, Fixed) and dtype_of(column.kind) != OBJECT:
        values = column.values != 0 if isinstance(column.kind, Boolean) else column.values
        return Vector.of_array(values, column.valid, column.kind)
    return Vector.of_held(column.held(), column.kind)

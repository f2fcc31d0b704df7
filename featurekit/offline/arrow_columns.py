"""Columns of rows that Arrow reads, with the values and the order that Spark has; light, for executors too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.aggregates.order import order_key
from featurekit.arrow_types import held_values, to_arrow
from featurekit.expr.nodes import Column, Node
from featurekit.targets.arrow import compile_batch
from featurekit.types import DataType

Ints = npt.NDArray[np.int64]


def whole_column(column: pa.ChunkedArray | pa.Array, kind: DataType) -> pa.Array:
    """Return a column in the one form of its type, in one piece."""
    column = column.cast(to_arrow(kind))
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def canonical_column(column: pa.Array) -> pa.Array:
    """Return floats with one NaN and without -0.0, other values as they are."""
    if not pa.types.is_floating(column.type):
        return column
    valid = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else None
    values = (column if valid is None else column.fill_null(0.0)).to_numpy() + column.type.to_pandas_dtype()(0.0)
    values[np.isnan(values)] = np.nan
    return pa.array(values, column.type, mask=None if valid is None else ~valid, from_pandas=False)


def one_nan(value: pa.Array) -> pa.Array:
    """Return floats with one NaN, other values as they are."""
    if not pa.types.is_floating(value.type):
        return value
    nan = np.array(np.nan, value.type.to_pandas_dtype())
    return pc.if_else(pc.fill_null(pc.is_nan(value), False), pa.scalar(nan.item(), value.type), value)


def computed(
    nodes: Sequence[Node], columns: Mapping[str, pa.Array], inputs: Sequence[Column], count: int
) -> list[pa.Array]:
    """Return expressions over so many rows of columns of these names; what is a column itself is handed on as it is."""
    asked = [node for node in nodes if not isinstance(node, Column)]
    results: dict[Node, pa.Array] = {}
    if asked:
        batch = (
            pa.record_batch([columns[column.name] for column in inputs], [column.name for column in inputs])
            if inputs
            else pa.RecordBatch.from_struct_array(pa.array([{}] * count, pa.struct([])))  # `sum(1)` reads no column
        )
        results = dict(zip(asked, compile_batch(asked, inputs)(batch), strict=True))
    return [columns[node.name] if isinstance(node, Column) else results[node] for node in nodes]


def by_bits(key: pa.Array) -> pa.Array:
    """Return float keys as their bits: keys are canonical, one NaN, which equals itself so, and one zero."""
    if not pa.types.is_floating(key.type):
        return key
    return key.view(pa.int64() if pa.types.is_float64(key.type) else pa.int32())


def ranks_as_spark(column: pa.Array) -> Ints:
    """Return numbers that are ordered as Spark orders values: NULL first, NaN last, text by its bytes."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if pa.types.is_nested(column.type):
        keys = [order_key((value,)) for value in held_values(column)]
        places = {key: place for place, key in enumerate(sorted(set(keys)))}
        return np.array([places[key] for key in keys], np.int64)
    ranks = pc.rank(column, sort_keys="ascending", tiebreaker="dense").to_numpy()
    # Arrow has NaN and NULL at the same end.
    return np.where(column.is_valid().to_numpy(zero_copy_only=False), ranks.astype(np.int64), 0)

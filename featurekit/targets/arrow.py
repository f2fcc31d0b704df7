"""IR to a function over Arrow batches: the vector evaluator (`targets.vectors`) with Arrow at both ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from featurekit.arrow_types import for_arrow, held_values, to_arrow
from featurekit.expr.nodes import Column, Node
from featurekit.targets.vectors.evaluate import compile_columns
from featurekit.targets.vectors.vector import OBJECT, Lists, Vector, dtype_of
from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    String,
    Timestamp,
    TimestampNtz,
)

BatchEvaluator = Callable[[pa.RecordBatch], list[pa.Array]]


def compile_batch(nodes: Sequence[Node], inputs: Sequence[Column]) -> BatchEvaluator:
    """Return the function from a batch, its columns in the order of `inputs`, to an Arrow array for each of `nodes`.

    >>> from featurekit.expr.infer import call, literal
    >>> from featurekit.types import Int32
    >>> x = Column(name="x", type=Int32(), nullable=True)
    >>> batch = pa.record_batch({"x": pa.array([41, None], pa.int32())})
    >>> compile_batch([call("add", x, literal(1))], [x])(batch)[0].to_pylist()
    [42, None]
    """
    evaluate = compile_columns(nodes, inputs)
    types = [column.type for column in inputs]
    results = [node.type for node in nodes]

    def evaluator(batch: pa.RecordBatch) -> list[pa.Array]:
        vectors = [from_arrow_array(column, kind) for column, kind in zip(batch.columns, types, strict=True)]
        found = evaluate(vectors, batch.num_rows)
        return [to_arrow_array(vector, kind) for vector, kind in zip(found, results, strict=True)]

    return evaluator


def from_arrow_array(array: pa.Array, kind: DataType) -> Vector:
    """Return an Arrow array of a logical type's values, in whichever layout, as a vector."""
    form = to_arrow(kind)
    if array.type != form:
        array = array.cast(form)
    if dtype_of(kind) == OBJECT:
        if isinstance(kind, String | Binary):
            return Vector(array.to_numpy(zero_copy_only=False))
        if isinstance(kind, Array):
            offsets = array.offsets.to_numpy().astype(np.int64)
            valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
            return Vector.of_lists(Lists(offsets, from_arrow_array(array.values, kind.element)), valid)
        return Vector.of_held(held_values(array), kind)
    valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
    if isinstance(kind, Boolean):
        return Vector(array.fill_null(False).to_numpy(zero_copy_only=False), valid)
    width = 32 if isinstance(kind, Date) else array.type.bit_width
    stored = np.dtype(np.int32) if isinstance(kind, Date) else dtype_of(kind)
    content = array.buffers()[1]
    if content is None:
        return Vector(np.zeros(len(array), dtype_of(kind)), valid)
    values = np.frombuffer(content, stored, len(array), array.offset * width // 8)
    return Vector(values.astype(dtype_of(kind), copy=False), valid)


def to_arrow_array(vector: Vector, kind: DataType) -> pa.Array:
    """Return a vector as the Arrow array that featurekit writes its type as."""
    form = to_arrow(kind)
    if dtype_of(kind) == OBJECT:
        return pa.array([for_arrow(value, kind) for value in vector.values.tolist()], form)
    mask = None if vector.valid is None else ~vector.valid
    if isinstance(kind, Date):
        return pa.array(vector.values.astype(np.int32), pa.int32(), mask=mask).cast(form)
    if isinstance(kind, Timestamp | TimestampNtz):
        return pa.array(vector.values, pa.int64(), mask=mask).cast(form)
    return pa.array(vector.values, form, mask=mask)

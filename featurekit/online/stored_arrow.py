"""Arrow arrays of scalars as they are stored: their values as NumPy has them, and where they are NULL."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from featurekit.online.codec import CANONICAL_NAN
from featurekit.online.layout import storage_of
from featurekit.types import Boolean, DataType, Decimal, is_float

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


def stored_values(column: pa.Array, kind: DataType, absent: Mask | None) -> Array:
    """Return a column of fixed width as it is stored, zero where `absent`."""
    stored = raw_values(column, kind)
    if is_float(kind):
        # One NaN: its payload is no value, and the same rows must be the same bytes.
        nans = np.isnan(stored)
        if nans.any():
            stored = np.where(nans, stored.dtype.type(CANONICAL_NAN), stored)
    if absent is not None and absent.any():
        stored = stored.copy()
        stored[absent] = np.zeros(1, stored.dtype)[0]
    return stored


def raw_values(column: pa.Array, kind: DataType) -> Array:
    """Return the values of an Arrow array of fixed width as they are stored; what stands for a null is undefined."""
    count, start = len(column), column.offset
    content = column.buffers()[1]
    if content is None:
        storage = storage_of(kind)
        assert storage is not None
        return np.zeros(count, storage.value[0])  # all null: some writers give no buffer then
    match kind:
        case Boolean():
            return bits_of(content, start, count).astype(np.uint8)
        case Decimal(precision=precision):
            if precision <= 18:
                return np.frombuffer(content, "<i8")[2 * start : 2 * (start + count) : 2]
            return np.frombuffer(content, "V16")[start : start + count]
        case _:
            code = _PRIMITIVE[column.type.bit_width, is_float(kind)]
            return np.frombuffer(content, code)[start : start + count]


_PRIMITIVE: Final = {
    (8, False): "<i1",
    (16, False): "<i2",
    (32, False): "<i4",
    (64, False): "<i8",
    (32, True): "<f4",
    (64, True): "<f8",
}


def null_mask(column: pa.Array) -> Mask | None:
    """Return where a column is null; None where nowhere."""
    if not column.null_count:
        return None
    if isinstance(column, pa.NullArray):
        return np.ones(len(column), np.bool_)
    return ~bits_of(column.buffers()[0], column.offset, len(column))


def bits_of(bitmap: pa.Buffer, start: int, count: int) -> Mask:
    whole = np.unpackbits(np.frombuffer(bitmap, np.uint8), count=start + count, bitorder="little")
    return whole[start:].astype(np.bool_)

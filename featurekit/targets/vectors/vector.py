"""A column of values of one type, as the vector evaluator holds it: a NumPy array, and where it is NULL.

boolean                                  bool_
tinyint smallint int bigint              int8 int16 int32 int64
float double                             float32 float64
date timestamp timestamp_ntz             int64
string binary decimal and nested types   objects, held as `featurekit.types` says, None where NULL
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from featurekit.types import (
    Boolean,
    DataType,
    Date,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Timestamp,
    TimestampNtz,
    is_float,
)

Values = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

OBJECT: Final = np.dtype(np.object_)
_DTYPES: Final[dict[DataType, np.dtype[Any]]] = {
    Boolean(): np.dtype(np.bool_),
    Int8(): np.dtype(np.int8),
    Int16(): np.dtype(np.int16),
    Int32(): np.dtype(np.int32),
    Int64(): np.dtype(np.int64),
    Float32(): np.dtype(np.float32),
    Float64(): np.dtype(np.float64),
    Date(): np.dtype(np.int64),
    Timestamp(): np.dtype(np.int64),
    TimestampNtz(): np.dtype(np.int64),
}


def dtype_of(kind: DataType) -> np.dtype[Any]:
    """Return the dtype of a type's vectors; objects where NumPy has no such number."""
    return _DTYPES.get(kind, OBJECT)


class Vector:
    """Values, and a mask that is true where there is one (None: everywhere).

    What `values` holds under a false mask means nothing, except that objects are None there. A vector of one value
    stands for any number of rows: literals are vectors of that kind. Nobody changes a vector's arrays.
    """

    __slots__ = ("_held", "_is_masked", "_valid", "_values", "lists")

    def __init__(self, values: Values, valid: Mask | None = None) -> None:
        self._values: Values | None = values
        self._valid = valid if valid is None or valid.shape == values.shape else np.broadcast_to(valid, values.shape)
        self._is_masked = valid is not None or values.dtype != OBJECT
        self._held: list[Any] | None = None
        self.lists: Lists | None = None

    @property
    def values(self) -> Values:
        """The values; arrays that came as one run of elements are cut when somebody asks for them."""
        if self._values is None:
            assert self.lists is not None
            self._values = self.lists.cut(self._valid)
        return self._values

    @classmethod
    def of_lists(cls, lists: Lists, valid: Mask | None) -> Vector:
        """Return arrays as a vector; their values are cut out of the run of elements when asked for."""
        vector = cls(_NOTHING, None)
        vector._values, vector._valid, vector._is_masked, vector.lists = None, valid, True, lists
        return vector

    @classmethod
    def of_held(cls, held: Sequence[Any], kind: DataType) -> Vector:
        """Return held values as a vector."""
        dtype = dtype_of(kind)
        if dtype == OBJECT:
            vector = cls(np.fromiter(held, OBJECT, len(held)))
        elif is_float(kind):
            vector = _of_floats(held, dtype)
        else:
            vector = _of_whole(held, dtype)
        if isinstance(held, list):
            vector._held = held
        return vector

    @classmethod
    def of_array(cls, values: Values, valid: Mask | None, kind: DataType) -> Vector:
        """Return an array of a type's values, wherever it has them, as a vector; dates may be narrower than here."""
        return cls(values.astype(dtype_of(kind), copy=False), valid)

    @property
    def valid(self) -> Mask | None:
        """The mask; that of objects is worked out when it is first asked for."""
        if not self._is_masked:
            mask: Mask = np.array([value is not None for value in self.values.tolist()], np.bool_)
            self._valid = None if mask.all() else mask
            self._is_masked = True
        return self._valid

    def __len__(self) -> int:
        return len(self.values) if self.lists is None else len(self.lists.offsets) - 1

    def held(self, count: int) -> list[Any]:
        """Return the values of `count` rows as Python holds them, None where NULL."""
        if self._held is None:
            held = self.values.tolist()
            if self.values.dtype != OBJECT and self._valid is not None:
                for row in np.flatnonzero(~self._valid).tolist():
                    held[row] = None
            self._held = held
        return self._held if len(self._held) == count else self._held * count

    def over(self, count: int) -> Vector:
        """Return the vector with a value for each of `count` rows."""
        if len(self) == count:
            return self
        valid = self.valid
        return Vector(np.repeat(self.values, count), None if valid is None else np.repeat(valid, count))


@dataclass(frozen=True, slots=True)
class Lists:
    """Arrays as Arrow has them: all elements in one run, the array of row i from offset i to the next one."""

    offsets: npt.NDArray[np.int64]
    elements: Vector

    def cut(self, valid: Mask | None) -> Values:
        """Return the arrays as tuples of held values, None where NULL."""
        held = self.elements.held(len(self.elements))
        arrays: list[Any] = [tuple(held[start:end]) for start, end in pairwise(self.offsets.tolist())]
        if valid is not None:
            for row in np.flatnonzero(~valid).tolist():
                arrays[row] = None
        return np.fromiter(arrays, OBJECT, len(arrays))


_NOTHING: Final = np.empty(0, OBJECT)


def _of_floats(held: Sequence[Any], dtype: np.dtype[Any]) -> Vector:
    values = np.array(held, np.float64)  # None becomes NaN
    odd = values != values
    with np.errstate(over="ignore"):
        narrowed = values.astype(dtype, copy=False)
    if not odd.any():
        return Vector(narrowed)
    valid = np.ones(len(held), np.bool_)
    valid[[row for row in np.flatnonzero(odd).tolist() if held[row] is None]] = False
    return Vector(narrowed, None if valid.all() else valid)


def _of_whole(held: Sequence[Any], dtype: np.dtype[Any]) -> Vector:
    if dtype != np.bool_ or None not in held:
        try:
            return Vector(np.array(held, dtype))
        except TypeError:  # None
            pass
    valid = np.array([value is not None for value in held], np.bool_)
    return Vector(np.array([0 if value is None else value for value in held], dtype), valid)


def both(left: Mask | None, right: Mask | None) -> Mask | None:
    """Return where both masks are true."""
    if left is None or right is None:
        return right if left is None else left
    mask: Mask = left & right
    return mask

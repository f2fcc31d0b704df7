"""An answer for one entity, taken right out of its packed rows.

For one row NumPy takes most of its time to make arrays of a single value each. So here a row is unpacked in one call
and its statuses are compared as bytes: where every view has a row, whole and all of it PRESENT, and no wanted type
needs a look at each value. Whatever else there is, `columns` says.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from featurekit.clock import Instant
from featurekit.errors import CodecError
from featurekit.online.codec import RowCodec, from_stored
from featurekit.online.columns import Array, Codes, Group, RowReader, Rows, positions_of
from featurekit.online.layout import Storage
from featurekit.online.present import numpy_columns, python_value
from featurekit.online.reason import Reason
from featurekit.types import Boolean, DataType, Decimal, is_nested

Index = npt.NDArray[np.intp] | slice
Columns = Array | list[Sequence[Any]]

_NO_TEXTS: Final[tuple[Any, ...]] = ()


class WholeRow(NamedTuple):
    """A view's row, all of it PRESENT, and its wanted strings and binaries, group by group."""

    row: bytes
    texts: tuple[Any, ...]


class _Fixed:
    """A group's values of fixed width: where they lie in a row, and which outputs they are."""

    def __init__(self, codec: RowCodec, group: Group, outputs: Index) -> None:
        assert group.storage is not None
        self.kind = group.kind
        self.outputs = outputs
        self._dtype = np.dtype(group.storage.value[0])
        self._begins = _begins(codec, group.storage)
        self._count = len(codec.layout.blocks[group.storage])
        self._block = group.block
        if isinstance(group.block, slice):  # side by side: nothing is copied
            self._begins += group.block.start * self._dtype.itemsize
            self._count = group.block.stop - group.block.start

    def read(self, row: bytes) -> Array:
        """Return the values (outputs × 1)."""
        values: Array = np.frombuffer(row, self._dtype, self._count, self._begins)[:, None]
        if not isinstance(self._block, slice):
            values = values[self._block]
        return values != 0 if isinstance(self.kind, Boolean) else values


class _Texts(NamedTuple):
    """A group's strings or binaries: which of the row's they are, and which outputs."""

    kind: DataType
    outputs: Index
    mine: slice


class OneView:
    """How one row of a view is read; `outputs` of the service are those of each of the reader's groups."""

    def __init__(self, codec: RowCodec, reader: RowReader, outputs: Sequence[Index], count: int) -> None:
        layout = codec.layout
        self._identity = codec.identity
        self._size = codec.size
        self._status_at = layout.status_offset
        self._all_present = bytes(layout.status_bytes)
        self._has_variable = codec.has_variable
        self._ends = struct.Struct(f"<{len(layout.variable)}{Storage.END.value[1]}")
        self._ends_at = _begins(codec, Storage.END) if codec.has_variable else 0
        self._texts: list[tuple[int, Callable[[bytes], Any]]] = []
        self.unpack = layout.struct.unpack_from
        self.fixed: list[_Fixed] = []
        self.texts: list[_Texts] = []
        unpacked_size = 4 + len(layout.positions)  # what stands before the values, and the statuses after them
        fixed_places: list[tuple[int, int]] = []
        text_places: list[tuple[int, int]] = []
        for group, mine in zip(reader.groups, outputs, strict=True):
            assert group.storage is not None
            fields = layout.blocks[group.storage]
            at = positions_of(group.block, len(fields))
            if group.storage is Storage.END:
                first = len(self._texts)
                convert = from_stored(group.kind)
                self._texts += [(i, convert) for i in at]
                self.texts.append(_Texts(group.kind, mine, slice(first, len(self._texts))))
                text_places += zip(
                    positions_of(mine, count),
                    range(unpacked_size + first, unpacked_size + len(self._texts)),
                    strict=True,
                )
            else:
                self.fixed.append(_Fixed(codec, group, mine))
                fixed_places += zip(positions_of(mine, count), [layout.positions[fields[i]] for i in at], strict=True)
        # Of each output where it is in an unpacked row with its texts behind it; in the order of `fixed` and `texts`.
        self.places = fixed_places + text_places
        self.unpacked_size = unpacked_size + len(self._texts)

    def read(self, row: bytes, as_of: Instant) -> WholeRow | None:
        """Return a row that is whole, of this view version and as-of, and PRESENT throughout; None for any other."""
        size, length = self._size, len(row)
        if (
            length < size
            or row[:16] != self._identity + as_of.to_bytes(8, "little", signed=True)
            or row[self._status_at : size] != self._all_present
        ):
            return None
        if not self._has_variable:
            return WholeRow(row, _NO_TEXTS) if length == size else None
        ends = [0, *self._ends.unpack_from(row, self._ends_at)]
        if size + ends[-1] != length or ends != sorted(ends):
            return None
        section = row[size:]
        try:
            return WholeRow(row, tuple([convert(section[ends[i] : ends[i + 1]]) for i, convert in self._texts]))
        except CodecError:
            return None


class OneEntity:
    """How a service's outputs are taken out of one entity's rows, worked out once."""

    def __init__(self, views: Sequence[OneView], kinds: Sequence[DataType]) -> None:
        """`kinds` are those of all outputs, each of which is a field of one view."""
        self._views = views
        converts = [bool if isinstance(kind, Boolean) else python_value(kind) for kind in kinds]
        self._converts = [(i, convert) for i, convert in enumerate(converts) if convert is not None]
        # Where each output is among all rows unpacked end to end, and among the arrays that are made group by group.
        unpacked, arrays = [0] * len(kinds), [0] * len(kinds)
        begins = made = 0
        for view in views:
            for output, place in view.places:
                unpacked[output] = begins + place
                arrays[output] = made
                made += 1
            begins += view.unpacked_size
        self._pick = _picker(unpacked)
        self._pick_arrays = _picker(arrays)

    def read(self, views: Sequence[tuple[Rows, Instant | None, Reason, Codes | None]]) -> list[WholeRow] | None:
        """Return the views' rows; None where one is not there, or is no WholeRow."""
        found = []
        for view, (rows, as_of, _, reasons) in zip(self._views, views, strict=True):
            if as_of is None or reasons is not None or (row := rows[0]) is None:
                return None
            whole = view.read(row, as_of)
            if whole is None:
                return None
            found.append(whole)
        return found

    def values(self, rows: Sequence[WholeRow]) -> Sequence[Any]:
        """Return the outputs as Python values."""
        unpacked: tuple[Any, ...] = ()
        for view, (row, texts) in zip(self._views, rows, strict=True):
            unpacked += view.unpack(row) + texts
        picked = self._pick(unpacked)
        if not self._converts:
            return picked
        values = list(picked)
        for i, convert in self._converts:
            values[i] = convert(values[i])
        return values

    def arrays(self, rows: Sequence[WholeRow]) -> Sequence[Array]:
        """Return the outputs as arrays of one value each."""
        arrays: list[Array] = []
        for view, (row, texts) in zip(self._views, rows, strict=True):
            for fixed in view.fixed:
                arrays += numpy_columns(fixed.kind, fixed.read(row))
            if texts:
                arrays.extend(np.array(texts, object)[:, None])
        return self._pick_arrays(arrays)

    def columns(self, rows: Sequence[WholeRow]) -> list[tuple[DataType, Index, Columns]]:
        """Return the outputs group by group: their type, which they are, and their columns (outputs × 1)."""
        columns: list[tuple[DataType, Index, Columns]] = []
        for view, (row, texts) in zip(self._views, rows, strict=True):
            columns += [(fixed.kind, fixed.outputs, fixed.read(row)) for fixed in view.fixed]
            columns += [(kind, outputs, [[text] for text in texts[mine]]) for kind, outputs, mine in view.texts]
        return columns


def is_taken_out(kind: DataType) -> bool:
    """Return whether values of a type can be taken out of a row as they lie there."""
    return not (isinstance(kind, Decimal) or is_nested(kind) or kind.name == "void")


def _begins(codec: RowCodec, storage: Storage) -> int:
    fields = codec.layout.dtype.fields
    assert fields is not None
    return int(fields[storage.name][1])


def _picker(places: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return a function that takes what is at these places."""
    if list(places) == list(range(places[0], places[0] + len(places))):
        return itemgetter(
            slice(places[0], places[0] + len(places))
        )  # also of one, which it would else not put in a tuple
    return itemgetter(*places)

"""Many packed rows at once: the wanted fields of one view's rows as columns, by NumPy views over the joined bytes.

What is read, and how, is decided once per view and service. Nothing loops over the values of a field of fixed width,
nor over the elements of an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from featurekit.clock import Instant
from featurekit.errors import CodecError, ForeignRowError, NewerWireVersionError, TruncatedRowError
from featurekit.online.codec import RowCodec, from_stored, statuses_of, to_stored
from featurekit.online.layout import STATUSES_PER_BYTE, Storage, storage_of
from featurekit.online.nested_columns import column_reader
from featurekit.online.reason import Reason
from featurekit.online.texts import TextBlock, TextColumn
from featurekit.plan import PlanField
from featurekit.status import Status
from featurekit.types import Array as ArrayType
from featurekit.types import Binary, Boolean, DataType, Decimal, Map, Null, String, Struct, is_nested

Array = npt.NDArray[Any]
Codes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
Rows = Sequence[bytes | None]

# Held as Python objects; all else is an array.
_OBJECTS: Final = (Decimal, String, Binary, Null, ArrayType, Map, Struct)
_FEW: Final = 4  # up to so many rows' nested values are read one by one
_OF_VALUES: Final = (Reason.LAST_KNOWN, Reason.AHEAD)  # reasons of rows that are there
_WORTH_SPLITTING: Final = 4  # all strings of a row are made at once where at least one in so many is wanted


@dataclass(frozen=True, slots=True)
class Group:
    """Wanted fields of one type: where they lie in their storage's block and among the wanted fields.

    `read_one` and `read_many` read the bytes of nested values; of other types both are None.
    """

    kind: DataType
    storage: Storage | None
    block: npt.NDArray[np.intp] | slice
    places: npt.NDArray[np.intp] | slice
    count: int
    defaults: tuple[Any, ...]
    read_one: Callable[[bytes], Any] | None
    read_many: Callable[[Sequence[bytes], Flags | None], Sequence[Any]] | None


class ViewColumns(NamedTuple):  # and no dataclass: made for every request, in a third of the time
    """The wanted fields of a view's rows, after defaults; `values` by group, an array (fields × rows) or lists.

    `found` is None where every entity had a row, `statuses` and `reasons` (fields × rows) where all are PRESENT. Where
    a status is neither PRESENT nor DEFAULTED an array's value means nothing, and a list's is None.
    """

    found: Flags | None
    statuses: Codes | None
    reasons: Codes | None
    values: tuple[Array | list[Sequence[Any]], ...]


class RowReader:
    """Reads the wanted fields out of rows of one view version; `wanted` are positions in `fields`.

    Where `defaults_stand_in`, a field that is unavailable is DEFAULTED, if it has a default, and keeps the reason.
    """

    def __init__(
        self, codec: RowCodec, fields: Sequence[PlanField], wanted: Sequence[int], defaults_stand_in: bool = False
    ) -> None:
        self._codec = codec
        self._fields = fields
        self._wanted = tuple(wanted)
        self._dtype = codec.layout.dtype
        self._identity_bytes = codec.identity
        self._identity = int.from_bytes(codec.identity, "little")
        self._empty = _empty_row(codec, fields)
        at = np.array(wanted, np.intp)
        self._status_byte = at // STATUSES_PER_BYTE
        self._status_shift = (at % STATUSES_PER_BYTE * 2).astype(np.uint8)
        self._has_default = np.array([fields[i].default is not None for i in wanted], np.bool_)[:, None]
        self._can_default = bool(self._has_default.any())
        self._defaults_stand_in = defaults_stand_in and self._can_default
        variable = [fields[i].type for i in codec.layout.variable]
        wanted_texts = sum(isinstance(fields[i].type, String) for i in wanted)
        self._splits_texts = set(variable) == {String()} and wanted_texts * _WORTH_SPLITTING >= len(variable)
        self.groups = self._plan_groups()
        kinds = [fields[i].type for i in wanted]
        order = [group.kind for group in self.groups]
        self._group_of = [(order.index(kind), kinds[:place].count(kind)) for place, kind in enumerate(kinds)]

    def stand_in(self, place: int) -> Any:
        """Return a value that the wanted field at `place` can have, its default or that of no events; or None."""
        field = self._fields[self._wanted[place]]
        return field.empty if field.default is None else field.default

    def group_of(self, place: int) -> tuple[int, int]:
        """Return which group the wanted field at `place` is in, and where in it."""
        return self._group_of[place]

    def _plan_groups(self) -> tuple[Group, ...]:
        by_type: dict[DataType, list[int]] = {}
        for place, i in enumerate(self._wanted):
            by_type.setdefault(self._fields[i].type, []).append(place)
        groups = []
        for kind, places in by_type.items():
            storage = storage_of(kind)
            block = () if storage is None else self._codec.layout.blocks[storage]
            fields = [self._wanted[place] for place in places]
            groups.append(
                Group(
                    kind=kind,
                    storage=storage,
                    block=as_index([block.index(i) for i in fields] if block else []),
                    places=as_index(places),
                    count=len(places),
                    defaults=tuple(self._fields[i].default for i in fields),
                    read_one=from_stored(kind) if is_nested(kind) else None,
                    read_many=column_reader(kind) if isinstance(kind, ArrayType | Map | Struct) else None,
                )
            )
        return tuple(groups)

    def read(self, rows: Rows, as_of: Instant, reasons: Codes | None = None) -> ViewColumns:
        """Return the rows' columns; None is an entity without a row. A row that can't be read is UNAVAILABLE.

        With `reasons` so is each row that has another one than LAST_KNOWN or AHEAD; of these the fields have it.
        """
        away = None if reasons is None else np.where(np.isin(reasons, _OF_VALUES), np.uint8(Reason.NONE), reasons)
        try:
            found = self._read(rows, as_of, away)
        except CodecError:
            wrong = np.array([self._reason(row, as_of) for row in rows], np.uint8)
            away = wrong if away is None else np.where(away != Reason.NONE, away, wrong)
            kept = [None if reason else row for row, reason in zip(rows, away.tolist(), strict=True)]
            found = self._read(kept, as_of, away)
        return found if reasons is None else _with_reasons(found, reasons)

    def unavailable(self, count: int, reason: Reason) -> ViewColumns:
        """Return columns without a value, for the same reason throughout."""
        return self._read([None] * count, 0, np.full(count, reason, np.uint8))

    def _read(self, rows: Rows, as_of: Instant, unavailable: Codes | None) -> ViewColumns:
        found, lines = None, cast("Sequence[bytes]", rows)
        if None in rows:
            found = np.array([row is not None for row in rows], np.bool_)
            # An entity without a row has a row like any other from here on.
            empty = self._empty[:8] + as_of.to_bytes(8, "little", signed=True) + self._empty[16:]
            lines = [empty if row is None else row for row in rows]
        table = self._table(lines, as_of)
        statuses, reasons = self._statuses(table["status"], unavailable)
        values = tuple(self._values(group, table, lines, statuses) for group in self.groups)
        return ViewColumns(found=found, statuses=statuses, reasons=reasons, values=values)

    def _table(self, rows: Sequence[bytes], as_of: Instant) -> Array:
        """Return the fixed parts of the rows as one array; a CodecError where any row is not whole or not ours."""
        size = self._codec.size
        if len(rows) == 1:
            return self._table_of_one(rows[0], as_of)
        if self._codec.has_variable:
            joined = b"".join([row[:size] for row in rows])
            whole = len(joined) == size * len(rows)
        else:
            joined = b"".join(rows)
            whole = list(map(len, rows)).count(size) == len(rows)
        if not whole:
            raise TruncatedRowError("a row is not as long as it should be")
        table: Array = np.frombuffer(joined, self._dtype)
        if np.count_nonzero(table["identity"] != self._identity) or np.count_nonzero(table["as_of"] != as_of):
            raise ForeignRowError("a row is not of this view version and as-of")
        if self._codec.has_variable:
            ends = table[Storage.END.name].astype(np.int64)
            lengths = np.fromiter(map(len, rows), np.int64, len(rows)) - size
            if (ends[:, -1] != lengths).any() or (ends[:, 1:] < ends[:, :-1]).any():
                raise TruncatedRowError("a row's variable section is not as long as it should be")
        return table

    def _table_of_one(self, row: bytes, as_of: Instant) -> Array:
        # As `_table`, in a quarter of the time that NumPy takes for arrays of one.
        codec = self._codec
        if row[:16] != self._identity_bytes + as_of.to_bytes(8, "little", signed=True):
            raise ForeignRowError("the row is not of this view version and as-of")
        if len(row) < codec.size or (not codec.has_variable and len(row) != codec.size):
            raise TruncatedRowError("the row is not as long as it should be")
        table: Array = np.frombuffer(row, self._dtype, 1)
        if codec.has_variable:
            ends = table[Storage.END.name][0].tolist()
            if codec.size + ends[-1] != len(row) or ends != sorted(ends):
                raise TruncatedRowError("the row's variable section is not as long as it should be")
        return table

    def _statuses(self, bits: Codes, unavailable: Codes | None) -> tuple[Codes | None, Codes | None]:
        if unavailable is None and not np.count_nonzero(bits):
            return None, None
        statuses: Codes = np.ascontiguousarray((bits[:, self._status_byte] >> self._status_shift & 3).T)
        reasons = np.zeros_like(statuses)
        if unavailable is not None:
            bad = unavailable != Reason.NONE
            statuses[:, bad] = Status.UNAVAILABLE
            reasons[:, bad] = unavailable[bad]
        if self._can_default:
            lacking = (statuses != Status.PRESENT) & (statuses != Status.UNAVAILABLE) & self._has_default
            reasons[lacking] = statuses[lacking]  # numbered alike
            statuses[lacking] = Status.DEFAULTED
        if self._defaults_stand_in:
            statuses[(statuses == Status.UNAVAILABLE) & self._has_default] = Status.DEFAULTED
        return statuses, reasons

    def _values(
        self, group: Group, table: Array, rows: Sequence[bytes], statuses: Codes | None
    ) -> Array | list[Sequence[Any]]:
        mine = None if statuses is None else statuses[group.places]
        if group.read_many is not None:
            return list(self._nested(group, table, rows, mine))
        if is_held_as_object(group.kind):
            return self._objects(group, table, rows, mine)
        if group.storage is None:
            raise AssertionError(f"{group.kind} has no storage and no array")
        values = np.ascontiguousarray(table[group.storage.name][:, group.block].T)
        if isinstance(group.kind, Boolean):
            values = values != 0
        if mine is not None and self._can_default:
            filled = mine == Status.DEFAULTED
            if filled.any():
                fills = [0 if value is None else value for value in group.defaults]
                values = np.where(filled, np.array(fills, values.dtype)[:, None], values)
        return values

    def _nested(
        self, group: Group, table: Array, rows: Sequence[bytes], statuses: Codes | None
    ) -> Iterator[Sequence[Any]]:
        assert group.read_one is not None
        assert group.read_many is not None
        store = to_stored(group.kind)
        for at, pieces in enumerate(self._pieces(group, table, rows)):
            valid = None
            if statuses is not None:
                # A default is read as if it had been stored: from here on it is a value like any other.
                default = None if group.defaults[at] is None else store(group.defaults[at])
                codes = statuses[at]
                pieces = [
                    default if status == Status.DEFAULTED and default is not None else piece
                    for piece, status in zip(pieces, codes.tolist(), strict=True)
                ]
                valid = (codes == Status.PRESENT) | (codes == Status.DEFAULTED)
            if len(rows) > _FEW:
                yield group.read_many(pieces, valid)
            elif valid is None:
                yield [group.read_one(piece) for piece in pieces]
            else:
                yield [
                    group.read_one(piece) if is_valid else None
                    for piece, is_valid in zip(pieces, valid.tolist(), strict=True)
                ]

    def _objects(
        self, group: Group, table: Array, rows: Sequence[bytes], statuses: Codes | None
    ) -> list[Sequence[Any]]:
        held = self._held_objects(group, table, rows)
        if statuses is None:
            return held
        return [
            values
            if not codes.any()
            else [
                value if status == Status.PRESENT else (default if status == Status.DEFAULTED else None)
                for value, status in zip(values, codes.tolist(), strict=True)
            ]
            for values, codes, default in zip(held, statuses, group.defaults, strict=True)
        ]

    def _held_objects(self, group: Group, table: Array, rows: Sequence[bytes]) -> list[Sequence[Any]]:
        convert = from_stored(group.kind)
        match group.storage:
            case None:
                return [[None] * len(rows) for _ in range(group.count)]
            case Storage.END if len(rows) == 1:
                return self._of_one_row(group, table, rows[0], convert)
            case Storage.END:
                if self._splits_texts and (block := self._text_block(table, rows)) is not None:
                    return [TextColumn(block, field) for field in positions_of(group.block, block.ends.shape[1])]
                return [list(map(convert, pieces)) for pieces in self._pieces(group, table, rows)]
            case _:
                stored = table[group.storage.name][:, group.block].T
                return [[convert(value) for value in column] for column in stored.tolist()]

    def _of_one_row(
        self, group: Group, table: Array, row: bytes, convert: Callable[[bytes], Any]
    ) -> list[Sequence[Any]]:
        section = row[self._codec.size :]
        ends = [0, *table[Storage.END.name][0].tolist()]
        fields = positions_of(group.block, len(ends) - 1)
        return [[convert(section[ends[field] : ends[field + 1]])] for field in fields]

    def _text_block(self, table: Array, rows: Sequence[bytes]) -> TextBlock | None:
        size = self._codec.size
        ends = table[Storage.END.name].astype(np.int64)
        ends[1:] += np.cumsum(ends[:-1, -1])[:, None]
        return TextBlock.of(b"".join([row[size:] for row in rows]), ends)

    def _pieces(self, group: Group, table: Array, rows: Sequence[bytes]) -> Iterator[list[bytes]]:
        """Yield each row's bytes of each of the group's fields."""
        # Where each ends, the first one's beginning before them.
        ends = np.zeros((len(rows), table.dtype[Storage.END.name].shape[0] + 1), np.int64)
        ends[:, 1:] = table[Storage.END.name]
        ends += self._codec.size
        for i in positions_of(group.block, ends.shape[1] - 1):
            starts_and_ends = zip(rows, ends[:, i].tolist(), ends[:, i + 1].tolist(), strict=True)
            yield [row[start:end] for row, start, end in starts_and_ends]

    def _reason(self, row: bytes | None, as_of: Instant) -> Reason:
        """Return what is wrong with a row."""
        if row is None:
            return Reason.NONE
        try:
            if self._codec.check_row(row) != as_of:
                return Reason.STALE_ROW
            stored = self._codec.layout.struct.unpack_from(row)
            texts = dict(zip(self._codec.layout.variable, self._codec.variable_parts(row, stored), strict=True))
        except ForeignRowError:
            return Reason.FOREIGN_ROW
        except NewerWireVersionError:
            return Reason.NEWER_ROW
        except CodecError:
            return Reason.BROKEN_ROW
        statuses = statuses_of(stored[-1], len(self._fields))
        for i in self._wanted:
            kind = self._fields[i].type
            if isinstance(kind, String | Decimal) or (is_nested(kind) and not statuses[i]):
                value = texts[i] if i in texts else stored[self._codec.layout.positions[i]]
                if not _can_be_read(value, kind):
                    return Reason.BROKEN_ROW
        return Reason.NONE


def as_index(positions: Sequence[int]) -> npt.NDArray[np.intp] | slice:
    """Return positions as an index; a slice where they lie side by side, since that copies nothing."""
    if positions and all(b == a + 1 for a, b in pairwise(positions)):
        return slice(positions[0], positions[-1] + 1)
    return np.array(positions, np.intp)


def positions_of(index: npt.NDArray[np.intp] | slice, count: int) -> Sequence[int]:
    """Return an index among `count` things as positions."""
    return range(count)[index] if isinstance(index, slice) else index.tolist()


def _with_reasons(read: ViewColumns, rows: Codes) -> ViewColumns:
    """Return columns whose values have the reasons of their rows, where those are reasons of values."""
    assert read.statuses is not None
    assert read.reasons is not None
    is_told = np.isin(rows, _OF_VALUES) & (read.statuses != Status.UNAVAILABLE)
    return read._replace(reasons=np.where(is_told, rows, read.reasons))


def _can_be_read(stored: Any, kind: DataType) -> bool:
    try:
        from_stored(kind)(stored)
    except CodecError:
        return False
    return True


def _empty_row(codec: RowCodec, fields: Sequence[PlanField]) -> bytes:
    """Return what an entity without a row would have as one (DESIGN T5)."""
    statuses = [
        Status.MISSING if field.is_latest else (Status.NULL if field.empty is None else Status.PRESENT)
        for field in fields
    ]
    return codec.encode_row([field.empty for field in fields], as_of=0, last_event=0, statuses=statuses)


def is_held_as_object(kind: DataType) -> bool:
    """Return whether columns of a type are lists of Python objects, and not arrays."""
    return isinstance(kind, _OBJECTS)


def storage_dtype(kind: DataType) -> np.dtype[Any]:
    """Return the dtype of a type's columns: instants and dates are whole numbers."""
    storage = storage_of(kind)
    return np.dtype(np.bool_) if isinstance(kind, Boolean) or storage is None else np.dtype(storage.value[0])

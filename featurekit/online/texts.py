"""Strings of many rows at once: found where they lie, and made Python's when somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_BETWEEN: Final = b"\0"


class TextBlock:
    """The variable sections of rows that hold strings alone, end to end.

    `ends` (rows × fields) says where each field's bytes end in `content`.
    """

    __slots__ = ("_parts", "content", "ends")

    def __init__(self, content: bytes, ends: Ints) -> None:
        self.content = content
        self.ends = ends
        self._parts: list[str] | None = None

    @classmethod
    def of(cls, content: bytes, ends: Ints) -> TextBlock | None:
        """Return the block; None where its bytes must be looked at field by field: not all are UTF-8, or one is NUL."""
        if _BETWEEN in content:
            return None
        block = cls(content, ends)
        if not content.isascii():
            try:
                block.parts()
            except UnicodeDecodeError:
                return None
        return block

    def parts(self) -> list[str]:
        """Return all fields of the first row, then those of the next, and so on."""
        if self._parts is None:
            # One text with something between the parts is split in half the time that as many slices take.
            is_text = np.ones(len(self.content) + self.ends.size, np.bool_)
            is_text[self.ends.reshape(-1) + np.arange(self.ends.size)] = False
            spread = np.zeros(len(is_text), np.uint8)
            np.place(spread, is_text, np.frombuffer(self.content, np.uint8))
            self._parts = spread.tobytes().decode().split(_BETWEEN.decode())
            del self._parts[-1]  # what follows the last separator
        return self._parts

    def array(self) -> npt.NDArray[np.object_]:
        """Return all fields as strings, a row of the array for each row."""
        return np.fromiter(self.parts(), object, self.ends.size).reshape(self.ends.shape)


class TextColumn(Sequence[Any]):
    """A field of a block, as a sequence of strings."""

    __slots__ = ("_held", "block", "field")

    def __init__(self, block: TextBlock, field: int) -> None:
        self.block = block
        self.field = field
        self._held: list[str] | None = None

    def held(self) -> list[str]:
        if self._held is None:
            self._held = self.block.parts()[self.field :: self.block.ends.shape[1]]
        return self._held

    def __len__(self) -> int:
        return len(self.block.ends)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.held())

    def __getitem__(self, at: Any) -> Any:
        return self.held()[at]


def shared_block(columns: Sequence[Any]) -> tuple[TextBlock, list[int]] | None:
    """Return the block that all columns are fields of, and which ones; None where they are not of one block."""
    first = columns[0] if columns else None
    # By type: to ask a Sequence's subclass whether a list is one of it takes longer than all else here.
    if type(first) is not TextColumn:
        return None
    if any(type(column) is not TextColumn or column.block is not first.block for column in columns):
        return None
    return first.block, [column.field for column in columns]

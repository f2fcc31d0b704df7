"""LIKE patterns: `%` is any text, `_` any one character, and what follows the escape character is itself."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Wild(Enum):
    ANY = "%"
    ONE = "_"


ESCAPE: Final = "\\"
_BY_LETTER: Final = {wild.value: wild for wild in Wild}
Pieces = tuple[str | Wild, ...]


class LikeError(Exception):
    """A pattern that Spark does not take."""


def parse_like(pattern: str, escape: str = ESCAPE) -> Pieces:
    """Return a pattern's texts and wildcards in order; LikeError where the escape character escapes nothing.

    >>> parse_like("50\\\\%_x%")
    ('50%', <Wild.ONE: '_'>, 'x', <Wild.ANY: '%'>)
    """
    pieces: list[str | Wild] = []
    letters = iter(pattern)
    for letter in letters:
        if letter == escape:
            letter = next(letters, "")
            if letter not in ("%", "_", escape):
                raise LikeError(f"{escape} stands before {letter or 'nothing'}")
        elif letter in _BY_LETTER:
            pieces.append(_BY_LETTER[letter])
            continue
        if pieces and isinstance(pieces[-1], str):
            pieces[-1] += letter
        else:
            pieces.append(letter)
    return tuple(pieces)


def write_like(pieces: Pieces) -> str:
    """Return the pattern that means `pieces`, escaped by backslashes."""
    return "".join(piece.value if isinstance(piece, Wild) else _escaped(piece) for piece in pieces)


def _escaped(text: str) -> str:
    return "".join(f"{ESCAPE}{letter}" if letter in ("%", "_", ESCAPE) else letter for letter in text)

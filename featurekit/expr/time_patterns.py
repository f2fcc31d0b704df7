"""Patterns of dates and times: the part of Java's pattern letters that reads and writes the same everywhere.

    yyyy MM dd HH mm ss     with leading zeros          M d H m s     without
    S … SSSSSS              digits of the second's fraction
    E EEE EEEE MMM MMMM     names of days and months, in English; only to write

Everything else is text: signs as they are, letters in single quotes, '' for a quote. yyyy is the year of the calendar
that counts on before the year 1 (0000 is the year before 0001).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

EDGES: Final = (
    "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd", "yyyyMMdd", "dd/MM/yyyy", "M/d/yyyy", "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "yyyyMMddHHmmss", "yyyy-MM",
)  # fmt: skip
ADVICE: Final = "letters such as yyyy-MM-dd HH:mm:ss.SSS, other letters in quotes: yyyy-MM-dd'T'HH:mm"
_PIECE: Final = re.compile(r"'(?P<quoted>(?:[^']|'')*)'|(?P<letters>([A-Za-z])\3*)|(?P<sign>[^A-Za-z'])", re.DOTALL)
_WIDTHS: Final = {"y": (4,), "M": (1, 2, 3, 4), "d": (1, 2), "H": (1, 2), "m": (1, 2), "s": (1, 2),
                  "S": (1, 2, 3, 4, 5, 6), "E": (1, 2, 3, 4)}  # fmt: skip
_NOT_TEXT: Final = frozenset("[]{}#0123456789")
# A field can be read only beside the larger ones: a day without its month means nothing.
_NEEDS: Final = {"M": "y", "d": "M", "H": "d", "m": "H", "s": "m", "S": "s"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A field (`letter`, `width`), or text when `letter` is empty."""

    letter: str
    width: int
    text: str = ""

    @property
    def is_name(self) -> bool:
        return self.letter == "E" or (self.letter == "M" and self.width > 2)

    @property
    def is_fixed(self) -> bool:
        """Whether the field is always so many digits when it is read (a year may have more)."""
        return self.letter not in ("", "S", "y") and self.width == 2


class PatternError(ValueError):
    """The pattern is outside the declared set; the text says why."""


@lru_cache(maxsize=256)
def parse_pattern(pattern: str) -> tuple[Piece, ...]:
    """Return the pieces of a pattern; PatternError where it has others than the declared ones.

    >>> [piece.letter or piece.text for piece in parse_pattern("yyyy-MM'T'")]
    ['y', '-', 'M', 'T']
    """
    pieces: list[Piece] = []
    at = 0
    while at < len(pattern):
        match = _PIECE.match(pattern, at)
        if match is None:
            raise PatternError("a quote is not closed")
        pieces.append(_piece(match))
        at = match.end()
    if not any(piece.letter for piece in pieces):
        raise PatternError("it has no field")
    return tuple(pieces)


def _piece(match: re.Match[str]) -> Piece:
    if (letters := match["letters"]) is not None:
        if len(letters) not in _WIDTHS.get(letters[0], ()):
            raise PatternError(f"{letters} is not among the letters that both paths read alike")
        return Piece(letters[0], len(letters))
    text = match["sign"] or match["quoted"].replace("''", "'") or "'"
    if not text.isascii() or not text.isprintable() or not _NOT_TEXT.isdisjoint(text):
        raise PatternError(f"{text!r} can't stand between fields")
    return Piece("", 0, text)


def check_readable(pieces: tuple[Piece, ...]) -> None:
    """Raise PatternError where text can't be read by the pattern in one way only."""
    letters = [piece.letter for piece in pieces if piece.letter]
    if any(piece.is_name for piece in pieces):
        raise PatternError("names of days and months are only written, not read")
    if twice := next((letter for letter in letters if letters.count(letter) > 1), None):
        raise PatternError(f"{twice} stands in it twice")
    if alone := next((letter for letter in letters if letter in _NEEDS and _NEEDS[letter] not in letters), None):
        raise PatternError(f"{alone} stands in it without {_NEEDS[alone]}")
    for left, right in pairwise(pieces):
        years = {left.letter, right.letter} & {"y"} and (left.is_fixed or right.is_fixed)
        if left.letter and right.letter and not years and not (left.is_fixed and right.is_fixed):
            raise PatternError(f"nothing parts {left.letter} from {right.letter}, and their digits vary in number")

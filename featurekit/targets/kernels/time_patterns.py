"""Text by patterns: a reader or a writer for each, made when the plan is built."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from featurekit.clock import DAY, HOUR, MINUTE, SECOND
from featurekit.expr.time_patterns import Piece, parse_pattern
from featurekit.expr.time_units import FIRST_MICRO, LAST_MICRO, MONTH_NAMES, WEEKDAY_NAMES
from featurekit.targets.kernels.calendar import civil, day_of

# What one letter of the text between fields matches: case does not count, by Java's tables.
_OTHER_CASES: Final = {"s": "\u017f", "k": "\u212a", "i": "\u0130\u0131"}
_SIZES: Final = {"H": (HOUR, 24), "m": (MINUTE, 60), "s": (SECOND, 60)}


def reader(pattern: str) -> Callable[[str], int | None]:
    """Return the function from text to microseconds, None where the pattern does not read it.

    >>> reader("dd/MM/yyyy HH:mm")("02/01/1970 00:01")
    86460000000
    """
    pieces = parse_pattern(pattern)
    compiled = re.compile("".join(map(_matched, pieces)), re.DOTALL)
    places = {piece.letter: index for index, piece in enumerate((piece for piece in pieces if piece.letter), start=1)}
    clock = [(places[letter], *_SIZES[letter]) for letter in "Hms" if letter in places]
    year, month, day, fraction = (places.get(letter) for letter in "yMdS")

    def read(text: str) -> int | None:
        match = compiled.fullmatch(text)
        if match is None:
            return None
        days = day_of(
            _year(match[year]) if year else 1970, int(match[month]) if month else 1, int(match[day]) if day else 1
        )
        if days is None:
            return None
        micros = days * DAY
        for place, size, limit in clock:
            count = int(match[place])
            if count >= limit:
                return None
            micros += count * size
        if micros < FIRST_MICRO:  # Java counts the second itself before its fraction is added
            return None
        if fraction:
            micros += int(match[fraction].ljust(6, "0"))
        return micros if micros <= LAST_MICRO else None

    return read


def _year(text: str) -> int:
    # Past any calendar Python would refuse the digits of a long text, with an error of its own.
    return int(text) if len(text) < 12 else 10**9


def _matched(piece: Piece) -> str:
    match piece.letter:
        case "":
            return "".join(map(_letter, piece.text))
        case "y":  # a plus only where there are more than four digits, no year -0000
            return r"([0-9]{4}|\+[0-9]{5,19}|-(?!0{4,19}(?![0-9]))[0-9]{4,19})"
        case "S":
            return f"([0-9]{{1,{piece.width}}})"
        case _:
            return "([0-9]{2})" if piece.width == 2 else "([0-9]{1,19})"


def _letter(letter: str) -> str:
    if not letter.isalpha():
        return re.escape(letter)
    return f"[{letter.lower()}{letter.upper()}{_OTHER_CASES.get(letter.lower(), '')}]"


def writer(pattern: str) -> Callable[[int], str]:
    """Return the function from microseconds to text.

    >>> writer("EEE dd/MM/yyyy HH:mm")(86460000000)
    'Fri 02/01/1970 00:01'
    """
    parts = [_part(piece) for piece in parse_pattern(pattern)]

    def write(micros: int) -> str:
        day, clock = divmod(micros, DAY)
        date = civil(day)
        return "".join([part if isinstance(part, str) else part(date, day, clock) for part in parts])

    return write


# From the date, the day since 1970 and the microseconds since midnight to text.
_Writes = Callable[[tuple[int, int, int], int, int], str]


def _part(piece: Piece) -> str | _Writes:
    width = piece.width
    match piece.letter:
        case "":
            return piece.text
        case "y":
            return lambda date, _, __: _written_year(date[0])
        case "M" if width > 2:
            names = MONTH_NAMES if width == 4 else tuple(name[:3] for name in MONTH_NAMES)
            return lambda date, _, __: names[date[1] - 1]
        case "M":
            return lambda date, _, __: f"{date[1]:0{width}}"
        case "d":
            return lambda date, _, __: f"{date[2]:0{width}}"
        case "E":
            days = WEEKDAY_NAMES if width == 4 else tuple(name[:3] for name in WEEKDAY_NAMES)
            return lambda _, day, __: days[(day + 3) % 7]
        case "S":
            return lambda _, __, clock: f"{clock % SECOND:06}"[:width]
        case letter:
            size, limit = _SIZES[letter]
            return lambda _, __, clock: f"{clock // size % limit:0{width}}"


def _written_year(year: int) -> str:
    if year > 9999:
        return f"+{year}"
    return f"{year:04}" if year >= 0 else f"-{-year:04}"

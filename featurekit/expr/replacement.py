"""What regexp_replace puts in: text, `$1` for a group, a backslash before what is meant as itself. Java's rules."""

from __future__ import annotations

from featurekit.expr.regex_tree import PatternError

# Texts, and the numbers of groups.
Pieces = tuple[str | int, ...]


def parse_replacement(text: str, groups: int) -> Pieces:
    """Return the pieces of a replacement for a pattern with so many groups; PatternError where Java takes it for none.

    >>> parse_replacement("$1-$11\\\\$", 1)
    (1, '-', 1, '1$')
    """
    pieces: list[str | int] = []
    at = 0
    while at < len(text):
        letter = text[at]
        at += 1
        if letter == "$":
            number, at = _group(text, at, groups)
            pieces.append(number)
            continue
        if letter == "\\":
            if at == len(text):
                raise PatternError("the replacement ends with a backslash", "\\\\ for the character")
            letter = text[at]
            at += 1
        if pieces and isinstance(pieces[-1], str):
            pieces[-1] += letter
        else:
            pieces.append(letter)
    return tuple(pieces)


def _group(text: str, at: int, groups: int) -> tuple[int, int]:
    """Return the group that begins after `$`, by as many digits as there are groups for, and where it ends."""
    digits = text[at : at + 1]
    if not _is_digit(digits) or int(digits) > groups:
        raise PatternError(
            f"${digits} in the replacement is none of the pattern's {groups} groups", "$1 for a group, \\$ for a dollar"
        )
    while _is_digit(more := text[at + len(digits) : at + len(digits) + 1]) and int(digits + more) <= groups:
        digits += more
    return int(digits), at + len(digits)


def _is_digit(text: str) -> bool:
    return text.isascii() and text.isdigit()

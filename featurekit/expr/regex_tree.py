"""What a regular expression of our subset is made of, what follows from its shape, and the error of those outside."""

from __future__ import annotations

from typing import Final, NamedTuple

LAST: Final = 0x10FFFF
# Code points, as ranges (first, last) in order, none touching the next.
Ranges = tuple[tuple[int, int], ...]
UNBOUNDED: Final = 1 << 31
_SHORT: Final = 4  # rounds: as many ways to share text out don't matter yet


class PatternError(Exception):
    """A pattern outside the subset: why, and what to write instead."""

    def __init__(self, why: str, try_: str) -> None:
        super().__init__(why)
        self.why = why
        self.try_ = try_


# Tuples, not dataclasses: the lookup client imports them, and they are made in an eighth of the time.


class Chars(NamedTuple):
    """One character out of a set."""

    ranges: Ranges


class Mark(NamedTuple):
    """A place, not a character: `start`, `end`, `end or last newline`, `word edge`, `no word edge`."""

    place: str


class Group(NamedTuple):
    """A part in parentheses; `number` is None where it captures nothing."""

    body: Part
    number: int | None


class Look(NamedTuple):
    body: Part
    ahead: bool
    negative: bool


class Again(NamedTuple):
    """What a group matched, once more."""

    number: int


class Repeat(NamedTuple):
    """`suffix` is `?` for as few as possible, `+` for never giving back, else empty."""

    body: Part
    low: int
    high: int
    suffix: str


class Sequence(NamedTuple):
    parts: tuple[Part, ...]


class Choice(NamedTuple):
    branches: tuple[Part, ...]


Part = Chars | Mark | Group | Look | Again | Repeat | Sequence | Choice


def union(*sets: Ranges) -> Ranges:
    """Return the ranges of all sets together, in order and merged."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(pair for ranges in sets for pair in ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    found, start = [], 0
    for first, last in ranges:
        if start < first:
            found.append((start, first - 1))
        start = last + 1
    if start <= LAST:
        found.append((start, LAST))
    return tuple(found)


def is_one(ranges: Ranges) -> bool:
    """Return whether there is one character in the set."""
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def width(part: Part) -> tuple[int, int]:
    """Return how many characters a part matches, at least and at most (UNBOUNDED or more: any number)."""
    match part:
        case Chars():
            return 1, 1
        case Mark() | Look():
            return 0, 0
        case Again():
            return 0, UNBOUNDED
        case Group(body=body):
            return width(body)
        case Repeat(body=body, low=low, high=high):
            least, most = width(body)
            return least * low, min(most * high, UNBOUNDED)
        case Sequence(parts=parts):
            widths = [width(each) for each in parts]
            return sum(least for least, _ in widths), min(sum(most for _, most in widths), UNBOUNDED)
        case Choice(branches=branches):
            widths = [width(each) for each in branches]
            return min(least for least, _ in widths), max(most for _, most in widths)


def looks_around(part: Part) -> bool:
    """Return whether what a part matches depends on characters beside it, the two ends apart."""
    match part:
        case Mark(place=place):
            return place in ("word edge", "no word edge")
        case Look():
            return True
        case Group(body=body) | Repeat(body=body):
            return looks_around(body)
        case Sequence(parts=parts) | Choice(branches=parts):
            return any(looks_around(each) for each in parts)
        case _:
            return False


def is_fixed(part: Part) -> bool:
    """Return whether a part always takes the same steps: characters in a row, none optional, none a choice."""
    match part:
        case Chars():
            return True
        case Group(body=body):
            return is_fixed(body)
        case Repeat(body=body, low=low, high=high):
            return low == high and is_fixed(body)
        case Sequence(parts=parts):
            return all(is_fixed(each) for each in parts)
        case _:
            return False


def depth(part: Part) -> int:
    """Return how often, at most, a matcher that recurses for each round of a loop has to recurse."""
    match part:
        case Group(body=body) | Look(body=body):
            return depth(body)
        case Repeat(body=body, high=high):
            inner = depth(body)
            return inner if is_fixed(body) else min(max(inner, 1) * high, UNBOUNDED)
        case Sequence(parts=parts) | Choice(branches=parts):
            return max((depth(each) for each in parts), default=0)
        case _:
            return 0


def is_explosive(part: Part) -> bool:
    """Return whether an unbounded loop in a loop can share the same text out among its rounds in many ways."""
    match part:
        case Group(body=body) | Look(body=body):
            return is_explosive(body)
        case Repeat(body=body, high=high):
            return is_explosive(body) or (high > 1 and _is_all_loop(body))
        case Sequence(parts=parts) | Choice(branches=parts):
            return any(is_explosive(each) for each in parts)
        case _:
            return False


def _is_all_loop(part: Part) -> bool:
    """Return whether a part can match by a long loop alone."""
    match part:
        case Group(body=body):
            return _is_all_loop(body)
        case Repeat(body=body, high=high, suffix=suffix):
            return suffix != "+" and (high > _SHORT or _is_all_loop(body))
        case Choice(branches=branches):
            return any(_is_all_loop(each) for each in branches)
        case Sequence(parts=parts):
            needed = [each for each in parts if width(each)[0] > 0]
            loops = [each for each in parts if _is_all_loop(each)]
            return bool(loops) and (not needed or (len(needed) == 1 and _is_all_loop(needed[0])))
        case _:
            return False

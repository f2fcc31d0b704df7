"""The JSON paths we take: `$.name`, `['any name']`, `[0]`; no wildcards."""

from __future__ import annotations

import re
from typing import Final

# Names of members and places of elements, from the root down.
Steps = tuple[str | int, ...]
_STEP: Final = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\['([^'\"\\?*]+)'\]|\[(0|[1-9][0-9]{0,8})\]")
ADVICE: Final = "$.a.b, $.a['two words'], $.list[0]"


class PathError(Exception):
    """A path outside of the subset."""


def parse_path(text: str) -> Steps:
    """Return a path's steps; PathError where it is none that we take.

    >>> parse_path("$.orders[0]['unit price']")
    ('orders', 0, 'unit price')
    """
    steps: list[str | int] = []
    at = 1
    while text[:1] == "$" and (match := _STEP.match(text, at)):
        name, quoted, place = match.groups()
        steps.append(int(place) if place else name or quoted)
        at = match.end()
    if not steps or at < len(text):
        raise PathError(f"{text!r} is not a path of names and places")
    return tuple(steps)

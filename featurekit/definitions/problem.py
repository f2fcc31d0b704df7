"""A mistake in a definition before it has a position; and the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

Place = tuple[str | int, ...]
"""Where a value stands in the definitions: ("feature_views", "load", "features", "n", "sql")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong at `path`, why it can't be, what to try; `offset` is a character inside the text there."""

    path: Place
    what: str
    why: str | None = None
    try_: str | None = None
    offset: int | None = None

    def under(self, prefix: Place) -> Problem:
        """Return the problem with its path below `prefix`."""
        return Problem(path=prefix + self.path, what=self.what, why=self.why, try_=self.try_, offset=self.offset)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return what to try instead of an unknown name: the closest of the known ones, else a list of them.

    >>> did_you_mean("carier", ["carrier", "route"])
    'did you mean carrier?'
    >>> did_you_mean("plane", ["route", "carrier"])
    'one of carrier, route'
    """
    names = sorted(set(known))
    if same := [other for other in names if other.lower() == name.lower()]:
        return f"did you mean {same[0]}? Names are matched exactly, upper and lower case too"
    if close := get_close_matches(name, names, n=1, cutoff=0.6):
        return f"did you mean {close[0]}?"
    if not names:
        return None
    shown = names if len(names) <= 12 else [*names[:12], f"… ({len(names)} in all)"]
    return f"one of {', '.join(shown)}"

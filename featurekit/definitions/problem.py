"""A mistake in a definition before it has a position; and the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches

Place = tuple[str | int, ...]
"""Where a value stands in the definitions: ("feature_views", "load", "features", "n", "sql")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong at `path`, why it can't be, what to try.

    `offset` is a character inside the text there. `at_name` says that the name is wrong, and not the value after it.
    """

    path: Place
    what: str
    why: str | None = None
    try_: str | None = None
    offset: int | None = None
    at_name: bool = False

    def under(self, prefix: Place) -> Problem:
        """Return the problem with its path below `prefix`."""
        return replace(self, path=prefix + self.path)

    def about(self, subject: str) -> Problem:
        """Return the problem with the name of what it is in before it."""
        return replace(self, what=f"{subject}: {self.what}")


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

"""What a service answers where the store can't: an operational choice, no part of what its values mean (DESIGN T6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Instead(StrEnum):
    """What stands in for a view that is unavailable."""

    ERROR = "error"  # nothing: the lookup raises
    NULL = "null"  # no values, status UNAVAILABLE; the lookup does not raise for the store
    DEFAULT = "default"  # the features' defaults; NULL for those without one
    LAST_KNOWN = "last_known"  # the rows that the client was last answered with; NULL for those it does not know


@dataclass(frozen=True, slots=True)
class OnUnavailable:
    """A service's choice; a last known row was confirmed by the store at most `max_age` microseconds ago."""

    instead: Instead
    max_age: int = 0

"""Clocks of zones, for many instants at once: how far they are from UTC, and what a reading of one is taken for."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from featurekit.clock import DAY, MINUTE, in_calendar, instant_to_local
from featurekit.errors import TimeError

Ints = npt.NDArray[np.int64]
_STEP: Final = 15 * MINUTE  # no zone has changed its clock between two of these since 1945
_QUARTER: Final = 91 * DAY


def offsets(at: Ints, zone: str) -> Ints:
    """Return how far the zone's clocks are ahead of UTC at each instant, in microseconds."""
    steps, of_instant = np.unique(at // _STEP, return_inverse=True)
    found = np.array([_offset(step * _STEP, zone) for step in steps.tolist()], np.int64)
    return found[of_instant.reshape(-1)]


def offsets_around(at: int, zone: str) -> tuple[int, ...]:
    """Return the zone's offsets in the year around an instant, the least first: that one is no summer's."""
    return tuple(sorted({_offset(at + step * _QUARTER, zone) for step in range(-2, 3)}))


def read_as_utc(at: Ints, zone: str) -> Ints:
    """Return each instant as the zone's clock shows it, taken for UTC."""
    return at + offsets(at, zone)


def read_as_local(at: Ints, zone: str) -> Ints:
    """Return each instant as UTC's clock shows it, taken for a reading of the zone's clock."""
    # The offset that holds at the instant meant: that of the guess, but within hours of a change.
    return at - offsets(at - offsets(at, zone), zone)


def without_saving(at: Ints, zone: str) -> Ints:
    """Return each instant as it is when the zone's clock is taken never to change: the hour of summer is added."""
    if not len(at):
        return at
    ahead = offsets(at, zone)
    return at + ahead - offsets_around(int(at.max()), zone)[0]


def _offset(at: int, zone: str) -> int:
    try:
        return instant_to_local(in_calendar(at), zone) - in_calendar(at)
    except TimeError:
        return 0

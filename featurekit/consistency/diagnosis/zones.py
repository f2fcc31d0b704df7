"""Clocks of zones, for many instants at once: how far they are from UTC, and what a reading of one is taken for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from featurekit.clock import HOUR, MINUTE, in_calendar, instant_to_local
from featurekit.errors import TimeError

Ints = npt.NDArray[np.int64]
_STEP: Final = 15 * MINUTE  # no zone has changed its clock between two of these since 1945
_HALF_YEAR: Final = 4380 * HOUR


def offsets(at: Ints, zone: str) -> Ints:
    """Return how far the zone's clocks are ahead of UTC at each instant, in microseconds."""
    steps, of_instant = np.unique(at // _STEP, return_inverse=True)
    found = np.array([_offset(step * _STEP, zone) for step in steps.tolist()], np.int64)
    return found[of_instant.reshape(-1)]


def standard_offset(at: int, zone: str) -> int:
    """Return the zone's offset in the half of the year around an instant in which it is least."""
    return min(_offset(at + way * _HALF_YEAR, zone) for way in (-1, 0, 1))


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
    return at + ahead - standard_offset(int(at.max()), zone)


Reading = Callable[[Ints, str], Ints]


def _offset(at: int, zone: str) -> int:
    try:
        return instant_to_local(in_calendar(at), zone) - in_calendar(at)
    except TimeError:
        return 0

"""When events leave windows, for many at once: the first as-of from which on each is in its window no more."""

from __future__ import annotations

from functools import reduce
from typing import Final

import numpy as np

from featurekit.clock import DAY
from featurekit.offline.intervals import Ints
from featurekit.windows import (
    FIRST_DAY,
    LAST_DAY,
    Calendar,
    Elapsed,
    LastRows,
    Lifetime,
    Window,
    start_of_date,
    start_of_unit,
    unit_number,
)

FOR_EVER: Final = 1 << 62
"""Far outside of any timestamp, and far enough inside int64 to add windows to."""


def leaving(window: Window | None, event: Ints) -> Ints:
    """Return for each event (microseconds, in any order) the first as-of at which it has left a window.

    Of the last rows, it is that of the stretch of time that they are of; which of them are last is not asked here.
    """
    match window:
        case Elapsed(length) | LastRows(_, int(length)):
            return event + (length + 1)
        case Calendar():
            return _leaving_calendar(window, event)
        case None | Lifetime() | LastRows():
            return np.full(len(event), FOR_EVER, np.int64)


def leaving_all(windows: tuple[Window, ...] | None, event: Ints) -> Ints:
    """Return the first as-of at which each event has left all of some windows; None are windows without an end."""
    if windows is None:
        return leaving(None, event)
    return reduce(np.maximum, (leaving(window, event) for window in windows))


def _leaving_calendar(window: Calendar, event: Ints) -> Ints:
    """An event of unit u is in the window while u is one of the last `count` units: until unit u + count has begun."""
    days, of_event = np.unique(_dates(window.timezone, event), return_inverse=True)
    units = [unit_number(window.unit, day) for day in days.tolist()]
    ends = [start_of_unit(window, unit + window.count) for unit in units]
    # The start of a unit is an as-of of the unit before it: there the window ends with the microsecond before.
    leaves = np.array([FOR_EVER if end is None else end + 1 for end in ends], np.int64)
    return leaves[of_event.reshape(-1)]


def _dates(timezone: str | None, event: Ints) -> Ints:
    """Return the latest date that has begun by each event, as `windows.date_at` does for one."""
    near = np.unique(np.clip(event // DAY, FIRST_DAY, LAST_DAY))
    # A clock is less than a day away from UTC.
    candidates = np.unique(near[:, None] + np.arange(-1, 2)).tolist()
    begun = [(day, start) for day in candidates if (start := start_of_date(day, timezone)) is not None]
    dates = np.array([FIRST_DAY - 1, *(day for day, _ in begun)], np.int64)
    starts = np.array([-FOR_EVER, *(start for _, start in begun)], np.int64)
    return dates[np.searchsorted(starts, event, side="right") - 1]

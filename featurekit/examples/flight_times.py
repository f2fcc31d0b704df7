"""The instants of the flights of 2013, from the local clock readings that the CSV files hold.

All numbers are int64 microseconds: an instant counts from the Unix epoch in UTC, a clock reading from
1970-01-01T00:00 of that clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from featurekit.clock import DAY, HOUR, MINUTE, instant_to_local, local_to_instant

Micros = npt.NDArray[np.int64]

NEW_YORK: Final = "America/New_York"


def to_instants(readings: Micros, zone: str) -> Micros:
    """Return the instants at which a clock in the zone shows the readings; a repeated one is the later (DESIGN T1)."""
    # One zone lookup per distinct hour, not per flight: in 2013 the zones here changed on whole hours by whole hours.
    # Arrow's own conversion needs the machine's zone files, which a slim container lacks; `clock` brings its own.
    hours, index = np.unique(readings // HOUR, return_inverse=True)
    starts = np.array([local_to_instant(int(hour) * HOUR, zone) for hour in hours], dtype=np.int64)
    return starts[index] + readings % HOUR


def to_readings(instants: Micros, zone: str) -> Micros:
    """Return what a clock in the zone shows at the instants."""
    hours, index = np.unique(instants // HOUR, return_inverse=True)
    starts = np.array([instant_to_local(int(hour) * HOUR, zone) for hour in hours], dtype=np.int64)
    return starts[index] + instants % HOUR


def scheduled_instants(flights: pa.Table) -> Micros:
    """Return when each flight was to leave: date, hour and minute on New York's clock."""
    year, month, day, hour, minute = (ints(flights, name) for name in ("year", "month", "day", "hour", "minute"))
    first_of_month = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    date = first_of_month.astype("datetime64[D]").astype(np.int64) + day - 1
    return to_instants(date * DAY + hour * HOUR + minute * MINUTE, NEW_YORK)


def departed_instants(departed: pa.Table, scheduled: Micros) -> Micros:
    """Return when each of these departed flights left: the delay is elapsed minutes after the scheduled instant.

    `dep_time` gives the time of day only (and says 2400 for midnight); the delay also gives the day, up to 22 hours on.
    """
    delay: npt.NDArray[np.float64] = departed["dep_delay"].to_numpy()
    return scheduled + delay.astype(np.int64) * MINUTE


def arrived_instants(landed: pa.Table, departed: Micros, zones: Mapping[str, str]) -> Micros:
    """Return when each of these landed flights arrived.

    `arr_time` is a reading of the destination's clock without a date, so the arrival is the first instant after the
    departure at which that clock reads it. No flight here took a day: the longest, to Honolulu, took 12.3 hours. One
    was recorded at an hour that clocks skipped that night (B6 35 of 9 March, 02:03): it moves forward, to 03:03 EDT.
    """
    zone_of = np.array([zones[destination] for destination in landed["dest"].to_pylist()])
    minutes = clock_minutes(ints(landed, "arr_time"))
    arrived = np.zeros(landed.num_rows, dtype=np.int64)
    for zone in np.unique(zone_of):
        rows = np.flatnonzero(zone_of == zone)
        left = to_readings(departed[rows], str(zone))
        same_day = left - left % DAY + minutes[rows] * MINUTE
        arrived[rows] = to_instants(np.where(same_day > left, same_day, same_day + DAY), str(zone))
    return arrived


def clock_minutes(hhmm: Micros) -> Micros:
    """Return minutes after midnight for clock readings such as 1755; 2400 is 0."""
    return (hhmm // 100 * 60 + hhmm % 100) % (24 * 60)


def ints(table: pa.Table, name: str) -> Micros:
    """Return an int64 column without nulls as an array."""
    column: Micros = table[name].to_numpy()
    return column

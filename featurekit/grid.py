"""The refresh grid: which as-of instant serves a request at `t` (DESIGN T3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from featurekit.clock import DAY, Instant, format_duration, from_date, in_calendar, instant_to_local, local_candidates


@dataclass(frozen=True, slots=True)
class Grid:
    """Instants at which a view is refreshed, and how long after each the values can be served.

    Without a zone the grid is every `every` microseconds from the Unix epoch. With one, `every` is whole days and a
    grid instant is the first instant of each local date; `anchor` is a date on the grid, needed when `every` is
    several days.
    """

    every: int
    availability_delay: int = 0
    timezone: str | None = None
    anchor: date | None = None

    def served_at(self, at: Instant) -> Instant:
        """Return g(t): the latest grid instant g with g + availability_delay <= at.

        TimeError at the ends of the calendar, where there is none in the years 1 to 9999.
        """
        return in_calendar(self.floor(at - self.availability_delay))

    def floor(self, at: Instant) -> Instant:
        """Return the latest grid instant <= at."""
        if self.timezone is None:
            return at - at % self.every
        # From the next grid day down: where clocks fall back across midnight, the date that is read can be one that a
        # later date has begun already (St John's until 2011: 00:01 on the 6th, then 23:01 on the 5th once more).
        day = self._grid_day(instant_to_local(at, self.timezone) // DAY) + self._days
        while (start := first_instant(day, self.timezone)) > at:
            day -= self._days
        return start

    def contains(self, at: Instant) -> bool:
        return self.floor(at) == at

    def next(self, at: Instant) -> Instant:
        """Return the first grid instant after `at`."""
        if self.timezone is None:
            return self.floor(at) + self.every
        day = self._grid_day(instant_to_local(at, self.timezone) // DAY)
        while (start := first_instant(day, self.timezone)) <= at:
            day += self._days
        return start

    def between(self, start: Instant, end: Instant) -> tuple[Instant, ...]:
        """Return the grid instants in [start, end)."""
        at = self.floor(start)
        found = []
        while at < end:
            if at >= start:
                found.append(at)
            at = self.next(at)
        return tuple(found)

    @property
    def _days(self) -> int:
        return self.every // DAY

    def _grid_day(self, day: int) -> int:
        anchor = from_date(self.anchor) if self.anchor else 0
        return day - (day - anchor) % self._days

    def __str__(self) -> str:
        zone = f" in {self.timezone}" if self.timezone else ""
        return f"every {format_duration(self.every)}{zone}, served {format_duration(self.availability_delay)} later"


@lru_cache(maxsize=16_384)
def first_instant(day: int, timezone: str) -> Instant:
    """Return the first instant at which a clock in the zone reads the date (`day` in days since 1970-01-01).

    Midnight may not exist (the day starts at 01:00) or occur twice (the day starts at the first of the two). A date
    that the zone skipped starts when the next one does.
    """
    midnight = day * DAY
    first, last = local_candidates(midnight, timezone)
    if instant_to_local(first, timezone) == midnight:
        return first
    # A gap: `first` is before it and reads the date before, `last` is behind it. The day starts at the gap.
    while last - first > 1:
        middle = (first + last) // 2
        if instant_to_local(middle, timezone) < midnight:
            first = middle
        else:
            last = middle
    return last

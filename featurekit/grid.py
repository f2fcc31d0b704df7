"""The refresh grid: which as-of instant serves a request at `t` (DESIGN T3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from featurekit.clock import DAY, Instant, format_duration, from_date, instant_to_local, local_to_instant


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
        """Return g(t): the latest grid instant g with g + availability_delay <= at."""
        return self.floor(at - self.availability_delay)

    def floor(self, at: Instant) -> Instant:
        """Return the latest grid instant <= at."""
        if self.timezone is None:
            return at - at % self.every
        day = instant_to_local(at, self.timezone) // DAY
        # Where clocks fall back across midnight, `at` can lie before the first instant of the date it reads.
        start = self._first_instant(self._grid_day(day))
        return start if start <= at else self._first_instant(self._grid_day(day) - self._days)

    def contains(self, at: Instant) -> bool:
        return self.floor(at) == at

    def next(self, at: Instant) -> Instant:
        """Return the first grid instant after the grid instant `at`."""
        if self.timezone is None:
            return self.floor(at) + self.every
        day = self._grid_day(instant_to_local(self.floor(at), self.timezone) // DAY)
        return self._first_instant(day + self._days)

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

    def _first_instant(self, day: int) -> Instant:
        return first_instant(day, self.timezone or "UTC")

    def __str__(self) -> str:
        zone = f" in {self.timezone}" if self.timezone else ""
        return f"every {format_duration(self.every)}{zone}, served {format_duration(self.availability_delay)} later"


def first_instant(day: int, timezone: str) -> Instant:
    """Return the first instant at which a clock in the zone reads the date (`day` in days since 1970-01-01).

    Midnight may not exist (the day starts at 01:00) or occur twice (the day starts at the first of the two).
    """
    midnight = day * DAY
    later = local_to_instant(midnight, timezone)
    if instant_to_local(later, timezone) != midnight:  # a gap: local_to_instant moved forward, past the day's start
        return _gap_end(midnight, later, timezone)
    # Overlaps that contain midnight are rare and at most some hours long, in quarters of an hour:
    # the earliest instant within three hours that reads midnight is the day's first.
    for minutes in range(180, 0, -15):
        candidate = later - minutes * 60_000_000
        if instant_to_local(candidate, timezone) == midnight:
            return candidate
    return later


def _gap_end(midnight: int, moved: Instant, timezone: str) -> Instant:
    # In a gap the day starts at the transition itself: the last instant before it reads the previous date.
    low, high = moved - DAY, moved
    while high - low > 1:
        middle = (low + high) // 2
        if instant_to_local(middle, timezone) >= midnight:
            high = middle
        else:
            low = middle
    return high

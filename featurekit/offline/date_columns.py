"""Dates that stand for an instant: the first one at which a clock in a zone reads them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

from featurekit.clock import DAY, Instant, from_date, from_datetime, to_date, zone
from featurekit.errors import TimeError
from featurekit.grid import first_instant
from featurekit.offline.sql import Sql, call, case, instant, try_cast
from featurekit.targets.spark import render_string
from featurekit.types import Timestamp

# Of all zones and years of the pinned rules (searched up to 2100) only one has clocks that were set forward from before
# a midnight to after it: Toronto's, on 1919-03-30 from 23:30 to 00:30.
_ODD_YEAR: Final = 1919


def first_instant_sql(day: Sql, timezone: str) -> Sql:
    """Return the first instant of a date in a zone, as `grid.first_instant` has it.

    Spark reads a midnight that occurs twice as the first one, and moves one that does not exist on by as much as the
    clocks were set forward. That is the instant at which they were where they were set at midnight, and they nearly
    always were; the other dates are written out.
    """
    # The session's zone is UTC.
    midnight = call("to_utc_timestamp", try_cast(day, Timestamp()), render_string(timezone))
    odd = [(f"{day} = {date_sql(to_date(number))}", instant(start)) for number, start in _odd_dates(timezone)]
    return case(*odd, otherwise=midnight) if odd else midnight


def date_sql(day: date) -> Sql:
    return f"DATE '{day.isoformat()}'"


def date_bounds(column: Sql, since: Instant | None, until: Instant | None, timezone: str) -> tuple[Sql, ...]:
    """Return conditions on a date that hold where its first instant lies in [since, until), and need not elsewhere."""
    low, high = (None if at is None else _first_date_from(at, timezone) for at in (since, until))
    lower = () if low is None else (f"{column} >= {date_sql(to_date(low))}",)
    upper = () if high is None else (f"{column} < {date_sql(to_date(high))}",)
    return (*lower, *upper)


def _first_date_from(at: Instant, timezone: str) -> int | None:
    """Return the first date that begins at an instant or after it; None at the ends of the calendar."""
    day = at // DAY - 2  # further back than any zone is from UTC, one that skipped a date too
    try:
        while first_instant(day, timezone) < at:
            day += 1
    except TimeError:
        return None
    return day


@lru_cache(maxsize=64)
def _odd_dates(timezone: str) -> tuple[tuple[int, Instant], ...]:
    """Return the dates of a zone whose first instant is not where Spark moves their midnight, with that instant."""
    info = zone(timezone)
    found = []
    for day in range(from_date(date(_ODD_YEAR, 1, 1)), from_date(date(_ODD_YEAR + 1, 1, 1))):
        midnight = datetime.combine(to_date(day), datetime.min.time(), tzinfo=info)
        before, after = midnight.utcoffset(), midnight.replace(fold=1).utcoffset()
        assert before is not None
        assert after is not None
        if before < after:  # the midnight is in a gap
            moved = from_datetime(midnight.replace(tzinfo=UTC) - before)
            if (start := first_instant(day, timezone)) != moved:
                found.append((day, start))
    return tuple(found)

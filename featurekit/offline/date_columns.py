"""Dates that stand for an instant: the first one at which a clock in a zone reads them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

from featurekit.clock import DAY, Instant, from_date, from_datetime, to_date, zone
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


def date_bounds(column: Sql, since: Instant | None, until: Instant | None) -> tuple[Sql, ...]:
    """Return conditions on a date that none fails whose first instant, in whatever zone, lies in [since, until)."""
    # A date begins at most 15 hours before it does in UTC, and 36 after (where the zone skipped it).
    low = None if since is None else since // DAY - 2
    high = None if until is None else -(-until // DAY) + 1
    first, last = from_date(date.min), from_date(date.max)
    lower = () if low is None or low <= first else (f"{column} >= {date_sql(to_date(min(low, last)))}",)
    upper = () if high is None or high >= last else (f"{column} <= {date_sql(to_date(max(high, first)))}",)
    return (*lower, *upper)


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

"""How a source's rows are parted into folders by time, so that a run reads those of its window only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

from pydantic import field_validator

from featurekit.clock import HOUR, Instant, in_calendar, instant_to_local, to_datetime, zone
from featurekit.definitions.base import Definition, Micros, Text, problem_here, refuse
from featurekit.definitions.problem import Problem
from featurekit.errors import FeaturekitError, TimeError

_NAMED: Final = {"month": "yyyy-MM", "date": "yyyy-MM-dd", "hour": "yyyy-MM-dd-HH"}
# From the largest unit down, so that the order of the texts is that of the times.
_SEPARATOR: Final = "[-_. ]?"
_PATTERN: Final = re.compile(f"yyyy({_SEPARATOR}MM({_SEPARATOR}dd({_SEPARATOR}HH)?)?)?")
_WRITTEN: Final = {"yyyy": "{0.year:04d}", "MM": "{0.month:02d}", "dd": "{0.day:02d}", "HH": "{0.hour:02d}"}
_READ: Final = {"yyyy": "[0-9]{4}", "MM": "[0-9]{2}", "dd": "[0-9]{2}", "HH": "[0-9]{2}"}
_NEXT_DAY: Final = 25 * HOUR  # no clock is moved twice within one


class PartitionOf(StrEnum):
    """Which of a row's times says where it lies."""

    EVENT = "event_timestamp"
    CREATED = "created_timestamp"


class Partition(Definition):
    """The column that folders are named by: the text of a row's time by a clock in `timezone`.

    `format` is `month`, `date`, `hour` or a pattern of yyyy, MM, dd and HH. A row may lie up to `slack` outside of its
    own partition. By `created_timestamp` rows are created when they happen, or later, but for that slack.
    """

    column: Text
    of: PartitionOf = PartitionOf.EVENT
    format: str = "date"
    timezone: str = "UTC"
    slack: Micros = 0

    @field_validator("of", mode="before")
    @classmethod
    def _of_by_name(cls, value: Any) -> Any:
        if isinstance(value, str) and value not in tuple(PartitionOf):
            why = "it says which of a row's times its partition is named by"
            refuse(
                [problem_here(f"{value!r} is no time of a row", why=why, try_="event_timestamp or created_timestamp")]
            )
        return PartitionOf(value) if isinstance(value, str) else value

    @property
    def pattern(self) -> str:
        return _NAMED.get(self.format, self.format)

    def problems(self) -> Iterator[Problem]:
        if not _PATTERN.fullmatch(self.pattern):
            yield problem_here(
                f"{self.format!r} is not a format of a partition",
                why="the order of the names has to be that of the times: the year first, then smaller units",
                try_="month, date, hour, or a pattern such as yyyyMMdd or yyyy-MM-dd HH",
                path=("format",),
            )
        try:
            zone(self.timezone)
        except FeaturekitError as error:
            yield problem_here(error.what, why=error.why, try_=error.try_, path=("timezone",))

    def first(self, at: Instant) -> str | None:
        """Return the least name that a row at an instant or later can have; None where the calendar has no such day.

        A clock that is put back shows earlier times once more.
        """
        return self._moved(at - self.slack, _NEXT_DAY, -1)

    def last(self, until: Instant) -> str | None:
        """Return the greatest name that a row before an instant can have; None where the calendar has no such day."""
        return self._moved(until + self.slack - 1, -_NEXT_DAY, 1)

    def _moved(self, at: Instant, to: int, direction: int) -> str | None:
        try:
            local, other = (instant_to_local(moment, self.timezone) for moment in (at, at + to))
            put_back = max(0, direction * (other - local - to))
            return self._text(local + direction * put_back)
        except TimeError:
            return None

    def is_name(self, name: str) -> bool:
        """Return whether a name is one of this format."""
        return re.fullmatch(self._spelled(_READ, re.escape), name) is not None

    def _text(self, local: int) -> str:
        return self._spelled(_WRITTEN, str).format(to_datetime(in_calendar(local)))

    def _spelled(self, units: dict[str, str], between: Any) -> str:
        parts = re.split("(yyyy|MM|dd|HH)", self.pattern)
        return "".join(units.get(part, between(part)) for part in parts)

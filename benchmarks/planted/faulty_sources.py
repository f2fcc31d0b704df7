"""Faults of the source: Parquet that was written differently from what the refresh was to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.planted.flights import LAG, TODAY, instant_column, until, with_instants
from benchmarks.planted.kind import Kind, SourceChange, kind
from featurekit.clock import DAY, HOUR, parse_instant

_WINTER: Final = parse_instant("2013-11-03T06:00Z")


def _left(change: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]]) -> SourceChange:
    """Return a change of the event times."""
    return lambda table: with_instants(table, "left_at", change(instant_column(table, "left_at")))


def _prompt(table: pa.Table) -> pa.Table:
    return with_instants(table, "recorded_at", instant_column(table, "left_at") + LAG)


def _without_late(table: pa.Table) -> pa.Table:
    late = instant_column(table, "recorded_at") - instant_column(table, "left_at") > HOUR // 2
    return table.filter(pa.array(~late))


def _two_days_twice(table: pa.Table) -> pa.Table:
    again = instant_column(table, "recorded_at")
    return pa.concat_tables([table, table.filter(pa.array((again >= TODAY - 2 * DAY) & (again < TODAY)))])


def _changed(column: str, change: Callable[[Any], Any]) -> SourceChange:
    """Return a change of a column's values, in plain Python; nulls stay."""

    def turn(table: pa.Table) -> pa.Table:
        field = table.schema.field(column)
        values = [None if value is None else change(value) for value in table[column].to_pylist()]
        return table.set_column(table.column_names.index(column), field, pa.array(values, field.type))

    return turn


def _filled_with_mean(table: pa.Table) -> pa.Table:
    mean = pc.mean(table["dep_delay"]).as_py()
    filled = pc.fill_null(table["dep_delay"], mean)
    return table.set_column(table.column_names.index("dep_delay"), "dep_delay", filled)


SOURCE_KINDS: Final[tuple[Kind, ...]] = (
    kind("bound closed", "bound closed", source=_left(lambda at: at - (at == TODAY))),
    kind("window start", "window start", source=_left(lambda at: at - (at == TODAY - 7 * DAY))),
    kind(
        "event times read as local ones",
        "event times shifted",
        "time zone shift",
        source=_left(lambda at: at - 5 * HOUR),
    ),
    kind(
        "event times by the winter's offset",
        "event times shifted by the daylight saving hour",
        source=_left(lambda at: np.where(at < _WINTER, at + HOUR, at)),
    ),
    kind("milliseconds taken for microseconds", "time unit", source=_left(lambda at: at // 1000)),
    kind("late rows counted", "late rows counted", source=_prompt),
    kind("late rows lost", "late rows lost", source=_without_late),
    kind("duplicate events", "duplicate events", source=_two_days_twice),
    kind(
        "yesterday's copy of the source",
        "other source snapshot",
        source=lambda table: until(table, "recorded_at", TODAY - DAY),
    ),
    kind("nulls filled with the mean before averages", "input null as mean", source=_filled_with_mean),
    kind("source keys trimmed", "source key trimmed", view="tag_week", source=_changed("tag", str.strip)),
    kind("source keys lower-cased", "source key lower-cased", view="tag_week", source=_changed("tag", str.lower)),
    kind(
        "source keys cut to 32 bits",
        "source key cut to 32 bits",
        view="number_week",
        source=_changed("number", lambda number: number & 0xFFFF_FFFF),
    ),
)

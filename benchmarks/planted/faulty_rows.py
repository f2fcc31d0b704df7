"""Faults of a pipeline between the query and the store: rows that are altered in plain Python."""

from __future__ import annotations

import math
import random
import struct
import unicodedata
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from statistics import fmean
from typing import Any, Final

import pyarrow as pa

from benchmarks.planted.flights import TODAY
from benchmarks.planted.kind import Kind, Row, RowsChange, kind
from featurekit.rows import STATUS_PREFIX

_NUMBERS: Final = (
    "mean_delay_7d", "mean_delay_1d", "spread_7d", "late_share_7d", "miles_7d", "log_miles_7d", "last_delay",
)  # fmt: skip
_BARE: Final = tuple(name for name in _NUMBERS if name not in ("miles_7d", "last_delay"))
"""Those without a default."""


def put(row: Row, name: str, value: Any) -> None:
    """Put a value into a row, as if it had been measured."""
    row[name] = value
    if value is not None and STATUS_PREFIX + name in row:
        row[STATUS_PREFIX + name] = 0


def values(names: Sequence[str], change: Callable[[Any], Any]) -> RowsChange:
    """Return a change of what has a value."""

    def turn(rows: list[Row], _: pa.Table) -> list[Row]:
        for row in rows:
            for name in names:
                if row[name] is not None:
                    put(row, name, change(row[name]))
        return rows

    return turn


def fills(names: Sequence[str], value: Callable[[list[Any]], Any]) -> RowsChange:
    """Return what puts one value, made of a field's values, where there is none."""

    def turn(rows: list[Row], _: pa.Table) -> list[Row]:
        for name in names:
            fill = value([row[name] for row in rows if row[name] is not None])
            for row in rows:
                if row[name] is None:
                    put(row, name, fill)
        return rows

    return turn


def _float32(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def _swapped(rows: list[Row], _: pa.Table) -> list[Row]:
    for row in rows:
        row["mean_delay_7d"], row["mean_delay_1d"] = row["mean_delay_1d"], row["mean_delay_7d"]
    return rows


def _first_of_ties(rows: list[Row], source: pa.Table) -> list[Row]:
    """Take, of the latest events of a plane, the one that the order of columns puts first."""
    fields = {"last_dest": "dest", "last_delay": "dep_delay", "last_memo": "memo", "odometer": "odometer"}
    now = datetime.fromtimestamp(TODAY / 1e6, UTC)
    tied: dict[str, list[Row]] = {}
    for event in source.to_pylist():
        known = event["recorded_at"] <= now + timedelta(minutes=10)
        if known and event["left_at"] < now and event["distance"] is not None and event["distance"] > 200:
            newest = tied.setdefault(event["tailnum"], [event])
            if event["left_at"] > newest[0]["left_at"]:
                tied[event["tailnum"]] = [event]
            elif event["left_at"] == newest[0]["left_at"] and event is not newest[0]:
                newest.append(event)
    for row in rows:
        first = min(tied[row["tailnum"]], key=lambda event: tuple(_ordered(event[name]) for name in _ORDER))
        for name, column in fields.items():
            if row[name] is not None:
                row[name] = first[column]
    return rows


_ORDER: Final = ("recorded_at", "dep_delay", "dest", "distance", "fare", "left_at", "memo", "odometer")


def _ordered(value: Any) -> tuple[bool, Any]:
    return (value is not None, value)


def _noise(rows: list[Row], _: pa.Table) -> list[Row]:
    for row in rows:
        draw = random.Random(row["tailnum"])
        if row["mean_delay_7d"] is not None:
            row["mean_delay_7d"] = row["mean_delay_7d"] * draw.lognormvariate(0, 0.2) + draw.gauss(0, 3)
    return rows


def _seconds_as_micros(at: datetime) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=int(at.timestamp()))


def _wrapped(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _misread(text: str) -> str:
    return text.encode().decode("latin-1")


ROW_KINDS: Final[tuple[Kind, ...]] = (
    kind("null → 0", "null filled with 0", rows=fills(_BARE, lambda _: 0.0)),
    kind("null → mean", "null filled with mean", rows=fills(_BARE, fmean)),
    kind("null → default", "null filled with default", rows=fills(("last_delay",), lambda _: -60.0)),
    kind("null → NaN", "null filled with NaN", rows=fills(_BARE, lambda _: math.nan)),
    kind("null → error code", "null filled with an error code", rows=fills(_BARE, lambda _: -999.0)),
    kind(
        "offline fills with the mean and online with 0",
        "null filled with 0",
        rows=values(("filled_delay_1d",), lambda value: 0.0 if value == 12.6 else value),
    ),
    kind("error code for all", "error code", "constant", rows=values(("mean_delay_7d",), lambda _: -1.0)),
    kind("constant", "constant", rows=values(("mean_delay_7d",), lambda _: 7.25)),
    kind("times 100", "scaled", rows=values(("late_share_7d",), lambda value: value * 100)),
    kind("times 1000", "scaled", rows=values(("miles_7d",), lambda value: value * 1000)),
    kind("divided by 60", "scaled", rows=values(("mean_delay_7d", "spread_7d"), lambda value: value / 60)),
    kind("float32", "rounded to float32", rows=values(_NUMBERS, _float32)),
    kind("fraction cut off", "fraction cut off", rows=values(_BARE, lambda value: float(int(value)))),
    kind("rounded to a digit", "rounded", rows=values(_BARE, lambda value: float(f"{value:.1f}"))),
    kind("sign flipped", "sign flipped", rows=values(("mean_delay_7d", "last_delay"), lambda value: -value)),
    kind("absolute value", "absolute value taken", rows=values(("mean_delay_7d", "last_delay"), abs)),
    kind("clipped", "clipped", rows=values(("miles_7d",), lambda value: min(value, 6500.0))),
    kind("values lost", "values lost", rows=values(("mean_delay_7d",), lambda _: None)),
    kind("two fields swapped", "another field's value", rows=_swapped),
    kind("flag inverted", "inverted", rows=values(("was_stuck_1d",), lambda value: not value)),
    kind("text trimmed", "trimmed", rows=values(("last_memo",), str.strip)),
    kind("text lower-cased", "lower-cased", rows=values(("last_memo",), str.lower)),
    kind(
        "text normalised",
        "Unicode-normalised",
        rows=values(("last_memo",), lambda text: unicodedata.normalize("NFC", text)),
    ),
    kind("text cut off", "text cut off", rows=values(("last_memo",), lambda text: text[:10])),
    kind("text misread", "wrong encoding", rows=values(("last_memo",), _misread)),
    kind("wrapped at 32 bits", "wrapped at 32 bits", rows=values(("odometer",), _wrapped)),
    kind("cut off at 32 bits", "cut off at 32 bits", rows=values(("odometer",), lambda value: min(value, 2**31 - 1))),
    kind(
        "timestamp five hours off",
        "shifted by hours",
        rows=values(("last_left_at",), lambda at: at + timedelta(hours=5)),
    ),
    kind("timestamp in seconds", "timestamp in another unit", rows=values(("last_left_at",), _seconds_as_micros)),
    kind("ties taken the other way", "tie order", rows=_first_of_ties),
    kind("noise, as nobody can name", "unknown", rows=_noise),
)

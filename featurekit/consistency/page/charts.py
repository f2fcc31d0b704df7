"""Charts as shapes: rectangles in a box of 100 by 100 that the page stretches, and the words that go with them.

Text is no part of a drawing: a stretched letter can't be read, and a reader without eyes needs the words alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from featurekit.consistency.page.words import counted, number, share, span

DAYS: Final = 30
_GAP: Final = 0.25  # of a bar's place, so that bars stand apart
_STUB: Final = 2.5  # a day without a difference is a day that was checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    tone: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Bars; `top` is what the full height stands for, `start` and `end` what the ends of the axis are.

    `zero` is where 0 lies between the ends, in hundredths, None where it does not. `words` tell the chart in one line.
    """

    bars: tuple[Bar, ...]
    words: str
    top: str = ""
    start: str = ""
    end: str = ""
    middle: str = ""
    zero: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """A value on a track: how much of it is filled, and where the mark of what is promised stands, in hundredths."""

    label: str
    filled: float
    mark: float | None
    tone: str
    words: str


def days_together(trends: Iterable[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return the days of several trends as one trend: each field's share counts as much as it has cells."""
    days: dict[str, dict[str, Any]] = {}
    for point in (point for trend in trends for point in trend if point["cells"]):
        day = days.setdefault(point["day"], {"day": point["day"], "cells": 0, "differing": 0, "weighed": 0.0})
        day["cells"] += point["cells"]
        day["differing"] += point["differing"]
        day["weighed"] += point["share"] * point["cells"]
    return [{**day, "share": day["weighed"] / day["cells"]} for _, day in sorted(days.items())]


def days_chart(trend: Sequence[Mapping[str, Any]], what: str) -> Chart | None:
    """Return the share of differing values by day, up to the last day of a trend; None where there is no day."""
    if not trend:
        return None
    last = date.fromisoformat(trend[-1]["day"])
    first = max(date.fromisoformat(trend[0]["day"]), last - timedelta(days=DAYS - 1))
    # Few days are drawn as wide as many: else a second run would be a hair at the edge.
    first = min(first, last - timedelta(days=13))
    shown = [point for point in trend if date.fromisoformat(point["day"]) >= first]
    most = max((point["share"] for point in shown), default=0.0)
    places = (last - first).days + 1
    bars = tuple(_day_bar(point, (date.fromisoformat(point["day"]) - first).days, places, most) for point in shown)
    wrong = sum(point["differing"] > 0 for point in shown)
    words = f"{what}: {counted(wrong, 'day')} of {len(shown):,} checked with differences since {first.isoformat()}"
    words += f", at most {share(most)} of the values" if wrong else ""
    return Chart(bars=bars, words=words, top=share(most), start=first.isoformat(), end=last.isoformat())


def _day_bar(point: Mapping[str, Any], place: int, places: int, most: float) -> Bar:
    height = _STUB if not point["differing"] else max(2 * _STUB, 100 * point["share"] / most if most else 0.0)
    width = 100 / places
    words = f"{point['day']}: {share(point['share'])} ({point['differing']:,} of {point['cells']:,})"
    return Bar(
        x=round(place * width + width * _GAP / 2, 3),
        y=round(100 - height, 3),
        width=round(width * (1 - _GAP), 3),
        height=round(height, 3),
        tone="bad" if point["differing"] else "good",
        words=words,
    )


def differences_chart(found: Mapping[str, Any] | None) -> Chart | None:
    """Return how served − recomputed is distributed over a field's differing cells."""
    if found is None:
        return None
    edges, counts = found["edges"], found["counts"]
    low, high, most = edges[0], edges[-1], max(counts)
    width = 100 / len(counts)
    bars = tuple(
        Bar(
            x=round(at * width + width * 0.06, 3),
            y=round(100 - 100 * count / most, 3),
            width=round(width * 0.88, 3),
            height=round(100 * count / most, 3),
            tone="bad",
            words=f"{number(edges[at])} to {number(edges[at + 1])}: {counted(count, 'value')}",
        )
        for at, count in enumerate(counts)
        if count
    )
    unit = f" {found['unit']}" if found["unit"] else ""
    least, median, greatest = (number(found[name]) + unit for name in ("least", "median", "most"))
    words = f"served minus recomputed, from {least} over a median of {median} to {greatest}"
    zero = 100 * (0 - low) / (high - low) if low < 0 < high else None
    return Chart(
        bars=bars,
        words=words,
        top=counted(most, "value"),
        start=least,
        end=greatest,
        middle=f"median {median}",
        zero=None if zero is None else round(zero, 3),
    )


def freshness_gauge(view: Mapping[str, Any]) -> Gauge | None:
    """Return how old what is served is, beside the age that its declaration promises now."""
    age, promised = view["age_seconds"], view["promised_age_seconds"]
    if age is None:
        return None
    scale = max(age, promised, 1) * 1.15
    late = age > promised
    words = f"{span(age)} old"
    words += f"; {span(promised)} is promised: {span(age - promised)} late" if late else ", as promised"
    return Gauge(
        label=view["view"],
        filled=round(100 * age / scale, 2),
        mark=round(100 * promised / scale, 2),
        tone="warn" if late else "good",
        words=words,
    )


def coverage_gauge(view: Mapping[str, Any], least: float | None) -> Gauge | None:
    """Return the share of entities with a row online; `least` is the share that is asked for."""
    coverage = view["coverage"]
    if coverage is None:
        return None
    short = least is not None and coverage < least
    words = f"{share(coverage)} have a row online"
    words += f"; at least {share(least)} is asked for" if short else ""
    return Gauge(
        label=view["view"],
        filled=round(100 * coverage, 2),
        mark=None if least is None else round(100 * least, 2),
        tone="warn" if short else "good",
        words=words,
    )

"""Charts are drawn to their scale, and their words alone tell what they show."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from featurekit.consistency.page.charts import (
    coverage_gauge,
    days_chart,
    days_together,
    differences_chart,
    freshness_gauge,
)

FIRST = date(2013, 11, 1)


def day(number: int, differing: int, cells: int = 1000) -> dict[str, Any]:
    at = (FIRST + timedelta(days=number)).isoformat()
    return {"day": at, "run": number, "cells": cells, "differing": differing, "share": differing / cells}


def test_a_day_s_bar_is_as_high_as_its_share_is_of_the_largest() -> None:
    chart = days_chart([day(0, 0), day(1, 50), day(14, 200)], "mean")
    assert chart is not None
    assert [(bar.height, bar.y, bar.tone) for bar in chart.bars] == [
        (2.5, 97.5, "good"),
        (25.0, 75.0, "bad"),
        (100.0, 0.0, "bad"),
    ]
    assert (chart.top, chart.start, chart.end) == ("20 %", "2013-11-01", "2013-11-15")
    assert chart.words == ("mean: 2 days of 3 checked with differences since 2013-11-01, at most 20 % of the values")


def test_a_day_without_a_run_has_no_bar_and_keeps_its_place() -> None:
    chart = days_chart([day(0, 1), day(2, 1), day(13, 1)], "mean")
    assert chart is not None
    places = [round(bar.x * 14 / 100, 1) for bar in chart.bars]
    assert places == [0.1, 2.1, 13.1]


def test_a_hair_of_a_difference_is_still_seen() -> None:
    chart = days_chart([day(0, 1000), day(1, 1, 10**9)], "mean")
    assert chart is not None
    assert chart.bars[1].height == 5.0
    assert "< 0.01 %" in chart.bars[1].words


def test_the_last_thirty_days_are_shown_and_few_days_stand_at_the_end() -> None:
    long, short = days_chart([day(at, 1) for at in range(45)], "mean"), days_chart([day(0, 1)], "mean")
    assert long is not None
    assert short is not None
    assert (len(long.bars), long.start) == (30, "2013-11-16")
    assert short.bars[0].x > 90
    assert days_chart([], "mean") is None


def test_days_of_several_fields_count_as_much_as_their_cells() -> None:
    found = days_together([[day(0, 100), day(1, 0)], [day(0, 0, 3000)], []])
    assert [(each["day"], each["differing"], each["share"]) for each in found] == [
        ("2013-11-01", 100, 0.025),
        ("2013-11-02", 0, 0.0),
    ]


@pytest.mark.parametrize(
    ("edges", "zero"),
    [([-1.0, 0.0, 3.0], 25.0), ([1.0, 2.0, 3.0], None), ([-3.0, -2.0, -1.0], None), ([0.0, 1.0, 2.0], None)],
)
def test_zero_is_marked_where_it_lies_between_the_ends(edges: list[float], zero: float | None) -> None:
    found = {"unit": "s", "least": edges[0], "median": 1.0, "most": edges[-1], "edges": edges, "counts": [0, 4]}
    chart = differences_chart(found)
    assert chart is not None
    assert chart.zero == zero
    assert [(bar.height, bar.words.rpartition(": ")[2]) for bar in chart.bars] == [(100.0, "4 values")]
    assert chart.end.endswith(" s")
    assert differences_chart(None) is None


def test_a_late_view_is_told_by_more_than_its_colour() -> None:
    late = freshness_gauge({"view": "load", "age_seconds": 7200, "promised_age_seconds": 3600})
    fresh = freshness_gauge({"view": "load", "age_seconds": 3600, "promised_age_seconds": 3600})
    assert late is not None
    assert fresh is not None
    assert (late.words, late.tone) == ("2h old; 1h is promised: 1h late", "warn")
    assert (fresh.words, fresh.tone, fresh.filled == fresh.mark) == ("1h old, as promised", "good", True)
    assert freshness_gauge({"view": "load", "age_seconds": None, "promised_age_seconds": 1}) is None


def test_coverage_is_held_against_what_is_asked_for() -> None:
    found = coverage_gauge({"view": "load", "coverage": 0.95}, 0.99)
    assert found is not None
    assert (found.filled, found.mark, found.tone) == (95.0, 99.0, "warn")
    assert found.words == "95 % have a row online; at least 99 % is asked for"
    assert coverage_gauge({"view": "load", "coverage": None}, 0.99) is None

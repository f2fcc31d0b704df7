"""When rows leave windows, and which are the last, against the plain definition: look at every row at every mark."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit.clock import DAY, HOUR, parse_instant
from featurekit.offline.last_rows import last_rows
from featurekit.offline.leaving import leaving, leaving_all
from featurekit.windows import Calendar, CalendarUnit, Elapsed, LastRows, Lifetime, Window, start_of

MARKS = 12
SPANS = st.tuples(st.integers(0, MARKS), st.integers(0, MARKS)).map(sorted)
Span = list[int]


def chosen(rows: list[tuple[int, Span]], limit: int) -> dict[int, list[int]]:
    """Return for each mark the rows that stretches say are there, and check that each stands there once."""
    entities = np.array([entity for entity, _ in rows], np.int64)
    spans = np.array([span for _, span in rows], np.int64).reshape(-1, 2)
    found = last_rows(entities, spans[:, 0], spans[:, 1], limit)
    at: dict[int, list[int]] = {mark: [] for mark in range(MARKS * 3)}
    ends: dict[int, int] = {}
    for row, first, stop in zip(*(part.tolist() for part in found), strict=True):
        assert first < stop
        assert first > ends.get(row, -1), "two stretches of a row that touch are one"
        ends[row] = stop
        for mark in range(first, stop):
            at[mark].append(row)
    assert found[0].tolist() == sorted(found[0].tolist())
    assert len(found[0]) <= 3 * len(rows)
    return at


def expected(rows: list[tuple[int, Span]], limit: int, mark: int) -> list[int]:
    return [row for row, (_, (first, stop)) in enumerate(rows) if first <= mark < stop][-limit:]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.lists(SPANS, max_size=12), max_size=3), st.integers(1, 5))
def test_the_last_rows_are_the_greatest_that_cover_a_mark(entities: list[list[Span]], limit: int) -> None:
    # No mark is of two entities: each has a stretch of marks of its own.
    rows = [
        (entity, [first + entity * MARKS, stop + entity * MARKS])
        for entity, spans in enumerate(entities)
        for first, stop in spans
    ]
    found = chosen(rows, limit)
    for mark in range(MARKS * 3):
        assert found[mark] == expected(rows, limit, mark)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(0, MARKS), max_size=20), st.integers(0, MARKS), st.integers(1, 5))
def test_rows_that_come_and_go_in_order_are_the_last_until_as_many_have_come(
    comes: list[int], stay: int, limit: int
) -> None:
    rows = [(0, [first, min(first + stay, MARKS)]) for first in sorted(comes)]
    found = chosen(rows, limit)
    assert sum(map(len, found.values())) == sum(len(expected(rows, limit, mark)) for mark in range(MARKS))
    for mark in range(MARKS):
        assert found[mark] == expected(rows, limit, mark)


@pytest.mark.parametrize(
    ("rows", "limit", "stretches"),
    [
        ([], 3, []),
        ([(0, [2, 2])], 3, []),
        ([(0, [0, 9]), (0, [3, 9])], 1, [(0, 0, 3), (1, 3, 9)]),
        # The second row goes again: the first one is back.
        ([(0, [0, 9]), (0, [3, 5])], 1, [(0, 0, 3), (0, 5, 9), (1, 3, 5)]),
        # A greater row that was there before.
        ([(0, [3, 9]), (0, [0, 5])], 1, [(0, 5, 9), (1, 0, 5)]),
    ],
)
def test_a_row_has_a_stretch_for_each_time_that_it_is_one_of_the_last(
    rows: list[tuple[int, Span]], limit: int, stretches: list[tuple[int, int, int]]
) -> None:
    spans = np.array([span for _, span in rows], np.int64).reshape(-1, 2)
    found = last_rows(np.zeros(len(rows), np.int64), spans[:, 0], spans[:, 1], limit)
    assert list(zip(*(part.tolist() for part in found), strict=True)) == stretches


ZONES = [None, "America/New_York", "Pacific/Apia", "Atlantic/Azores", "America/St_Johns", "Australia/Lord_Howe"]
WINDOWS: Any = st.one_of(
    st.builds(Elapsed, st.integers(1, 40 * DAY)),
    st.builds(LastRows, st.integers(1, 5), st.none() | st.integers(1, 40 * DAY)),
    st.just(Lifetime()),
    st.builds(Calendar, st.integers(1, 5), st.sampled_from(CalendarUnit), st.sampled_from(ZONES)),
)
INSTANTS = st.one_of(
    st.integers(parse_instant("2006-10-20T00:00Z"), parse_instant("2006-11-05T00:00Z")),
    st.integers(parse_instant("2011-12-25T00:00Z"), parse_instant("2012-01-05T00:00Z")),
    st.integers(parse_instant("2024-03-01T00:00Z") // HOUR, parse_instant("2024-04-10T00:00Z") // HOUR).map(
        lambda hour: hour * HOUR
    ),
    st.sampled_from([parse_instant("0001-01-01T00:00Z"), parse_instant("9999-12-31T23:59Z"), -(1 << 62), 1 << 61]),
)


def is_in(window: Window, event: int, as_of: int) -> bool:
    start = start_of(window, as_of)
    return start is None or event >= start


@settings(deadline=None, max_examples=300)
@given(WINDOWS, st.lists(INSTANTS, min_size=1, max_size=5), st.lists(INSTANTS, max_size=8))
def test_an_event_is_in_a_window_until_it_leaves(window: Window, events: list[int], as_ofs: list[int]) -> None:
    leaves = leaving(window, np.array(events, np.int64)).tolist()
    for event, leave in zip(events, leaves, strict=True):
        for as_of in [*as_ofs, leave - 1, leave]:
            if event < as_of < 1 << 61:
                assert is_in(window, event, as_of) == (as_of < leave), (window, event, as_of)


@settings(deadline=None)
@given(st.lists(WINDOWS, min_size=1, max_size=3), INSTANTS, INSTANTS)
def test_an_event_is_in_reach_while_it_is_in_any_window(windows: list[Window], event: int, as_of: int) -> None:
    (leave,) = leaving_all(tuple(windows), np.array([event], np.int64)).tolist()
    if event < as_of < 1 << 61:
        assert any(is_in(window, event, as_of) for window in windows) == (as_of < leave)
    assert leaving_all(None, np.array([event], np.int64)).tolist() == [1 << 62]


@pytest.mark.parametrize("unit", CalendarUnit)
@pytest.mark.parametrize("timezone", ZONES)
@pytest.mark.parametrize("around", ["2006-10-29T00:00Z", "2011-12-30T00:00Z", "2024-03-31T00:00Z", "2024-04-01T00:00Z"])
def test_each_event_alone_leaves_a_calendar_as_all_of_them_together_do(
    unit: CalendarUnit, timezone: str | None, around: str
) -> None:
    window = Calendar(1, unit, timezone)
    events = [parse_instant(around) + step * HOUR // 2 for step in range(-96, 97)]
    together = leaving(window, np.array(events, np.int64)).tolist()
    for event, leave in zip(events, together, strict=True):
        assert leaving(window, np.array([event], np.int64)).tolist() == [leave]
        assert is_in(window, event, leave - 1)
        assert not is_in(window, event, leave)

"""Drawn worlds: every path gives what the plain reference gives, and each rule of the reference decides something."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from decimal import getcontext
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.agree_shrink import as_test, shrink
from featurekit.clock import DAY, HOUR, MINUTE
from tests.offline import reference, reference_time
from tests.offline.conftest import EngineAt
from tests.offline.drawn_paths import compare_round
from tests.offline.drawn_worlds import WORLDS, Round, drawn_round
from tests.offline.reference import CREATED, EVENT, UNTIL, Row, View
from tests.offline.reference_numbers import typed
from tests.offline.reference_time import Calendar, LastRows, inside, reading
from tests.offline.worlds import bits

ROUNDS = range(6, 6 + int(os.environ.get("FEATUREKIT_ROUNDS", "1")))  # the sixth is where a midnight comes twice
Rule = tuple[Any, str, Callable[..., Any]]


@pytest.mark.spark
@pytest.mark.parametrize("number", ROUNDS)
def test_every_path_gives_what_the_plain_reference_gives(number: int, engine_at: EngineAt, tmp_path: Path) -> None:
    getcontext().prec = 80
    drawn = drawn_round(number, range(number * WORLDS, number * WORLDS + 3))
    outcome = compare_round(engine_at(tmp_path), tmp_path, drawn)
    assert list(map(str, outcome.differences)) == []
    assert outcome.rows.keys() == {"materialize", "as_of", "training", "history", "incremental"}
    assert sum(outcome.rows.values()) > 200


@pytest.mark.spark
def test_a_difference_is_found_and_shrunk_to_the_rows_that_make_it(engine_at: EngineAt, tmp_path: Path) -> None:
    getcontext().prec = 80
    drawn = drawn_round(6, [48, 49])
    near = drawn.views[0]
    # The bound is closed on one side and open on the other: which of the two is wrong makes no difference here.
    late = replace(near, meaning=replace(near.meaning, lateness=near.meaning.lateness + 1))
    drawn = replace(drawn, views=(late,))
    found = compare_round(engine_at(tmp_path), tmp_path, drawn, paths=("materialize",)).differences
    assert found
    smallest, known = shrink(engine_at, tmp_path, drawn, found[0])
    assert len(smallest.rows["near"]) <= 3
    assert str(known.at) in as_test(smallest, known)


@cache
def small_round(number: int) -> Round:
    return drawn_round(number, [number])


def said(drawn: Round) -> dict[Any, Any]:
    """Return every cell that the reference has for a round."""
    return {
        (view.name, at, key): (row.last_event, [bits(value) for value in row.values.values()], row.statuses)
        for view in drawn.views
        for at in view.instants
        for key, row in reference.rows_as_of(drawn.rows[view.name], view.meaning, at).items()
    }


@cache
def rightly_said(number: int) -> dict[Any, Any]:
    return said(small_round(number))


def known_without_lateness(row: Row, view: View, as_of: int) -> bool:
    return row[CREATED] is not None and row[CREATED] <= as_of


def known_a_moment_early(row: Row, view: View, as_of: int) -> bool:
    return row[CREATED] is not None and row[CREATED] < as_of + view.lateness


def oldest_versions(rows: list[Row], view: View) -> list[Row]:
    found: dict[Any, Row] = {}
    for row in sorted(rows, key=lambda row: reference.version_key(row, view)):
        found.setdefault(row[view.source.version_of] if view.source.version_of else id(row), row)
    return list(found.values())


def every_state(rows: list[Row], view: View, as_of: int) -> list[Row]:
    return [row for row in rows if view.source.deleted(row) is not True and reference.holds(row, as_of)]


def deletes_that_keep_the_row_before(rows: list[Row], view: View, as_of: int) -> list[Row]:
    return RIGHT_STATES([row for row in rows if view.source.deleted(row) is not True], view, as_of)


def ends_that_bring_back_the_row_before(rows: list[Row], view: View, as_of: int) -> list[Row]:
    return RIGHT_STATES([row for row in rows if reference.holds(row, as_of)], view, as_of)


def snapshot_that_is_waited_for(rows: list[Row], view: View, as_of: int) -> list[Row]:
    if view.source.kind != reference.SNAPSHOTS:
        return RIGHT_VISIBLE(rows, view, as_of)
    dated = [row for row in rows if row[CREATED] is not None and reference.happened(row, as_of)]
    on_its_way = {row[EVENT] for row in dated if not reference.known(row, view, as_of)}
    return RIGHT_VISIBLE([row for row in dated if row[EVENT] not in on_its_way], view, as_of)


def snapshots_with_what_lands_later(rows: list[Row], view: View, as_of: int) -> list[Row]:
    if view.source.kind != reference.SNAPSHOTS:
        return RIGHT_VISIBLE(rows, view, as_of)
    found = {row[EVENT] for row in RIGHT_VISIBLE(rows, view, as_of)}
    return [row for row in rows if row[EVENT] in found and row[CREATED] is not None]


def every_snapshot(rows: list[Row], as_of: int) -> list[Row]:
    return [row for row in rows if reference.happened(row, as_of)]


def window_without_its_start(rows: list[Row], window: Any, as_of: int, event: str) -> list[Row]:
    start = reference_time.start_of(window, as_of)
    return [row for row in RIGHT_INSIDE(rows, window, as_of, event) if start is None or row[event] > start]


def calendar_of_utc(window: Any, as_of: int) -> int | None:
    if isinstance(window, Calendar):
        window = Calendar(window.count, window.unit)
    return RIGHT_START(window, as_of)


def calendar_that_holds_the_as_of(window: Any, as_of: int) -> int | None:
    return RIGHT_START(window, as_of + 1 if isinstance(window, Calendar) else as_of)


def days_of_24_hours(window: Any, as_of: int) -> int | None:
    if isinstance(window, Calendar) and window.unit == "d":
        return (RIGHT_START(Calendar(1, "d", window.zone), as_of) or 0) - (window.count - 1) * DAY
    return RIGHT_START(window, as_of)


def weeks_from_sunday(window: Calendar, day: int) -> int:
    return RIGHT_DATE(window, day + 1) - 1 if window.unit == "w" else RIGHT_DATE(window, day)


def first_rows(rows: list[Row], window: Any, as_of: int, event: str) -> list[Row]:
    if isinstance(window, LastRows) and window.within is None:
        return rows[: window.rows]
    return RIGHT_INSIDE(rows, window, as_of, event)


def expired_at_its_ttl(newest: Row, feature: reference.Latest, as_of: int) -> tuple[Any, int]:
    ttl = None if feature.ttl is None else feature.ttl - 1
    return RIGHT_LATEST(newest, reference.Latest(value=feature.value, ttl=ttl), as_of)


def earlier_of_two(clock: int, zone: str) -> int:
    right = RIGHT_INSTANT(clock, zone)
    hours = (right - 30 * MINUTE, right - HOUR)
    return min(right, *(at for at in hours if reading(at, zone) == clock), right)


RIGHT_STATES, RIGHT_VISIBLE, RIGHT_INSIDE = reference.states, reference.visible, inside
RIGHT_START, RIGHT_DATE, RIGHT_LATEST = reference_time.start_of, reference_time.first_date, reference.latest
RIGHT_INSTANT = reference_time.instant_of
WRONG: dict[str, list[Rule]] = {
    "an event sees itself": [
        (reference, "happened", lambda row, as_of: row[EVENT] is not None and row[EVENT] <= as_of)
    ],
    "late rows are never waited for": [(reference, "known", known_without_lateness)],
    "what lands at the very known-at is too late": [(reference, "known", known_a_moment_early)],
    "versions are events of their own": [(reference, "newest_versions", lambda rows, _: rows)],
    "the oldest version counts": [(reference, "newest_versions", oldest_versions)],
    "a change does not end the state before": [(reference, "states", every_state)],
    "a delete leaves the row before": [(reference, "states", deletes_that_keep_the_row_before)],
    "an end brings back the row before": [(reference, "states", ends_that_bring_back_the_row_before)],
    "a state has ended at its very end": [
        (reference, "holds", lambda row, as_of: row[UNTIL] is None or row[UNTIL] > as_of)
    ],
    "a snapshot is waited for until it is whole": [(reference, "visible", snapshot_that_is_waited_for)],
    "rows of a snapshot count before they land": [(reference, "visible", snapshots_with_what_lands_later)],
    "the rows of all snapshots count": [(reference, "newest_snapshot", every_snapshot)],
    "a window leaves out its first instant": [(reference, "inside", window_without_its_start)],
    "the calendar is that of UTC": [
        (reference, "start_of", calendar_of_utc),
        (reference_time, "start_of", calendar_of_utc),
    ],
    "the calendar unit is that of the as-of": [(reference_time, "start_of", calendar_that_holds_the_as_of)],
    "a local day has 24 hours": [(reference_time, "start_of", days_of_24_hours)],
    "weeks begin on Sunday": [(reference_time, "first_date", weeks_from_sunday)],
    "the first rows are the last ones": [(reference, "inside", first_rows)],
    "a value expires at its very ttl": [(reference, "latest", expired_at_its_ttl)],
    "ties are not broken by when a row was created": [
        (reference, "place", lambda row, view: tuple(typed(row[name]) for name in (EVENT, *view.order)))
    ],
    "ties are not broken by columns": [
        (reference, "place", lambda row, _: tuple(typed(row[name]) for name in (EVENT, CREATED)))
    ],
    "of a time that occurs twice the earlier counts": [(reference, "instant_of", earlier_of_two)],
}


@pytest.mark.parametrize("rule", WRONG)
def test_a_wrong_rule_gives_other_values_in_the_drawn_worlds(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    getcontext().prec = 80
    right = {number: rightly_said(number) for number in range(32)}
    for place, name, wrong in WRONG[rule]:
        monkeypatch.setattr(place, name, wrong)
    assert any(said(small_round(number)) != right[number] for number in range(32))

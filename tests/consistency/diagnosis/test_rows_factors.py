"""Other source rows than those that are there, each with what comes of it, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from featurekit.clock import DAY, HOUR, MINUTE, parse_instant
from featurekit.compiled import CompiledView
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.rows_factors import rows_factors
from featurekit.definitions.feature_view import Refresh
from tests.consistency.diagnosis.by_hand import AS_OF, Row, recomputation, row, source_rows, values, view_of

COUNT = {"sql": "count(*)", "window": "7d"}
TOTAL = {"sql": "sum(amount)", "window": "7d"}


def by(view: CompiledView, rows: Sequence[Row], cause: Cause, *who: str, as_of: int = AS_OF) -> list[list[Any]]:
    """Return the first field's values in each world of a cause."""
    computed = recomputation(view, rows, *who, as_of=as_of)
    name = view.features[0].name
    return [
        values(computed.answers(rows=factor.rows), name)
        for factor in rows_factors(view, source_rows(view, rows), computed.as_ofs)
        if factor.cause is cause and (factor.fields is None or name in factor.fields)
    ]


def test_a_row_at_the_very_as_of_is_counted_where_the_bound_is_closed(tmp_path: Path) -> None:
    view = view_of(tmp_path, n=COUNT)
    rows = [row("a", 0, landed=-1), row("a", 7 * DAY), row("a", -1, landed=-1)]
    assert values(recomputation(view, rows).base, "n") == [1]
    assert by(view, rows, Cause.BOUND_CLOSED) == [[2]]


def test_late_rows_are_counted_or_lost(tmp_path: Path) -> None:
    view = view_of(tmp_path, n=COUNT)
    # Of 2 days ago one in time, one a day late; of yesterday one that lands an hour after the refresh.
    rows = [row("a", 2 * DAY), row("a", 2 * DAY, landed=-HOUR), row("a", HOUR, landed=HOUR)]
    assert values(recomputation(view, rows).base, "n") == [2]
    assert by(view, rows, Cause.LATE_ROWS_COUNTED) == [[3]]
    assert by(view, rows, Cause.LATE_ROWS_LOST) == [[1]]


def test_the_newest_version_counts_though_it_landed_late(tmp_path: Path) -> None:
    view = view_of(tmp_path, source={"event_id": "id"}, total=TOTAL)
    rows = [
        row("a", 2 * DAY, id=1, amount=1.0),
        row("a", 2 * DAY, id=1, amount=10.0, landed=-HOUR),
        row("a", 2 * DAY, id=1, amount=100.0, landed=HOUR),
        row("a", 2 * DAY, id=2, amount=1000.0),
    ]
    assert values(recomputation(view, rows).base, "total") == [1010.0]
    assert by(view, rows, Cause.LATE_ROWS_COUNTED) == [[1100.0]]
    assert by(view, rows, Cause.LATE_ROWS_LOST) == [[1001.0]]
    assert by(view, rows, Cause.VERSIONS_COUNTED) == [[1011.0]]
    assert by(view, rows, Cause.DUPLICATE_EVENTS)[0] == [2020.0]


def test_a_copy_of_the_source_is_old(tmp_path: Path) -> None:
    view = view_of(tmp_path, n=COUNT)
    rows = [row("a", back * DAY + HOUR) for back in range(5)] + [row("a", 6 * DAY, landed=-HOUR)]
    assert values(recomputation(view, rows).base, "n") == [6]
    assert by(view, rows, Cause.OTHER_SNAPSHOT) == [[4], [3], [2], [0]]


def test_rows_are_counted_twice_all_or_the_last_ones(tmp_path: Path) -> None:
    view = view_of(tmp_path, n=COUNT)
    rows = [row("a", HOUR), row("a", DAY + HOUR), row("a", 6 * DAY)]
    assert by(view, rows, Cause.DUPLICATE_EVENTS) == [[6], [4], [5], [5], [6]]


def test_the_first_of_tied_rows_is_taken(tmp_path: Path) -> None:
    view = view_of(tmp_path, last={"sql": "kind"})
    rows = [
        row("a", HOUR, kind="landed last", landed=-MINUTE),
        row("a", HOUR, kind="first", landed=-2 * MINUTE),
        row("a", HOUR, kind="last of them", landed=-MINUTE),
        row("a", DAY, kind="older"),
    ]
    assert values(recomputation(view, rows).base, "last") == ["last of them"]
    assert by(view, rows, Cause.TIE_ORDER) == [["first"], ["landed last"]]


def test_without_ties_no_order_of_them_is_tried(tmp_path: Path) -> None:
    view = view_of(tmp_path, last={"sql": "kind"}, n=COUNT)
    assert by(view, [row("a", HOUR, kind="x"), row("a", DAY, kind="y")], Cause.TIE_ORDER) == []


def test_event_times_in_another_zone_move_rows_over_the_bound(tmp_path: Path) -> None:
    zone = "America/New_York"
    view = view_of(tmp_path, view={"refresh": Refresh(every=DAY, timezone=zone)}, n={"sql": "count(*)", "window": "1d"})
    as_of = parse_instant("2026-03-09T04:00Z")  # the end of a day of 23 hours
    rows = [row("a", AS_OF - as_of + back) for back in (HOUR, 3 * HOUR, 23 * HOUR)]
    landing, as_utc, as_local, late, early = by(view, rows, Cause.EVENT_TIME_SHIFTED, as_of=as_of)
    assert landing == [3]
    assert as_utc == [2]  # five hours earlier, the first of the day is of the day before
    assert as_local == [1]  # four hours later, the last two are of the next day
    assert (late, early) == ([2], [3])


def test_an_hour_of_summer_is_forgotten(tmp_path: Path) -> None:
    zone = "America/New_York"
    view = view_of(tmp_path, view={"refresh": Refresh(every=DAY, timezone=zone)}, n={"sql": "count(*)", "window": "1d"})
    as_of = parse_instant("2026-03-10T04:00Z")
    rows = [row("a", AS_OF - as_of + back) for back in (HOUR // 2, 2 * HOUR, 24 * HOUR, 5 * DAY)]
    assert values(recomputation(view, rows, as_of=as_of).base, "n") == [3]
    assert by(view, rows, Cause.EVENT_TIME_DST, as_of=as_of) == [[2], [2]]


def test_a_unit_that_is_misread_leaves_only_what_has_no_window(tmp_path: Path) -> None:
    view = view_of(tmp_path, n=COUNT, ever={"sql": "count(*)", "window": "lifetime"})
    rows = [row("a", HOUR), row("a", DAY)]
    assert by(view, rows, Cause.TIME_UNIT) == [[0], [0], [0]]
    computed = recomputation(view, rows)
    factors = [one for one in rows_factors(view, computed.rows, computed.as_ofs) if one.cause is Cause.TIME_UNIT]
    assert [values(computed.answers(rows=one.rows), "ever") for one in factors] == [[2], [2], [0]]


def test_keys_of_several_spellings_become_one_entity(tmp_path: Path) -> None:
    view = view_of(tmp_path, n=COUNT)
    rows = [row(who, HOUR) for who in ("a", "a ", "\u00a0a", "A", "é", "e\u0301")]
    assert by(view, rows, Cause.SOURCE_KEY_TRIMMED, "a", "A", "é") == [[3, 1, 1]]
    assert by(view, rows, Cause.SOURCE_KEY_LOWER_CASED, "a", "A", "é") == [[2, 0, 1]]
    assert by(view, rows, Cause.SOURCE_KEY_NORMALISED, "a", "A", "é") == [[1, 1, 2]]


def test_what_changes_no_row_is_not_tried(tmp_path: Path) -> None:
    view = view_of(tmp_path, source={"created_timestamp": None}, n=COUNT)
    rows = [row("a", HOUR), row("b", DAY)]
    causes = {factor.cause for factor in rows_factors(view, source_rows(view, rows), np.full(2, AS_OF, np.int64))}
    assert causes == {
        Cause.OTHER_SNAPSHOT,
        Cause.DUPLICATE_EVENTS,
        Cause.EVENT_TIME_SHIFTED,
        Cause.EVENT_TIME_DST,  # in New York it is summer by then
        Cause.TIME_UNIT,
    }

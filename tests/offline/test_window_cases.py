"""Windows of all kinds by cases whose values were worked out by hand, on both paths.

Each case is an entity of its own in one log; all cases of a view take one run of each path.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from featurekit.clock import DAY, HOUR, MINUTE, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.offline.materialize import materialize
from featurekit.status import Status
from featurekit.types import Boolean, Int64, String, Timestamp
from tests.offline.conftest import EngineAt
from tests.offline.worlds import compiled, features, materialized, swept, write_rows

pytestmark = pytest.mark.spark
AS_OF: Final = parse_instant("2024-05-15T00:00Z")  # a Wednesday
KNOWN_AT: Final = AS_OF + 5 * MINUTE
COLUMNS: Final = {
    "case": String(),
    "at": Timestamp(),
    "known": Timestamp(),
    "id": String(),
    "v": Int64(),
    "good": Boolean(),
    "wanted": Boolean(),
}
FEATURES: Final[dict[str, dict[str, Any]]] = {
    "n_3": {"sql": "count(*)", "window": {"rows": 3}},
    "sum_3": {"sql": "sum(v)", "window": {"rows": 3}},
    "good_3": {"sql": "count(*) FILTER (WHERE good)", "window": {"rows": 3}},
    "known_3": {"sql": "count(v)", "window": {"rows": 3}},
    "list_3": {"sql": "collect_last(v, 9)", "window": {"rows": 3}},
    "min_3": {"sql": "min(v)", "window": {"rows": 3}},
    "max_3": {"sql": "max(v)", "window": {"rows": 3}},
    "std_3": {"sql": "stddev(v)", "window": {"rows": 3}},
    "std_week": {"sql": "stddev(v)", "window": {"calendar": "1w"}},
    "n_3_2d": {"sql": "count(*)", "window": {"rows": 3, "within": "2d"}},
    "max_3_2d": {"sql": "max(v)", "window": {"rows": 3, "within": "2d"}},
    "n_1000": {"sql": "count(*)", "window": {"rows": 1000}},
    "share_3": {"sql": "good_3 / n_ever"},
    "n_ever": {"sql": "count(*)", "window": "lifetime"},
    "sum_ever": {"sql": "sum(v)", "window": "lifetime"},
    "n_day": {"sql": "count(*)", "window": {"calendar": "1d"}},
    "n_week": {"sql": "count(*)", "window": {"calendar": "1w"}},
    "n_2_weeks": {"sql": "count(*)", "window": {"calendar": "2w"}},
    "n_month": {"sql": "count(*)", "window": {"calendar": "1mo"}},
    "n_3_months": {"sql": "count(*)", "window": {"calendar": "3mo"}},
    "n_1d": {"sql": "count(*)", "window": "1d"},
    "last_v": {"sql": "v", "ttl": "1d"},
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """Rows of one entity, and what its features are as of AS_OF; {}: no row at all."""

    name: str
    rows: tuple[dict[str, Any], ...]
    expected: dict[str, Any]


def row(before: int, **cells: Any) -> dict[str, Any]:
    """Return a row so many microseconds before the as-of, known when it happened."""
    blank: dict[str, Any] = {"id": None, "v": None, "good": True, "wanted": True}
    return blank | {"at": AS_OF - before, "known": AS_OF - before} | cells


def at(text: str) -> dict[str, Any]:
    return row(AS_OF - parse_instant(text))


CASES: Final = (
    Case(
        name="the last rows are the last in time, however long ago",
        rows=tuple(row(days * DAY, v=days) for days in (400, 300, 200, 100)),
        expected={"n_3": 3, "sum_3": 600, "list_3": [300, 200, 100], "n_3_2d": 0, "max_3_2d": None, "n_1d": 0},
    ),
    Case(
        name="fewer rows than the window takes are all of them",
        rows=(row(HOUR, v=1), row(2 * HOUR, v=2)),
        expected={"n_3": 2, "sum_3": 3, "n_1000": 2, "list_3": [2, 1]},
    ),
    Case(
        name="rows are chosen before the filter, which does not bring others in",
        rows=(row(1, good=False), row(2, good=False), row(3, good=None), row(4), row(5)),
        expected={"n_3": 3, "good_3": 0, "n_ever": 5, "share_3": 0.0},
    ),
    Case(
        name="rows are chosen after where, which does bring others in",
        rows=(row(1, wanted=False), row(2, wanted=None), row(3, v=3), row(4, v=4), row(5, v=5), row(6, v=6)),
        expected={"n_3": 3, "sum_3": 12, "n_ever": 4},
    ),
    Case(
        name="a row with a null is one of the last rows",
        rows=(row(1), row(2, v=2), row(3), row(4, v=4)),
        expected={"n_3": 3, "known_3": 1, "sum_3": 2, "list_3": [2]},
    ),
    Case(  # 34
        name="nulls among the last rows are no values of theirs",
        rows=(row(1, v=-1), row(2), row(3, v=-3), row(4, v=-5)),
        expected={"min_3": -3, "max_3": -1, "known_3": 2, "n_3": 3},
    ),
    Case(  # 46
        name="extremes and deviations of rows that go again are those of the rows that stay",
        rows=(row(MINUTE, v=5), row(2 * MINUTE, v=3), row(3 * MINUTE, v=4), row(4 * MINUTE, v=99)),
        expected={"max_3": 5, "min_3": 3, "std_3": 1.0},
    ),
    Case(  # 46, of a stretch of the calendar
        name="a deviation over a calendar week is that of its rows",
        rows=(row(HOUR, v=5), row(2 * HOUR, v=3), row(3 * HOUR, v=4), row(3 * DAY, v=99)),
        expected={"std_week": 1.0, "n_week": 3},
    ),
    Case(
        name="within keeps the stretch, and its start is in it",
        rows=(row(1, v=1), row(2 * DAY, v=2), row(2 * DAY + 1, v=3)),
        expected={"n_3_2d": 2, "max_3_2d": 2, "n_3": 3},
    ),
    Case(
        name="within takes no more rows than it says",
        rows=tuple(row(HOUR * hours, v=hours) for hours in range(1, 9)),
        expected={"n_3_2d": 3, "max_3_2d": 3, "n_1d": 8},
    ),
    Case(
        name="rows of one instant are told apart by when they were known",
        rows=tuple(row(HOUR, v=10 * n, known=AS_OF - HOUR + n) for n in (4, 1, 3, 2)),
        expected={"list_3": [20, 30, 40], "sum_3": 90},
    ),
    Case(
        name="rows that tie in their times are told apart by their values",
        rows=tuple(row(HOUR, v=v) for v in (7, None, 9, 8, 6)),
        expected={"list_3": [7, 8, 9], "n_3": 3},
    ),
    Case(
        name="the row on the as-of is not one of the last, the one that is known too late neither",
        rows=(row(0, v=1), row(1, v=2, known=KNOWN_AT + 1), row(2, v=3, known=KNOWN_AT), row(3, v=4)),
        expected={"n_3": 2, "sum_3": 7, "n_ever": 2},
    ),
    Case(
        name="a correction that moves an event back makes room for the row before",
        rows=(
            row(1, v=1, id="moved"),
            row(9 * DAY, v=1, id="moved", known=AS_OF),
            *(row(days * DAY, v=10 * days) for days in (1, 2, 3)),
        ),
        expected={"sum_3": 60, "n_3": 3, "n_ever": 4, "list_3": [30, 20, 10]},
    ),
    Case(
        name="a correction that moves an event up takes the place of the row before",
        rows=(
            row(9 * DAY, v=1, id="up"),
            row(1, v=2, id="up", known=KNOWN_AT),
            *(row(days * DAY, v=10 * days) for days in (1, 2, 3)),
        ),
        expected={"list_3": [20, 10, 2], "n_ever": 4},
    ),
    Case(
        name="a correction that is not wanted leaves, and the row before comes back",
        rows=(
            row(1, v=1, id="out"),
            row(1, v=1, id="out", wanted=False, known=AS_OF),
            *(row(days * DAY, v=10 * days) for days in (1, 2, 3)),
        ),
        expected={"list_3": [30, 20, 10], "n_ever": 3},
    ),
    Case(
        name="a lifetime holds every row there ever was",
        rows=(row(1, v=1), at("1969-07-20T20:17Z"), at("0001-01-01T00:00Z")),
        expected={"n_ever": 3, "n_3": 3, "n_1d": 1, "n_3_months": 1},
    ),
    Case(
        name="a count of an empty window is 0, and the others are null",
        rows=(row(1000 * DAY, v=1),),
        expected={"n_day": 0, "n_month": 0, "n_3_2d": 0, "max_3_2d": None, "n_3": 1, "n_ever": 1, "last_v": None,
                  "__status_last_v": Status.MISSING},
    ),
    Case(
        name="a ttl beside windows goes its own way",
        rows=(row(DAY + 1, v=1),),
        expected={"last_v": None, "__status_last_v": Status.EXPIRED, "n_3": 1, "n_day": 0, "n_week": 1},
    ),
    Case(
        name="a calendar day is the whole date before the as-of",
        rows=(at("2024-05-14T00:00Z"), at("2024-05-14T23:59:59.999999Z"), at("2024-05-13T23:59:59.999999Z")),
        expected={"n_day": 2, "n_1d": 2, "n_week": 3},
    ),
    Case(
        name="a calendar week begins on Monday",
        rows=tuple(map(at, ("2024-05-13T00:00Z", "2024-05-12T23:59:59.999999Z", "2024-05-06T00:00Z",
                            "2024-05-05T23:59:59.999999Z"))),
        expected={"n_week": 1, "n_2_weeks": 3, "n_month": 4},
    ),
    Case(
        name="a calendar month begins on the first",
        rows=tuple(map(at, ("2024-05-01T00:00Z", "2024-04-30T23:59:59.999999Z", "2024-03-01T00:00Z",
                            "2024-02-29T23:59:59.999999Z"))),
        expected={"n_month": 1, "n_3_months": 3, "n_ever": 4},
    ),
    Case(name="an entity without any row that is wanted has no row", rows=(row(1, wanted=False),), expected={}),
)  # fmt: skip


def view_of(
    base: Path,
    rows: list[dict[str, Any]],
    written: dict[str, dict[str, Any]],
    refresh: Refresh,
    event_id: str | None = "id",
) -> CompiledView:
    write_rows(base / "log.parquet", COLUMNS, rows)
    times: dict[str, Any] = {"event_timestamp": "at", "created_timestamp": "known"}
    return compiled(
        base,
        entities=[Entity(name="thing", join_keys={"case": String()})],
        sources=[Source(name="log", path="log.parquet", event_id=event_id, **times)],
        views=[
            FeatureView(
                name="cases",
                entity="thing",
                source="log",
                where="wanted",
                refresh=refresh,
                allowed_lateness=5 * MINUTE,
                availability_delay=HOUR,
                features=features(**written),
            )
        ],
    ).views["cases"]


@pytest.fixture(scope="module")
def outcomes(engine_at: EngineAt, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[Any, dict[str, Any]]]:
    base = tmp_path_factory.mktemp("cases")
    rows = [
        {"case": case.name, **cells, "id": cells["id"] and case.name + cells["id"]}
        for case in CASES
        for cells in case.rows
    ]
    view = view_of(base, rows, FEATURES, Refresh(every=DAY))
    engine = engine_at(base)
    return {"materialize": materialized(engine, view, AS_OF), "point in time": swept(engine, view, [AS_OF])[AS_OF]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_value_is_the_right_one(case: Case, outcomes: dict[str, dict[Any, dict[str, Any]]]) -> None:
    for path, rows in outcomes.items():
        found = rows.get((case.name,))
        if not case.expected:
            assert found is None, path
            continue
        assert found is not None, path
        assert {name: found[name] for name in case.expected} == case.expected, path


HOURLY: Final = {"n": {"sql": "count(*)", "window": {"calendar": "1d"}}}
# A row each half hour: what is counted is how long the local date before the as-of was.
DATES: Final = (
    ("America/New_York", "2024-03-10T04:00Z", None),  # not the first instant of a date there
    ("America/New_York", "2024-03-10T05:00Z", 48),
    ("America/New_York", "2024-03-11T04:00Z", 46),
    ("America/New_York", "2024-11-04T05:00Z", 50),
    ("Australia/Lord_Howe", "2024-04-07T13:30Z", 49),
    ("Australia/Lord_Howe", "2024-10-06T13:00Z", 47),
    ("Atlantic/Azores", "2024-03-31T01:00Z", 48),  # the next date begins at one o'clock
    ("Atlantic/Azores", "2024-04-01T00:00Z", 46),
    ("Pacific/Apia", "2011-12-30T10:00Z", 48),  # the 29th; there is no 30th
    ("Pacific/Apia", "2011-12-31T10:00Z", 48),  # the 31st
)  # fmt: skip


@pytest.mark.parametrize(("timezone", "as_of", "count"), DATES)
def test_a_calendar_day_is_as_long_as_the_zone_made_it(
    timezone: str, as_of: str, count: int | None, engine_at: EngineAt, tmp_path: Path
) -> None:
    end = parse_instant(as_of)
    steps = [{**row(0), "case": "x", "at": end - step * HOUR // 2, "known": end - DAY * 9} for step in range(200)]
    view = view_of(tmp_path, steps, HOURLY, Refresh(every=DAY, timezone=timezone))
    engine = engine_at(tmp_path)
    assert view.view.grid.contains(end) == (count is not None)
    if count is None:
        count = 46  # of the 9th so far, an hour before it ends
    else:
        assert materialize(engine, view, end, now=end + HOUR).rows == 1
    assert materialized(engine, view, end)[("x",)]["n"] == count
    assert swept(engine, view, [end])[end][("x",)]["n"] == count


def test_on_a_grid_of_hours_a_calendar_day_is_today_so_far(engine_at: EngineAt, tmp_path: Path) -> None:
    hours = [{**row(0), "case": "x", "at": AS_OF + hour * HOUR, "known": AS_OF} for hour in range(-48, 48)]
    written = {f"n_{days}": {"sql": "count(*)", "window": {"calendar": f"{days}d"}} for days in (1, 2)}
    view = view_of(tmp_path, hours, written, Refresh(every=6 * HOUR))
    as_ofs = [AS_OF + hour * HOUR for hour in (0, 6, 12, 18, 24, 30)]
    expected = [(24, 48), (6, 30), (12, 36), (18, 42), (24, 48), (6, 30)]
    engine = engine_at(tmp_path)
    by_sweep = swept(engine, view, as_ofs)
    for as_of, counts in zip(as_ofs, expected, strict=True):
        assert tuple(by_sweep[as_of][("x",)][name] for name in ("n_1", "n_2")) == counts
        assert tuple(materialized(engine, view, as_of)[("x",)][name] for name in ("n_1", "n_2")) == counts


def test_an_entity_is_found_while_a_row_is_in_the_widest_window(engine_at: EngineAt, tmp_path: Path) -> None:
    written = {
        "week": {"sql": "count(*)", "window": {"calendar": "1w"}},
        "last": {"sql": "count(*)", "window": {"rows": 3, "within": "3d"}},
    }
    monday = parse_instant("2024-05-13T00:00Z")
    log = [
        {**row(0), "case": case, "at": moment, "known": moment} for case, moment in (("a", monday - 1), ("b", monday))
    ]
    view = view_of(tmp_path, log, written, Refresh(every=DAY))
    engine = engine_at(tmp_path)
    days = [monday + day * DAY for day in range(10)]
    by_sweep = swept(engine, view, days)
    found = {}
    for day in days:
        rows = materialized(engine, view, day)
        assert rows == by_sweep[day]
        found[(day - monday) // DAY] = "".join(key[0] for key in sorted(rows))
    # On Monday at 0:00 the week is still the last one; three days of elapsed time go on from there.
    assert found == {0: "a", 1: "ab", 2: "ab", 3: "b", 4: "b", 5: "b", 6: "b", 7: "b", 8: "", 9: ""}


def test_the_same_request_twice_is_the_same_answer_twice(engine_at: EngineAt, tmp_path: Path) -> None:
    """cases.md 47: state that leaks from one request into the next."""
    log = [{**row(hour * HOUR, v=hour), "case": "x"} for hour in range(1, 50)]
    view = view_of(
        tmp_path, log, {name: FEATURES[name] for name in ("sum_3", "sum_ever", "n_week")}, Refresh(every=DAY)
    )
    engine = engine_at(tmp_path)
    first = swept(engine, view, [AS_OF, AS_OF - DAY])
    assert first[AS_OF][("x",)] | {} == {"__last_event": AS_OF - HOUR, "sum_3": 6, "sum_ever": 1225, "n_week": 48}
    for _ in range(2):
        assert swept(engine, view, [AS_OF, AS_OF, AS_OF - DAY]) == first
        assert materialized(engine, view, AS_OF) == first[AS_OF]


@pytest.mark.parametrize("seed", range(3))
def test_the_last_rows_are_those_of_the_total_order_where_nothing_else_asks_for_it(
    seed: int, engine_at: EngineAt, tmp_path: Path
) -> None:
    """A view without `last`, `max_by` or a latest feature sorts its rows all the same: many tie in their times."""
    chance = random.Random(seed)
    log = [
        {**row(hour * HOUR, v=chance.randrange(1000), known=AS_OF - hour * HOUR + chance.randrange(2)), "case": case}
        for case in "abcdef"
        for hour in (1, 2)
        for _ in range(12)
    ]
    chance.shuffle(log)
    written = {f"sum_{n}": {"sql": "sum(v)", "window": {"rows": n}} for n in (1, 5, 17)}
    view = view_of(tmp_path, log, written, Refresh(every=DAY), event_id=None)  # versions would be sorted already
    engine = engine_at(tmp_path)
    expected = {}
    for case in "abcdef":
        own = sorted((cells["at"], cells["known"], cells["v"]) for cells in log if cells["case"] == case)
        expected[(case,)] = {f"sum_{n}": sum(v for _, _, v in own[-n:]) for n in (1, 5, 17)}
    for found in (materialized(engine, view, AS_OF), swept(engine, view, [AS_OF])[AS_OF]):
        for cells in found.values():
            cells.pop("__last_event")
        assert found == expected

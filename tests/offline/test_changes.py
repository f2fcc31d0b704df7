"""Changes: of each thing the newest known row counts, unless it says that the thing is gone or has ended.

Each case is an entity of its own in one log, and all are computed by both paths at each instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from featurekit.clock import DAY, HOUR, MINUTE, parse_instant
from featurekit.compiled import CompiledView
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source, SourceKind
from featurekit.offline.as_of import known_entities
from featurekit.offline.session import SparkEngine
from featurekit.offline.source import count_invisible
from featurekit.types import DataType, Int64, String, Timestamp
from tests.offline.conftest import EngineAt
from tests.offline.worlds import compiled, features, materialized, swept, write_rows

pytestmark = pytest.mark.spark
NOON: Final = parse_instant("2024-01-10T12:00Z")
INSTANTS: Final = tuple(NOON + hours * HOUR for hours in range(4))
LATENESS: Final = 5 * MINUTE
COLUMNS: Final[dict[str, DataType]] = {
    "owner": String(),
    "thing": String(),
    "at": Timestamp(),
    "known": Timestamp(),
    "until": Timestamp(),
    "op": String(),
    "v": Int64(),
}
FEATURES: Final = features(
    n={"sql": "count(*)"},
    total={"sql": "sum(v)"},
    last_v={"sql": "v"},
    in_order={"sql": "collect_last(v, 5)"},
)
NOTHING: Final = None
"""No row at all."""


def row(minutes: int, thing: str | None = "a", **cells: Any) -> dict[str, Any]:
    """Return a row that happened so many minutes after noon, known at once unless `known` says so many minutes."""
    at = NOON + minutes * MINUTE
    known = at if (late := cells.pop("known", None)) is None else NOON + late * MINUTE
    until = None if (end := cells.pop("until", None)) is None else NOON + end * MINUTE
    blank = {"owner": None, "op": "put", "v": None}
    return blank | {"thing": thing, "at": at, "known": known, "until": until} | cells


@dataclass(frozen=True, kw_only=True)
class Case:
    """Rows of one owner (or of those that they name), and the values of the things that are there at each instant."""

    name: str
    rows: tuple[dict[str, Any], ...]
    there: Sequence[Sequence[int | None] | None]


GONE: Final = partial(row, op="delete")
CASES: Final = (
    Case(
        name="a row holds from just after it happened until the next one about the thing",
        rows=(row(-60, v=1), row(60, v=2)),
        there=([1], [1], [2], [2]),
    ),
    Case(
        name="a state does not hold yet at the instant it happens",
        rows=(row(0, v=1),),
        there=(NOTHING, [1], [1], [1]),
    ),
    Case(
        name="a deleted thing is gone, and there again when it is put back",
        rows=(row(-10, v=1), GONE(30), row(90, v=3)),
        there=([1], NOTHING, [3], [3]),
    ),
    Case(
        name="a thing that is deleted before it was ever put is not there",
        rows=(GONE(-10),),
        there=(NOTHING,) * 4,
    ),
    Case(
        name="deleted is what is true: where it is unknown the thing is there",
        rows=(row(-10, v=1), row(30, v=2, op=None)),
        there=([1], [2], [2], [2]),
    ),
    Case(
        name="each thing has a state of its own, and an aggregate is over those that are there",
        rows=(row(-30, "a", v=1), row(-20, "b", v=2), row(-10, "c", v=3), GONE(30, "b"), row(90, "a", v=10)),
        there=([1, 2, 3], [1, 3], [3, 10], [3, 10]),
    ),
    Case(
        name="a change that becomes known late counts from then on, and does not beat what happened after it",
        rows=(row(-60, v=1), row(-30, v=2, known=90), row(130, v=3, known=130)),
        there=([1], [1], [2], [3]),
    ),
    Case(
        name="a late change that is older than the state changes nothing",
        rows=(row(-60, v=1, known=90), row(-30, v=2)),
        there=([2], [2], [2], [2]),
    ),
    Case(
        name="a late delete takes the thing away when it is known",
        rows=(row(-60, v=1), GONE(-30, known=90)),
        there=([1], [1], NOTHING, NOTHING),
    ),
    Case(
        name="what is known at the very known-at counts, what is known a microsecond later does not",
        rows=(
            row(-30, "a", v=1, known=5),
            row(-30, "b", v=2) | {"known": NOON + LATENESS + 1},
        ),
        there=([1], [1, 2], [1, 2], [1, 2]),
    ),
    Case(
        name="a row within the lateness counts though it beats one that was known in time",
        rows=(row(-60, v=1), row(-1, v=2, known=4)),
        there=([2], [2], [2], [2]),
    ),
    Case(
        name="a row that happened after the instant does not beat, however early it was known",
        rows=(row(-60, v=1), row(90, v=2, known=-60)),
        there=([1], [1], [2], [2]),
    ),
    Case(
        name="of two at one time the one that was created later is the state",
        rows=(row(-30, v=5, known=-10), row(-30, v=1, known=-5), row(-30, v=9, known=70)),
        there=([1], [1], [9], [9]),
    ),
    Case(
        name="of two at one time, created at one time, the columns decide, NULL being the smallest",
        rows=(row(-30, v=5), row(-30, v=None), row(-30, v=4)),
        there=([5], [5], [5], [5]),
    ),
    Case(
        name="what a row says ends after its valid_to, at which it holds still",
        rows=(row(-30, "a", v=1, until=60), row(-30, "b", v=2) | {"until": NOON + HOUR - 1}),
        there=([1, 2], [1], NOTHING, NOTHING),
    ),
    Case(
        name="a row that ended before it began was never there, and still took the place of the one before",
        rows=(row(-30, v=1), row(30, v=2, until=20), row(90, v=3, until=90)),
        there=([1], NOTHING, NOTHING, NOTHING),
    ),
    Case(
        name="an end is taken back by a later row without one",
        rows=(row(-30, v=1, until=30), row(-20, v=2, known=70)),
        there=([1], NOTHING, [2], [2]),
    ),
    Case(
        name="what has ended is opened again",
        rows=(row(-30, v=1, until=30), row(100, v=2)),
        there=([1], NOTHING, [2], [2]),
    ),
    Case(
        name="a row about nothing is not there",
        rows=(row(-30, None, v=1), row(-30, "b", v=2)),
        there=([2],) * 4,
    ),
    Case(
        name="where is asked of the state alone: an older row does not step in",
        rows=(row(-30, v=1), row(30, v=-1), row(90, v=2)),
        there=([1], NOTHING, [2], [2]),
    ),
    Case(
        name="a row without a created timestamp was never known",
        rows=(row(-30, v=1), row(-20, v=2) | {"known": None}),
        there=([1],) * 4,
    ),
    Case(
        name="a row without an event timestamp says nothing",
        rows=(row(-30, v=1), row(-20, v=2) | {"at": None}),
        there=([1],) * 4,
    ),
)


def owned(case: Case) -> list[dict[str, Any]]:
    # Things are named by all who have them: each case has things of its own.
    things = [None if each["thing"] is None else f"{case.name}/{each['thing']}" for each in case.rows]
    return [each | {"owner": case.name, "thing": thing} for each, thing in zip(case.rows, things, strict=True)]


def view_over(base: Path, rows: list[dict[str, Any]], **fields: Any) -> CompiledView:
    write_rows(base / "rows.parquet", COLUMNS, rows)
    declared = {
        "row_key": ("thing",),
        "valid_to": "until",
        "deleted": "op = 'delete'",
        "created_timestamp": "known",
    } | fields
    source = Source(name="rows", kind=SourceKind.CHANGES, path="rows.parquet", event_timestamp="at", **declared)
    return compiled(
        base,
        entities=[Entity(name="owner", join_keys={"owner": String()})],
        sources=[source],
        views=[
            FeatureView(
                name="view",
                entity="owner",
                source="rows",
                where="v >= 0 OR v IS NULL",
                refresh=Refresh(every=HOUR),
                availability_delay=HOUR,
                allowed_lateness=LATENESS,
                features=FEATURES,
            )
        ],
    ).views["view"]


Values = dict[int, dict[tuple[Any, ...], dict[str, Any]]]


def both_paths(engine: SparkEngine, view: CompiledView, instants: tuple[int, ...] = INSTANTS) -> Values:
    """Return a view's rows at each instant, which are the same by both paths."""
    one = {at: materialized(engine, view, at) for at in instants}
    assert swept(engine, view, instants) == one
    return one


@pytest.fixture(scope="module")
def computed(engine_at: EngineAt, tmp_path_factory: pytest.TempPathFactory) -> Values:
    base = tmp_path_factory.mktemp("changes")
    view = view_over(base, [each for case in CASES for each in owned(case)])
    return both_paths(engine_at(base), view)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_state_of_changes(computed: Values, case: Case) -> None:
    for at, expected in zip(INSTANTS, case.there, strict=True):
        found = computed[at].get((case.name,))
        if expected is NOTHING:
            assert found is None
            continue
        assert found is not None
        values = [value for value in expected if value is not None]
        assert sorted(found["in_order"] or [], key=str) == sorted(values, key=str)
        assert found["n"] == len(expected)
        assert found["total"] == (sum(values) if values else None)
        assert found["last_v"] == (found["in_order"] or [None])[-1]


def test_thing_that_moves_leaves_its_old_owner(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        row(-30, "ball", owner="ann", v=1),
        row(-30, "bat", owner="ann", v=2),
        row(30, "ball", owner="bob", v=1),
        row(90, "ball", owner=None, v=1),
        row(150, "ball", owner="ann", v=7),
    ]
    found = both_paths(engine, view_over(tmp_path, rows))
    totals = [{key[0]: values["total"] for key, values in found[at].items()} for at in INSTANTS]
    assert totals == [{"ann": 3}, {"ann": 2, "bob": 1}, {"ann": 2}, {"ann": 9}]


def test_things_are_named_by_the_join_keys_unless_declared(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [row(-30, "ball", owner="ann", v=1), row(-20, "bat", owner="ann", v=2), GONE(30, "x", owner="ann")]
    found = both_paths(engine, view_over(tmp_path, rows, row_key=None), INSTANTS[:2])
    assert [found[at].get(("ann",), {}).get("total") for at in INSTANTS[:2]] == [2, None]


def test_row_key_of_several_columns_names_one_thing(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [row(-30, "ball", owner="ann", v=1), row(-20, "ball", owner="bob", v=2), row(-10, "bat", owner="ann", v=4)]
    found = both_paths(engine, view_over(tmp_path, rows, row_key=("thing", "owner")), INSTANTS[:1])
    assert {key[0]: values["total"] for key, values in found[NOON].items()} == {"ann": 5, "bob": 2}


def test_without_a_created_timestamp_a_change_is_known_when_it_happens(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [row(-30, owner="ann", v=1, known=600), row(30, owner="ann", v=2, known=600)]
    found = both_paths(engine, view_over(tmp_path, rows, created_timestamp=None))
    assert [found[at]["ann",]["total"] for at in INSTANTS] == [1, 2, 2, 2]


def test_history_loaded_in_bulk_is_known_by_its_lag(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [row(-30, owner="ann", v=1, known=100), row(-10, owner="ann", v=2, known=110)]
    view = view_over(tmp_path, rows, known_from="2024-01-11", assumed_lag=40 * MINUTE)
    found = both_paths(engine, view)
    assert [found[at].get(("ann",), {}).get("total") for at in INSTANTS] == [None, 2, 2, 2]


def test_rows_about_nothing_are_counted_as_invisible(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [row(-30, None, owner="ann"), row(-30, "b", owner=None), row(-30) | {"at": None}, row(-30) | {"known": None}]
    assert count_invisible(engine, view_over(tmp_path, rows)) == 3
    assert count_invisible(engine, view_over(tmp_path, rows, row_key=("thing", "owner"))) == 4


def test_all_owners_are_known_also_those_whose_things_are_gone(engine: SparkEngine, tmp_path: Path) -> None:
    view = view_over(tmp_path, [row(-30, "a", owner="ann"), GONE(-20, "a", owner="ann"), row(0, "b", owner="bob")])
    assert sorted(engine.to_arrow(known_entities(engine, view))["owner"].to_pylist()) == ["ann", "bob"]


def test_newest_row_is_too_old_beyond_its_ttl(engine: SparkEngine, tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.parquet", COLUMNS, [row(-30, owner="ann", v=1), GONE(200, owner="ann")])
    source = Source(
        name="rows", kind=SourceKind.CHANGES, path="rows.parquet", event_timestamp="at", deleted="op = 'delete'"
    )
    view = compiled(
        tmp_path,
        entities=[Entity(name="owner", join_keys={"owner": String()})],
        sources=[source],
        views=[
            FeatureView(
                name="view",
                entity="owner",
                source="rows",
                refresh=Refresh(every=HOUR),
                features=features(v={"sql": "v", "ttl": HOUR}),
            )
        ],
    ).views["view"]
    found = both_paths(engine, view)
    statuses = [found[at].get(("ann",), {}).get("__status_v") for at in INSTANTS]
    assert statuses == [0, 3, None, None]


def test_changes_of_far_times_are_no_error(engine: SparkEngine, tmp_path: Path) -> None:
    far = 2**62
    rows = [
        row(-30, "a", owner="ann", v=1) | {"until": far},
        row(-30, "b", owner="ann", v=2) | {"at": -(2**61), "known": -(2**61)},
        row(-30, "b", owner="ann", v=3) | {"at": far, "known": NOON - DAY},
        row(-30, "c", owner="ann", v=4) | {"until": -(2**61)},
    ]
    found = both_paths(engine, view_over(tmp_path, rows), INSTANTS[:1])
    assert found[NOON]["ann",]["total"] == 3

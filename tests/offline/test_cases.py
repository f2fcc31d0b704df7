"""Cases that feature stores got wrong in public (time, nulls, numbers), with the right values, on both paths.

Each case is an entity of its own in one log; the log and all its expectations take one run of each path.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from decimal import Decimal as PyDecimal
from typing import Any, Final

import pytest

from featurekit.clock import DAY, HOUR, MINUTE, SECOND, parse_instant
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.source import Source
from featurekit.status import Status
from featurekit.types import Decimal, Float32, Float64, Int64, String, Timestamp
from tests.offline.conftest import EngineAt
from tests.offline.worlds import bits, compiled, features, materialized, swept, write_rows

pytestmark = pytest.mark.spark
AS_OF: Final = parse_instant("2024-01-10T00:00Z")
KNOWN_AT: Final = AS_OF + 5 * MINUTE
FLOAT32: Final[float] = struct.unpack("<f", struct.pack("<f", 1.111))[0]
BIG_KEY: Final = 2**63 - 1
COLUMNS: Final = {
    "case": String(),
    "key": Int64(),
    "at": Timestamp(),
    "known": Timestamp(),
    "id": String(),
    "v": Int64(),
    "x": Float64(),
    "f": Float32(),
    "money": Decimal(10, 2),
}
FEATURES: Final[dict[str, dict[str, Any]]] = {
    "last_v": {"sql": "v", "ttl": "1d"},
    "last_f": {"sql": "f", "ttl": "30d"},
    "last_at": {"sql": "at", "ttl": "30d"},
    "n_6h": {"sql": "count(*)", "window": "6h"},
    "n_12h": {"sql": "count(*)", "window": "12h"},
    "n_7d": {"sql": "count(*)", "window": "7d"},
    "n_30d": {"sql": "count(*)", "window": "30d"},
    "count_v": {"sql": "count(v)", "window": "30d"},
    "sum_v": {"sql": "sum(v)", "window": "30d"},
    "min_v": {"sql": "min(v)", "window": "30d"},
    "max_v": {"sql": "max(v)", "window": "30d"},
    "std_v": {"sql": "stddev_samp(v)", "window": "30d"},
    "sum_2s": {"sql": "sum(v)", "window": "2s"},
    "sum_x": {"sql": "sum(x)", "window": "30d"},
    "avg_x": {"sql": "avg(x)", "window": "30d"},
    "sum_money": {"sql": "sum(money)", "window": "30d"},
    "ratio": {"sql": "n_6h / n_12h"},
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """Rows of one entity, `before` the as-of in microseconds, and what its features then are; {}: no row at all."""

    name: str
    number: int | None = None  # of the public case, in `test_cases_list.py`
    rows: tuple[dict[str, Any], ...]
    expected: dict[str, Any]
    key: int = 1


def row(before: int, **cells: Any) -> dict[str, Any]:
    known = cells.pop("known", AS_OF - before)
    blank = dict.fromkeys(("id", "v", "x", "f", "money"))
    return blank | {"at": AS_OF - before, "known": known} | cells


CASES: Final = (
    Case(
        number=1,
        name="a later row does not leak",
        rows=(row(HOUR, v=50), row(-HOUR, v=67)),
        expected={"last_v": 50, "n_7d": 1},
    ),
    Case(
        number=7,
        name="three events a minute apart are three events",
        rows=tuple(row(step * MINUTE, v=1) for step in (1, 2, 3)),
        expected={"n_6h": 3, "last_at": AS_OF - MINUTE},
    ),
    Case(
        number=9,
        name="the last event is when it happened, not when it was computed",
        rows=(row(2 * HOUR, v=1), row(3 * HOUR, v=2)),
        expected={"__last_event": AS_OF - 2 * HOUR},
    ),
    Case(
        number=10,
        name="the newest row before the bound counts, the one on it does not",
        rows=(row(0, v=15), row(1, v=14), row(HOUR, v=13)),
        expected={"last_v": 14, "n_6h": 2, "__last_event": AS_OF - 1},
    ),
    Case(
        number=11,
        name="a window of n days holds n midnights",
        rows=tuple(row(day * DAY, v=1) for day in range(41)),
        expected={"n_30d": 30, "n_7d": 7},
    ),
    Case(
        number=11,
        name="the row at the window's start is in, the one before is not",
        rows=(row(7 * DAY), row(7 * DAY + 1)),
        expected={"n_7d": 1, "n_30d": 2},
    ),
    Case(
        number=12,
        name="rows after the request do not enter the window",
        rows=(row(1 * SECOND), row(-1 * SECOND, known=AS_OF), row(0)),
        expected={"n_6h": 1},
    ),
    Case(
        number=14,
        name="the third correction is the value",
        rows=tuple(row(HOUR, id="three", v=version, known=AS_OF - HOUR + version) for version in (2, 3, 1)),
        expected={"last_v": 3, "n_6h": 1, "sum_v": 3},
    ),
    Case(
        number=15,
        name="a correction that was not known yet does not count",
        rows=(row(HOUR, id="late", v=1), row(HOUR, id="late", v=2, known=KNOWN_AT + 1)),
        expected={"last_v": 1, "sum_v": 1},
    ),
    Case(
        number=15,
        name="a correction known at the very known-at counts",
        rows=(row(HOUR, id="timely", v=1), row(HOUR, id="timely", v=2, known=KNOWN_AT)),
        expected={"last_v": 2, "sum_v": 2},
    ),
    Case(
        number=16,
        name="a row that lands after its event still counts once it is known",
        rows=(row(HOUR, v=1, known=AS_OF + MINUTE), row(2 * HOUR, v=2)),
        expected={"last_v": 1, "n_6h": 2},
    ),
    Case(
        number=16,
        name="an older row that lands later replaces nothing newer",
        rows=(row(HOUR, v=1), row(2 * HOUR, v=2, known=AS_OF + MINUTE)),
        expected={"last_v": 1, "n_6h": 2},
    ),
    Case(
        number=19,
        name="the order of the rows in a batch decides nothing",
        rows=(row(MINUTE, v=30), row(2 * MINUTE, v=20), row(3 * MINUTE, v=10)),
        expected={"last_v": 30},
    ),
    Case(
        number=19,
        name="of two rows at one instant the later known one is the latest, then the greater",
        rows=(row(MINUTE, v=9, known=AS_OF - 3), row(MINUTE, v=2, known=AS_OF - 2), row(MINUTE, v=1, known=AS_OF - 2)),
        expected={"last_v": 2},
    ),
    Case(
        number=20,
        name="a value older than its ttl is expired",
        rows=(row(DAY + 1, v=17),),
        expected={"last_v": None, "__status_last_v": Status.EXPIRED, "max_v": 17},
    ),
    Case(
        number=20,
        name="a value exactly as old as its ttl is present",
        rows=(row(DAY, v=17),),
        expected={"last_v": 17, "__status_last_v": Status.PRESENT},
    ),
    Case(
        name="a value of twice its ttl is expired, beyond it is missing",
        rows=(row(2 * DAY + 1, v=17),),
        expected={"last_v": None, "__status_last_v": Status.MISSING},
    ),
    Case(
        name="a null in the latest row is null, and does not fall back to an older one",
        rows=(row(HOUR, v=None), row(2 * HOUR, v=5)),
        expected={"last_v": None, "__status_last_v": Status.NULL, "max_v": 5},
    ),
    Case(
        number=22,
        name="an event in the tail that two windows share is in both",
        rows=(row(5 * HOUR + 59 * MINUTE), row(11 * HOUR + 59 * MINUTE), row(MINUTE)),
        expected={"n_6h": 2, "n_12h": 3, "ratio": 2 / 3},
    ),
    Case(
        number=23,
        name="an edited event counts as what it became, once",
        rows=(row(DAY, id="edited", v=1), row(DAY, id="edited", v=-1, known=AS_OF - HOUR)),
        expected={"sum_v": -1, "n_7d": 1},
    ),
    Case(
        name="a correction may move an event out of the window",
        rows=(row(HOUR, id="moved", v=1), row(8 * DAY, id="moved", v=1, known=AS_OF - MINUTE)),
        expected={"n_7d": 0, "n_30d": 1, "sum_v": 1},
    ),
    Case(
        name="a correction that takes the time away takes the event away",
        rows=(
            row(HOUR, id="gone", v=1),
            {**row(HOUR, id="gone", v=1, known=AS_OF - MINUTE), "at": None},
            row(2 * HOUR, v=3),
        ),
        expected={"n_7d": 1, "sum_v": 3},
    ),
    Case(
        number=34,
        name="nulls are no values of an aggregate",
        rows=(row(1, v=1), row(2, v=None), row(3, v=2)),
        expected={"count_v": 2, "max_v": 2, "min_v": 1, "sum_v": 3, "n_7d": 3},
    ),
    Case(
        number=34,
        name="nulls are no values of an aggregate where all others are negative",
        rows=(row(1, v=-3), row(2, v=None), row(3, v=-1)),
        expected={"count_v": 2, "max_v": -1, "min_v": -3, "sum_v": -4, "n_7d": 3},
    ),
    Case(
        number=35,
        name="what cancels out averages to zero, and nothing averages to null",
        rows=(row(1, x=10.0), row(2, x=-10.0)),
        expected={"avg_x": 0.0, "sum_x": 0.0, "sum_v": None, "count_v": 0},
    ),
    Case(number=37, name="a float32 keeps its bits", rows=(row(1, f=FLOAT32),), expected={"last_f": FLOAT32}),
    Case(
        number=38,
        name="a sum of fractions is not truncated",
        rows=(row(1, x=0.5), row(2, x=0.7)),
        expected={"sum_x": 1.2},
    ),
    Case(
        number=40,
        name="money is exact",
        rows=(row(1, money=PyDecimal("0.10")), row(2, money=PyDecimal("0.20"))),
        expected={"sum_money": PyDecimal("0.30")},
    ),
    Case(number=43, name="a key of 64 bits", rows=(row(1, v=2**63 - 1),), expected={"last_v": 2**63 - 1}, key=BIG_KEY),
    Case(
        number=46,
        name="extremes over several days are extremes of values",
        rows=(row(MINUTE, v=5), row(2 * MINUTE, v=3), row(3 * MINUTE, v=4)),
        expected={"max_v": 5, "min_v": 3, "std_v": 1.0},
    ),
    Case(
        number=49,
        name="a window of two seconds holds the same rows on both paths",
        rows=(row(2 * SECOND, v=32), row(2 * SECOND + 1, v=31)),
        expected={"sum_2s": 32, "sum_v": 63},
    ),
    Case(  # V2
        name="an integer sum that does not fit is null, and does not wrap",
        rows=(row(1, v=2**63 - 1), row(2, v=1)),
        expected={"sum_v": None, "count_v": 2},
    ),
    Case(name="an entity whose only row lies too far back has no row", rows=(row(61 * DAY, v=1),), expected={}),
    Case(name="an entity whose only row is not known has no row", rows=(row(HOUR, known=KNOWN_AT + 1),), expected={}),
    Case(  # V4
        name="a sum is rounded once",
        rows=(row(1, x=2.0**40), row(2, x=2.0**-13), row(3, x=2.0**-60)),
        expected={"sum_x": 2.0**40 + 2.0**-12},
    ),
)


@pytest.fixture(scope="module")
def outcomes(engine_at: EngineAt, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[Any, dict[str, Any]]]:
    """Return the rows of each path, by case and key."""
    base = tmp_path_factory.mktemp("cases")
    rows = [{"case": case.name, "key": case.key, **cells} for case in CASES for cells in case.rows]
    write_rows(base / "log.parquet", COLUMNS, rows)
    view = compiled(
        base,
        entities=[Entity(name="thing", join_keys={"case": String(), "key": Int64()})],
        sources=[
            Source(name="log", path="log.parquet", event_timestamp="at", created_timestamp="known", event_id="id")
        ],
        views=[
            FeatureView(
                name="cases",
                entity="thing",
                source="log",
                refresh=Refresh(every=DAY),
                allowed_lateness=5 * MINUTE,
                availability_delay=HOUR,
                features=features(**FEATURES),
            )
        ],
    ).views["cases"]
    engine = engine_at(base)
    return {"materialize": materialized(engine, view, AS_OF), "point in time": swept(engine, view, [AS_OF])[AS_OF]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_value_is_the_right_one(case: Case, outcomes: dict[str, dict[Any, dict[str, Any]]]) -> None:
    for path, rows in outcomes.items():
        found = rows.get((case.name, case.key))
        if not case.expected:
            assert found is None, path
            continue
        assert found is not None, path
        wanted = {name: int(value) if isinstance(value, Status) else value for name, value in case.expected.items()}
        assert {name: bits(found[name]) for name in wanted} == {name: bits(value) for name, value in wanted.items()}

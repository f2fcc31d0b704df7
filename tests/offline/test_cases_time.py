"""Cases of zones, clocks and label rows that feature stores got wrong in public, with the right values.

The numbers are those of the table in `test_cases_list.py`; those without are of peers that were run.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

from featurekit.arrow_types import to_arrow
from featurekit.clock import DAY, HOUR, MINUTE, SECOND, from_datetime, parse_instant, to_date
from featurekit.compiled import CompiledRepository
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView, Refresh
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.definitions.source import Source
from featurekit.errors import DefinitionErrors, InputError, TimeError
from featurekit.offline.point_in_time import point_in_time
from featurekit.offline.session import SparkEngine
from featurekit.types import Boolean, DataType, Int64, String, Timestamp, TimestampNtz
from tests.offline.conftest import EngineAt
from tests.offline.worlds import compiled, features, materialized, python_rows, swept, write_rows

pytestmark = pytest.mark.spark
NOON: Final = parse_instant("2022-08-20T12:00Z")
AS_OF: Final = parse_instant("2022-08-21T00:00Z")
COLUMNS: Final[dict[str, DataType]] = {"key": String(), "at": Timestamp(), "v": Int64()}
LABELS: Final[dict[str, DataType]] = {"row": Int64(), "key": String(), "event_timestamp": Timestamp()}


def world(
    base: Path,
    rows: list[dict[str, Any]],
    *,
    columns: dict[str, DataType] | None = None,
    every: int = DAY,
    zone: str | None = None,
    source: dict[str, Any] | None = None,
    **written: dict[str, Any],
) -> CompiledRepository:
    """Return the view `v` of one key over rows, and the service of it."""
    write_rows(base / "log.parquet", columns or COLUMNS, rows)
    return compiled(
        base,
        entities=[Entity(name="thing", join_keys={"key": String()})],
        sources=[Source(name="log", path="log.parquet", event_timestamp="at", **(source or {}))],
        views=[
            FeatureView(
                name="v",
                entity="thing",
                source="log",
                refresh=Refresh(every=every, timezone=zone),
                features=features(**written),
            )
        ],
        services=[FeatureService(name="s", features=(ServiceFeatures(view="v"),))],
    )


def both(engine: SparkEngine, made: CompiledRepository, as_of: int) -> dict[str, Any]:
    """Return the features of `a` as of an instant, which both paths agree on."""
    view = made.views["v"]
    one, other = materialized(engine, view, as_of), swept(engine, view, [as_of])[as_of]
    assert one == other
    return one[("a",)]


def trained(
    engine: SparkEngine, made: CompiledRepository, labels: list[tuple[str, int]], service: str = "s"
) -> list[dict[str, Any]]:
    """Return what label rows are given, in their order."""
    columns: list[list[Any]] = [list(range(len(labels))), [key for key, _ in labels], [at for _, at in labels]]
    arrays = [
        pa.array(cells, pa.int64() if name == "event_timestamp" else to_arrow(kind)).cast(to_arrow(kind))
        for cells, (name, kind) in zip(columns, LABELS.items(), strict=True)
    ]
    frame = engine.session.createDataFrame(pa.table(arrays, [*LABELS]))
    rows = python_rows(engine.to_arrow(point_in_time(engine, made.services[service], frame)))
    return sorted(rows, key=lambda row: int(row["row"]))


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Shanghai", "UTC"])
def test_the_zone_of_a_session_and_of_a_machine_changes_no_instant(
    zone: str, engine_at: EngineAt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # 2, 4
    at = parse_instant("2022-08-15T23:30-07:00")
    assert at == parse_instant("2022-08-16T06:30Z")
    monkeypatch.setenv("TZ", zone)
    session = engine_at(tmp_path).session
    session.conf.set("spark.sql.session.timeZone", zone)
    engine = engine_at(tmp_path)  # which pins the session again
    made = world(
        tmp_path,
        [{"key": "a", "at": at, "v": 1}],
        at={"sql": "at"},
        day={"sql": "CAST(at AS DATE)"},
        day_there={"sql": "CAST(from_utc_timestamp(at, 'America/Los_Angeles') AS DATE)"},
        hour={"sql": "hour(at)"},
    )
    row = both(engine, made, AS_OF)
    assert row["at"] == at
    assert (to_date(row["day"]).isoformat(), to_date(row["day_there"]).isoformat()) == ("2022-08-16", "2022-08-15")
    assert row["hour"] == 6
    assert trained(engine, made, [("a", AS_OF)])[0]["v.at"] == at


def test_a_date_is_that_of_the_declared_zone_and_of_no_engine(engine: SparkEngine, tmp_path: Path) -> None:  # 4
    made = world(
        tmp_path,
        [{"key": "a", "at": parse_instant("2022-08-01T17:00Z"), "v": 1}],
        utc={"sql": "CAST(at AS DATE)"},
        shanghai={"sql": "CAST(from_utc_timestamp(at, 'Asia/Shanghai') AS DATE)"},
    )
    row = both(engine, made, AS_OF)
    assert row["shanghai"] - row["utc"] == 1


def test_a_time_without_a_zone_is_refused_wherever_it_comes_from(tmp_path: Path) -> None:  # 3
    with pytest.raises(TimeError, match="has no zone"):
        from_datetime(datetime(2022, 9, 20, 12))  # noqa: DTZ001 - that is the case
    columns: dict[str, DataType] = {**COLUMNS, "at": TimestampNtz()}
    with pytest.raises(DefinitionErrors, match="timezone"):
        world(tmp_path, [{"key": "a", "at": NOON, "v": 1}], columns=columns, n={"sql": "count(*)", "window": "7d"})


def test_a_time_without_a_zone_is_read_in_the_declared_one(engine: SparkEngine, tmp_path: Path) -> None:  # 3
    columns: dict[str, DataType] = {**COLUMNS, "at": TimestampNtz()}
    made = world(
        tmp_path,
        [{"key": "a", "at": parse_instant("2022-08-20T12:00Z"), "v": 1}],
        columns=columns,
        source={"timezone": "America/New_York"},
        at={"sql": "at"},
    )
    assert both(engine, made, AS_OF)["at"] == parse_instant("2022-08-20T12:00-04:00")


def test_a_daily_count_is_of_the_same_day_on_both_sides(engine: SparkEngine, tmp_path: Path) -> None:  # 6
    evening = parse_instant("2022-08-15T20:00-07:00")
    made = world(
        tmp_path,
        [{"key": "a", "at": evening, "v": 1}, {"key": "a", "at": evening - DAY, "v": 1}],
        zone="America/Los_Angeles",
        today={"sql": "count(*)", "window": {"calendar": "1d"}},
    )
    view = made.views["v"]
    (of_15th, of_16th) = (parse_instant(f"2022-08-{day}T00:00-07:00") for day in (16, 17))
    assert both(engine, made, of_15th)["today"] == 1
    assert ("a",) not in swept(engine, view, [of_16th])[of_16th]
    before, after = trained(engine, made, [("a", of_15th + HOUR), ("a", of_16th + HOUR)])
    assert (before["v.today"], after["v.today"]) == (1, 0)


def test_seconds_since_1970_are_the_same_instant_on_the_way_and_back(engine: SparkEngine, tmp_path: Path) -> None:  # 8
    seconds = 4_102_444_800  # 2100, beyond 32 bits
    made = world(
        tmp_path,
        [{"key": "a", "at": NOON, "v": seconds}],
        instant={"sql": "CAST(v AS TIMESTAMP)"},
        back={"sql": "unix_timestamp(CAST(v AS TIMESTAMP))"},
    )
    row = both(engine, made, AS_OF)
    assert (row["instant"], row["back"]) == (seconds * SECOND, seconds)


def test_a_refresh_is_of_all_that_was_known_and_never_of_the_newest_rows_alone(
    engine: SparkEngine, tmp_path: Path
) -> None:  # 24
    made = world(
        tmp_path,
        [{"key": "a", "at": NOON - 20 * DAY, "v": 100}, {"key": "a", "at": NOON, "v": 7}],
        total={"sql": "sum(v)", "window": "lifetime"},
    )
    assert both(engine, made, AS_OF - DAY)["total"] == 100
    assert both(engine, made, AS_OF)["total"] == 107


def test_a_request_just_before_midnight_has_one_time_for_all_views(engine: SparkEngine, tmp_path: Path) -> None:  # 26
    write_rows(tmp_path / "log.parquet", COLUMNS, [{"key": "a", "at": AS_OF - HOUR, "v": 1}])
    made = compiled(
        tmp_path,
        entities=[Entity(name="thing", join_keys={"key": String()})],
        sources=[Source(name="log", path="log.parquet", event_timestamp="at")],
        views=[
            FeatureView(
                name=name,
                entity="thing",
                source="log",
                refresh=Refresh(every=every),
                features=features(n={"sql": "count(*)", "window": "1d"}),
            )
            for name, every in (("daily", DAY), ("by_hours", 6 * HOUR))
        ],
        services=[FeatureService(name="s", features=(ServiceFeatures(view="daily"), ServiceFeatures(view="by_hours")))],
    )
    labels = [("a", AS_OF - 1000), ("a", AS_OF - 1), ("a", AS_OF)]
    rows = trained(engine, made, labels)
    assert [(row["daily.n"], row["by_hours.n"]) for row in rows] == [(0, 0), (0, 0), (1, 1)]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a label row of a key is given, so long after AS_OF."""

    name: str
    key: str
    after: int = 0
    expected: dict[str, Any]


BIG: Final = 2**53 + 1
ASKED: Final = (
    Asked(name="a label whose only row is in the future is there, with nothing", key="later",
          expected={"v.last": None, "v.n": 0}),
    Asked(name="two labels of one key and time are two rows", key="twice", expected={"v.last": 1, "v.n": 1}),
    Asked(name="two labels of one key and time are two rows, the other", key="twice", expected={"v.last": 1, "v.n": 1}),
    Asked(name="a value as old as its ttl is there", key="old", after=DAY, expected={"v.last": 3}),
    Asked(name="a value older than its ttl is not", key="old", after=DAY + MINUTE, expected={"v.last": None}),
    Asked(name="a row that was created after the label is not visible", key="created", expected={"v.last": None}),
    Asked(name="a row that was created after the label is visible later", key="created", after=2 * HOUR,
          expected={"v.last": 4}),
    Asked(name="an integer beyond 2^53 beside a null is exact", key="big", expected={"v.last": BIG, "v.sum": BIG}),
    Asked(name="of a corrected row the correction counts", key="corrected", expected={"v.last": 6, "v.n": 2}),
    Asked(name="of two rows of one time the greater is the last", key="tied", expected={"v.last": 8, "v.n": 2}),
)  # fmt: skip


def test_label_rows_are_given_what_was_known_at_their_time(engine: SparkEngine, tmp_path: Path) -> None:
    def row(key: str, before: int, v: int | None, known: int | None = None) -> dict[str, Any]:
        at = AS_OF - before
        return {"key": key, "at": at, "v": v, "known": at if known is None else known}

    rows = [
        row("later", -HOUR, 9),
        row("twice", HOUR, 1),
        row("old", MINUTE, 3),
        row("created", HOUR, 4, known=AS_OF + HOUR),
        row("big", HOUR, BIG),
        row("big", 2 * HOUR, None),
        row("corrected", HOUR, 5),
        row("corrected", HOUR, 6, known=AS_OF - MINUTE),
        row("tied", HOUR, 7),
        row("tied", HOUR, 8),
    ]
    made = world(
        tmp_path,
        rows,
        columns={**COLUMNS, "known": Timestamp()},
        source={"created_timestamp": "known"},
        every=MINUTE,
        last={"sql": "v", "ttl": DAY + MINUTE},
        n={"sql": "count(*)", "window": "7d"},
        sum={"sql": "sum(v)", "window": "7d"},
    )
    answered = trained(engine, made, [(asked.key, AS_OF + asked.after) for asked in ASKED])
    assert len(answered) == len(ASKED)
    for asked, found in zip(ASKED, answered, strict=True):
        assert {name: found[name] for name in asked.expected} == asked.expected, asked.name


def test_a_row_that_is_deleted_at_the_source_is_gone_by_a_declared_rule(engine: SparkEngine, tmp_path: Path) -> None:
    rows = [
        {"key": "a", "at": NOON - DAY, "v": 1, "gone": False},
        {"key": "a", "at": NOON, "v": 1, "gone": True},
        {"key": "b", "at": NOON, "v": 2, "gone": False},
    ]
    made = world(
        tmp_path,
        rows,
        columns={**COLUMNS, "gone": Boolean()},
        source={"kind": "changes", "deleted": "gone"},
        v={"sql": "v"},
    )
    view = made.views["v"]
    for found in (materialized(engine, view, AS_OF), swept(engine, view, [AS_OF])[AS_OF]):
        assert found.keys() == {("b",)}
    assert both(engine, made, AS_OF - DAY)["v"] == 1


def test_a_label_without_a_time_zone_is_refused(engine: SparkEngine, tmp_path: Path) -> None:
    made = world(tmp_path, [{"key": "a", "at": NOON, "v": 1}], n={"sql": "count(*)", "window": "7d"})
    frame = engine.session.sql("SELECT 'a' AS key, TIMESTAMP_NTZ '2022-08-21 00:00:00' AS event_timestamp")
    with pytest.raises(InputError, match="event_timestamp"):
        point_in_time(engine, made.services["s"], frame)

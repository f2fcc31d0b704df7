"""A set as served has what lookups really answered: late runs, gaps, restatements, withdrawn ones, new definitions."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR, Instant, parse_instant
from featurekit.compiler import compile_repository
from featurekit.config import Settings
from featurekit.definitions.repo import load_repo
from featurekit.errors import InputError, TimeError
from featurekit.feature_store import FeatureStore
from featurekit.offline.labels import LabelSpec
from featurekit.offline.manifest import AsOfMode, Manifest, ViewCoverage, read_manifest
from featurekit.offline.served_refreshes import NOBODY, ServedRefresh, Supply, picks, supply
from featurekit.offline.snapshot import FileSnapshot, SourceSnapshot
from featurekit.online import embedded
from featurekit.online.keys import KeySpace
from featurekit.online.refresh import withdraw_refresh
from featurekit.status import Status
from featurekit.types import Float64, Int32, Int64, String, Timestamp
from tests.offline.worlds import write_rows

DAY0: Final = parse_instant("2026-03-10")
SOURCE: Final = {"shop": String(), "number": Int32(), "at": Timestamp(), "known": Timestamp(), "amount": Float64()}
LABELS: Final = {"shop": String(), "number": Int64(), "basket": Float64(), "event_timestamp": Timestamp(), "n": Int64()}
DEFINITIONS: Final = """\
entities:
  stall: {join_keys: {shop: string, number: int}}
sources:
  sales: {path: sales, event_timestamp: at, created_timestamp: known}
feature_views:
  takings:
    entity: stall
    source: sales
    refresh: 1d
    availability_delay: 1h
    features:
      sales:   {sql: count(*), window: 3d, default: 0}
      mean:    {sql: avg(amount), window: 3d}
      doubled: {sql: "2 * count(*)", window: 3d}
      last:    {sql: amount, ttl: 1d, default: -1.0}
      before:  {sql: amount, ttl: 1d}
  hourly:
    entity: stall
    source: sales
    refresh: 6h
    availability_delay: 1h
    history: false
    features:
      of_day: {sql: count(*), window: 1d}
on_demand_feature_views:
  basket:
    request: {basket: double}
    features:
      beside: {sql: "coalesce(basket - takings.mean, 0.0D)", default: 7.0}
      doubled: {sql: basket * 2}
feature_services:
  till: {features: [takings, hourly, basket]}
"""
ASKED: Final = (("a", 1), ("b", 2), ("never", 3), (None, 1))
OUTPUTS: Final = (
    "takings.sales",
    "takings.mean",
    "takings.doubled",
    "takings.last",
    "takings.before",
    "hourly.of_day",
    "basket.beside",
    "basket.doubled",
)


@dataclass
class Till:
    """A project with a store of its own, and a clock that the test sets."""

    base: Path
    now: Instant = DAY0

    @contextmanager
    def at(self, now: Instant) -> Iterator[FeatureStore]:
        self.now = now
        settings = Settings(
            root=self.base,
            state=self.base / "state",
            definitions=self.base / "feature_defs",
            now=now,
            spark_master="local[2]",
            spark_driver_memory="1g",
        )
        with FeatureStore(settings) as store:
            yield store

    def define(self, text: str = DEFINITIONS) -> None:
        (self.base / "feature_defs").mkdir(exist_ok=True)
        (self.base / "feature_defs" / "till.yaml").write_text(text)

    def sell(self, file: str, *sales: tuple[str, int, Instant, Instant, float]) -> None:
        write_rows(self.base / "sales" / file, SOURCE, [dict(zip(SOURCE, sale, strict=True)) for sale in sales])

    def refresh(self, view: str, as_of: Instant, at: Instant, **more: Any) -> None:
        with self.at(at) as store:
            store.materialize([view], as_of=as_of, **more)

    def build(self, name: str, times: list[Instant], as_of: AsOfMode = AsOfMode.SERVED) -> Manifest:
        self.ask(times)
        with self.at(DAY0 + 9 * DAY) as store:
            store.dataset("till", LabelSpec(path=str(self.base / "labels.parquet")), self.base / name, as_of=as_of)
        return read_manifest(self.base / name)

    def ask(self, times: list[Instant]) -> None:
        rows = [
            {"shop": shop, "number": number, "basket": 10.0, "event_timestamp": time, "n": at * len(ASKED) + place}
            for at, time in enumerate(times)
            for place, (shop, number) in enumerate(ASKED)
        ]
        write_rows(self.base / "labels.parquet", LABELS, rows)

    def rows(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = pq.read_table(self.base / name).sort_by("n").to_pylist()
        return found

    def answers(self, at: Instant) -> list[dict[str, tuple[Any, Status]]]:
        """Return what lookups answer at a time: by output, value and status, for each of ASKED."""
        keys = pa.table({"shop": [shop for shop, _ in ASKED], "number": pa.array([n for _, n in ASKED], pa.int32())})
        with self.at(at) as store:
            found = store.lookup("till", keys, pa.table({"basket": [10.0] * len(ASKED)}))
            values = found.to_arrow().to_pylist()
            statuses = {name: found.status(name) for name in OUTPUTS}
        return [
            {name: (row[name], Status(statuses[name][place])) for name in OUTPUTS} for place, row in enumerate(values)
        ]


def write_sales(till: Till) -> Till:
    """Write definitions and sales: one lands a day late, and one entity has none."""
    till.define()
    till.sell(
        "one.parquet",
        ("a", 1, DAY0 - 5 * HOUR, DAY0 - 5 * HOUR, 1.5),
        ("a", 1, DAY0 - 30 * HOUR, DAY0 - 30 * HOUR, 0.25),
        ("b", 2, DAY0 - 40 * HOUR, DAY0 - 40 * HOUR, 3.0),
        ("a", 1, DAY0 + 10 * HOUR, DAY0 + 11 * HOUR, 8.0),
        ("a", 1, DAY0 + 20 * HOUR, DAY0 + 40 * HOUR, 16.0),
        ("b", 2, DAY0 + 60 * HOUR, DAY0 + 60 * HOUR, 5.0),
    )
    return till


@pytest.fixture
def till(tmp_path: Path) -> Iterator[Till]:
    yield write_sales(Till(tmp_path))
    embedded.stop(tmp_path / "state")


Answers = dict[str, tuple[Any, Status]]
Events = list[tuple[Instant, Callable[[], object]]]


def drive(till: Till, events: Events, times: list[Instant]) -> list[Answers]:
    """Let things happen at their times, look up at others in between, and return the answers in order of time."""
    found: list[Answers] = []
    left = list(events)
    for time in sorted(times):
        while left and left[0][0] <= time:
            left.pop(0)[1]()
        found += till.answers(time)
    for _, happen in left:
        happen()
    return found


def differing(rows: list[dict[str, Any]], answers: list[Answers]) -> list[str]:
    """Return where a training row has not what the lookup had; what was UNAVAILABLE has to be NULL."""
    assert len(rows) == len(answers)
    return [
        f"row {place} {name}: {row[name]!r}, a lookup had {value!r} {status.name}"
        for place, (row, answer) in enumerate(zip(rows, answers, strict=True))
        for name, (value, status) in answer.items()
        if repr(row[name]) != repr(None if status is Status.UNAVAILABLE else value)
    ]


def unavailable(answers: list[Answers], output: str) -> int:
    return sum(answer[output][1] is Status.UNAVAILABLE for answer in answers)


def coverage(manifest: Manifest, alias: str) -> ViewCoverage:
    return next(view for view in manifest.views if view.alias == alias)


@pytest.mark.spark
def test_a_set_as_served_has_what_lookups_answered_at_the_labels_times(till: Till) -> None:
    """Of each thing that goes wrong with runs, lookups just before, at and after it are held to the set."""
    late, restated, withdrawn = DAY0 + 31 * HOUR, DAY0 + 77 * HOUR, DAY0 + 102 * HOUR

    def withdraw() -> None:
        with till.at(withdrawn) as store:
            view = store.definitions.views["takings"]
            entry = store.history.get(view, DAY0 + 4 * DAY)
            assert entry is not None
            space = KeySpace(
                namespace=store.namespace, view="takings", fingerprint=view.fingerprint.data, as_of=DAY0 + 4 * DAY
            )
            assert withdraw_refresh(store.online, space)
            store.history.withdraw(entry, withdrawn)

    def restate() -> None:
        till.sell("two.parquet", ("a", 1, DAY0 + 50 * HOUR, DAY0 + 51 * HOUR, 64.0))
        till.refresh("takings", DAY0 + 3 * DAY, restated, restate="a day's file was missing")

    with till.at(DAY0 - DAY) as store:
        store.register()
    on_time = [DAY0 + HOUR, DAY0 + 73 * HOUR, DAY0 + 97 * HOUR]
    events: Events = [
        (DAY0 + HOUR, lambda: till.refresh("takings", DAY0, DAY0 + HOUR)),
        (DAY0 + HOUR, lambda: till.refresh("hourly", DAY0, DAY0 + HOUR)),
        (DAY0 + 9 * HOUR, lambda: till.refresh("hourly", DAY0 + 6 * HOUR, DAY0 + 9 * HOUR)),
        (late, lambda: till.refresh("takings", DAY0 + DAY, late)),
        # As of DAY0 + 2 days there was no run.
        (on_time[1], lambda: till.refresh("takings", DAY0 + 3 * DAY, on_time[1])),
        (restated, restate),
        (on_time[2], lambda: till.refresh("takings", DAY0 + 4 * DAY, on_time[2])),
        (withdrawn, withdraw),
    ]
    changes = [DAY0 + HOUR, DAY0 + 9 * HOUR, late, on_time[1], restated, on_time[2], withdrawn]
    times = sorted({change + step for change in changes for step in (-1, 0, 1)} | {DAY0 - 5, DAY0 + 55 * HOUR})
    answers = drive(till, events, times)

    manifest = till.build("served", times)
    rows = till.rows("served")
    assert differing(rows, answers) == []
    statuses = {status for answer in answers for _, status in answer.values()}
    assert statuses == set(Status)
    assert len({repr([row[name] for name in OUTPUTS]) for row in rows}) >= 10

    takings, hourly = coverage(manifest, "takings"), coverage(manifest, "hourly")
    assert (manifest.as_of, takings.unavailable) == (AsOfMode.SERVED, unavailable(answers, "takings.mean"))
    assert takings.unavailable == 2 * len(ASKED)
    assert (takings.recomputed, takings.indeterminate, takings.other_definition) == (0, 0, 0)
    assert (hourly.unavailable, hourly.recomputed) == (2 * len(ASKED), (len(times) - 2) * len(ASKED))
    assert hourly.unseen + takings.unseen > 0

    declared = till.build("declared", times, AsOfMode.DECLARED)
    assert declared.id != manifest.id
    assert differing(till.rows("declared"), answers) != []

    # Rows that are gone are computed again, but for those of a refresh that somebody had a reason to compute again.
    shutil.rmtree(till.base / "state" / "history")
    gone = till.build("gone", times)
    kept, lost = coverage(manifest, "takings"), coverage(gone, "takings")
    between = [time for time in times if on_time[1] <= time < restated]
    assert lost.indeterminate == len(between) * len(ASKED)
    assert lost.unavailable == kept.unavailable
    assert lost.recomputed == (len(times) - 2 - len(between)) * len(ASKED)


@pytest.mark.spark
def test_what_another_definition_served_is_no_value_of_this_one(till: Till) -> None:
    with till.at(DAY0 - DAY) as store:
        store.register()

    def redefine() -> None:
        till.define(
            DEFINITIONS.replace("mean:    {sql: avg(amount), window: 3d}", "mean: {sql: avg(amount), window: 2d}")
        )
        with till.at(DAY0 + 26 * HOUR) as store:
            store.register()

    events: Events = [
        (DAY0 + HOUR, lambda: till.refresh("takings", DAY0, DAY0 + HOUR)),
        (DAY0 + HOUR, lambda: till.refresh("hourly", DAY0, DAY0 + HOUR)),
        (DAY0 + 26 * HOUR, redefine),
        (DAY0 + 28 * HOUR, lambda: till.refresh("takings", DAY0 + DAY, DAY0 + 28 * HOUR)),
    ]
    before, after = [DAY0, DAY0 + 2 * HOUR, DAY0 + 27 * HOUR], [DAY0 + 28 * HOUR, DAY0 + 30 * HOUR]
    answers = drive(till, events, before + after)
    manifest = till.build("served", before + after)
    rows, old = till.rows("served"), len(before) * len(ASKED)
    assert differing(rows[old:], answers[old:]) == []
    assert {row["takings.sales"] for row in rows[:old]} == {None}
    assert {row["basket.beside"] for row in rows[:old]} == {None}
    assert unavailable(answers, "takings.sales") == len(ASKED)
    takings = coverage(manifest, "takings")
    assert (takings.unavailable, takings.other_definition) == (len(ASKED), 2 * len(ASKED))


@pytest.mark.spark
def test_a_set_by_event_time_has_all_that_had_happened_and_says_that_it_leaks(till: Till) -> None:
    with till.at(DAY0 - DAY) as store:
        store.register()
    times = [DAY0 + 10 * HOUR, DAY0 + 10 * HOUR + 1, DAY0 + 21 * HOUR, DAY0 + 43 * HOUR, DAY0 + 60 * HOUR + 1]
    manifest = till.build("all", times, AsOfMode.EVENT_TIME)
    assert (manifest.as_of, manifest.to_json()["leaks"]) == (AsOfMode.EVENT_TIME, True)
    sales = pq.read_table(till.base / "sales").to_pylist()
    for place, row in enumerate(till.rows("all")):
        at = times[place // len(ASKED)]
        mine = [
            (sale["at"], sale["amount"])
            for sale in sales
            if (sale["shop"], sale["number"]) == (row["shop"], row["number"])
            and at - 3 * DAY <= round(sale["at"].timestamp() * 1e6) < at
        ]
        newest = max(mine, default=None)
        is_fresh = newest is not None and round(newest[0].timestamp() * 1e6) >= at - DAY
        assert row["takings.sales"] == len(mine)
        assert row["takings.mean"] == (sum(amount for _, amount in mine) / len(mine) if mine else None)
        assert row["takings.before"] == (newest[1] if newest is not None and is_fresh else None)
    # What landed after it was asked about counts, too: the sale at 20:00 was known on the next day at 16:00.
    assert till.rows("all")[2 * len(ASKED)]["takings.before"] == 16.0

    with till.at(DAY0 + 9 * DAY) as store:
        again = store.dataset_rebuild(till.base / "all")
    assert again.is_same, again.reasons
    spec = LabelSpec(path=str(till.base / "labels.parquet"))
    with till.at(DAY0) as store, pytest.raises(InputError, match="no refresh of till is on record"):
        store.dataset("till", spec, till.base / "early", as_of=AsOfMode.SERVED)
    till.refresh("hourly", DAY0 - 6 * HOUR, DAY0 - 5 * HOUR)
    with till.at(DAY0) as store, pytest.raises(TimeError, match="not asked yet"):
        store.dataset("till", spec, till.base / "early", as_of=AsOfMode.SERVED)


BEFORE: Final = SourceSnapshot(source="sales", origin="sales", files=(FileSnapshot(path="one", size=1, modified=1),))
NOW: Final = SourceSnapshot(source="sales", origin="sales", files=(FileSnapshot(path="one", size=2, modified=2),))


@pytest.mark.parametrize(
    ("created", "recorded", "restated", "expected"),
    [
        (True, None, False, Supply.RECOMPUTED),
        (True, BEFORE, False, Supply.RECOMPUTED),
        (True, BEFORE, True, Supply.INDETERMINATE),
        (True, NOW, True, Supply.RECOMPUTED),
        (False, NOW, False, Supply.RECOMPUTED),
        (False, BEFORE, False, Supply.INDETERMINATE),
        (False, None, False, Supply.INDETERMINATE),
    ],
)
def test_rows_that_are_gone_are_computed_again_only_where_that_gives_the_same(
    till: Till, created: bool, recorded: SourceSnapshot | None, restated: bool, expected: Supply
) -> None:
    if not created:
        till.define(DEFINITIONS.replace(", created_timestamp: known", ""))
    view = compile_repository(load_repo(till.base / "feature_defs"), till.base).views["takings"]
    refresh = replace(one(0, 5), snapshot=recorded)
    others = [refresh, one(0, 9, restatement=1)] if restated else [refresh, one(10, 15)]
    assert supply(view, refresh, others, NOW) is expected


def one(as_of: int, visible_from: int, *, restatement: int = 0, withdrawn_at: int | None = None) -> ServedRefresh:
    return ServedRefresh(as_of=as_of, restatement=restatement, visible_from=visible_from, withdrawn_at=withdrawn_at)


@pytest.mark.parametrize(
    ("refreshes", "expected"),
    [
        ([], []),
        ([one(0, 5)], [(5, 0)]),
        ([one(10, 15), one(0, 5)], [(5, 1), (15, 0)]),
        # A run that was so late that the next had been there before it.
        ([one(0, 20), one(10, 15)], [(15, 1)]),
        ([one(0, 5), one(0, 8, restatement=1)], [(5, 0), (8, 1)]),
        ([one(0, 5), one(10, 15, withdrawn_at=17), one(20, 25)], [(5, 0), (15, 1), (17, 0), (25, 2)]),
        ([one(0, 5, withdrawn_at=9)], [(5, 0), (9, NOBODY)]),
        # Withdrawn before anybody could see it, and at the instant at which the next appears.
        ([one(0, 5, withdrawn_at=3)], [(5, NOBODY)]),
        ([one(0, 5, withdrawn_at=15), one(10, 15)], [(5, 0), (15, 1)]),
    ],
)
def test_the_newest_as_of_that_was_visible_and_not_withdrawn_answers(
    refreshes: list[ServedRefresh], expected: list[tuple[Instant, int]]
) -> None:
    assert picks(refreshes) == expected

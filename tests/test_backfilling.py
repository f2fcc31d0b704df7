"""A backfill keeps what `materialize` gives, as of every grid instant, and goes on where it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from featurekit import backfilling
from featurekit.apply import register
from featurekit.backfilling import backfill_each, backfill_view, backfilled_instants
from featurekit.clock import DAY, HOUR, MINUTE, Instant, fixed_clock
from featurekit.compiled import CompiledRepository, CompiledView
from featurekit.compiler import compile_repository
from featurekit.config import Settings
from featurekit.definitions.repo import load_repo
from featurekit.errors import FeaturekitError, GateError, InputError, NotRegisteredError, RefreshRunningError, TimeError
from featurekit.leasing import leased
from featurekit.materializing import MaterializeErrors
from featurekit.offline.history import History
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.session import SparkEngine, start_engine
from featurekit.online import embedded
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import read_head
from featurekit.refresh_values import Deployment, RefreshOutcome
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from tests.offline.test_incremental import COLUMNS, START, drawn_rows
from tests.offline.worlds import bits, python_rows, write_rows

pytestmark = pytest.mark.spark
PLACE: Final = Namespace("shop", "history")
DAYS: Final = 14
END: Final = START + DAYS * DAY
NOW: Final = END - 21 * HOUR  # 03:00 of the last day
DEFINITIONS: Final = """\
entities:
  thing: {join_keys: {name: string, number: bigint}}
sources:
  versions: {path: log, event_timestamp: event, created_timestamp: created, event_id: id}
feature_views:
  daily:
    entity: thing
    source: versions
    where: s < 3
    refresh: 1d
    allowed_lateness: 10m
    availability_delay: 2h
    features:
      n_1d:    {sql: count(*), window: 1d}
      sum_5d:  {sql: sum(d), window: 5d}
      spread:  {sql: stddev_samp(d), window: 5d}
      kinds:   {sql: count(DISTINCT s), window: 5d, expect: {between: [0, 3]}}
      last_3:  {sql: "collect_last(i, 3)", window: 5d}
      by_name: {sql: "map_from_arrays(collect_last(id, 2), collect_last(id, 2))", window: 5d}
      place:   {sql: "named_struct('d', d, 'money', CAST(s AS DECIMAL(20,3)))", ttl: 3d}
      brief:   {sql: i, ttl: 1d}
  often:
    entity: thing
    source: versions
    refresh: 6h
    features:
      n_6h: {sql: count(*), window: 6h}
      ever: {sql: d}
  zoned:
    entity: thing
    source: versions
    refresh: {every: 1d, timezone: America/New_York}
    features:
      days: {sql: sum(i), window: {calendar: 2d}}
  picky:
    entity: thing
    source: versions
    refresh: 1d
    features:
      busy: {sql: count(*), window: 1d, expect: {between: [1000, 2000]}}
  passing:
    entity: thing
    source: versions
    refresh: 1d
    history: false
    features:
      n: {sql: count(*), window: 1d}
"""


@dataclass
class Shop:
    """Views over a drawn log, registered, with a history of their own."""

    compiled: CompiledRepository
    engine: SparkEngine
    to: Deployment
    now: Instant = NOW

    def view(self, name: str) -> CompiledView:
        return self.compiled.views[name]

    def instants(self, name: str, start: Instant = START, end: Instant | None = None) -> tuple[Instant, ...]:
        return backfilled_instants(self.view(name), start, end, self.now)

    def backfill(self, name: str, instants: Sequence[Instant] | None = None, **how: Any) -> tuple[RefreshOutcome, ...]:
        def backfill(view: CompiledView, instants: Sequence[Instant], done: backfilling.Done) -> Any:
            return backfill_view(
                view, instants, engine=self.engine, to=self.to, clock=fixed_clock(self.now), done=done, **how
            )

        return backfill_each([(self.view(name), instants or self.instants(name))], backfill)

    @property
    def history(self) -> History:
        assert self.to.history is not None
        return self.to.history

    def kept(self, name: str) -> list[tuple[Instant, int]]:
        view = self.view(name)
        return [(entry.as_of, entry.restatement) for entry in self.history.entries(name, view.fingerprint.data)]

    def online(self, name: str) -> list[Instant]:
        space = KeySpace(namespace=PLACE, view=name, fingerprint=self.view(name).fingerprint.data, as_of=0)
        return [entry.as_of for entry in read_head(self.to.store, space).entries]

    def drafts(self) -> list[Path]:
        return list(self.history.root.rglob("_*.as_of=*"))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("backfill")
    (folder / "defs").mkdir()
    (folder / "defs" / "shop.yaml").write_text(DEFINITIONS)
    write_rows(folder / "log" / "a.parquet", COLUMNS, drawn_rows(7))
    compiled = compile_repository(load_repo(folder / "defs"), folder)
    url = embedded.start(folder / "state").url
    store = RedisStore(url)
    registry = Registry(
        f"sqlite:///{folder / 'registry.db'}", project=PLACE.project, environment=PLACE.environment, models=folder
    )
    register(desired_state(compiled), registry, store, PLACE, START)
    to = Deployment(store=store, url=url, registry=registry, namespace=PLACE, retention=30 * DAY)
    engine = start_engine(Settings(root=folder, state=folder / "state", spark_master="local[2]"))
    yield Shop(compiled=compiled, engine=engine, to=to)
    store.close()
    embedded.stop(folder / "state")


@pytest.fixture
def shop(base: Shop, tmp_path: Path) -> Shop:
    """The shop with a history that is empty."""
    history = History(tmp_path / "history", project=PLACE.project, environment=PLACE.environment)
    return replace(base, to=replace(base.to, history=history))


def test_every_refresh_that_a_backfill_keeps_has_the_bits_of_materialize(shop: Shop) -> None:
    rows = 0
    for name, days in (("daily", 5), ("often", 2), ("zoned", 4)):
        view = shop.view(name)
        instants = shop.instants(name, END - days * DAY)
        assert [outcome.as_of for outcome in shop.backfill(name, instants)] == list(instants)
        for entry in shop.history.entries(name, view.fingerprint.data):
            kept = python_rows(shop.engine.to_arrow(shop.history.read(shop.engine, view, entry)))
            full = python_rows(shop.engine.to_arrow(materialized_frame(shop.engine, view, entry.as_of)))
            assert sorted(repr(bits(row)) for row in kept) == sorted(repr(bits(row)) for row in full), entry
            assert entry.rows == len(full)
            rows += len(full)
    assert rows > 300
    assert shop.drafts() == []


def test_one_job_makes_one_file_of_each_as_of(shop: Shop) -> None:
    shop.backfill("often", shop.instants("often", START, START + 2 * DAY))
    entries = shop.history.entries("often", shop.view("often").fingerprint.data)
    assert {len(entry.files) for entry in entries if entry.kind == "backfill"} == {1}


def test_lookups_get_what_is_due_and_nothing_older(shop: Shop) -> None:
    before = shop.to.registry.watermarks(shop.now)
    shop.backfill("daily", shop.instants("daily", END - 4 * DAY))
    today = END - DAY
    assert shop.online("daily")[-1:] == [today]
    assert not {today - DAY, today - 2 * DAY} & set(shop.online("daily"))
    fingerprint = shop.view("daily").fingerprint.data
    records = {one.as_of: one for one in shop.to.registry.refreshes("daily", fingerprint=fingerprint)}
    assert (records[today - DAY].kind, records[today - DAY].online) == ("backfill", False)
    assert (records[today].kind != "backfill", records[today].online) == (True, True)

    shop.backfill("daily", [START])

    after = shop.to.registry.watermarks(shop.now)
    assert after[fingerprint].as_of == today
    assert {name: mark for name, mark in after.items() if name != fingerprint} == {
        name: mark for name, mark in before.items() if name != fingerprint
    }


def test_what_is_kept_is_not_computed_again_unless_it_is_restated(shop: Shop) -> None:
    assert [outcome.is_new for outcome in shop.backfill("zoned", shop.instants("zoned", START, START + 3 * DAY))]
    first = shop.kept("zoned")

    again = shop.backfill("zoned", shop.instants("zoned", START, START + 3 * DAY))
    assert not any(outcome.is_new for outcome in again)
    assert shop.kept("zoned") == first

    at = shop.instants("zoned", START, START + 3 * DAY)[1]
    (restated,) = shop.backfill("zoned", [at], restate="the source was loaded twice")
    newest = shop.history.get(shop.view("zoned"), at)
    assert newest is not None
    assert newest.restatement == restated.restatement > dict(first)[at]
    assert newest.reason == "the source was loaded twice"
    (record, *_) = shop.to.registry.refreshes("zoned")
    assert (record.as_of, record.reason, record.kind) == (at, "the source was loaded twice", "backfill")


def test_a_backfill_that_was_interrupted_goes_on_where_it_stopped(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backfilling, "ROWS_AT_ONCE", 1)  # each as-of is a job
    instants = shop.instants("often", START, START + DAY)
    told = 0

    def interrupt(new: Sequence[RefreshOutcome]) -> None:
        nonlocal told
        told += len(new)
        if told == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backfill_view(
            shop.view("often"), instants, engine=shop.engine, to=shop.to, clock=fixed_clock(NOW), done=interrupt
        )
    assert [at for at, _ in shop.kept("often")] == list(instants[:2])

    outcomes = shop.backfill("often", instants)

    assert [outcome.is_new for outcome in outcomes] == [False, False, True, True]
    assert [at for at, _ in shop.kept("often")] == list(instants)


def test_a_job_that_fails_leaves_nothing_behind_and_says_so(shop: Shop) -> None:
    instants = shop.instants("often", START, START + DAY)
    log = shop.engine.root / "log"
    log.rename(log.with_name("elsewhere"))
    try:
        with pytest.raises(MaterializeErrors, match="1 of 1 refreshes failed"):
            shop.backfill("often", instants)
    finally:
        log.with_name("elsewhere").rename(log)
    assert (shop.kept("often"), shop.drafts()) == ([], [])


def test_an_as_of_without_any_row_is_kept_as_that(shop: Shop) -> None:
    view = shop.view("daily")
    (outcome,) = shop.backfill("daily", [START - 400 * DAY])
    (entry,) = shop.history.entries("daily", view.fingerprint.data)
    assert (outcome.rows, entry.rows, entry.files) == (0, 0, ())
    frame = shop.history.read(shop.engine, view, entry)
    assert shop.engine.to_arrow(frame).num_rows == 0
    assert frame.schema.simpleString() == materialized_frame(shop.engine, view, START).schema.simpleString()


def test_a_refresh_that_breaks_an_expectation_is_not_kept_and_takes_no_other_with_it(shop: Shop) -> None:
    quiet, busy = START - 400 * DAY, START
    with pytest.raises(MaterializeErrors) as caught:
        shop.backfill("picky", [quiet, busy])
    (failure,) = caught.value.failures
    assert (failure.as_of, type(failure.error)) == (busy, GateError)
    assert [outcome.as_of for outcome in caught.value.outcomes] == [quiet]
    assert [at for at, _ in shop.kept("picky")] == [quiet]
    (record,) = [one for one in shop.to.registry.refreshes("picky") if one.as_of == busy]
    assert (record.status.value, "busy" in (record.failure or "")) == ("failed", True)


def test_a_view_that_keeps_no_history_is_not_backfilled(shop: Shop) -> None:
    assert_refused(shop, "passing", InputError, "passing keeps no history")


def test_a_view_that_is_not_registered_is_not_backfilled(shop: Shop) -> None:
    registry = Registry(
        f"sqlite:///{shop.engine.root / 'other.db'}", project="other", environment="dev", models=shop.engine.root
    )
    assert_refused(replace(shop, to=replace(shop.to, registry=registry)), "daily", NotRegisteredError, "not registered")


def test_as_ofs_that_another_run_computes_are_refused_with_who_it_is(shop: Shop) -> None:
    fingerprint = shop.view("daily").fingerprint.data
    with leased(shop.to.registry, "daily", fingerprint, (START + DAY,), holder="process 7 on far"):
        error = assert_refused(shop, "daily", RefreshRunningError, "daily as of 2013-10-28T00:00Z is being computed")
        assert error.exit_code == 3
        assert "process 7 on far" in str(error)
    assert shop.backfill("daily", [START, START + DAY])


def assert_refused(shop: Shop, name: str, kind: type[FeaturekitError], what: str) -> FeaturekitError:
    with pytest.raises(MaterializeErrors) as caught:
        shop.backfill(name, [START, START + DAY])
    (failure,) = caught.value.failures
    assert isinstance(failure.error, kind)
    assert what in str(failure.error)
    assert (shop.kept(name), shop.drafts()) == ([], [])
    return failure.error


@pytest.mark.parametrize(
    ("start", "end", "now", "what", "try_"),
    [
        (
            START,
            END + DAY,
            NOW,
            "lies in the future",
            "the latest that can be computed of daily is as of 2013-11-09T00:00Z",
        ),
        (START, START, NOW, "is empty", "a start before the end"),
        (START, END, END + 5 * MINUTE, None, None),
        (START, END + MINUTE, END + 5 * MINUTE, "can't be computed as of 2013-11-10T00:00Z yet", "2013-11-09T00:00Z"),
    ],
)
def test_a_range_that_can_not_be_computed_yet_is_refused_with_the_latest_that_can(
    base: Shop, start: Instant, end: Instant, now: Instant, what: str | None, try_: str | None
) -> None:
    if what is None:
        assert backfilled_instants(base.view("daily"), start, end, now)[-1] == END - DAY
        return
    with pytest.raises(TimeError, match=what) as caught:
        backfilled_instants(base.view("daily"), start, end, now)
    assert str(try_) in str(caught.value.try_)


def test_without_an_end_a_range_goes_to_the_latest_that_can_be_computed(base: Shop) -> None:
    found = backfilled_instants(base.view("daily"), START, None, END + 9 * MINUTE)
    assert (found[0], found[-1], len(found)) == (START, END - DAY, DAYS)

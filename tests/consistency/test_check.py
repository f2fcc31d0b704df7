"""What is served agrees with training after a refresh, and each planted fault is found and named."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledView
from featurekit.config import Settings
from featurekit.consistency.check import check_consistency
from featurekit.consistency.compare import Verdict
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.sample import SampleRule
from featurekit.consistency.view_report import Outcome, ViewReport
from featurekit.errors import GateError, NotRegisteredError, SourceError
from featurekit.offline.engine import BatchEngine
from featurekit.offline.session import start_engine
from featurekit.online import embedded
from featurekit.online.codec import Row
from featurekit.online.publish import withdraw_services
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import drop_space
from featurekit.registry.registry import Registry
from featurekit.status import Status
from tests.consistency.shop import AT, PLACE, STALLS, TODAY, YESTERDAY, Shop, write_shop

pytestmark = pytest.mark.spark
MEAN_1D, MEAN_7D, TOTAL_1D, LAST_ITEM = 1, 2, 3, 4
UNSEEN = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shop")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    yield embedded.start(folder / "state").url
    embedded.stop(folder / "state")


@pytest.fixture(scope="module")
def engine(folder: Path) -> BatchEngine:
    """Spark on this machine, reading paths relative to the shop's folder; the session is shared by the whole run."""
    return start_engine(
        Settings(root=folder, state=folder / "state", spark_master="local[2]", spark_driver_memory="1g")
    )


@pytest.fixture(scope="module")
def deployed(folder: Path, url: str, engine: BatchEngine) -> Iterator[Shop]:
    """The shop, registered and refreshed for two days."""
    registry = Registry(
        f"sqlite:///{folder / 'registry.db'}", project="shop", environment="check", models=folder / "models"
    )
    store = RedisStore(url)
    shop = Shop(compiled=write_shop(folder), engine=engine, store=store, url=url, registry=registry)
    shop.register()
    for as_of in (YESTERDAY, TODAY):
        assert shop.refresh(as_of).rows == len(STALLS)
    yield shop
    store.close()


@contextmanager
def restored(deployed: Shop) -> Iterator[Shop]:
    """Give the shop as it was refreshed; what is changed in the store is put back."""
    before = {key: deployed.store.read([key])[0] for key in deployed.store.find(PLACE.prefix)}
    yield deployed
    for key in deployed.store.find(PLACE.prefix):
        if key not in before:
            deployed.store.change(key, lambda _: None)
    deployed.store.write({key: content for key, content in before.items() if content is not None})


@pytest.fixture
def shop(deployed: Shop) -> Iterator[Shop]:
    with restored(deployed) as shop:
        yield shop


def test_after_a_refresh_everything_served_is_what_training_says(shop: Shop) -> None:
    report = shop.check()
    (view,) = report.views
    assert report.passed, report.to_json()
    assert {view.online, view.offline, view.found} == {len(STALLS)}
    assert view.sampled == len(STALLS) + UNSEEN
    assert (view.coverage, view.breaches) == (1, ())
    assert (view.as_of, view.promised_as_of) == (TODAY, TODAY)
    assert all(field.counts[Verdict.MATCH] == view.sampled for field in view.fields)
    assert {field.share for field in view.fields} == {0}
    assert report.exit_code == 0


def test_the_check_follows_what_is_served_at_its_time(shop: Shop) -> None:
    report = shop.check(at=TODAY + HOUR - 1)
    assert report.views[0].as_of == YESTERDAY
    assert report.passed, report.to_json()


def test_a_late_refresh_is_compared_as_of_what_is_served_and_fails_by_being_late(shop: Shop) -> None:
    report = shop.check(at=AT + 2 * DAY)
    (view,) = report.views
    assert view.is_late
    assert (view.differing_cells, view.outcome, report.exit_code) == (0, Outcome.BREACHED, 1)
    assert [breach.told for breach in view.breaches] == ["the as-of that is served is 2d9h old, 9h is promised"]


def with_value(position: int, value: Any) -> Callable[[Row], Row]:
    """Return a change of a row: this value in a field, as if it had been measured."""

    def change(row: Row) -> Row:
        values, statuses = list(row.values), list(row.statuses)
        values[position], statuses[position] = value, Status.PRESENT
        return replace(row, values=tuple(values), statuses=tuple(statuses))

    return change


def rounded(row: Row) -> Row:
    return with_value(MEAN_7D, struct.unpack("<f", struct.pack("<f", row.values[MEAN_7D]))[0])(row)


def off_by_one_ulp(row: Row) -> Row:
    return with_value(MEAN_7D, math.nextafter(row.values[MEAN_7D], math.inf))(row)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something wrong with one entity's row, and how the check is to tell of it.

    `day` is the check that is to find it: single cells of one field that differ for different reasons prove none.
    """

    key: bytes
    entity: str
    plant: Callable[[Shop, bytes], None]
    cause: Cause
    field: str | None = None
    served: str | None = None
    recomputed: str | None = None
    words: str
    day: int = 0


def stored(change: Callable[[bytes], bytes | None]) -> Callable[[Shop, bytes], None]:
    """Plant a change of the stored bytes."""
    return lambda shop, key: shop.plant(key, change(shop.bytes_of(key)))


def rewritten(change: Callable[[Row], Row]) -> Callable[[Shop, bytes], None]:
    """Plant a change of what the row says."""
    return lambda shop, key: shop.rewrite(key, change)


def of_yesterday(shop: Shop, key: bytes) -> None:
    shop.plant(key, shop.bytes_of(key, YESTERDAY))


def of_yesterday_labelled_today(shop: Shop, key: bytes) -> None:
    yesterday = shop.codec().decode_row(shop.bytes_of(key, YESTERDAY))
    shop.rewrite(key, lambda _: replace(yesterday, as_of=TODAY))


def copy_of_another(shop: Shop, key: bytes) -> None:
    shop.plant(key, shop.bytes_of(b"%_,6"))


# Each on an entity of its own, so that one check finds those of a day and none hides another.
FAULTS = {
    "yesterday's row under today's key": Fault(
        key=b"Aachen,4",
        entity="town = 'Aachen', number = 4",
        plant=of_yesterday,
        cause=Cause.STALE_ROW,
        words="as of 2026-03-09T00:00Z, and lies under the key of the refresh as of 2026-03-10T00:00Z",
    ),
    "a row of another definition": Fault(
        key=b"Aachen,5",
        entity="town = 'Aachen', number = 5",
        plant=stored(lambda row: row[:2] + bytes.fromhex("ab12ab12ab12") + row[8:]),
        cause=Cause.OTHER_VERSION,
        served="UNAVAILABLE",
        words="written by definition ab12ab12",
    ),
    "a row cut short": Fault(
        key=b"Aachen,6",
        entity="town = 'Aachen', number = 6",
        plant=stored(lambda row: row[:-3]),
        cause=Cause.BROKEN_ROW,
        served="UNAVAILABLE",
        words="is not a row",
    ),
    "a row whose text is damaged": Fault(
        key=b"%7BBr\xc3\xbchl%7D%2C 50%25,3",
        entity="town = '{Brühl}, 50%', number = 3",
        plant=stored(lambda row: row[:-1] + b"\xff"),
        cause=Cause.BROKEN_ROW,
        served="UNAVAILABLE",
        words="not UTF-8",
    ),
    "a row of a later featurekit": Fault(
        key=b"%7BBr\xc3\xbchl%7D%2C 50%25,4",
        entity="town = '{Brühl}, 50%', number = 4",
        plant=stored(lambda row: b"\x09" + row[1:]),
        cause=Cause.BROKEN_ROW,
        served="UNAVAILABLE",
        words="wire version 9",
    ),
    "a deleted row": Fault(
        key=b"%7BBr\xc3\xbchl%7D%2C 50%25,5",
        entity="town = '{Brühl}, 50%', number = 5",
        plant=stored(lambda _: None),
        cause=Cause.MISSING_ROW,
        served="no row",
        words="the online store has none",
    ),
    "a row of an entity without events": Fault(
        key=b"Aachen,99",
        entity="town = 'Aachen', number = 99",
        plant=copy_of_another,
        cause=Cause.EXTRA_ROW,
        recomputed="no row",
        words="sees no event",
    ),
    "a key that names no entity": Fault(
        key=b"Aachen",
        entity="Aachen",
        plant=copy_of_another,
        cause=Cause.EXTRA_ROW,
        served="no lookup reads it",
        words="not what any values",
    ),
    "0 in place of null": Fault(
        key=b"Aachen,1",
        entity="town = 'Aachen', number = 1",
        plant=rewritten(with_value(MEAN_1D, 0.0)),
        cause=Cause.NULL_FILLED_WITH_ZERO,
        field="mean_1d",
        served="0.0",
        recomputed="NULL",
        words="Training has no value here",
    ),
    "a default of 0 in place of null": Fault(
        key=b"%7BBr\xc3\xbchl%7D%2C 50%25,1",
        entity="town = '{Brühl}, 50%', number = 1",
        plant=rewritten(with_value(TOTAL_1D, 0.0)),
        cause=Cause.NULL_FILLED_WITH_DEFAULT,
        field="total_1d",
        served="0.0",
        recomputed="0.0 (default)",
        words="the row holds the default 0.0",
    ),
    "the default in place of an expired value": Fault(
        key=b"Aachen,2",
        entity="town = 'Aachen', number = 2",
        plant=rewritten(with_value(LAST_ITEM, "nothing")),
        cause=Cause.NULL_FILLED_WITH_DEFAULT,
        field="last_item",
        served="'nothing'",
        recomputed="'nothing' (default)",
        words="the row holds the default 'nothing'",
        day=1,
    ),
    "an expired value as if it were not": Fault(
        key=b"%7BBr\xc3\xbchl%7D%2C 50%25,2",
        entity="town = '{Brühl}, 50%', number = 2",
        plant=rewritten(with_value(LAST_ITEM, "item-4")),
        cause=Cause.TTL_IGNORED,
        field="last_item",
        served="'item-4'",
        recomputed="'nothing' (default)",
        words="the ttl is ignored",
    ),
    "a double rounded to float32": Fault(
        key=b"Aachen,3",
        entity="town = 'Aachen', number = 3",
        plant=rewritten(rounded),
        cause=Cause.FLOAT32_ROUNDED,
        field="mean_7d",
        words="detour through float32",
    ),
    "one ulp": Fault(
        key=b"%_,3",
        entity="town = '', number = 3",
        plant=rewritten(off_by_one_ulp),
        cause=Cause.FLOAT_NOISE,
        field="mean_7d",
        words="The served value is the recomputed one, but for the last bits of a sum.",
        day=1,
    ),
    "a value from nowhere": Fault(
        key=b"%_,5",
        entity="town = '', number = 5",
        plant=rewritten(with_value(MEAN_1D, 7.653219014)),
        cause=Cause.UNKNOWN,
        field="mean_1d",
        served="7.653219014",
        words="Nothing that was tried",
        day=1,
    ),
    "yesterday's values under today's label": Fault(
        key=b"%_,4",
        entity="town = '', number = 4",
        plant=of_yesterday_labelled_today,
        cause=Cause.PREVIOUS_REFRESH,
        field="mean_7d",
        words="that of the refresh before",
        day=2,
    ),
}


@pytest.fixture(scope="module")
def faulty(deployed: Shop) -> dict[int, ViewReport]:
    """The report of each day's check after its faults were planted; the store is as before."""

    def checked(day: int) -> ViewReport:
        with restored(deployed) as shop:
            for fault in FAULTS.values():
                if fault.day == day:
                    fault.plant(shop, fault.key)
            (view,) = shop.check().views
            return view

    return {day: checked(day) for day in (0, 1, 2)}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_found_and_named_with_its_entity(faulty: dict[int, ViewReport], fault: Fault) -> None:
    told = [
        (finding.cause, evidence)
        for finding in faulty[fault.day].findings
        for evidence in finding.evidence
        if evidence.entity == fault.entity and evidence.field in (fault.field, None)
    ]
    ((cause, evidence),) = told
    assert (cause, evidence.field) == (fault.cause, fault.field)
    assert fault.served in (None, evidence.served)
    assert fault.recomputed in (None, evidence.recomputed)
    assert fault.words in evidence.explanation


def test_a_stale_row_is_shown_with_what_it_holds(faulty: dict[int, ViewReport]) -> None:
    (finding,) = [each for each in faulty[0].findings if each.cause is Cause.STALE_ROW]
    assert finding.evidence[0].served.startswith("UNAVAILABLE; the row holds sales_7d = 14, mean_1d = ")


@pytest.mark.parametrize("day", [0, 1, 2])
def test_nothing_is_found_that_was_not_planted(faulty: dict[int, ViewReport], day: int) -> None:
    view = faulty[day]
    entities = {evidence.entity for finding in view.findings for evidence in finding.evidence}
    assert entities == {fault.entity for fault in FAULTS.values() if fault.day == day}
    assert view.outcome is Outcome.INCONSISTENT


def test_entities_of_either_side_are_counted_and_those_of_neither_are_outside(faulty: dict[int, ViewReport]) -> None:
    view = faulty[0]
    assert (view.online, view.offline, view.sampled) == (len(STALLS) + 1, len(STALLS), len(STALLS) + 1 + UNSEEN)
    assert view.outside == 1  # the row whose key names no entity
    assert view.coverage == 13 / 19  # one row is deleted, and five say that they are no rows of this refresh


def test_a_dropped_key_space_is_unavailable_and_no_world_without_entities(shop: Shop) -> None:
    drop_space(shop.store, shop.space())
    report = shop.check()
    (view,) = report.views
    assert (view.outcome, view.sampled, report.exit_code) == (Outcome.UNAVAILABLE, 0, 1)
    assert view.problem is not None
    assert view.problem.startswith(f"the key space {shop.space()} is gone")


def test_a_head_that_is_gone_is_unavailable(shop: Shop) -> None:
    shop.store.change(shop.space().head, lambda _: None)
    (view,) = shop.check().views
    assert view.outcome is Outcome.UNAVAILABLE
    assert view.problem is not None
    assert "no refresh is served at 2026-03-10T09:00Z" in view.problem


def test_rows_that_are_all_gone_are_missing_rows(shop: Shop) -> None:
    for key in list(shop.store.find(PLACE.row_prefix())):
        if key.endswith(shop.space().row_suffix):
            shop.store.change(key, lambda _: None)
    (view,) = shop.check().views
    assert (view.online, view.found, view.coverage) == (0, 0, 0)
    assert [(finding.cause, finding.count) for finding in view.findings] == [(Cause.MISSING_ROW, len(STALLS))]


def test_an_empty_sample_does_not_pass(shop: Shop) -> None:
    report = shop.check(SampleRule(share=1e-18, per_stratum=0))
    assert (report.views[0].outcome, report.exit_code) == (Outcome.EMPTY, 1)


def test_a_small_sample_is_compared_as_far_as_it_goes(shop: Shop) -> None:
    report = shop.check(SampleRule(max_entities=5, per_stratum=0, seed="s"))
    assert report.passed
    assert (report.views[0].sampled, report.views[0].online, report.seed) == (5, len(STALLS), "s")


def test_a_view_that_nobody_registered_is_told_as_such(shop: Shop) -> None:
    withdraw_services(shop.store, PLACE, ["takings"])
    with pytest.raises(NotRegisteredError, match="takings"):
        shop.check()


def test_a_refresh_that_breaks_an_expectation_is_never_served(
    shop: Shop, folder: Path, tmp_path: Path, engine: BatchEngine
) -> None:
    write_shop(folder, broken_amount=5000.0)
    try:
        with pytest.raises(GateError) as raised:
            shop.refresh(TODAY, restate="again")
    finally:
        write_shop(folder)
    assert "mean_1d: 1 of 18 rows (5.56 %) are not between 0 and 1000" in str(raised.value)
    assert shop.check().passed


def without_source(shop: Shop) -> CompiledView:
    takings = shop.compiled.views["takings"]
    return replace(takings, source=takings.source.model_copy(update={"path": "data/gone.parquet"}))


def test_a_view_that_can_not_be_checked_does_not_keep_the_others_from_it(shop: Shop) -> None:
    takings = shop.compiled.views["takings"]
    pending = replace(takings, view=takings.view.model_copy(update={"name": "pending"}))
    changed = replace(takings, fingerprint=replace(takings.fingerprint, data="ab" * 32))
    with shop.client() as client:
        report = check_consistency(
            engine=shop.engine,
            client=client,
            store=shop.store,
            namespace=PLACE,
            views=[pending, changed, takings, without_source(shop)],
            at=AT,
            sample=SampleRule(max_entities=2),
        )
    outcomes = [view.outcome for view in report.views]
    assert outcomes == [Outcome.UNAVAILABLE, Outcome.UNAVAILABLE, Outcome.CONSISTENT, Outcome.UNAVAILABLE]
    problems = [view.problem or "" for view in report.views]
    assert "service 'pending' is not registered" in problems[0]
    assert "is served, and these definitions say abababab" in problems[1]
    assert problems[3].startswith("its source can't be read")
    assert "gone.parquet" in problems[3]
    assert report.exit_code == 1


def test_a_source_that_can_not_be_read_is_wrong_input_where_nothing_else_was_compared(shop: Shop) -> None:
    with shop.client() as client, pytest.raises(SourceError, match=r"gone\.parquet"):
        check_consistency(
            engine=shop.engine,
            client=client,
            store=shop.store,
            namespace=PLACE,
            views=[without_source(shop)],
            at=AT,
        )

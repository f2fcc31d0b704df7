"""What was served agrees with training when it is asked again; each difference is told under its own question."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.apply import register
from featurekit.clock import DAY, HOUR, fixed_clock
from featurekit.compiled import CompiledRepository, CompiledView
from featurekit.config import Settings
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.replay.logged import ReplayRule
from featurekit.consistency.replay.replay import ReplayLimits, replay_log
from featurekit.consistency.replay.report import Question, ReplayReport, ServiceReplay
from featurekit.consistency.replay.versions import Definitions
from featurekit.errors import DefinitionError, InputError
from featurekit.offline.engine import BatchEngine
from featurekit.offline.session import start_engine
from featurekit.online import embedded
from featurekit.online.client import FeatureClient
from featurekit.online.keys import Namespace
from featurekit.online.reason import Reason
from featurekit.online.redis import RedisStore
from featurekit.online.served_log import ServedLog
from featurekit.refresh_values import Deployment
from featurekit.refreshing import refresh_view
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from featurekit.served_columns import METADATA
from featurekit.status import Status
from tests.consistency.airport import DELAY, START, flights_of, write_airport

pytestmark = pytest.mark.spark
TODAY = START + 6 * DAY
TOMORROW = TODAY + DAY
PLACE = Namespace("air", "port")
CARRIERS = ("AA", "UA", "WN", "ZZ", None)


@dataclass(frozen=True, kw_only=True)
class Airport:
    """What is deployed, and the log of what it served: of two days, every view on time."""

    compiled: CompiledRepository
    engine: BatchEngine
    registry: Registry
    log: Path

    def replay(self, log: Path | None = None, *services: str, **rule: Any) -> ReplayReport:
        return replay_log(
            log or self.log,
            services=services,
            rule=ReplayRule(**rule),
            limits=ReplayLimits(),
            registry=self.registry,
            definitions=Definitions(
                services={**self.compiled.view_services, **self.compiled.services},
                views=tuple(self.compiled.views.values()),
                compile_version=_gone,
                earlier=_nothing_before,
            ),
            engine=lambda: self.engine,
            namespace=PLACE,
            now=TOMORROW + DAY,
        )


def _nothing_before(_: CompiledView) -> tuple[CompiledView, ...]:
    return ()


def _gone(version: Any) -> Any:
    raise DefinitionError(f"{version.name} can't be computed any more")


@pytest.fixture(scope="module")
def airport(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Airport]:
    folder = tmp_path_factory.mktemp("replay")
    compiled = write_airport(folder, flights_of(3))
    settings = Settings(root=folder, state=folder / "state", spark_master="local[2]", spark_driver_memory="1g")
    engine = start_engine(settings)
    url = embedded.start(folder / "state").url
    store = RedisStore(url)
    registry = Registry(f"sqlite:///{folder / 'registry.db'}", project="air", environment="port", models=folder / "m")
    register(desired_state(compiled), registry, store, PLACE, TODAY)
    to = Deployment(url=url, store=store, registry=registry, namespace=PLACE, retention=30 * DAY)
    place = folder / "log"
    for day in (TODAY, TOMORROW):
        at = day + DELAY
        refresh_view(compiled.views["delays"], day, engine=engine, to=to, clock=fixed_clock(at))
        with (
            ServedLog(place, project="air", environment="port") as log,
            FeatureClient(url, project="air", environment="port", clock=fixed_clock(at), log=log) as client,
        ):
            for n, carrier in enumerate(CARRIERS):
                client.lookup("trips", {"carrier": carrier}, {"hours": float(n)}, at=at + n * HOUR)
            client.lookup("odds", {"carrier": list(CARRIERS)}, request_id=f"odds {day}")
            client.lookup("pairs", {"carrier": ["AA", "UA"], "rival": ["WN", None]}, request_id="pairs")
            client.lookup("trips", {"carrier": list(CARRIERS)}, {"hours": 3.0}, request_id=f"many {day}")
    yield Airport(compiled=compiled, engine=engine, registry=registry, log=place)
    store.close()
    embedded.stop(folder / "state")


Rows = list[dict[str, Any]]


@pytest.fixture
def changed(airport: Airport, tmp_path: Path) -> Callable[..., Path]:
    """Return the function that copies a service's log with its rows, or what its files say of themselves, changed."""

    def change(rows: Callable[[Rows], None] = lambda _: None, service: str = "trips", **told: Any) -> Path:
        for file in sorted((airport.log / service).glob("*.parquet")):
            table = pq.read_table(file)
            found = table.to_pylist()
            rows(found)
            metadata = json.loads(table.schema.metadata[METADATA]) | told
            schema = table.schema.with_metadata({METADATA: json.dumps(metadata).encode()})
            (tmp_path / service).mkdir(exist_ok=True)
            pq.write_table(pa.Table.from_pylist(found, schema), tmp_path / service / file.name)
        return tmp_path

    return change


def service(report: ReplayReport, name: str = "trips") -> ServiceReplay:
    return next(each for each in report.services if each.service == name)


def test_what_was_served_agrees_under_each_question(airport: Airport) -> None:
    report = airport.replay()
    assert report.passed, report.to_json()
    assert [each.service for each in report.services] == ["odds", "pairs", "trips"]
    trips = service(report)
    assert (trips.logged, trips.sampled) == (20, 20)
    (view,) = trips.views
    assert (view.freshness.on_time, view.freshness.late_rows) == (20, 0)
    assert {field.name: (field.compared, field.differing) for field in trips.fields} == dict.fromkeys(
        ("delays.mean_1d", "delays.n_3d", "delays.last", "delays.last_or", "trip.share"), (20, 0)
    )
    assert [[day.compared for day in field.days] for field in trips.fields] == [[10, 10]] * 5
    assert {view.alias for view in service(report, "pairs").views} == {"delays", "other"}
    assert json.loads(report.to_json())["services"][2]["values"]["compared"] == 100


def test_a_value_that_is_not_that_of_its_as_of_is_a_difference_of_logic(airport: Airport, changed: Any) -> None:
    def plant(rows: Rows) -> None:
        for row in rows:
            if row["carrier"] == "AA":
                row["delays.n_3d"] += 1

    report = airport.replay(changed(plant))
    trips = service(report)
    assert report.exit_code == 1
    assert {field.name: field.differing for field in trips.fields if field.differing} == {"delays.n_3d": 4}
    assert (trips.differing(Question.EVALUATOR), trips.differing(Question.FRESHNESS)) == (0, 0)
    assert trips.problems == ("4 values differ (logic)",)
    assert [(each.rows, each.differing) for each in trips.answered_by] == [(20, 4)]


def test_on_demand_values_that_follow_from_wrong_inputs_are_told_of_the_inputs_and_others_of_the_evaluator(
    airport: Airport, changed: Any
) -> None:
    def plant(rows: Rows) -> None:
        for row in rows:
            if row["carrier"] == "AA" and row["hours"]:
                row["delays.mean_1d"] += 3.0
                row["trip.share"] = row["delays.mean_1d"] / row["hours"]
            if row["carrier"] == "UA":
                row["trip.share"] = 7.5

    trips = service(airport.replay(changed(plant)))
    assert {field.name: field.differing for field in trips.fields if field.differing} == {
        "delays.mean_1d": 2,
        "trip.share": 4,
    }
    assert {field.name: field.follows for field in trips.fields if field.follows} == {"trip.share": 2}
    assert (trips.differing(Question.LOGIC), trips.differing(Question.EVALUATOR)) == (2, 4)


def test_an_on_demand_value_is_computed_again_from_inputs_that_are_no_outputs(airport: Airport, changed: Any) -> None:
    def plant(rows: Rows) -> None:
        for row in rows:
            row["odds.flights"] = 1.0 + row["delays.n_3d"]

    clean = service(airport.replay(None, "odds"), "odds")
    assert [(field.name, field.compared, field.unlogged) for field in clean.fields] == [
        ("delays.n_3d", 10, ()),
        ("delays.last_or", 10, ()),
        ("odds.flights", 10, ()),
    ]
    odds = service(airport.replay(changed(plant, "odds")), "odds")
    assert (odds.differing(Question.LOGIC), odds.differing(Question.EVALUATOR)) == (0, 10)
    (finding,) = odds.on_demand[0].findings
    assert (finding.cause, finding.field, finding.count) == (Cause.LOGARITHM_LEFT_OUT, "odds.flights", 10)


def test_what_stands_in_for_an_input_that_was_not_logged_is_the_recomputed_one(airport: Airport, changed: Any) -> None:
    log = changed(service="odds")
    for file in (log / "odds").glob("*.parquet"):
        table = pq.read_table(file).drop_columns(["delays.n_3d"])
        pq.write_table(table, file)
    odds = service(airport.replay(log), "odds")
    assert odds.passed, odds.problems
    assert [(field.name, field.compared, field.unlogged) for field in odds.fields] == [
        ("delays.last_or", 10, ()),
        ("odds.flights", 10, ("delays.n_3d",)),
    ]


def test_a_difference_has_its_cause_with_requests_that_show_it(airport: Airport, changed: Any) -> None:
    """A mean in seconds, where minutes were declared."""

    def plant(rows: Rows) -> None:
        for row in rows:
            row["delays.mean_1d"] = None if row["delays.mean_1d"] is None else row["delays.mean_1d"] * 60.0
            row["trip.share"] = (
                None if not row["hours"] or row["delays.mean_1d"] is None else row["delays.mean_1d"] / row["hours"]
            )

    trips = service(airport.replay(changed(plant)))
    (finding,) = trips.views[0].findings
    assert (finding.field, finding.cause) == ("mean_1d", Cause.SCALED), finding
    assert finding.count == trips.views[0].differing
    assert finding.since == TODAY
    assert ", request " in finding.evidence[0].entity
    assert trips.on_demand[0].findings == ()


def test_a_late_answer_is_a_matter_of_freshness_and_its_values_are_those_of_its_as_of(
    airport: Airport, changed: Any
) -> None:
    def plant(rows: Rows) -> None:
        for row in rows:
            row["timestamp"] = pa.scalar(TOMORROW + DELAY + 2 * DAY, pa.timestamp("us", tz="UTC")).as_py()

    report = airport.replay(changed(plant))
    trips = service(report)
    assert (trips.differing(Question.LOGIC), trips.differing(Question.EVALUATOR)) == (0, 0)
    assert trips.views[0].freshness.late == {2: 10, 3: 10}
    assert trips.problems == ("delays was late in 100.00% of its answers",)
    assert trips.answered_by[0].late == 20


def test_what_stood_in_for_an_answer_is_counted_and_is_no_mismatch(airport: Airport, changed: Any) -> None:
    def plant(rows: Rows) -> None:
        away, known = rows[0], rows[1]
        for output in away["__status"]:
            away[output] = None
            away["__status"][output] = Status.UNAVAILABLE
            away["__reason"][output] = Reason.STORE_TIMEOUT
            known["__reason"][output] = Reason.LAST_KNOWN
        away["__as_of"]["delays"] = None
        known["delays.n_3d"] = 999
        known["__reason"]["trip.share"] = Reason.INPUT_DEGRADED

    report = airport.replay(changed(plant))
    assert report.passed, report.to_json()
    trips = service(report)
    fresh = trips.views[0].freshness
    assert (fresh.unavailable, fresh.last_known, fresh.on_time) == (2, 2, 18)
    counted = next(field for field in trips.fields if field.name == "delays.n_3d")
    assert (counted.compared, counted.unavailable, counted.degraded) == (16, 0, 2)


def test_rows_of_other_environments_and_of_versions_nobody_knows_are_counted(airport: Airport, changed: Any) -> None:
    log = changed(fingerprint="0" * 64)
    for file in (airport.log / "trips").glob("*.parquet"):
        shutil.copy(file, log / "trips" / f"own-{file.name}")
    trips = service(airport.replay(log))
    assert (trips.other_versions, trips.logged, trips.passed) == (20, 20, True)


def test_a_log_of_another_environment_is_refused(airport: Airport, changed: Any) -> None:
    with pytest.raises(InputError, match="the log has nothing that air/port served") as refused:
        airport.replay(changed(environment="elsewhere"))
    assert refused.value.why == "it holds answers of air/elsewhere"
    with pytest.raises(InputError, match="there is no log of journeys"):
        airport.replay(None, "journeys")


def test_a_log_of_unknown_versions_alone_does_not_pass(airport: Airport, changed: Any) -> None:
    report = airport.replay(changed(fingerprint="0" * 64))
    assert report.exit_code == 1
    assert service(report).problems == ("no value was compared",)


def test_of_an_entity_that_is_forgotten_nothing_is_compared(airport: Airport, changed: Any) -> None:
    def plant(rows: Rows) -> None:
        for row in rows:
            if row["carrier"] == "WN":
                row["delays.n_3d"] += 1

    log = changed(plant)
    airport.registry.forget(("carrier",), [b"WN"], at=TOMORROW, random=bytes)
    try:
        report = airport.replay(log)
        assert report.passed, report.to_json()
        assert service(report).forgotten == 4
    finally:
        airport.registry.remember(("carrier",), [b"WN"], at=TOMORROW)

"""Windows of all kinds from their definition to what is served, trained on, checked and traced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.apply import register
from featurekit.clock import DAY, HOUR, fixed_clock, parse_instant
from featurekit.compiled import CompiledRepository
from featurekit.compiler import compile_repository
from featurekit.consistency.check import check_consistency
from featurekit.consistency.view_report import Outcome
from featurekit.definitions.repo import load_repo
from featurekit.offline.labels import LabelSpec
from featurekit.offline.session import SparkEngine
from featurekit.offline.training import build_dataset
from featurekit.online.client import FeatureClient
from featurekit.online.keys import Namespace
from featurekit.online.redis import RedisStore
from featurekit.refresh_values import Deployment
from featurekit.refreshing import refresh_view
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from featurekit.trace import trace_feature
from tests.offline.conftest import EngineAt
from tests.online.servers import embedded_server

pytestmark = pytest.mark.spark
PLACE = Namespace("shop", "windows")
# The day before had 25 hours in New York.
AS_OF = parse_instant("2013-11-04T05:00Z")
AT = AS_OF + 9 * HOUR
DEFINITIONS = """\
entities:
  user: {join_keys: {user_id: bigint}}
sources:
  rows: {path: rows.parquet, event_timestamp: at}
feature_views:
  v:
    entity: user
    source: rows
    refresh: {every: 1d, timezone: America/New_York}
    availability_delay: 2h
    features:
      n_24h:   {sql: count(*), window: 24h}
      n_day:   {sql: count(*), window: {calendar: 1d}}
      n_month: {sql: count(*), window: {calendar: 1mo}}
      sum_3:   {sql: sum(amount), window: {rows: 3}}
      max_2:   {sql: max(amount), window: {rows: 2, within: 2d}}
      n_ever:  {sql: count(*), window: lifetime}
      share:   {sql: n_day / n_ever}
      last:    {sql: amount, ttl: 1d}
feature_services:
  all: {features: [v]}
"""
INSTANT = pa.timestamp("us", tz="UTC")
ROWS = [(1, hours * HOUR, float(hours)) for hours in range(60)] + [(2, 40 * DAY, 7.0), (3, 30 * HOUR, None)]
EXPECTED = {
    "v.n_24h": [24, 0, 0, 0],
    "v.n_day": [25, 0, 0, 0],
    "v.n_month": [59, 0, 1, 0],
    "v.sum_3": [6.0, 7.0, None, None],
    "v.max_2": [2.0, None, None, None],
    "v.n_ever": [59, 1, 1, 0],
    "v.share": [25 / 59, 0.0, 0.0, None],
    "v.last": [1.0, None, None, None],
}


class Deployed:
    """The view refreshed for real."""

    def __init__(self, root: Path, engine: SparkEngine, url: str) -> None:
        columns = {
            "user_id": pa.array([user for user, _, _ in ROWS], pa.int64()),
            "at": pa.array([AS_OF - before for _, before, _ in ROWS], INSTANT),
            "amount": pa.array([amount for _, _, amount in ROWS], pa.float64()),
        }
        pq.write_table(pa.table(columns), root / "rows.parquet")
        (root / "defs").mkdir()
        (root / "defs" / "all.yaml").write_text(DEFINITIONS)
        self.root, self.engine = root, engine
        self.compiled: CompiledRepository = compile_repository(load_repo(root / "defs"), root)
        self.view = self.compiled.views["v"]
        self.store = RedisStore(url)
        registry = Registry(
            f"sqlite:///{root / 'registry.db'}", project=PLACE.project, environment=PLACE.environment, models=root
        )
        register(desired_state(self.compiled), registry, self.store, PLACE, AS_OF)
        to = Deployment(store=self.store, url=url, registry=registry, namespace=PLACE, retention=DAY)
        refresh_view(self.view, AS_OF, engine=engine, to=to, clock=fixed_clock(AS_OF + HOUR))
        self.client = FeatureClient(url, project=PLACE.project, environment=PLACE.environment, clock=fixed_clock(AT))


@pytest.fixture(scope="module")
def world(engine_at: EngineAt, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    root = tmp_path_factory.mktemp("windows")
    with embedded_server(tmp_path_factory.mktemp("server")) as url:
        found = Deployed(root, engine_at(root), url)
        yield found
        found.client.close()
        found.store.close()


def test_a_lookup_and_a_training_set_have_the_same_values(world: Deployed) -> None:
    users = [1, 2, 3, 4]
    rows = world.client.lookup("all", {"user_id": users}).to_dict()
    assert {name: [row[name] for row in rows] for name in EXPECTED} == EXPECTED
    labels = {"user_id": pa.array(users, pa.int64()), "event_timestamp": pa.array([AT] * len(users), INSTANT)}
    pq.write_table(pa.table(labels), world.root / "labels.parquet")
    build_dataset(world.engine, world.compiled.services["all"], LabelSpec(path="labels.parquet"), world.root / "out")
    trained = pq.read_table(world.root / "out").sort_by("user_id")
    assert {name: trained[name].to_pylist() for name in EXPECTED} == EXPECTED


def test_a_check_finds_nothing(world: Deployed) -> None:
    (view,) = check_consistency(
        engine=world.engine, client=world.client, store=world.store, namespace=PLACE, views=[world.view], at=AT
    ).views
    assert view.outcome is Outcome.CONSISTENT
    assert view.cells > 0


@pytest.mark.parametrize(
    ("feature", "value", "over"),
    [
        ("n_day", "25", "bigint, over the calendar day up to the as-of in America/New_York"),
        ("max_2", "2.0", "double, over the last 2 rows of the last 2d"),
        (
            "share",
            str(25 / 59),
            "double, over the calendar day up to the as-of in America/New_York and all rows",
        ),
        ("n_24h", "24", "bigint"),
    ],
)
def test_a_trace_tells_which_rows_a_value_is_over(world: Deployed, feature: str, value: str, over: str) -> None:
    trace = trace_feature(
        world.view,
        feature,
        {"user_id": 1},
        engine=world.engine,
        client=world.client,
        store=world.store,
        namespace=PLACE,
        at=AT,
    )
    steps = {step.name: step for step in trace.steps}
    assert trace.matches
    assert steps["source"].value == "59 rows before 2013-11-04T05:00Z"
    assert (steps["spark"].value, steps["spark"].detail) == (value, over)

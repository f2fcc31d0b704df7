"""Features that are arrays, maps and structs, from their definition to every form of an answer, bit for bit."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.apply import register
from featurekit.arrow_types import held_values, to_arrow
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
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.redis import RedisStore
from featurekit.refresh_values import Deployment
from featurekit.refreshing import refresh_view
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from featurekit.serving.protocol import encode_features
from featurekit.status import Status
from featurekit.targets import crossover
from featurekit.trace import trace_feature
from tests.offline.conftest import EngineAt
from tests.online.servers import embedded_server
from tests.online.strategies import same

pytestmark = pytest.mark.spark
PLACE = Namespace("shop", "nested")
AS_OF = parse_instant("2014-01-02T00:00Z")
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
    refresh: 1d
    features:
      top:       {sql: "top_k(amount, 3)", window: 1d}
      pages:     {sql: "collect_last(page, 3)", window: 1d, expect: {max_null_share: 0.7}}
      nth:       {sql: "transform(top_k(amount, 3), x -> x / 0.0D)", window: 1d}
      embedding: {sql: embedding}
      fresh:     {sql: embedding, ttl: 30m}
      place:     {sql: place}
      counts:    {sql: "map_from_arrays(words, numbers)"}
      scores:    {sql: "map_from_arrays(words, transform(numbers, x -> sqrt(-x)))"}
      vector:    {sql: embedding, default: "[0.5, null, -0.0]"}
      expired:   {sql: words, ttl: 30m, default: "[]"}
      filled:    {sql: "map_from_arrays(words, numbers)", default: '{"x": 1, "y": null}'}
      home:      {sql: place, default: '{"city": "?", "at": [0.1]}'}
      zeros:     {sql: "transform(numbers, x -> x * -0.0D)"}
      events:    {sql: "array(named_struct('at', at, 'page', page, 'paid', array(CAST(numbers[0] AS DECIMAL(30,2)))))"}
      n:         {sql: count(*), window: 1d}
on_demand_feature_views:
  calc:
    request: {scale: double}
    features:
      scaled: {sql: "transform(v.embedding, x -> x * scale)"}
      city:   {sql: "upper(v.place.city)"}
      both:   {sql: "named_struct('first', v.top[0], 'sizes', map('pages', size(v.pages)))"}
      word:   {sql: "v.counts['a']"}
feature_services:
  all: {features: [v, calc]}
"""
INSTANT = pa.timestamp("us", tz="UTC")
PLACE_TYPE = pa.struct([("city", pa.string()), ("at", pa.list_(pa.float32()))])
ROWS = pa.table(
    {
        "user_id": pa.array([1, 1, 1, 1, 2, 3], pa.int64()),
        "at": pa.array([AS_OF - hours * HOUR for hours in (5, 4, 3, 2, 1, 40)], INSTANT),
        "amount": pa.array([2.5, math.nan, -0.0, -math.inf, None, 1.0], pa.float64()),
        "page": pa.array(["home", "é\U0001f600", None, "", None, "old"]),
        "embedding": pa.array(
            [[1.0], [2.0], None, [0.1, None, math.nan, -math.inf, 5e-324], [], [7.0]], pa.list_(pa.float64())
        ),
        "place": pa.array(
            [None, None, None, {"city": "nîmes", "at": [0.1, None]}, {"city": None, "at": None}, None], PLACE_TYPE
        ),
        "words": pa.array([None, None, None, ["b", "a"], [], ["a"]], pa.list_(pa.string())),
        "numbers": pa.array([None, None, None, [7, None], [], [1]], pa.list_(pa.int32())),
    }
)
USERS = [1, 2, 3, 4]
EXPECTED: dict[str, list[Any]] = {
    "v.top": [[math.nan, 2.5, 0.0], None, None, None],
    "v.pages": [["home", "é\U0001f600", ""], None, None, None],
    "v.embedding": [[0.1, None, math.nan, -math.inf, 5e-324], [], [7.0], None],
    "v.fresh": [None, None, None, None],
    "v.place": [{"city": "nîmes", "at": [0.10000000149011612, None]}, {"city": None, "at": None}, None, None],
    "v.counts": [{"b": 7, "a": None}, {}, {"a": 1}, None],
    "v.zeros": [[-0.0, None], [], [-0.0], None],
    "v.vector": [[0.1, None, math.nan, -math.inf, 5e-324], [], [7.0], [0.5, None, -0.0]],
    "v.expired": [[], [], [], []],
    "v.filled": [{"b": 7, "a": None}, {}, {"a": 1}, {"x": 1, "y": None}],
    "v.home": [{"city": "nîmes", "at": [0.10000000149011612, None]}, {"city": None, "at": None}]
    + [{"city": "?", "at": [0.10000000149011612]}] * 2,
    "calc.city": ["NÎMES", None, None, None],
    "calc.word": [None, None, 1, None],
}


class Deployed:
    """The view refreshed for real, and label rows with what training says of them."""

    def __init__(self, root: Path, engine: SparkEngine, url: str) -> None:
        pq.write_table(ROWS, root / "rows.parquet")
        (root / "defs").mkdir()
        (root / "defs" / "all.yaml").write_text(DEFINITIONS)
        self.root, self.engine, self.url = root, engine, url
        self.compiled: CompiledRepository = compile_repository(load_repo(root / "defs"), root)
        self.store = RedisStore(url)
        registry = Registry(
            f"sqlite:///{root / 'registry.db'}", project=PLACE.project, environment=PLACE.environment, models=root
        )
        register(desired_state(self.compiled), registry, self.store, PLACE, AS_OF)
        to = Deployment(store=self.store, url=url, registry=registry, namespace=PLACE, retention=DAY)
        self.outcome = refresh_view(
            self.compiled.views["v"], AS_OF, engine=engine, to=to, clock=fixed_clock(AS_OF + HOUR)
        )
        self.client = FeatureClient(url, project=PLACE.project, environment=PLACE.environment, clock=fixed_clock(AT))
        self.trained = self._trained()

    def _trained(self) -> pa.Table:
        labels = pa.table(
            {
                "user_id": pa.array(USERS, pa.int64()),
                "event_timestamp": pa.array([AT] * len(USERS), INSTANT),
                "scale": pa.array([-1.0, 1.0, 2.0, 3.0], pa.float64()),
            }
        )
        pq.write_table(labels, self.root / "labels.parquet")
        self.dataset = build_dataset(
            self.engine, self.compiled.services["all"], LabelSpec(path="labels.parquet"), self.root / "out"
        )
        return pq.read_table(self.root / "out").sort_by("user_id")


@pytest.fixture(scope="module")
def world(engine_at: EngineAt, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    root = tmp_path_factory.mktemp("nested")
    with embedded_server(tmp_path_factory.mktemp("server")) as url:
        found = Deployed(root, engine_at(root), url)
        yield found
        found.client.close()
        found.store.close()


REQUEST = {"scale": [-1.0, 1.0, 2.0, 3.0]}


@pytest.mark.parametrize("fewest", [1, 1000], ids=["columns", "rows"])
@pytest.mark.parametrize("times", [1, 3], ids=["few", "many"])
def test_what_is_served_is_what_training_says(
    world: Deployed, monkeypatch: pytest.MonkeyPatch, fewest: int, times: int
) -> None:
    monkeypatch.setattr(crossover, "FEWEST_ROWS_OF_VECTORS", fewest)
    found = world.client.lookup("all", {"user_id": USERS * times}, {"scale": REQUEST["scale"] * times}).to_arrow()
    for field in world.compiled.services["all"].outputs:
        served = found.column(field.name).combine_chunks()
        served.validate(full=True)
        trained = world.trained.column(field.name).combine_chunks().cast(to_arrow(field.type))
        assert all(map(same, held_values(served), held_values(trained) * times)), field.name


def test_the_values_are_those_of_the_source(world: Deployed) -> None:
    rows = world.client.lookup("all", {"user_id": USERS}, REQUEST).to_dict()
    for name, expected in EXPECTED.items():
        assert [repr(row[name]) for row in rows] == [repr(value) for value in expected], name
    assert rows[0]["calc.both"] == {"first": pytest.approx(math.nan, nan_ok=True), "sizes": {"pages": 3}}
    assert rows[0]["v.events"][0]["page"] == ""
    assert str(rows[0]["v.events"][0]["at"]) == "2014-01-01 22:00:00+00:00"
    assert [row["calc.scaled"] for row in rows[1:]] == [[], [14.0], None]


def test_one_entity_is_answered_as_many_are(world: Deployed) -> None:
    many = world.client.lookup("all", {"user_id": USERS}, REQUEST)
    arrays = many.to_numpy()
    for i, (user, row) in enumerate(zip(USERS, many.to_dict(), strict=True)):
        one = world.client.lookup("all", {"user_id": user}, {"scale": REQUEST["scale"][i]})
        assert repr(one.to_dict()) == repr(row)
        for name, array in arrays.items():
            cell = array[i]
            assert repr(None if cell is np.ma.masked else cell if array.dtype == object else cell.item()) == repr(
                row[name]
            )
    assert arrays["v.embedding"].dtype == object


def test_what_is_not_there_has_its_status(world: Deployed) -> None:
    found = world.client.lookup("all", {"user_id": USERS}, REQUEST)
    assert [Status(int(code)) for code in found.status("v.embedding")] == [Status.PRESENT] * 3 + [Status.MISSING]
    assert [Status(int(code)).name for code in found.status("v.home")] == ["PRESENT"] * 2 + ["DEFAULTED"] * 2
    assert [Status(int(code)).name for code in found.status("v.fresh")] == ["MISSING"] + ["EXPIRED"] + ["MISSING"] * 2


def test_pandas_and_json_hold_them_too(world: Deployed) -> None:
    found = world.client.lookup("all", {"user_id": USERS}, REQUEST)
    frame = found.to_pandas()
    assert list(frame["v.pages"][0]) == EXPECTED["v.pages"][0]
    values = json.loads(encode_features(found))["values"]
    assert values[0]["v.embedding"] == [0.1, None, "NaN", "-Infinity", 5e-324]
    assert values[0]["v.counts"] == {"b": 7, "a": None}
    assert values[0]["v.place"] == EXPECTED["v.place"][0]
    assert values[0]["v.events"] == [{"at": "2014-01-01T22:00:00Z", "page": "", "paid": ["7.00"]}]


def test_a_training_set_of_the_same_content_has_the_same_id(world: Deployed) -> None:
    again = build_dataset(
        world.engine, world.compiled.services["all"], LabelSpec(path="labels.parquet"), world.root / "again"
    )
    assert again.id == world.dataset.id


def test_a_check_agrees_and_tells_one_flipped_bit(world: Deployed) -> None:
    def check() -> Any:
        return check_consistency(
            engine=world.engine,
            client=world.client,
            store=world.store,
            namespace=PLACE,
            views=[world.compiled.views["v"]],
            at=AT,
        )

    (view,) = check().views
    assert view.outcome is Outcome.CONSISTENT
    assert view.cells > 0
    space = KeySpace(namespace=PLACE, view="v", fingerprint=world.compiled.views["v"].fingerprint.data, as_of=AS_OF)
    (row,) = world.store.read([space.row(b"1")])
    assert row is not None
    zero = row.index(np.array([math.nan, 2.5, 0.0]).tobytes()) + 16
    world.store.change(space.row(b"1"), lambda _: row[: zero + 7] + b"\x80" + row[zero + 8 :])
    try:
        (view,) = check().views
    finally:
        world.store.change(space.row(b"1"), lambda _: row)
    assert view.outcome is Outcome.INCONSISTENT
    (finding,) = view.findings
    assert finding.field == "top"
    assert (finding.evidence[0].served, finding.evidence[0].recomputed) == ("[NaN, 2.5, -0.0]", "[NaN, 2.5, 0.0]")


def test_one_value_can_be_traced(world: Deployed) -> None:
    trace = trace_feature(
        world.compiled.views["v"],
        "place",
        {"user_id": 1},
        engine=world.engine,
        client=world.client,
        store=world.store,
        namespace=PLACE,
        at=AT,
    )
    values = {step.name: step.value for step in trace.steps}
    shown = "(city: 'nîmes', at: [0.1, NULL])"
    assert values["spark"] == values["decoded"] == shown
    assert shown in values["served"]
    assert shown in values["recomputed"]

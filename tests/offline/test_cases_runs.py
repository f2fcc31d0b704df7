"""Cases that feature stores got wrong in public when they ran day by day (cases 16, 17, 18, 19 and 24 of section A).

A shop is registered, refreshed and looked up for real: Spark, a server, a registry, a history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.apply import register
from featurekit.backfilling import backfilled_instants
from featurekit.clock import DAY, HOUR, MINUTE, Instant, fixed_clock, parse_instant
from featurekit.compiled import CompiledRepository
from featurekit.compiler import compile_repository
from featurekit.definitions.repo import load_repo
from featurekit.errors import TimeError
from featurekit.offline.history import History
from featurekit.offline.session import SparkEngine
from featurekit.online import embedded
from featurekit.online.client import FeatureClient
from featurekit.online.keys import Namespace
from featurekit.online.redis import RedisStore
from featurekit.refresh_values import Deployment, RefreshOutcome
from featurekit.refreshing import due, refresh_view
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from tests.offline.conftest import EngineAt

pytestmark = pytest.mark.spark
PLACE: Final = Namespace("shop", "runs")
NOON: Final = parse_instant("2024-03-05T12:00Z")
ENTITIES: Final = 12  # one that changes is less than half of them: a refresh is computed from the one before
DEFINITIONS: Final = """\
entities:
  user: {join_keys: {user_id: bigint}}
sources:
  orders: {path: orders, event_timestamp: at, created_timestamp: known}
feature_views:
  spend:
    entity: user
    source: orders
    refresh: 12h
    availability_delay: 1h
    features:
      last_v: {sql: v}
      n_3d:   {sql: count(*), window: 3d}
      sum_3d: {sql: sum(v), window: 3d}
"""


@dataclass
class Shop:
    folder: Path
    engine: SparkEngine
    url: str
    store: RedisStore
    definitions: str = DEFINITIONS
    files: int = field(default=0)

    def __post_init__(self) -> None:
        (self.folder / "defs").mkdir()
        self.registry = Registry(
            f"sqlite:///{self.folder / 'registry.db'}", project="shop", environment="runs", models=self.folder
        )
        self.history = History(self.folder / "history", project="shop", environment="runs")

    def write(self, *rows: tuple[int, Instant, Instant, int]) -> None:
        """Add a file of rows: user, event, created, value."""
        columns = [pa.array(part, pa.int64()) for part in zip(*rows, strict=True)]
        instant = pa.timestamp("us", tz="UTC")
        table = pa.table(
            {"user_id": columns[0], "at": columns[1].cast(instant), "known": columns[2].cast(instant), "v": columns[3]}
        )
        (self.folder / "orders").mkdir(exist_ok=True)
        pq.write_table(table, self.folder / "orders" / f"{self.files}.parquet")
        self.files += 1

    @property
    def compiled(self) -> CompiledRepository:
        (self.folder / "defs" / "shop.yaml").write_text(self.definitions)
        return compile_repository(load_repo(self.folder / "defs"), self.folder)

    def register(self, now: Instant) -> None:
        register(desired_state(self.compiled), self.registry, self.store, PLACE, now)

    def run(self, now: Instant, **how: Any) -> list[RefreshOutcome]:
        """Refresh what is due, as `materialize` without a time does."""
        view = self.compiled.views["spend"]
        to = Deployment(
            store=self.store,
            url=self.url,
            registry=self.registry,
            namespace=PLACE,
            retention=30 * DAY,
            history=self.history,
        )
        return [
            refresh_view(view, at, engine=self.engine, to=to, clock=fixed_clock(now), **how) for at in due(view, now)
        ]

    def served(self, user: int, now: Instant) -> dict[str, Any]:
        with FeatureClient(self.url, project="shop", environment="runs", clock=fixed_clock(now)) as client:
            row: dict[str, Any] = client.lookup("spend", {"user_id": user}).to_dict()  # of one entity
            return row


@pytest.fixture
def shop(engine_at: EngineAt, tmp_path: Path) -> Iterator[Shop]:
    url = embedded.start(tmp_path / "state").url
    store = RedisStore(url)
    shop = Shop(folder=tmp_path, engine=engine_at(tmp_path), url=url, store=store)
    day_before = NOON - DAY
    shop.write(*((user, day_before, day_before, 100) for user in range(ENTITIES)))
    shop.register(NOON - 6 * HOUR)
    yield shop
    store.close()
    embedded.stop(tmp_path / "state")


def test_a_late_row_is_picked_up_by_the_next_run_and_puts_no_older_value_over_a_newer(shop: Shop) -> None:
    """Cases 16 and 19."""
    shop.write((1, NOON - MINUTE, NOON - MINUTE, 30), (1, NOON - 5 * MINUTE, NOON - 5 * MINUTE, 10))
    (first,) = shop.run(NOON + HOUR)
    assert (first.kind, first.as_of) == ("full", NOON)
    assert shop.served(1, NOON + HOUR) == {"spend.last_v": 30, "spend.n_3d": 3, "spend.sum_3d": 140}
    # Dated before the watermark, created after it: later than the refresh that it belongs to by its date.
    shop.write((1, NOON - 10 * MINUTE, NOON + 10 * MINUTE, 7), (2, NOON - 10 * MINUTE, NOON + 10 * MINUTE, 8))

    (second,) = shop.run(NOON + 13 * HOUR)

    assert (second.kind, second.computed, second.rows) == ("incremental", 2, ENTITIES)
    assert shop.served(1, NOON + 13 * HOUR) == {"spend.last_v": 30, "spend.n_3d": 4, "spend.sum_3d": 147}
    assert shop.served(2, NOON + 13 * HOUR) == {"spend.last_v": 8, "spend.n_3d": 2, "spend.sum_3d": 108}
    (record, *_) = shop.registry.refreshes("spend")
    assert (record.kind, record.computed) == ("incremental", 2)
    assert "2024-03-05T12:00Z" in str(record.reason)
    entry = shop.history.get(shop.compiled.views["spend"], second.as_of)
    assert entry is not None
    assert (entry.kind, entry.rows) == ("incremental", ENTITIES)

    (again,) = shop.run(NOON + 13 * HOUR, restate="checked", full=True)
    assert (again.kind, again.restatement, again.reason) == ("full", 1, "checked")
    assert shop.served(1, NOON + 13 * HOUR) == {"spend.last_v": 30, "spend.n_3d": 4, "spend.sum_3d": 147}


def test_an_end_in_the_future_is_refused_and_stalls_nothing(shop: Shop) -> None:
    """Case 17."""
    view = shop.compiled.views["spend"]
    with pytest.raises(TimeError, match="2025-04-08T00:00Z lies in the future"):
        backfilled_instants(view, NOON - DAY, parse_instant("2025-04-08"), NOON + HOUR)
    (first,) = shop.run(NOON + HOUR)
    shop.write((1, NOON + HOUR, NOON + HOUR, 5))
    (second,) = shop.run(NOON + 13 * HOUR)
    assert (second.as_of, second.is_new) == (first.as_of + 12 * HOUR, True)
    assert shop.served(1, NOON + 13 * HOUR)["spend.last_v"] == 5


def test_the_watermark_and_the_run_history_survive_a_registration(shop: Shop) -> None:
    """Case 18."""
    (first,) = shop.run(NOON + HOUR)
    shop.definitions = DEFINITIONS.replace("    entity: user\n", "    entity: user\n    owner: crm\n")
    shop.register(NOON + 2 * HOUR)
    fingerprint = shop.compiled.views["spend"].fingerprint.data
    assert shop.registry.watermarks()[fingerprint].as_of == first.as_of
    assert not shop.run(NOON + 3 * HOUR)[0].is_new
    shop.write((1, NOON + HOUR, NOON + HOUR, 5))
    (second,) = shop.run(NOON + 13 * HOUR)
    assert (second.kind, second.computed) == ("incremental", 1)

    # Another meaning starts anew, and what was kept of the one before stays.
    shop.definitions = DEFINITIONS.replace("window: 3d", "window: 2d")
    shop.register(NOON + 14 * HOUR)
    (anew,) = shop.run(NOON + 15 * HOUR)
    assert (anew.is_new, anew.kind, anew.reason) == (True, "full", "no earlier refresh is kept")
    assert [entry.as_of for entry in shop.history.entries("spend", fingerprint)] == [NOON, NOON + 12 * HOUR]


def test_nothing_of_a_refresh_is_served_before_all_of_it_is_there(shop: Shop) -> None:
    """Case 24: what is stored and what is new never mix, and never stand alone."""
    shop.run(NOON + HOUR)
    shop.write((1, NOON + HOUR, NOON + HOUR, 7))
    before = {"spend.last_v": 100, "spend.n_3d": 1, "spend.sum_3d": 100}
    assert shop.served(1, NOON + 12 * HOUR) == before
    shop.run(NOON + 13 * HOUR)
    assert shop.served(1, NOON + 13 * HOUR - 1) == before
    assert shop.served(1, NOON + 13 * HOUR) == {"spend.last_v": 7, "spend.n_3d": 2, "spend.sum_3d": 107}

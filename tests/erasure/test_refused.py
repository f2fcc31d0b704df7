"""What is forgotten is refused by what Spark computes: increments equal full refreshes, labels may not name it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR, Instant, parse_instant
from featurekit.config import Settings
from featurekit.errors import InputError
from featurekit.feature_store import FeatureStore
from featurekit.offline.labels import LabelSpec
from featurekit.online import embedded

pytestmark = [pytest.mark.spark, pytest.mark.long]

START: Final = parse_instant("2026-01-01T00:00Z")
DEFS: Final = """\
entities:
  user: {join_keys: {user_id: bigint}}
sources:
  orders:
    path: data/orders
    event_timestamp: at
    created_timestamp: known
feature_views:
  spend:
    entity: user
    source: orders
    refresh: 1d
    availability_delay: 2h
    features:
      n_3d: {sql: count(*), window: 3d, default: 0}
      sum_3d: {sql: sum(amount), window: 3d}
      last: {sql: amount, ttl: 30d}
feature_services:
  score: {features: [spend]}
"""


class World(FeatureStore):
    """A store whose clock and source the test moves on, a day at a time."""

    def add_day(self, day: int) -> None:
        at = datetime.fromisoformat("2026-01-01T06:00+00:00") + timedelta(days=day)
        users = [user for user in range(60) for _ in range(1 + (user + day) % 3)] if day == 0 else [1, 2, 3, 4 + day]
        rows = {
            "user_id": pa.array(users, pa.int64()),
            "at": pa.array([at + timedelta(minutes=place) for place in range(len(users))], pa.timestamp("us", "UTC")),
            "amount": pa.array([user * 1.5 + day for user in users]),
        }
        rows["known"] = rows["at"]
        folder = self.settings.root / "data" / "orders"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(rows), folder / f"day{day}.parquet")

    def kept(self, as_of: Instant) -> pa.Table:
        """Return the kept rows of the last restatement of an as-of, by user."""
        view = self.definitions.views["spend"]
        entry = self.history.get(view, as_of)
        assert entry is not None
        tables = [pq.ParquetFile(entry.path / file.name).read() for file in entry.files]
        return pa.concat_tables(tables).sort_by("user_id")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    (tmp_path / "feature_defs").mkdir()
    (tmp_path / "feature_defs" / "shop.yaml").write_text(DEFS)
    settings = Settings(
        root=tmp_path,
        project="shop",
        definitions=tmp_path / "feature_defs",
        state=tmp_path / ".featurekit",
        now=START + DAY + 3 * HOUR,
        spark_master="local[2]",
    )
    with World(settings) as store:
        store.add_day(0)
        store.register()
        yield store
    embedded.stop(settings.state)


def at_day(world: World, day: int) -> None:
    object.__setattr__(world.settings, "now", START + day * DAY + 3 * HOUR)


def test_increments_equal_full_refreshes_while_a_user_is_forgotten_and_when_it_is_remembered(world: World) -> None:
    world.materialize()
    done = world.forget("user", [{"user_id": 2}], check_sources=True)
    assert done.is_clean
    assert [source.rows for source in done.sources or ()] == [3]
    for day in (2, 3):
        world.add_day(day - 1)
        at_day(world, day)
        (outcome,) = world.materialize()
    assert outcome.kind.value == "incremental"
    incremental = world.kept(START + 3 * DAY)
    world.materialize(as_of=START + 3 * DAY, restate="to compare", full=True)
    assert world.kept(START + 3 * DAY).to_pylist() == incremental.to_pylist()
    assert 2 not in incremental["user_id"].to_pylist()
    assert world.forget("user", [{"user_id": 2}], dry_run=True, check_sources=False).is_clean

    assert world.remember("user", [{"user_id": 2}]) == 1
    world.add_day(3)
    at_day(world, 4)
    (outcome,) = world.materialize()
    assert (outcome.kind.value, outcome.reason) == ("full", "an entity is remembered since, which the kept rows lack")
    assert 2 in world.kept(START + 4 * DAY)["user_id"].to_pylist()


def test_labels_of_a_forgotten_user_are_refused(world: World, tmp_path: Path) -> None:
    world.materialize()
    labels = tmp_path / "labels.csv"
    labels.write_text("user_id,event_timestamp\n1,2026-01-02T02:30:00Z\n2,2026-01-02T02:30:00Z\n")
    spec = LabelSpec(path=str(labels), timestamp="event_timestamp")
    before = world.dataset("score", spec, tmp_path / "set")
    done = world.forget("user", [{"user_id": 2}], check_sources=False, datasets=[tmp_path / "set"])
    assert [one.rows for one in done.datasets] == [1]
    for build in (
        lambda: world.dataset("score", spec, tmp_path / "again"),
        lambda: world.training_table("score", spec),
        lambda: world.dataset_rebuild(before.path),
    ):
        with pytest.raises(InputError, match="1 label rows are of entities that were forgotten"):
            build()
    labels.write_text("user_id,event_timestamp\n1,2026-01-02T02:30:00Z\n")
    assert world.dataset("score", spec, tmp_path / "again").rows == 1
    assert world.check().passed

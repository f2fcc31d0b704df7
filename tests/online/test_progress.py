from __future__ import annotations

import time

import redis

from featurekit.clock import DAY
from featurekit.counters import add_counters
from featurekit.materializing import Shown
from featurekit.online.progress import any_progress_key, watched
from featurekit.online.redis import RedisStore
from featurekit.types import Float64
from tests.online.servers import key_space, offline_batch, plan_field, row_sink, view_plan

VIEW = view_plan([plan_field("x", Float64())])
SPACE = key_space(VIEW, 20 * DAY)


def test_who_watches_is_told_of_the_rows_of_all_tasks_while_they_are_written(
    any_url: str, any_store: RedisStore
) -> None:
    told: list[int] = []
    batch = offline_batch(VIEW, [{"user_id": i, "x": 1.0} for i in range(500)])
    with watched(any_store, SPACE, told.append):
        for _ in range(2):
            sink = row_sink(any_url, VIEW, SPACE, is_watched=True, chunk_bytes=2000)
            assert add_counters(list(sink(iter([batch]))))["rows"] == 500
        until = time.monotonic() + 10
        while (not told or told[-1] < 1000) and time.monotonic() < until:
            time.sleep(0.05)
    assert told[-1] == 1000
    assert not any(b":progress:" in key for key in any_store.find(b"fk:") if any_store.read([key]) == [None])


def test_numbers_expire_by_themselves_and_are_left_only_where_somebody_watches(url: str, store: RedisStore) -> None:
    batch = offline_batch(VIEW, [{"user_id": 1, "x": 1.0}])
    list(row_sink(url, VIEW, SPACE)(iter([batch])))
    prefix = any_progress_key(SPACE).rpartition(b":")[0]
    assert list(store.find(prefix)) == []
    list(row_sink(url, VIEW, SPACE, is_watched=True)(iter([batch])))
    (key,) = store.find(prefix)
    with redis.Redis.from_url(url) as client:
        assert 0 < int(client.ttl(key)) <= 600


def test_rows_are_shown_beside_the_refresh_that_they_are_of() -> None:
    lines: list[tuple[str, int, int]] = []
    now = [0.0]
    shown = Shown(lambda *line: lines.append(line), lambda: now[0])
    shown.refreshes("materialize spend", 1, 3)
    now[0] = 2.0
    shown.rows(0)
    shown.rows(250_000)
    assert lines == [("materialize spend", 1, 3), ("materialize spend: 250,000 rows, 125,000 rows/s", 1, 3)]

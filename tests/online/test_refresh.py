from __future__ import annotations

import contextlib
import pickle
import threading
import time
from typing import Any

import pyarrow as pa
import pytest
import redis

from featurekit.clock import DAY, HOUR, MINUTE
from featurekit.counters import add_counters
from featurekit.errors import EvictingStoreError, KeySpaceDroppedError, OnlineStoreError
from featurekit.grid import Grid
from featurekit.online.codec import RowCodec
from featurekit.online.keys import KeySpace
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import (
    begin_refresh,
    complete_refresh,
    drop_space,
    drop_spaces,
    read_head,
    sweep_space,
    withdraw_refresh,
)
from featurekit.types import Field, Float64, Int64, String
from tests.online.servers import (
    DAILY,
    key_space,
    masters_of,
    materialize,
    offline_batch,
    plan_field,
    row_sink,
    view_plan,
)

VIEW = view_plan([plan_field("x", Float64()), plan_field("s", String())])
AS_OF = 20 * DAY


def rows(count: int, *, first: int = 0) -> pa.RecordBatch:
    return offline_batch(VIEW, [{"user_id": i, "x": i / 8, "s": "é" * (i % 5)} for i in range(first, first + count)])


def test_the_writer_writes_every_row_and_counts_them(any_url: str, any_store: RedisStore) -> None:
    space = key_space(VIEW, AS_OF)
    sink = row_sink(any_url, VIEW, space, chunk_bytes=1000)
    counted = add_counters(list(sink(iter([rows(1000), rows(0), rows(500, first=1000)]))))
    codec = RowCodec([Field("x", Float64()), Field("s", String())], VIEW.fingerprint)
    found = any_store.read([space.row(b"%d" % i) for i in range(1500)])
    assert counted == {"rows": 1500, "bytes": sum(len(row or b"") for row in found), "null_keys": 0}
    decoded = [codec.decode_row(row or b"") for row in found]
    assert [row.values for row in decoded] == [(i / 8, "é" * (i % 5)) for i in range(1500)]
    assert {row.as_of for row in decoded} == {AS_OF}


def test_rows_in_place_are_never_written_over_by_older_ones_nor_swept_by_what_is_older(
    any_url: str, any_store: RedisStore
) -> None:
    space = key_space(VIEW, AS_OF).at(AS_OF, live=0)
    list(row_sink(any_url, VIEW, space)(iter([rows(300)])))
    newer = any_store.read([space.row(b"%d" % i) for i in range(100)])
    # Rows that are under way when another run takes over, and those that the next refresh has none for.
    list(row_sink(any_url, VIEW, space.at(AS_OF - DAY, live=0))(iter([rows(400)])))
    assert any_store.read([space.row(b"%d" % i) for i in range(100)]) == newer
    assert sweep_space(any_store, space.at(AS_OF - DAY, live=0)) == 0
    assert sweep_space(any_store, space) == 100
    assert sweep_space(any_store, space) == 0
    assert [value is None for value in any_store.read([space.row(b"299"), space.row(b"300")])] == [False, True]


def test_rows_expire_counted_from_their_own_write(any_url: str, any_store: RedisStore) -> None:
    space = key_space(VIEW, AS_OF)
    list(row_sink(any_url, VIEW, space, expires_in_s=100)(iter([rows(1)])))
    left: list[Any] = []
    for client in masters_of(any_url):
        with client, contextlib.suppress(redis.ResponseError):  # of a cluster's other nodes
            left.append(client.ttl(space.row(b"0")))
    assert len(left) == 1
    assert 95 <= left[0] <= 100


def test_a_row_with_a_null_key_is_counted_and_not_written(url: str, store: RedisStore) -> None:
    batch = rows(3).set_column(0, "user_id", pa.array([1, None, 2], pa.int64()))
    counted = add_counters(list(row_sink(url, VIEW, key_space(VIEW, AS_OF))(iter([batch]))))
    assert (counted["rows"], counted["null_keys"]) == (2, 1)
    assert len(set(store.find(b""))) == 2


def test_the_sink_travels_to_executors_and_shows_no_password() -> None:
    sink = row_sink("redis://u:secret@h/0", VIEW, key_space(VIEW, AS_OF))
    assert pickle.loads(pickle.dumps(sink)) == sink
    assert "secret" not in repr(sink)


def test_a_write_survives_a_connection_that_breaks(url: str, store: RedisStore) -> None:
    space = key_space(VIEW, AS_OF)
    done = threading.Event()

    def disturb() -> None:
        with redis.Redis.from_url(url) as admin:
            while not done.is_set():
                admin.client_kill_filter(_type="normal", skipme=True)
                done.wait(0.2)

    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        batches = (rows(2000, first=first) for first in range(0, 40_000, 2000))
        counted = add_counters(list(row_sink(url, VIEW, space)(batches)))
    finally:
        done.set()
        disturber.join()
    assert counted["rows"] == 40_000
    assert sum(row is not None for row in store.read([space.row(b"%d" % i) for i in range(40_000)])) == 40_000


def test_a_writer_gives_up_with_our_error_when_the_store_stays_away() -> None:
    with pytest.raises(OnlineStoreError) as caught:
        list(row_sink("redis://u:secret@127.0.0.1:1", VIEW, key_space(VIEW, AS_OF), retries=1)(iter([rows(1)])))
    assert "secret" not in str(caught.value)


def test_a_full_store_is_our_error(url: str) -> None:
    with redis.Redis.from_url(url) as admin:
        admin.config_set("maxmemory", 1)
        try:
            with pytest.raises(OnlineStoreError, match="full"):
                list(row_sink(url, VIEW, key_space(VIEW, AS_OF))(iter([rows(10)])))
        finally:
            admin.config_set("maxmemory", 0)


def test_a_refresh_is_visible_from_its_grid_instant_or_its_completion_whichever_is_later(
    any_url: str, any_store: RedisStore
) -> None:
    early = materialize(any_store, any_url, VIEW, AS_OF, rows(2), completed_at=AS_OF + HOUR)
    late = materialize(any_store, any_url, VIEW, AS_OF + DAY, rows(2), completed_at=AS_OF + DAY + 5 * HOUR)
    assert early.entry.visible_from == AS_OF + 2 * HOUR
    assert late.entry.visible_from == AS_OF + DAY + 5 * HOUR
    assert read_head(any_store, key_space(VIEW, 0)).entries == (early.entry, late.entry)


def test_a_refresh_of_the_past_never_replaces_a_newer_one(url: str, store: RedisStore) -> None:
    materialize(store, url, VIEW, AS_OF, rows(1))
    materialize(store, url, VIEW, AS_OF - DAY, rows(1), completed_at=AS_OF + DAY)
    head = read_head(store, key_space(VIEW, 0))
    assert [entry.as_of for entry in head.entries] == [AS_OF - DAY, AS_OF]
    served = head.at(AS_OF + 2 * DAY)
    assert served is not None
    assert served.as_of == AS_OF


def test_a_rerun_leaves_visible_what_was_visible(url: str, store: RedisStore) -> None:
    first = materialize(store, url, VIEW, AS_OF, rows(2), completed_at=AS_OF)
    again = materialize(store, url, VIEW, AS_OF, rows(3), completed_at=AS_OF + 9 * DAY)
    assert again.entry.visible_from == first.entry.visible_from
    assert again.entry.rows == 3
    assert again.retired == ()


def test_a_refresh_whose_space_was_dropped_is_not_completed(url: str, store: RedisStore) -> None:
    space = key_space(VIEW, AS_OF)
    refresh = begin_refresh(store, space, expires_in_s=60)
    drop_space(store, space)
    with pytest.raises(KeySpaceDroppedError) as caught:
        complete_refresh(store, refresh, grid=DAILY, completed_at=AS_OF, rows=0)
    assert caught.value.try_
    assert read_head(store, space).entries == ()


def test_the_marker_never_outlives_a_row(url: str, store: RedisStore) -> None:
    space = key_space(VIEW, AS_OF)
    refresh = begin_refresh(store, space, expires_in_s=100)
    time.sleep(0.01)
    list(row_sink(url, VIEW, space, expires_in_s=100)(iter([rows(50)])))
    complete_refresh(store, refresh, grid=DAILY, completed_at=AS_OF, rows=50)
    with redis.Redis.from_url(url) as client:
        marker: Any = client.pexpiretime(space.marker)
        left: Any = [client.pexpiretime(space.row(b"%d" % i)) for i in range(50)]
    assert marker <= min(left)


def test_a_rerun_does_not_promise_rows_that_it_has_not_written_yet(url: str, store: RedisStore) -> None:
    materialize(store, url, VIEW, AS_OF, rows(5))
    space = key_space(VIEW, AS_OF)
    with redis.Redis.from_url(url) as client:
        before: Any = client.pexpiretime(space.marker)
        refresh = begin_refresh(store, space, expires_in_s=7200)
        assert client.pexpiretime(space.marker) == before
        list(row_sink(url, VIEW, space, expires_in_s=7200)(iter([rows(5)])))
        complete_refresh(store, refresh, grid=DAILY, completed_at=AS_OF, rows=5)
        assert client.pexpiretime(space.marker) == refresh.expires_at_ms


def test_a_rerun_of_a_dropped_space_hides_it_until_it_is_complete(url: str, store: RedisStore) -> None:
    materialize(store, url, VIEW, AS_OF, rows(5))
    space = key_space(VIEW, AS_OF)
    drop_space(store, space)
    refresh = begin_refresh(store, space, expires_in_s=60)
    assert read_head(store, space).entries == ()
    complete_refresh(store, refresh, grid=DAILY, completed_at=AS_OF, rows=5)
    assert len(read_head(store, space).entries) == 1


def test_refreshes_beyond_those_kept_are_told_so_that_they_can_be_dropped(url: str, store: RedisStore) -> None:
    spaces = [key_space(VIEW, AS_OF + i * DAY) for i in range(4)]
    retired: list[KeySpace] = []
    for space in spaces:
        refresh = begin_refresh(store, space, expires_in_s=60)
        # The last one is complete two hours before it serves.
        done = complete_refresh(store, refresh, grid=DAILY, completed_at=space.as_of, rows=0, keep=1, grace=0)
        retired += done.retired
    assert retired == spaces[:1]


@pytest.mark.parametrize("delay", [0, 3 * HOUR, 3 * DAY, 40 * DAY])
def test_what_serves_is_never_retired_however_long_the_delay(delay: int, url: str, store: RedisStore) -> None:
    grid = Grid(HOUR * 6, availability_delay=delay)
    for i in range(220):
        space = key_space(VIEW, AS_OF + i * grid.every)
        refresh = begin_refresh(store, space, expires_in_s=60)
        complete_refresh(store, refresh, grid=grid, completed_at=space.as_of, rows=0, keep=2)
        served = read_head(store, space).at(space.as_of)
        promised = grid.served_at(space.as_of)
        assert (served.as_of if served else None) == (promised if promised >= AS_OF else None)


def test_a_refresh_of_long_ago_is_there_when_its_run_says_so(url: str, store: RedisStore) -> None:
    for i in range(12):
        materialize(store, url, VIEW, AS_OF + i * DAY, rows(1))
    old = materialize(store, url, VIEW, AS_OF - 9 * DAY, rows(1), completed_at=AS_OF + 12 * DAY)
    assert read_head(store, key_space(VIEW, 0)).entries[0] == old.entry


def test_two_jobs_that_complete_at_once_both_stay_listed(url: str) -> None:
    def run(i: int) -> None:
        mine = RedisStore(url)
        space = key_space(VIEW, AS_OF + i * DAY)
        refresh = begin_refresh(mine, space, expires_in_s=60)
        complete_refresh(mine, refresh, grid=DAILY, completed_at=space.as_of, rows=i, keep=50)
        mine.close()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = RedisStore(url)
    assert [entry.rows for entry in read_head(store, key_space(VIEW, 0)).entries] == list(range(12))
    store.close()


def test_withdrawing_brings_back_the_refresh_before(url: str, store: RedisStore) -> None:
    materialize(store, url, VIEW, AS_OF, rows(1))
    materialize(store, url, VIEW, AS_OF + DAY, rows(1))
    space = key_space(VIEW, AS_OF + DAY)
    assert withdraw_refresh(store, space)
    assert not withdraw_refresh(store, space)
    assert [entry.as_of for entry in read_head(store, space).entries] == [AS_OF]


def test_dropping_spaces_takes_their_rows_and_no_others_in_one_walk(
    any_url: str, any_store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    again, other = {"restatement": 1}, view_plan(VIEW.fields, name="view2")
    half = key_space(VIEW, AS_OF + 30 * MINUTE)  # its text begins like that of AS_OF
    for view, space in ((VIEW, key_space(VIEW, AS_OF)), (VIEW, key_space(VIEW, AS_OF + DAY)), (VIEW, half)):
        materialize(any_store, any_url, view, space.as_of, rows(10))
    materialize(any_store, any_url, VIEW, AS_OF, rows(10), **again)
    materialize(any_store, any_url, other, AS_OF, rows(10))
    dropped = [key_space(VIEW, AS_OF), key_space(VIEW, AS_OF + DAY)]
    patterns: list[bytes] = []
    delete = any_store.delete

    def counted(pattern: bytes, **options: Any) -> int:
        patterns.append(pattern)
        return delete(pattern, **options)

    monkeypatch.setattr(any_store, "delete", counted)
    assert drop_spaces(any_store, dropped) == 20
    assert len(patterns) == 1
    for kept in (key_space(VIEW, AS_OF, **again), half, key_space(other, AS_OF)):
        assert None not in any_store.read([kept.marker, *(kept.row(b"%d" % i) for i in range(10))])
    assert any_store.read([space.marker for space in dropped]) == [None, None]
    assert drop_spaces(any_store, []) == 0
    assert len(patterns) == 1


def test_a_view_of_every_minute_keeps_a_few_copies(url: str, store: RedisStore) -> None:
    grid = Grid(MINUTE)
    for i in range(60):
        space = key_space(VIEW, AS_OF + i * MINUTE)
        refresh = begin_refresh(store, space, expires_in_s=60)
        complete_refresh(store, refresh, grid=grid, completed_at=space.as_of, rows=0)
    assert [entry.as_of for entry in read_head(store, space).entries] == [AS_OF + i * MINUTE for i in range(49, 60)]


def test_a_refresh_does_not_begin_in_a_store_that_may_evict(url: str, store: RedisStore) -> None:
    with redis.Redis.from_url(url) as admin:
        admin.config_set("maxmemory-policy", "allkeys-lru")
        try:
            with pytest.raises(EvictingStoreError):
                begin_refresh(store, key_space(VIEW, AS_OF), expires_in_s=60)
        finally:
            admin.config_set("maxmemory-policy", "noeviction")
    assert set(store.find(b"")) == set()


def test_keys_of_several_types_are_written_where_lookups_read_them(url: str, store: RedisStore) -> None:
    view = view_plan([plan_field("x", Int64())], keys={"origin": String(), "n": Int64()})
    space = key_space(view, AS_OF)
    batch = offline_batch(view, [{"origin": "a,{b}", "n": -5, "x": 1}, {"origin": "", "n": 0, "x": 2}])
    list(row_sink(url, view, space)(iter([batch])))
    assert None not in store.read([space.row(b"a%2C%7Bb%7D,-5"), space.row(b"%_,0")])

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from featurekit.clock import DAY
from featurekit.errors import KeyTypeError, NotRegisteredError
from featurekit.online.cache import Cache
from featurekit.online.client import FeatureClient
from featurekit.online.counts import LATENCY_S, Counts, StatusTally
from featurekit.online.reason import Reason
from featurekit.online.redis import RedisStore
from featurekit.status import Status
from featurekit.types import Int64
from tests.online.servers import materialize, offline_batch, plan_field, service_plan, view_plan
from tests.online.test_lookup import publish


def test_statuses_are_counted_however_many_lookups_they_came_in() -> None:
    tally = StatusTally(2)
    codes = np.array([[Status.PRESENT, Status.NULL, Status.NULL], [Status.DEFAULTED, Status.MISSING, 0]], np.uint8)
    for _ in range(1000):
        tally.add(codes, 3)
        tally.add(None, 5)
    counts = tally.read()
    assert counts[0, Status.NULL] == 2000
    assert counts[0, Status.PRESENT] == 6000
    assert counts[1].tolist() == [6000, 0, 1000, 0, 0, 1000]
    assert counts.sum() == 2 * 8 * 1000
    assert tally.read().tolist() == counts.tolist()


def test_what_is_put_aside_is_bounded() -> None:
    tally = StatusTally(10)
    for _ in range(100):
        tally.add(np.zeros((10, 50_000), np.uint8), 50_000)
        assert tally._aside_cells <= 1 << 18


def test_a_lookup_is_counted_by_service_outcome_and_time() -> None:
    counts = Counts()
    counts.answered("a", 100, 0.00004, reads=0, retries=0)
    counts.answered("a", 1, 0.0003, reads=1, retries=2, unavailable=[("view", Reason.NO_REFRESH)])
    counts.answered("a", 1, 0.0001, reads=1, retries=0)
    counts.failed("a", TimeoutError(), 7.0, retries=1)
    counts.failed("", ValueError(), 0.5, retries=0)
    read = counts.read().services
    one = read["a"]
    assert (one.answered, one.entities, one.from_cache, one.retries) == (3, 102, 1, 3)
    assert one.failed == {"TimeoutError": 1}
    assert one.unavailable == {("view", "NO_REFRESH"): 1}
    by_limit = dict(zip((*LATENCY_S, "more"), one.latencies, strict=True))
    assert {limit: count for limit, count in by_limit.items() if count} == {0.00005: 1, 0.0001: 1, 0.0005: 1, "more": 1}
    assert read[""].failed == {"ValueError": 1}


def test_what_was_read_does_not_change_afterwards() -> None:
    counts = Counts()
    counts.answered("a", 1, 0.1, reads=1, retries=0)
    before = counts.read().services["a"]
    counts.answered("a", 1, 0.1, reads=1, retries=0)
    assert before.answered == 1
    assert sum(before.latencies) == 1


def test_threads_lose_no_count() -> None:
    counts = Counts()
    tally = counts.tally("a", ("view.x", "view.y"))

    def work() -> None:
        for _ in range(2000):
            counts.answered("a", 1, 0.1, reads=1, retries=0)
            tally.add(np.ones((2, 1), np.uint8), 1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        counts.read()
    for thread in threads:
        thread.join()
    read = counts.read()
    assert read.services["a"].answered == 8000
    assert read.statuses == {("a", "view", Status.NULL): 16_000}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_process_counts_from_zero_into_what_it_has() -> None:
    counts = Counts()
    counts.answered("a", 1, 0.1, reads=1, retries=0)
    tally = counts.tally("a", ("view.x",))
    tally.add(None, 7)
    with tally._lock, counts._lock:  # as another thread may have them just then
        child = os.fork()
        if not child:
            tally.add(None, 1)
            counts.answered("a", 1, 0.1, reads=1, retries=0)
            read = counts.read()
            os._exit(0 if (read.services["a"].answered, sum(read.statuses.values())) == (1, 1) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert counts.read().statuses == {("a", "view", Status.PRESENT): 7}


def test_a_client_counts_its_lookups(url: str, store: RedisStore) -> None:
    view = view_plan([plan_field("x", Int64()), plan_field("y", Int64(), default=3)])
    gone = view_plan([plan_field("z", Int64())], name="gone", fingerprint="ab" * 32)
    publish(store, service_plan(view), service_plan(gone, name="other", fingerprint="e" * 64))
    materialize(store, url, view, 20 * DAY, offline_batch(view, [{"user_id": 1, "x": 1, "y": None}]))
    with FeatureClient(
        url, project="shop", environment="test", clock=lambda: 21 * DAY, cache=Cache(tracking=False)
    ) as client:
        for _ in range(3):
            client.lookup("service", {"user_id": [1, 2]}).to_dict()
        client.lookup("other", {"user_id": 1}).to_dict()
        with pytest.raises(KeyTypeError):
            client.lookup("service", {"user_id": "one"})
        with pytest.raises(NotRegisteredError):
            client.lookup("made up by a caller", {"user_id": 1})
        counted = client.counted()
    one = counted.services["service"]
    assert (one.answered, one.entities, one.from_cache, one.failed) == (3, 6, 2, {"KeyTypeError": 1})
    assert counted.services["other"].unavailable == {("gone", "NO_REFRESH"): 1}
    assert counted.services[""].failed == {"NotRegisteredError": 1}
    assert counted.statuses == {
        ("service", "view", Status.PRESENT): 3,
        ("service", "view", Status.NULL): 3,
        ("service", "view", Status.DEFAULTED): 6,
        ("other", "gone", Status.UNAVAILABLE): 1,
    }

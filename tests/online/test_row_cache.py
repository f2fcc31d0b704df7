from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from featurekit.online.row_cache import ENTRY_BYTES, RowCache

HEAD = b"head"


def rows_of(cache: RowCache, *keys: bytes, now_s: float = 0.0, beside: bytes = HEAD) -> list[Any]:
    """Return the rows, `...` where there is none kept."""
    return [... if kept is None else kept[0] for kept in cache.get(beside, list(keys), now_s=now_s)]


def test_a_row_and_that_there_is_none_are_kept_alike() -> None:
    cache = RowCache(10_000, 5.0)
    cache.put(HEAD, [b"a", b"b"], [b"row", None], read_s=0.0)
    assert rows_of(cache, b"a", b"b", b"c") == [b"row", None, ...]


def test_a_row_is_kept_for_the_head_it_was_read_beside_alone() -> None:
    cache = RowCache(10_000, 5.0)
    cache.put(HEAD, [b"a"], [b"row"], read_s=0.0)
    assert rows_of(cache, b"a", beside=b"another") == [...]


@pytest.mark.parametrize(("now_s", "found"), [(5.0, b"row"), (5.1, ...)])
def test_nothing_is_older_than_its_time_not_even_where_it_is_asked_for_all_along(now_s: float, found: Any) -> None:
    cache = RowCache(10_000, 5.0)
    cache.put(HEAD, [b"a"], [b"row"], read_s=0.0)
    for tenth in range(50):
        assert rows_of(cache, b"a", now_s=tenth / 10) == [b"row"]
        cache.put(HEAD, [b"other"], [b"x" * 100], read_s=tenth / 10)
    assert rows_of(cache, b"a", now_s=now_s) == [found]


def test_what_is_used_stays_and_what_is_not_goes() -> None:
    cache = RowCache(100 * (ENTRY_BYTES + 103), 1000.0)
    cache.put(HEAD, [b"hot"], [b"x" * 100], read_s=0.0)
    cache.put(HEAD, [b"old"], [b"x" * 100], read_s=0.0)
    for number in range(500):
        cache.put(HEAD, [b"%03d" % number], [b"x" * 100], read_s=0.0)
        assert rows_of(cache, b"hot") == [b"x" * 100]
        assert cache.kept_bytes <= 100 * (ENTRY_BYTES + 103)
    assert rows_of(cache, b"old") == [...]


def test_one_large_read_does_not_push_out_all_others() -> None:
    cache = RowCache(10_000, 5.0)
    cache.put(HEAD, [b"a"], [b"row"], read_s=0.0)
    many = [b"%05d" % number for number in range(10_000)]
    cache.put(HEAD, many, [b"x"] * len(many), read_s=0.0)
    assert rows_of(cache, b"a", many[0]) == [b"row", ...]


def test_what_nobody_asks_for_does_not_stay_for_ever() -> None:
    cache = RowCache(1 << 20, 5.0)
    cache.put(HEAD, [b"%d" % number for number in range(1000)], [b"x"] * 1000, read_s=0.0)
    for second in range(1, 13):
        cache.put(HEAD, [b"a"], [b"x"], read_s=float(second))
    assert cache.kept_bytes < 10 * (ENTRY_BYTES + 2)


def test_a_cleared_row_does_not_come_back_from_the_older_half() -> None:
    cache = RowCache(1 << 20, 5.0)
    cache.put(HEAD, [b"a"], [b"row"], read_s=0.0)
    cache.put(HEAD, [b"b"], [b"row"], read_s=6.0)  # the first is of the older generation now
    cache.clear()
    assert rows_of(cache, b"a", b"b", now_s=0.0) == [..., ...]
    assert cache.kept_bytes == 0


def test_what_is_said_to_be_kept_is_what_is_kept() -> None:
    """The estimate is within a third of what Python allocates."""
    cache = RowCache(1 << 30, 5.0)
    count = 2**14
    keys = [b"fk:shop:prod:{%08d}:view@01234567:20131115T00" % number for number in range(count)]
    values = [bytes(424) for _ in range(count)]
    cache.put(HEAD, keys, values, read_s=0.0)
    kept = cache._young[HEAD]
    took = sys.getsizeof(kept) + sum(map(sys.getsizeof, (*keys, *values, *kept.values())))
    assert 2 / 3 < cache.kept_bytes / took < 3 / 2


def test_threads_that_read_write_and_clear_break_nothing() -> None:
    cache = RowCache(50 * (ENTRY_BYTES + 10), 5.0)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for number in range(3000):
            key = b"%d" % ((number * seed) % 97)
            cache.put(HEAD, [key], [key], read_s=0.0)
            wrong.extend(row for row in rows_of(cache, key, b"%d" % (number % 97)) if row is not ... and row is None)
            if not number % 500:
                cache.clear()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (3, 5, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert cache.kept_bytes <= 50 * (ENTRY_BYTES + 10)

"""What every online store must do, asked of each real server."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from featurekit.errors import EvictingStoreError, OnlineStoreError, OnlineStoreTimeoutError, SettingsError
from featurekit.online.redis import RedisStore
from featurekit.online.redis.pipeline import RowPipeline
from featurekit.online.store import Head, HeadEntry, decode_head, encode_head
from tests.online.servers import embedded_server, masters_of


def test_reading_gives_each_key_in_order_and_none_where_there_is_none(any_store: RedisStore) -> None:
    any_store.write({b"a": b"1", b"b\0": b"\0\xff"})
    assert any_store.read([b"b\0", b"nothing", b"a", b"a"]) == [b"\0\xff", None, b"1", b"1"]


def test_what_the_server_refuses_of_several_keys_is_an_error(any_store: RedisStore) -> None:
    any_store.write({b"{a}1": b"old"})
    for keys in ((b"{a}1", b"{a}2"), (b"{a}1",)):
        with pytest.raises(OnlineStoreError, match="refuses a command"):
            any_store.write(dict.fromkeys(keys, b"new"), expires_at_ms=0)
    assert any_store.read([b"{a}1", b"{a}2"]) == [b"old", None]


def test_what_is_written_expires_by_the_stores_clock(any_store: RedisStore) -> None:
    any_store.write({b"a": b"1"}, expires_at_ms=any_store.now_ms() + 80)
    assert any_store.read([b"a"]) == [b"1"]
    time.sleep(0.12)
    assert any_store.read([b"a"]) == [None]


def test_a_change_sees_what_was_there(any_store: RedisStore) -> None:
    assert any_store.change(b"n", lambda old: b"first" if old is None else b"?") == b"first"
    assert any_store.change(b"n", lambda old: (old or b"") + b"!") == b"first!"
    assert any_store.change(b"n", lambda _: None) is None
    assert any_store.read([b"n"]) == [None]


def test_no_change_is_lost_between_writers(any_url: str) -> None:
    def add() -> None:
        store = RedisStore(any_url)
        for _ in range(50):
            store.change(b"n", lambda old: b"%d" % (int(old or 0) + 1))
        store.close()

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = RedisStore(any_url)
    assert store.read([b"n"]) == [b"200"]
    store.close()


def test_extending_never_shortens_and_tells_when_the_key_is_gone(any_store: RedisStore) -> None:
    now = any_store.now_ms()
    any_store.write({b"a": b"1"}, expires_at_ms=now + 60_000)
    assert any_store.extend(b"a", expires_at_ms=now + 1)
    assert any_store.read([b"a"]) == [b"1"]
    assert any_store.extend(b"a", expires_at_ms=now + 120_000)
    assert not any_store.extend(b"gone", expires_at_ms=now + 60_000)
    any_store.write({b"for ever": b"1"})
    assert any_store.extend(b"for ever", expires_at_ms=now + 1)
    assert any_store.read([b"for ever"]) == [b"1"]


def test_deleting_takes_only_what_has_one_of_the_endings(any_store: RedisStore) -> None:
    any_store.write({b"p:%d:%d" % (i, i % 3): b"" for i in range(30)})
    assert any_store.delete(b"p:*", endings=(b":0", b":2")) == 20
    assert set(any_store.find(b"")) == {b"p:%d:1" % i for i in range(1, 30, 3)}


def test_finding_and_deleting_take_all_that_match_and_nothing_else(any_store: RedisStore) -> None:
    any_store.write({b"p:%d" % i: b"" for i in range(2500)})
    any_store.write({b"p*:x": b"", b"q:1": b""})
    assert len(set(any_store.find(b"p:"))) == 2500
    assert set(any_store.find(b"p*")) == {b"p*:x"}
    assert any_store.delete(b"p:*") == 2500
    assert set(any_store.find(b"")) == {b"p*:x", b"q:1"}


@pytest.fixture
def policy(any_url: str) -> Iterator[redis.Redis]:
    *_, last = masters_of(any_url)  # of several, one is enough
    with last:
        yield last
        last.config_set("maxmemory-policy", "noeviction")


def test_a_store_that_may_evict_is_refused(any_store: RedisStore, policy: redis.Redis) -> None:
    any_store.check_keeps_rows()
    policy.config_set("maxmemory-policy", "volatile-lru")
    with pytest.raises(EvictingStoreError) as caught:
        any_store.check_keeps_rows()
    assert "volatile-lru" in caught.value.what
    assert caught.value.exit_code == 3


def test_a_store_that_is_away_is_our_error_without_the_password(tmp_path: Path) -> None:
    for url in ("redis://user:secret@127.0.0.1:1/0", f"unix://{tmp_path}/none.sock?password=secret"):
        store = RedisStore(url)
        for ask in (lambda s=store: s.read([b"a"]), store.now_ms, store.check_keeps_rows):
            with pytest.raises(OnlineStoreError) as caught:
                ask()
            assert "secret" not in str(caught.value)
            assert caught.value.where == store.name
            assert caught.value.try_
            assert caught.value.exit_code == 3
        store.close()


def test_a_store_that_does_not_answer_in_time_is_a_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = RedisStore(f"redis://127.0.0.1:{silent.getsockname()[1]}", timeout_ms=50)
        with pytest.raises(OnlineStoreTimeoutError, match="within 50 ms"):
            store.read([b"a"])
        store.close()


@pytest.mark.parametrize("url", ["localhost", "http://cache", "redis://cache:port"])
def test_what_is_no_url_of_a_store_is_refused_as_a_setting(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        RedisStore(url)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "url",
    [
        "redis://:pa/hunter2@cache:6379/0",
        "redis://:12/hunter2@cache:6379/0",  # 12 would be a port
        "redis://job:hunter2#t@cache",
        "redis://job:12?hunter2@cache",
        "redis://job:h@hunter2@cache",
        "redis://:hunter2",
        "redis://:hunter2@[::1",
        "redis://cache?socket_timeout=hunter2",
        "redis://cache?pasword=hunter2",
    ],
)
def test_what_is_wrong_with_a_url_is_told_without_a_piece_of_its_password(url: str) -> None:
    for opened in (lambda: RedisStore(url), lambda: RowPipeline(url, timeout_ms=100)):
        with pytest.raises(SettingsError) as caught:
            opened()
        assert "%2F" in str(caught.value.try_)
        assert not re.search("hunter2|12", f"{caught.value.what} {caught.value.where} {caught.value.why}")
        assert caught.value.__context__ is None  # a traceback would print it


@pytest.mark.parametrize("url", ["redis://job:p%2Fw%40@127.0.0.1:1/0", "unix:///tmp/me@here.sock", "redis://[::1]:1"])
def test_a_password_that_is_written_as_urls_have_it_is_taken(url: str) -> None:
    RedisStore(url).close()


def test_reading_survives_a_server_that_closed_the_idle_connection(any_store: RedisStore, any_url: str) -> None:
    any_store.write({b"a": b"1"})
    any_store.read([b"a"])
    for admin in masters_of(any_url):
        with admin:
            admin.client_kill_filter(_type="normal", skipme=True)
    assert any_store.read([b"a"]) == [b"1"]


def test_a_restarted_server_answers_at_once(tmp_path: Path) -> None:
    with embedded_server(tmp_path) as url:
        store = RedisStore(url)
        store.write({b"a": b"1"})
        assert store.read([b"a"]) == [b"1"]
    with pytest.raises(OnlineStoreError):
        store.read([b"a"])
    with embedded_server(tmp_path) as again:
        assert again == url
        assert store.read([b"a"]) == [b"1"]
        store.close()


def test_a_forked_process_uses_connections_of_its_own(store: RedisStore) -> None:
    store.write({b"a": b"1"})
    store.read([b"a"])
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, b"".join(value or b"?" for value in store.read([b"a"])))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 10) == b"1"
    assert store.read([b"a"]) == [b"1"]
    os.close(reader)
    os.close(writer)


def test_threads_share_a_store(store: RedisStore) -> None:
    store.write({b"%d" % i: b"%d" % i for i in range(8)})
    wrong: list[object] = []

    def read(i: int) -> None:
        wrong.extend(i for _ in range(200) if store.read([b"%d" % i]) != [b"%d" % i])

    threads = [threading.Thread(target=read, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def entry(as_of: int, *, visible_from: int | None = None, restatement: int = 0, completed_at: int = 0) -> HeadEntry:
    return HeadEntry(
        as_of=as_of,
        restatement=restatement,
        visible_from=as_of if visible_from is None else visible_from,
        completed_at=completed_at,
        rows=1,
    )


def test_a_head_answers_with_the_newest_refresh_that_is_visible() -> None:
    head = Head((entry(10), entry(20, visible_from=25), entry(20, visible_from=27, restatement=1)))
    assert decode_head(encode_head(head)) == head
    assert [found and (found.as_of, found.restatement) for found in map(head.at, (9, 10, 24, 25, 26, 27, 99))] == [
        None, (10, 0), (10, 0), (20, 0), (20, 0), (20, 1), (20, 1)
    ]  # fmt: skip


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b'{"format":1}', b'{"format":1,"entries":[[1]]}', b"\xff"])
def test_a_head_that_nobody_can_have_written_is_told_with_what_to_try(damaged: bytes) -> None:
    with pytest.raises(OnlineStoreError) as error:
        decode_head(damaged)

    assert (error.value.what, bool(error.value.why)) == ("a view's head can't be read", True)
    assert error.value.try_ == "delete its key (docs/formats.md), then featurekit materialize"


def test_a_head_keeps_what_serves_and_what_will_and_of_the_rest_the_newest_and_the_recent() -> None:
    head = Head(tuple(entry(i) for i in range(10)))

    def kept(at: int, keep: int, grace: int) -> list[int]:
        return [one.as_of for one in head.trimmed(at=at, keep=keep, grace=grace).entries]

    assert kept(7, 0, 0) == [7, 8, 9]
    assert kept(7, 2, 0) == [5, 6, 7, 8, 9]
    assert kept(7, 0, 3) == [4, 5, 6, 7, 8, 9]  # 3 stopped serving at 4, three before 7
    assert kept(7, 20, 0) == kept(7, 0, 99) == list(range(10))
    assert kept(-1, 0, 0) == list(range(10))


def test_a_refresh_that_never_served_is_kept_by_its_place_alone() -> None:
    late = (entry(1, visible_from=90), entry(2, visible_from=91))
    head = Head((*late, entry(10), entry(80), entry(85)))
    assert [one.as_of for one in head.trimmed(at=92, keep=0, grace=10).entries] == [80, 85]
    assert [one.as_of for one in head.trimmed(at=92, keep=3, grace=0).entries] == [2, 10, 80, 85]

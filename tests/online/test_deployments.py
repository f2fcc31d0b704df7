"""What is particular to replicas, Sentinels and TLS; and to waiting for servers that do not behave."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from featurekit.clock import DAY
from featurekit.errors import (
    FeaturekitError,
    KeySpaceDroppedError,
    OnlineStoreError,
    OnlineStoreTimeoutError,
    SettingsError,
)
from featurekit.online.redis.address import read_address
from featurekit.online.redis.aio import AsyncRedisStore
from featurekit.online.redis.errors import ReplyError, translate
from featurekit.online.redis.links import Link
from featurekit.online.redis.peer import Access, Peer
from featurekit.online.redis.pipeline import RowPipeline
from featurekit.online.redis.store import RedisStore
from featurekit.online.refresh import begin_refresh, complete_refresh
from featurekit.types import Int64
from tests.online.deployments import (
    HOST,
    Sentinels,
    Server,
    certificates,
    cluster,
    follows,
    raw,
    running,
    sentinels,
    standalone,
    tls_server,
    until,
)
from tests.online.servers import DAILY, DEBIAN_SERVER, key_space, offline_batch, plan_field, row_sink, view_plan

VIEW = view_plan([plan_field("n", Int64())])
AS_OF = 20 * DAY

needs_debian = pytest.mark.skipif(
    DEBIAN_SERVER is None, reason="no redis-server on this machine (Debian: apt-get install redis-server)"
)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sentinels]:
    with sentinels(tmp_path_factory.mktemp("sentinel"), "valkey") as found:
        yield found


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Server, Server]]:
    master = Server(tmp_path / "master", "valkey")
    replica = Server(tmp_path / "replica", "valkey", (f"replicaof {HOST} {master.port}",))
    with running(master, replica):
        until(lambda: follows(replica, master), "the replica to follow")
        yield master, replica


def is_online(master: Server) -> bool:
    return b"state=online" in raw(master, "INFO", "REPLICATION")


def test_what_no_replica_has_is_not_acknowledged(pair: tuple[Server, Server]) -> None:
    master, replica = pair
    store = RedisStore(master.url, timeout_ms=300)
    store.write({b"a": b"1"}, expires_at_ms=store.now_ms() + 100_000)
    assert replica.ask("GET", "a") == b"1"
    replica.pause()
    for attempt in (
        lambda: store.write({b"b": b"2"}),
        lambda: store.change(b"a", lambda old: (old or b"") + b"!"),
        lambda: store.extend(b"a", expires_at_ms=store.now_ms() + 200_000),
        lambda: send_rows(RowPipeline(master.url, timeout_ms=300)),
    ):
        with pytest.raises(OnlineStoreError, match="did not confirm within 300 ms that a replica"):
            attempt()
    replica.resume()
    until(lambda: is_written(store, b"3"), "the replica to catch up")
    assert replica.ask("GET", "a") == b"3"
    replica.kill()
    until(lambda: not is_online(master), "the master to notice")
    with pytest.raises(OnlineStoreError, match="did not confirm"):
        store.write({b"a": b"4"})  # the replica may have become the master
    store.close()
    another = RedisStore(master.url, timeout_ms=300)
    another.write({b"a": b"5"})
    another.close()


def send_rows(pipeline: RowPipeline) -> None:
    with contextlib.closing(pipeline):
        pipeline.send(
            pa.array([b"k"], pa.binary()), pa.array([b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"], pa.binary())
        )
        pipeline.finish()


def test_rows_are_confirmed_also_where_the_connection_that_wrote_them_broke(pair: tuple[Server, Server]) -> None:
    master, replica = pair
    pipeline = RowPipeline(master.url, timeout_ms=300)
    pipeline.send(pa.array([b"k"], pa.binary()), pa.array([b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"], pa.binary()))
    pipeline._collect(leave=0)
    replica.pause()
    for link in pipeline._links.values():
        link.close()
    pipeline._links.clear()
    with pytest.raises(OnlineStoreError, match="did not confirm"):
        pipeline.finish()
    replica.resume()
    until(lambda: replica.ask("GET", "k") == b"v", "the replica to catch up")
    pipeline.finish()
    pipeline.close()


def test_a_refresh_during_which_the_server_restarted_is_not_completed(tmp_path: Path) -> None:
    with standalone(tmp_path, "valkey", "appendonly yes") as server:
        store = RedisStore(server.url)

        def write(*, restart: bool) -> None:
            refresh = begin_refresh(store, key_space(VIEW, AS_OF), expires_in_s=3600)
            list(row_sink(server.url, VIEW, refresh.space)(iter([offline_batch(VIEW, [{"user_id": 1, "n": 1}])])))
            if restart:
                server.kill()
                server.start()
            complete_refresh(store, refresh, grid=DAILY, completed_at=AS_OF, rows=1)

        with pytest.raises(KeySpaceDroppedError, match="may have lost rows") as caught:
            write(restart=True)
        assert caught.value.exit_code == 3
        assert store.read([key_space(VIEW, AS_OF).head]) == [None]
        write(restart=False)
        store.close()


def test_readers_and_writers_follow_a_failover(deployment: Sentinels) -> None:
    store = RedisStore(deployment.url)
    store.write({b"a": b"1"})
    before = deployment.master()

    async def follow() -> None:
        reader = AsyncRedisStore(deployment.url)
        assert await reader.read([b"a"]) == [b"1"]
        deployment.sentinels[0].ask("SENTINEL", "FAILOVER", deployment.name)
        begun = time.monotonic()
        seen, untold = {"sync": 0, "async": 0}, 0
        while min(seen.values()) < 20:
            for kind in seen:
                try:
                    found = await (reader.read([b"a"]) if kind == "async" else asyncio.to_thread(store.read, [b"a"]))
                except OnlineStoreError as error:
                    untold += error.try_ is None
                else:
                    assert found == [b"1"]
                    seen[kind] += deployment.master() is not before
            assert time.monotonic() - begun < 30
        assert not untold
        await reader.close()

    asyncio.run(follow())
    # The old master may not have heard yet that it is none; without a replica it can't acknowledge anything.
    until(lambda: is_written(store, b"2"), "a write to be acknowledged")
    assert deployment.master() is not before
    assert deployment.master().ask("GET", "a") == b"2"
    store.close()


def is_written(store: RedisStore, value: bytes) -> bool:
    with contextlib.suppress(OnlineStoreError):
        store.write({b"a": value})
        return True
    return False


def test_a_sentinel_that_names_a_replica_is_not_believed(pair: tuple[Server, Server], tmp_path: Path) -> None:
    _, replica = pair
    watching = (f"sentinel monitor features {HOST} {replica.port} 1", "sentinel down-after-milliseconds features 60000")
    behind = Server(tmp_path / "behind", "valkey", watching, is_sentinel=True)
    with running(behind):
        store = RedisStore(f"redis+sentinel://{HOST}:1,{behind.address}/features")
        with pytest.raises(OnlineStoreError, match="no Sentinel names a master features") as caught:
            store.read([b"a"])
        assert "it is a slave now" in str(caught.value.why)
        assert "Connection refused" in str(caught.value.why)
        replica.ask("REPLICAOF", "NO", "ONE")
        assert store.read([b"a"]) == [None]
        with pytest.raises(OnlineStoreError, match="no Sentinel names a master other") as caught:
            RedisStore(f"redis+sentinel://{behind.address}/other").read([b"a"])
        assert "knows no such master" in str(caught.value.why)
        store.close()


def test_a_replica_takes_no_writes_and_says_so(pair: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featurekit.online.redis.servers._PAUSES_S", (0.0, 0.0))
    store = RedisStore(pair[1].url)
    with pytest.raises(OnlineStoreError, match="changing its master") as caught:
        store.write({b"a": b"1"})
    assert "ROLE" in str(caught.value.try_)
    store.close()


@contextlib.contextmanager
def dripping() -> Iterator[str]:
    """Give the URL of something that answers a byte at a time and never ends."""
    with socket.create_server((HOST, 0)) as listening:
        is_over = threading.Event()

        def drip() -> None:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(b"*1\r\n$1000\r\n")
                while not is_over.wait(0.02):
                    connection.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            yield f"redis://{HOST}:{listening.getsockname()[1]}"
        finally:
            is_over.set()
            thread.join()


def test_the_time_of_a_read_is_for_all_of_its_answer() -> None:
    with dripping() as url:
        store = RedisStore(url, timeout_ms=60_000)
        begun = time.monotonic()
        with pytest.raises(OnlineStoreTimeoutError, match="within 150 ms"):
            store.read([b"a"], timeout_s=0.15)
        assert 0.14 < time.monotonic() - begun < 1
        store.close()


def test_the_time_of_a_read_under_asyncio_is_for_all_of_its_answer() -> None:
    async def read(url: str) -> None:
        store = AsyncRedisStore(url, timeout_ms=60_000)
        with pytest.raises(OnlineStoreTimeoutError, match="within 150 ms"):
            await store.read([b"a"], timeout_s=0.15)
        await store.close()

    with dripping() as url:
        asyncio.run(read(url))


@needs_debian
def test_tls_asks_for_the_right_authority_and_the_right_name(tmp_path: Path) -> None:
    with tls_server(tmp_path, f"bind {HOST} 127.0.0.2") as (_, url):
        store = RedisStore(url)
        store.write({b"a": b"1"})
        assert store.read([b"a"]) == [b"1"]
        store.close()
        others = certificates(tmp_path / "others")
        for wrong, why in (
            (url.replace("localhost", "127.0.0.2"), "not valid for '127.0.0.2'"),
            (url.replace(f"ca={tmp_path}/tls", f"ca={tmp_path}/others"), "certificate verify failed"),
            (url.partition("?")[0], "certificate verify failed"),
        ):
            refused = RedisStore(wrong)
            with pytest.raises(OnlineStoreError, match="by TLS") as caught:
                refused.read([b"a"])
            assert why in str(caught.value.why)
            refused.close()
        no_certificate = RedisStore(url.partition("&cert")[0])
        with pytest.raises(OnlineStoreError):
            no_certificate.read([b"a"])
        no_certificate.close()
        for missing in (f"ca={tmp_path}/none", f"ca={others['ca.crt']}&cert={others['ca.key']}&key={others['ca.crt']}"):
            with pytest.raises(SettingsError, match="TLS files"):
                RedisStore(f"{url.partition('?')[0]}?{missing}").read([b"a"])


@pytest.mark.long
@needs_debian
@pytest.mark.parametrize("kind", ["sentinel", "cluster"])
def test_tls_reaches_every_server_of_a_deployment(kind: str, tmp_path: Path) -> None:
    files = certificates(tmp_path / "tls")
    opened = sentinels if kind == "sentinel" else cluster
    with opened(tmp_path / "servers", "redis", tls=files) as found:
        store = RedisStore(found.url)
        store.write({b"k%d" % i: b"%d" % i for i in range(50)})
        assert store.read([b"k%d" % i for i in range(50)]) == [b"%d" % i for i in range(50)]
        store.close()

        async def read() -> None:
            reader = AsyncRedisStore(found.url)
            assert await reader.read([b"k1", b"k2"]) == [b"1", b"2"]
            await reader.close()

        asyncio.run(read())


SECRETS = [
    "redis://job:hunter2@127.0.0.1:1",
    "redis+sentinel://job:hunter2@127.0.0.1:1/m?sentinel_user=s&sentinel_password=hunter3",
    "redis+cluster://job:hunter2@127.0.0.1:1,127.0.0.1:2",
    "unix://job:hunter2@/nowhere",
    "redis://127.0.0.1:1?user=job&password=hunter2",
]


@pytest.mark.parametrize("url", SECRETS)
def test_no_secret_is_in_what_is_shown_of_a_store(url: str) -> None:
    address = read_address(url)
    store, pipeline = RedisStore(url), RowPipeline(url, timeout_ms=100, retries=0)
    shown = [
        repr(address),
        store.name,
        repr(vars(store)),
        repr(vars(pipeline)),
        repr(row_sink(url, VIEW, key_space(VIEW, 0))),
    ]
    shown.append(repr(Peer(address.places[0], Access(address.login, address.tls))))
    for attempt in (lambda: store.read([b"a"]), store.now_ms, lambda: send_rows(pipeline)):
        with pytest.raises(FeaturekitError) as caught:
            attempt()
        error: BaseException | None = caught.value
        while error is not None:
            shown += [str(error), repr(error), repr(vars(error))]
            error = error.__cause__ or error.__context__
    assert not [text for text in shown if "hunter" in text]
    store.close()


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("LOADING Redis is loading the dataset in memory", "reading its data back"),
        ("READONLY You can't write against a read only replica.", "changing its master"),
        ("MASTERDOWN Link with MASTER is down", "changing its master"),
        ("CLUSTERDOWN Hash slot not served", "does not serve all its slots"),
        ("MOVED 1 127.0.0.1:7000", "slots are moving"),
        ("TRYAGAIN Multiple keys request during rehashing of slot", "slots are moving"),
        ("OOM command not allowed when used memory > 'maxmemory'.", "is full"),
        ("NOREPLICAS Not enough good replicas to write.", "too few replicas"),
        ("MISCONF Errors writing to the AOF file", "can't save its data"),
        ("NOAUTH Authentication required.", "refuses this user"),
    ],
)
def test_what_a_server_answers_instead_is_told_with_what_to_try(said: str, what: str) -> None:
    error = translate(ReplyError(said), "redis://cache", 100)
    assert what in error.what
    assert error.why == said
    assert error.try_


def test_a_link_that_is_not_greeted_is_closed(tmp_path: Path) -> None:
    with standalone(tmp_path, "valkey") as server:
        address = read_address(server.url.replace("redis://", "redis://job:wrong@"))
        with pytest.raises(Exception, match="WRONGPASS"):
            Link(Peer(address.places[0], Access(address.login, None)), time.monotonic() + 1)
        until(lambda: len(raw(server, "CLIENT", "LIST").splitlines()) == 1, "the link to be gone")

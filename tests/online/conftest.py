from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings

from featurekit.online import refresh
from featurekit.online.redis.store import RedisStore
from tests.online.deployments import cluster, sentinels, standalone, tls_server
from tests.online.servers import DEBIAN_SERVER, embedded_server, flush

# A deadline measures what else the machine is doing.
settings.register_profile("featurekit", deadline=None)
settings.load_profile("featurekit")

SERVERS = ["embedded", "redis", "tls", "sentinel", "cluster"]
NEED_DEBIAN = {"redis", "tls"}


@pytest.fixture(scope="session", params=SERVERS)
def any_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of each kind of deployment in turn."""
    folder: Path = tmp_path_factory.mktemp(str(request.param))
    if request.param in NEED_DEBIAN and DEBIAN_SERVER is None:
        pytest.skip("no redis-server on this machine (Debian: apt-get install redis-server)")
    with ExitStack() as stack:
        match request.param:
            case "embedded":
                yield stack.enter_context(embedded_server(folder))
            case "redis":
                yield f"unix://{stack.enter_context(standalone(folder, 'redis')).socket}"
            case "tls":
                yield stack.enter_context(tls_server(folder))[1]
            case "sentinel":
                yield stack.enter_context(sentinels(folder, "valkey")).url
            case _:
                yield stack.enter_context(cluster(folder, "valkey")).url


@pytest.fixture(scope="session")
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the embedded server."""
    with embedded_server(tmp_path_factory.mktemp("embedded")) as url:
        yield url


@pytest.fixture
def any_url(any_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a deployment without data, of each kind in turn."""
    flush(any_server)
    # No test's reader takes so long, and each test of a cluster that drops something would wait for it.
    monkeypatch.setattr(refresh, "READ_SPAN_S", 0.01)
    return any_server


@pytest.fixture
def url(one_server: str) -> str:
    """The URL of a server without data."""
    flush(one_server)
    return one_server


@pytest.fixture
def store(url: str) -> Iterator[RedisStore]:
    found = RedisStore(url)
    yield found
    found.close()


@pytest.fixture
def any_store(any_url: str) -> Iterator[RedisStore]:
    found = RedisStore(any_url)
    yield found
    found.close()

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from featurekit.online.redis import RedisStore
from tests.online.servers import DEBIAN_SERVER, embedded_server, flush, redis_server

# A deadline measures what else the machine is doing.
settings.register_profile("featurekit", deadline=None)
settings.load_profile("featurekit")

SERVERS = ["embedded", "redis"]


@pytest.fixture(scope="session", params=SERVERS)
def any_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of each kind of server in turn."""
    folder: Path = tmp_path_factory.mktemp(str(request.param))
    if request.param == "redis":
        if DEBIAN_SERVER is None:
            pytest.skip("no redis-server on this machine (Debian: apt-get install redis-server)")
        with redis_server(folder) as url:
            yield url
    else:
        with embedded_server(folder) as url:
            yield url


@pytest.fixture(scope="session")
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the embedded server."""
    with embedded_server(tmp_path_factory.mktemp("embedded")) as url:
        yield url


@pytest.fixture
def any_url(any_server: str) -> str:
    """The URL of a server without data, of each kind in turn."""
    flush(any_server)
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

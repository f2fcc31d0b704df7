from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.online.servers import embedded_server, flush
from tests.serving.world import Shop, open_shop


@pytest.fixture(scope="session")
def one_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an embedded server."""
    with embedded_server(tmp_path_factory.mktemp("embedded")) as url:
        yield url


@pytest.fixture
def shop(one_server: str, tmp_path: Path) -> Iterator[Shop]:
    """The shop, registered and materialized."""
    flush(one_server)
    shop = open_shop(tmp_path, one_server)
    shop.materialize()
    yield shop
    shop.client.close()
    shop.store.close()

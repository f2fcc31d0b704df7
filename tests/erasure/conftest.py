from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from featurekit import refreshing
from featurekit.offline.history import History
from featurekit.online import embedded
from featurekit.online.redis import RedisStore
from featurekit.registry.registry import Registry
from tests.erasure.world import Shop
from tests.refreshed import PLACE
from tests.registry.definitions import compiled
from tests.registry.states import NOW


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The URL and the state folder of an embedded server."""
    folder = tmp_path_factory.mktemp("state")
    yield embedded.start(folder).url, folder
    embedded.stop(folder)


MakeShop = Callable[..., Shop]


@pytest.fixture
def make_shop(server: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeShop]:
    """Make a registered shop in a folder of its own, after replacing texts of its definitions."""
    url, _ = server
    store = RedisStore(url)

    def make(*changes: tuple[str, str], folder: Path = tmp_path, secret: bytes | None = None) -> Shop:
        folder.mkdir(exist_ok=True)
        store.delete(b"*")
        shop = Shop(
            compiled=compiled(folder, *changes),
            store=store,
            url=url,
            registry=Registry(
                f"sqlite:///{folder / 'registry.db'}",
                project=PLACE.project,
                environment=PLACE.environment,
                models=folder / "models",
                secret=secret,
            ),
            now=NOW,
            history=History(folder / "history", project=PLACE.project, environment=PLACE.environment),
            folder=folder,
        )
        monkeypatch.setattr(refreshing, "materialize", shop.materialize)
        shop.register()
        return shop

    yield make
    store.close()


@pytest.fixture
def shop(make_shop: MakeShop) -> Shop:
    return make_shop()

"""A shop whose readers have something to go back to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from featurekit import refreshing
from featurekit.clock import DAY, HOUR
from featurekit.offline.history import History
from featurekit.online import embedded
from featurekit.online.redis import RedisStore
from featurekit.registry.registry import Registry
from tests.refreshed import PLACE, Refreshed
from tests.registry.definitions import compiled
from tests.registry.states import NOW, TODAY
from tests.versions.rolling import LATER, WINDOW


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("state")
    yield embedded.start(folder).url
    embedded.stop(folder)


@pytest.fixture
def new_shop(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Refreshed]:
    """The shop, registered two days ago and not refreshed; its store is otherwise empty."""
    store = RedisStore(url)
    store.delete(b"*")
    registry = Registry(
        f"sqlite:///{tmp_path / 'registry.db'}",
        project=PLACE.project,
        environment=PLACE.environment,
        models=tmp_path / "models",
    )
    history = History(tmp_path / "history", project=PLACE.project, environment=PLACE.environment)
    shop = Refreshed(
        compiled=compiled(tmp_path), store=store, url=url, registry=registry, now=NOW - 2 * DAY, history=history
    )
    monkeypatch.setattr(refreshing, "materialize", shop.materialize)
    shop.register()
    yield shop
    store.close()


@pytest.fixture
def shop(new_shop: Refreshed) -> Refreshed:
    """The shop, refreshed on three days; it is the third day, 04:00."""
    for as_of in (TODAY - 2 * DAY, TODAY - DAY, TODAY):
        new_shop.refresh(as_of)
        new_shop.now += DAY
    new_shop.now = LATER
    return new_shop


@pytest.fixture
def moved(shop: Refreshed, tmp_path: Path) -> Refreshed:
    """The shop, whose readers moved to a second version two hours ago; the first is needed by nobody since."""
    shop.compiled = compiled(tmp_path, WINDOW)
    shop.register()
    shop.refresh(TODAY)
    shop.now += 2 * HOUR
    return shop

"""One refresh, from its record to its readers: what is left behind, whatever goes wrong on the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from featurekit import refreshing
from featurekit.clock import DAY, HOUR, MINUTE
from featurekit.online import embedded
from featurekit.online.redis import RedisStore
from featurekit.registry.registry import Registry
from tests.refreshed import PLACE, Refreshed
from tests.registry.definitions import compiled
from tests.registry.states import NOW, TODAY


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("state")
    yield embedded.start(folder).url
    embedded.stop(folder)


@pytest.fixture
def shop(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Refreshed]:
    """The shop, registered and not refreshed yet, at 03:00; its store is otherwise empty."""
    store = RedisStore(url)
    store.delete(b"*")
    database = f"sqlite:///{tmp_path / 'registry.db'}"
    registry = Registry(database, project=PLACE.project, environment=PLACE.environment, models=tmp_path / "models")
    shop = Refreshed(compiled=compiled(tmp_path), store=store, url=url, registry=registry, now=NOW)
    monkeypatch.setattr(refreshing, "materialize", shop.materialize)
    shop.register()
    yield shop
    store.close()


def test_rows_live_until_the_refresh_after_the_next_would_serve_where_that_is_longer_than_the_retention(
    shop: Refreshed, url: str
) -> None:
    shop.retention = HOUR
    shop.refresh(TODAY)
    with Redis.from_url(url) as client:
        left = client.pttl(shop.space(TODAY).row(b"1"))
    assert isinstance(left, int)
    assert left * 1000 > 2 * DAY + HOUR


def test_readers_move_where_a_hundred_refreshes_wait_for_their_time(shop: Refreshed, tmp_path: Path) -> None:
    shop.refresh(TODAY)
    slow = ("refresh: 1d\n    availability_delay: 2h", "refresh: 15m\n    availability_delay: 30h")
    shop.compiled, shop.now = compiled(tmp_path, slow), TODAY + 40 * HOUR
    shop.register()
    step = 15 * MINUTE
    instants = [TODAY + number * step for number in range(160)]

    moved = [shop.refresh(as_of).moved for as_of in reversed(instants)]

    # g(t) at 40 h is 10 h; the older ones are no news.
    assert [as_of for as_of, services in zip(reversed(instants), moved, strict=True) if services] == [TODAY + 10 * HOUR]

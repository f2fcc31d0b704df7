"""One refresh, from its record to its readers: what is left behind, whatever goes wrong on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from redis import Redis

from featurekit import refreshing
from featurekit.clock import DAY, HOUR, MINUTE
from featurekit.errors import GateError, OnlineStoreError, OnlineStoreTimeoutError, RegistryError, TimeError
from featurekit.online import embedded
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import complete_refresh
from featurekit.registry.registry import Registry
from featurekit.registry.tables import REFRESHES
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


def test_readers_move_where_many_refreshes_wait_for_their_time(shop: Refreshed, tmp_path: Path) -> None:
    shop.refresh(TODAY)
    slow = ("refresh: 1d\n    availability_delay: 2h", "refresh: 15m\n    availability_delay: 30h")
    shop.compiled, shop.now = compiled(tmp_path, slow), TODAY + 40 * HOUR
    shop.register()
    serving = TODAY + 10 * HOUR
    instants = [serving + number * 15 * MINUTE for number in range(67, -1, -1)]

    moved = [shop.refresh(as_of).moved for as_of in instants]

    assert [as_of for as_of, services in zip(instants, moved, strict=True) if services] == [serving]


WINDOW = ("sum(amount), window: 7d", "sum(amount), window: 8d")


@pytest.fixture
def changed(shop: Refreshed, tmp_path: Path) -> Refreshed:
    """The shop, refreshed and then registered with another window: its readers wait for a refresh."""
    shop.refresh(TODAY)
    shop.compiled = compiled(tmp_path, WINDOW)
    shop.register()
    return shop


@contextmanager
def broken(of: object, *methods: str, error: BaseException) -> Iterator[None]:
    """While the block runs, these methods raise the error."""

    def fail(*_: object, **__: object) -> None:
        raise error

    with pytest.MonkeyPatch.context() as patch:
        for method in methods:
            patch.setattr(of, method, fail)
        yield


def records(shop: Refreshed) -> list[tuple[int, str]]:
    """Return restatement and status of the runs of the view as it is defined, the latest first."""
    fingerprint = shop.view.fingerprint.data
    found = shop.registry.refreshes("spend", fingerprint=fingerprint)
    return [(each.restatement, each.status.value) for each in found]


def test_a_run_that_died_when_its_refresh_was_listed_is_brought_to_its_end_by_the_next(
    changed: Refreshed,
) -> None:
    with broken(changed.registry, "complete_refresh", "fail_refresh", error=SystemExit()), pytest.raises(SystemExit):
        changed.refresh(TODAY)
    assert records(changed) == [(0, "running")]

    again = changed.refresh(TODAY)

    assert (again.is_new, again.rows, sorted(again.moved)) == (False, 3, ["score", "spend"])
    (record,) = changed.registry.refreshes("spend", fingerprint=changed.view.fingerprint.data)
    assert (record.status.value, record.rows, record.completed_at) == ("complete", 3, NOW)


def test_a_refresh_that_failed_after_the_head_listed_it_is_complete_all_the_same(
    changed: Refreshed, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = changed.store.change

    def change_and_lose_the_answer(key: bytes, to: object) -> None:
        change(key, to)  # type: ignore[arg-type]
        raise OnlineStoreTimeoutError("the online store does not answer")

    monkeypatch.setattr(changed.store, "change", change_and_lose_the_answer)
    with pytest.raises(OnlineStoreTimeoutError):
        changed.refresh(TODAY)
    monkeypatch.setattr(changed.store, "change", change)
    assert records(changed) == [(0, "failed")]
    assert changed.keys(changed.space(TODAY)) == 4  # what lookups read is not dropped

    assert sorted(changed.refresh(TODAY).moved) == ["score", "spend"]
    (record,) = changed.registry.refreshes("spend", fingerprint=changed.view.fingerprint.data)
    assert (record.status.value, record.failure) == ("complete", None)


def test_a_registry_that_lost_its_refreshes_learns_of_them_from_the_head(shop: Refreshed) -> None:
    shop.refresh(TODAY)
    shop.refresh(TODAY, restate="again")
    with shop.registry.writing() as writer:
        writer.connection.execute(REFRESHES.delete())

    assert shop.refresh(TODAY).restatement == 1
    assert records(shop) == [(1, "complete")]
    # A key space of its own, not the one that serves.
    assert shop.refresh(TODAY, restate="again").restatement == 2


def test_a_refresh_that_another_process_found_complete_is_completed_by_its_own_run(shop: Refreshed) -> None:
    record = shop.registry.start_refresh(
        view="spend", fingerprint=shop.view.fingerprint.data, as_of=TODAY, started_at=NOW
    )
    run = {"view": "spend", "fingerprint": record.fingerprint, "as_of": TODAY, "restatement": 0}
    shop.registry.confirm_refresh(**run, completed_at=NOW, visible_from=NOW, rows=3)  # type: ignore[arg-type]

    ended = shop.registry.complete_refresh(record, completed_at=NOW, rows=3, bytes_=120, snapshot='{"a":1}')

    assert (ended.bytes, ended.snapshot) == (120, '{"a":1}')


def test_readers_move_even_where_what_was_replaced_can_not_be_dropped(
    changed: Refreshed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refreshing, "complete_refresh", partial(complete_refresh, keep=0, grace=0))
    changed.refresh(TODAY - DAY)
    away = OnlineStoreError("the online store can't be reached")
    with broken(changed.store, "delete", error=away):
        done = changed.refresh(TODAY)

    assert sorted(done.moved) == ["score", "spend"]
    (note,) = done.notes
    assert "could not be dropped" in note
    assert away.what in note
    assert records(changed)[0] == (0, "complete")


def test_a_registry_that_can_not_be_told_of_a_failure_does_not_hide_it(shop: Refreshed) -> None:
    shop.compute = lambda: 1 / 0
    busy = RegistryError("the registry is busy")

    with broken(shop.registry, "fail_refresh", error=busy), pytest.raises(ZeroDivisionError) as caught:
        shop.refresh(TODAY)

    assert "the registry is busy" in caught.value.__notes__[0]


def test_a_registry_that_is_away_when_the_refresh_serves_is_an_error_and_the_next_run_moves_the_readers(
    changed: Refreshed,
) -> None:
    away = RegistryError("the registry's database failed")
    with broken(changed.registry, "complete_refresh", error=away), pytest.raises(RegistryError) as caught:
        changed.refresh(TODAY)
    assert caught.value is away
    assert records(changed) == [(0, "running")]

    assert sorted(changed.refresh(TODAY).moved) == ["score", "spend"]


@pytest.mark.parametrize("error", [GateError("mean_1d is not between 0 and 1"), KeyboardInterrupt()])
def test_a_refresh_that_is_not_published_leaves_no_rows_and_no_marker(shop: Refreshed, error: BaseException) -> None:
    shop.refresh(TODAY - DAY)
    before = set(shop.store.find(PLACE.prefix))

    def refuse() -> None:
        assert shop.keys(shop.space(TODAY)) == 4
        raise error

    shop.computed = refuse
    with pytest.raises(type(error)) as caught:
        shop.refresh(TODAY)

    assert caught.value is error
    assert set(shop.store.find(PLACE.prefix)) == before
    assert records(shop) == [(0, "failed"), (0, "complete")]


def test_a_store_that_goes_away_for_good_does_not_hide_why_a_refresh_failed(shop: Refreshed) -> None:
    shop.computed = lambda: 1 / 0
    away = OnlineStoreError("the online store can't be reached")

    with broken(shop.store, "delete", error=away), pytest.raises(ZeroDivisionError) as caught:
        shop.refresh(TODAY)

    assert "expires by itself" in caught.value.__notes__[0]


@pytest.mark.parametrize("as_of", [TODAY + HOUR, TODAY + DAY], ids=["off the grid", "to come"])
def test_an_as_of_that_can_not_be_computed_is_refused_before_anything_is_written(shop: Refreshed, as_of: int) -> None:
    before = set(shop.store.find(PLACE.prefix))

    with pytest.raises(TimeError):
        shop.refresh(as_of)

    assert records(shop) == []
    assert set(shop.store.find(PLACE.prefix)) == before

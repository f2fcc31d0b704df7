"""A view that is written in place: what it promises and what it gives up, by refreshes that are real but for Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from featurekit import refreshing
from featurekit.clock import DAY, HOUR, MINUTE
from featurekit.collecting import Collected, Collector
from featurekit.errors import OnlineStoreError, RefreshRunningError, TimeError
from featurekit.explain import explain_view
from featurekit.leasing import IN_PLACE, leased
from featurekit.offline.history import History
from featurekit.online import embedded
from featurekit.online.client import FeatureClient
from featurekit.online.keys import KeySpace
from featurekit.online.reason import Reason
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import begin_refresh, read_head, served_as_of
from featurekit.online.store import decode_head, encode_head
from featurekit.online.writer import row_sink
from featurekit.registry.registry import Registry
from featurekit.rolling_back import rollback_view
from featurekit.status import Status
from tests.refreshed import PLACE, Refreshed
from tests.registry.definitions import compiled
from tests.registry.states import NOW, TODAY

WRITTEN_IN_PLACE = ("    refresh: 1d", "    write: in_place\n    refresh: 1d")
TOMORROW, LATER = TODAY + DAY, TODAY + 2 * DAY


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("state")
    yield embedded.start(folder).url
    embedded.stop(folder)


@pytest.fixture
def shop(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Refreshed]:
    """The shop, its view written in place and refreshed once."""
    store = RedisStore(url)
    store.delete(b"*")
    database = f"sqlite:///{tmp_path / 'registry.db'}"
    registry = Registry(database, project=PLACE.project, environment=PLACE.environment, models=tmp_path / "models")
    shop = Refreshed(compiled=compiled(tmp_path, WRITTEN_IN_PLACE), store=store, url=url, registry=registry, now=NOW)
    monkeypatch.setattr(refreshing, "materialize", shop.materialize)
    shop.register()
    shop.refresh(TODAY)
    yield shop
    store.close()


def answer(shop: Refreshed, user: int) -> tuple[bool, int | None, Status, Reason]:
    """Return whether a user was found, the as-of, and status and reason of a latest feature."""
    with FeatureClient(shop.url, project="shop", environment="dev", clock=lambda: shop.now) as client:
        found = client.lookup("spend", [{"user_id": user}])
    column = found.names.index("spend.last_items")
    status, reason = found.statuses[0, column], found.reasons[0, column]
    return bool(found.found["spend"][0]), found.as_of["spend"], Status(int(status)), Reason(int(reason))


def rows(shop: Refreshed) -> list[bytes]:
    return sorted(key for key in shop.store.find(PLACE.row_prefix()))


def test_a_refresh_overwrites_the_one_before_and_what_it_has_no_row_for_is_gone(shop: Refreshed) -> None:
    assert [key.partition(b"}")[2] for key in rows(shop)] == [b":" + suffix(shop, "live")] * 3
    seen: list[Any] = []
    shop.computed = lambda: seen.extend(answer(shop, user) for user in range(3))
    shop.rows, shop.now = 2, NOW + DAY

    shop.refresh(TOMORROW)

    ahead = (True, TODAY, Status.PRESENT, Reason.AHEAD)
    assert seen == [ahead, ahead, (True, TODAY, Status.PRESENT, Reason.NONE)]
    assert answer(shop, 1) == (True, TOMORROW, Status.PRESENT, Reason.NONE)
    assert answer(shop, 2) == (False, TOMORROW, Status.MISSING, Reason.NONE)
    assert len(rows(shop)) == 2


def test_an_entity_is_gone_before_its_row_is_swept(shop: Refreshed, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.rows, shop.now = 2, NOW + DAY
    monkeypatch.setattr(RedisStore, "delete_older", broken)
    outcome = shop.refresh(TOMORROW)
    assert "could not be dropped" in " ".join(outcome.notes)
    assert len(rows(shop)) == 3
    assert answer(shop, 2) == (False, TOMORROW, Status.MISSING, Reason.NONE)


def broken(*_: object, **__: object) -> int:
    raise OnlineStoreError("the online store can't be reached")


def test_a_view_that_is_written_in_place_no_longer_goes_back_to_what_was(shop: Refreshed, tmp_path: Path) -> None:
    shop.compiled, shop.now = compiled(tmp_path), NOW + DAY
    shop.register()
    shop.refresh(TOMORROW)
    assert answer(shop, 1) == (True, TOMORROW, Status.PRESENT, Reason.NONE)

    history = History(tmp_path / "history", project=PLACE.project, environment=PLACE.environment)
    done = rollback_view(
        "spend", registry=shop.registry, store=shop.store, namespace=PLACE, history=history, now=shop.now
    )

    assert done.serves == (TODAY, 0)
    assert answer(shop, 1) == (True, TODAY, Status.PRESENT, Reason.NONE)


def test_no_older_row_is_written_over_a_newer_one(shop: Refreshed) -> None:
    late = []
    shop.computed = lambda: late.append(row_sink(shop.view, space(shop, TODAY), shop.url, expires_in_s=3600))
    shop.now = NOW + DAY
    shop.refresh(TOMORROW)
    shop.computed = lambda: None
    before = shop.store.read(rows(shop))
    # A run that was taken for dead sends what it still has.
    stale = Refreshed(compiled=shop.compiled, store=shop.store, url=shop.url, registry=shop.registry, now=NOW, rows=5)
    stale.materialize(None, shop.view, TODAY, now=NOW, sink=late[0])
    assert shop.store.read(rows(shop))[:3] == before
    assert answer(shop, 1) == (True, TOMORROW, Status.PRESENT, Reason.NONE)
    assert answer(shop, 4) == (False, TOMORROW, Status.MISSING, Reason.NONE)


def test_a_refresh_that_dies_leaves_newer_rows_and_the_next_one_makes_them_whole(shop: Refreshed) -> None:
    shop.now = NOW + DAY
    shop.computed = die
    with pytest.raises(SystemExit):
        shop.refresh(TOMORROW)
    assert answer(shop, 0) == (True, TODAY, Status.PRESENT, Reason.AHEAD)
    shop.computed = lambda: None
    outcome = shop.refresh(TOMORROW)
    assert (outcome.is_new, outcome.rows) == (True, 3)
    assert [key.partition(b"}")[2] for key in rows(shop)] == [b":" + suffix(shop, "live")] * 3
    assert answer(shop, 0) == (True, TOMORROW, Status.PRESENT, Reason.NONE)


def die() -> None:
    raise SystemExit


def test_a_first_refresh_that_fails_leaves_nothing(shop: Refreshed, tmp_path: Path) -> None:
    shop.store.delete(b"*")
    shop.computed = die
    with pytest.raises(SystemExit):
        shop.refresh(TODAY)
    assert rows(shop) == []


def test_an_earlier_refresh_is_refused_since_its_rows_are_overwritten(shop: Refreshed) -> None:
    shop.now = NOW + DAY
    shop.refresh(TOMORROW)
    shop.now = NOW + 2 * DAY
    shop.refresh(LATER)
    with pytest.raises(TimeError, match="can't go back to"):
        shop.refresh(TODAY, restate="again")
    found = shop.registry.refreshes("spend", fingerprint=shop.view.fingerprint.data)
    assert {record.status.value for record in found} == {"complete"}


def test_two_refreshes_of_different_as_ofs_are_not_written_at_once(shop: Refreshed) -> None:
    shop.now = NOW + 2 * DAY
    other = Refreshed(**{**vars(shop), "holder": "another run", "computed": lambda: None})
    seen: list[Exception] = []

    def meanwhile() -> None:
        with pytest.raises(RefreshRunningError) as caught:
            other.refresh(TOMORROW)
        seen.append(caught.value)

    shop.computed = meanwhile
    shop.refresh(LATER)
    assert len(seen) == 1


def test_a_restatement_stands_beside_what_serves_until_it_is_complete(shop: Refreshed) -> None:
    seen: list[Any] = []
    shop.computed = lambda: seen.append((len(rows(shop)), answer(shop, 0)))
    shop.rows = 2
    shop.refresh(TODAY, restate="again")
    assert seen == [(5, (True, TODAY, Status.PRESENT, Reason.NONE))]
    assert answer(shop, 2)[0] is False
    shop.computed = lambda: None
    shop.now = NOW + DAY
    shop.refresh(TOMORROW)
    assert [key.partition(b"}")[2] for key in rows(shop)] == [b":" + suffix(shop, "live~1")] * 2
    assert answer(shop, 0) == (True, TOMORROW, Status.PRESENT, Reason.NONE)


def test_a_restatement_that_died_leaves_no_row_to_the_next_one(shop: Refreshed) -> None:
    shop.rows, shop.computed = 5, die
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refreshing, "_give_up", lambda *_: None)  # it was killed
        with pytest.raises(SystemExit):
            shop.refresh(TODAY, restate="again")
    shop.rows, shop.computed = 2, lambda: None
    shop.refresh(TODAY, restate="again")
    assert answer(shop, 4)[0] is False
    assert sum(key.endswith(suffix(shop, "live~1")) for key in rows(shop)) == 2


def test_readers_are_answered_throughout_when_a_view_comes_to_be_written_in_place_and_back(
    shop: Refreshed, tmp_path: Path
) -> None:
    def write(in_place: bool, day: int, expected: int) -> None:
        changes = (WRITTEN_IN_PLACE,) if in_place else ()
        shop.compiled, shop.now = compiled(tmp_path, *changes), NOW + day * DAY
        fingerprint = shop.view.fingerprint.data
        shop.register()
        assert shop.view.fingerprint.data == fingerprint
        shop.computed = lambda: seen.append(answer(shop, 1)[0])
        shop.refresh(TODAY + day * DAY)
        assert answer(shop, 1)[:2] == (True, TODAY + day * DAY)
        spaces = {key.rpartition(b":")[2] for key in rows(shop)}
        assert len(spaces) == expected

    seen: list[bool] = []
    write(False, 1, 2)
    write(True, 2, 2)  # the one that just stopped serving stays for a while
    write(True, 3, 1)
    assert seen == [True, True, True]


def test_a_clock_that_is_behind_is_answered_by_the_refresh_before(shop: Refreshed) -> None:
    shop.rows, shop.now = 2, NOW + DAY
    shop.refresh(TOMORROW)
    shop.now = NOW + DAY - MINUTE
    assert answer(shop, 0) == (True, TODAY, Status.PRESENT, Reason.AHEAD)
    assert answer(shop, 2) == (False, TODAY, Status.MISSING, Reason.AHEAD)  # it had a row, which was swept
    shop.now = TOMORROW + HOUR  # before the delay is over: the refresh in place is there all the same
    assert served_as_of(shop.store, PLACE, "spend", shop.view.fingerprint.data, NOW + DAY) == TOMORROW


def test_rows_that_expired_with_their_marker_are_not_taken_for_missing_entities(shop: Refreshed) -> None:
    shop.store.change(space(shop, TODAY).marker, lambda _: None)
    shop.now = NOW + DAY
    seen: list[Any] = []
    shop.computed = lambda: seen.append(answer(shop, 0)[2])
    shop.refresh(TOMORROW)
    assert seen == [Status.UNAVAILABLE]
    assert answer(shop, 0) == (True, TOMORROW, Status.PRESENT, Reason.NONE)


def test_a_head_with_refreshes_in_place_is_of_a_format_that_older_clients_refuse(shop: Refreshed) -> None:
    head = read_head(shop.store, space(shop, TODAY))
    content = encode_head(head)
    assert json.loads(content)["format"] == 2
    assert decode_head(content) == head
    assert [entry.live for entry in head.entries] == [0]


def test_explain_says_what_is_given_up(shop: Refreshed) -> None:
    told = explain_view(shop.view, PLACE, as_of=TODAY)
    summary = dict(told.summary)["written in place"]
    assert all(word in summary for word in ("AHEAD", "gate", "rollback", "availability_delay"))
    assert ":live" in told.sections[-1].text


def space(shop: Refreshed, as_of: int) -> KeySpace:
    return shop.space(as_of).at(as_of, live=0)


def suffix(shop: Refreshed, name: str) -> bytes:
    return f"spend@{shop.view.fingerprint.data[:8]}:{name}".encode()


def collect(shop: Refreshed) -> Collected:
    collector = Collector(registry=shop.registry, store=shop.store, namespace=PLACE, pause_s=0)
    return collector.collect(shop.now)


def restatement_that_dies(shop: Refreshed) -> KeySpace:
    """Begin a restatement, which has the next space; its process is killed when its rows are written."""
    dead = shop.space(TODAY).at(TODAY, 1, live=1)
    begin_refresh(shop.store, dead, expires_in_s=600)
    shop.store.write({dead.row(b"%d" % user): b"a row of it" for user in range(2)})
    shop.registry.start_refresh(
        view="spend", fingerprint=dead.fingerprint, as_of=TODAY, started_at=shop.now, reason="a mistake"
    )
    return dead


def test_what_a_dead_restatement_wrote_in_place_goes_after_the_grace(shop: Refreshed) -> None:
    dead = restatement_that_dies(shop)
    shop.now += HOUR - MINUTE
    assert collect(shop) == Collected()
    shop.now += MINUTE
    with leased(shop.registry, "spend", dead.fingerprint, (TODAY + DAY, IN_PLACE), holder="it is not dead"):
        assert collect(shop) == Collected()

    assert (done := collect(shop)).spaces == [str(dead)]

    assert done.rows == 2
    assert len(rows(shop)) == 3
    assert answer(shop, 1) == (True, TODAY, Status.PRESENT, Reason.NONE)


def test_a_run_that_takes_up_a_dead_space_while_it_is_collected_keeps_its_rows(
    shop: Refreshed, monkeypatch: pytest.MonkeyPatch
) -> None:
    restatement_that_dies(shop)
    shop.now += HOUR
    drop = Collector._drop_in_place

    def begun(*given: Any) -> int:
        computed: list[int] = []
        shop.computed = lambda: computed.append(drop(*given))  # it has its marker and its rows, and runs
        shop.refresh(TODAY, restate="again")
        return computed[0]

    monkeypatch.setattr(Collector, "_drop_in_place", begun)

    assert collect(shop).rows == 0

    assert answer(shop, 2) == (True, TODAY, Status.PRESENT, Reason.NONE)


def test_no_run_begins_in_place_while_rows_are_collected(shop: Refreshed, monkeypatch: pytest.MonkeyPatch) -> None:
    restatement_that_dies(shop)
    shop.now += HOUR
    remove, tried = RedisStore.remove, []

    def removed(store: RedisStore, keys: Sequence[bytes]) -> int:
        with pytest.raises(RefreshRunningError, match="is being computed by another run"):
            shop.refresh(TODAY, restate="again")
        tried.append(len(keys))
        return remove(store, keys)

    monkeypatch.setattr(RedisStore, "remove", removed)
    assert collect(shop).rows == 2
    assert tried == [2]

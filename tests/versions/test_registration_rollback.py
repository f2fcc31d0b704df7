"""All that a registration moved goes back in one switch, and forward again: or nothing does, with the reason."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from featurekit.apply import switch_ready
from featurekit.clock import DAY, HOUR
from featurekit.collecting import Collector
from featurekit.errors import NotRegisteredError, RollbackError
from featurekit.online.client import FeatureClient
from featurekit.online.redis import RedisStore
from featurekit.registration_rollback import RegistrationRolledBack, rollback_registration
from featurekit.registry.state import RegistrationStatus
from tests.refreshed import PLACE, Refreshed
from tests.registry.definitions import compiled
from tests.registry.states import TODAY
from tests.versions.rolling import Killed, dies

NEW = ("  score: {features: [spend, basket]}", "  score: {features: [spend, basket]}\n  rank: {features: [spend]}")


def roll(shop: Refreshed, number: int, *, is_forward: bool = False) -> RegistrationRolledBack:
    return rollback_registration(
        number, is_forward=is_forward, registry=shop.registry, store=shop.store, namespace=PLACE, now=shop.now
    )


def client_of(shop: Refreshed) -> FeatureClient:
    return FeatureClient(shop.url, project=PLACE.project, environment=PLACE.environment, clock=lambda: shop.now)


def fingerprints(shop: Refreshed) -> tuple[str, str]:
    """Return what readers of both services get."""
    with client_of(shop) as client:
        return client.plan("score").fingerprint, client.plan("spend").fingerprint


def number_of(shop: Refreshed) -> dict[str, int]:
    return {name: version.number for name, version in shop.registry.deployed().serving.items()}


def status_of(shop: Refreshed, number: int) -> RegistrationStatus:
    return next(one.status for one in shop.registry.registrations() if one.id == number)


def test_all_services_go_back_at_once_and_forward_again(moved: Refreshed) -> None:
    new = fingerprints(moved)

    back = roll(moved, 2)

    assert [(one.service, one.before, one.number) for one in back.moves] == [("score", 2, 1), ("spend", 2, 1)]
    old = fingerprints(moved)
    assert not set(old) & set(new)
    assert status_of(moved, 2) is RegistrationStatus.ROLLED_BACK
    moved.register()  # the definitions are those of the second still: nothing changes, and nobody is moved
    switch_ready(moved.registry, moved.store, PLACE, moved.now)
    assert fingerprints(moved) == old

    roll(moved, 2, is_forward=True)

    assert fingerprints(moved) == new
    assert status_of(moved, 2) is RegistrationStatus.SWITCHED
    assert [move.kind.value for move in moved.registry.moves(2)] == ["switch"] * 2 + ["rollback"] * 2 + ["forward"] * 2


def test_nobody_moves_to_what_is_older_than_what_serves_and_what_to_do_is_told(
    moved: Refreshed, tmp_path: Path
) -> None:
    moved.now += DAY
    moved.refresh(TODAY + DAY)
    before = fingerprints(moved)

    with pytest.raises(RollbackError, match="older than what serves: spend@1") as caught:
        roll(moved, 2)

    assert caught.value.try_ == "featurekit materialize spend@1, then again"
    assert (fingerprints(moved), status_of(moved, 2)) == (before, RegistrationStatus.SWITCHED)
    second, moved.compiled = moved.compiled, compiled(tmp_path)
    moved.refresh(TODAY + DAY)
    moved.compiled = second
    roll(moved, 2)
    assert fingerprints(moved) != before


def test_what_is_new_in_a_registration_stays_and_what_it_removed_comes_back(shop: Refreshed, tmp_path: Path) -> None:
    shop.compiled = compiled(tmp_path, NEW)
    shop.register()
    shop.compiled = compiled(tmp_path)
    shop.register()
    with pytest.raises(NotRegisteredError):
        client_of(shop).plan("rank")

    assert roll(shop, 3).stayed == ()
    assert client_of(shop).lookup("rank", {"user_id": 1}).as_of["spend"] == TODAY
    roll(shop, 3, is_forward=True)
    with pytest.raises(NotRegisteredError):
        client_of(shop).plan("rank")
    assert roll(shop, 2).stayed == ("rank",)


REFUSED: dict[str, tuple[Callable[[Refreshed], object], str]] = {
    "there is none": (lambda shop: roll(shop, 9), "there is no registration 9"),
    "not rolled back": (lambda shop: roll(shop, 2, is_forward=True), "it is not rolled back"),
    "twice": (lambda shop: (roll(shop, 2), roll(shop, 2)), "it is rolled back already"),
    "collected": (
        lambda shop: (
            Collector(registry=shop.registry, store=shop.store, namespace=PLACE).collect(shop.now),
            roll(shop, 2),
        ),
        "score@1 was collected",
    ),
    "a store that lost it": (
        lambda shop: (
            shop.store.change(PLACE.head("spend", shop.registry.view_versions()[0].fingerprint.data), lambda _: None),
            roll(shop, 2),
        ),
        "what served before is not there",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_can_not_be_done_is_refused_and_nobody_moves(moved: Refreshed, what: str) -> None:
    act, why = REFUSED[what]
    with pytest.raises(RollbackError) as caught:
        act(moved)
    assert why in str(caught.value)
    assert set(number_of(moved).values()) == ({1} if what == "twice" else {2})


def test_a_registration_that_was_followed_by_another_waits_for_that_to_go_back(
    moved: Refreshed, tmp_path: Path
) -> None:
    moved.compiled = compiled(tmp_path, ("sum(amount), window: 7d", "sum(amount), window: 9d"))
    moved.register()
    with pytest.raises(RollbackError, match="can't be rolled back") as pending:
        roll(moved, 3)
    assert "have not all moved yet" in str(pending.value.why)
    moved.refresh(TODAY)
    with pytest.raises(RollbackError, match="moved on since, to score@3"):
        roll(moved, 2)
    roll(moved, 3)
    roll(moved, 2)
    assert number_of(moved) == {"score": 1, "spend": 1}


@pytest.mark.parametrize(("method", "at"), [("change", 1), ("write", 1)])
def test_one_that_died_before_the_store_followed_is_completed_by_whoever_comes_next(
    moved: Refreshed, monkeypatch: pytest.MonkeyPatch, method: str, at: int
) -> None:
    before = fingerprints(moved)
    with monkeypatch.context() as patch:
        dies(patch, RedisStore, method, at=at)
        with pytest.raises(Killed):
            roll(moved, 2)
    if method == "write":
        assert fingerprints(moved) == before
    switch_ready(moved.registry, moved.store, PLACE, moved.now)
    assert number_of(moved) == {"score": 1, "spend": 1}
    assert not set(fingerprints(moved)) & set(before)


def test_one_that_is_run_again_after_it_died_lets_the_store_follow_and_says_that_it_is_done(
    moved: Refreshed, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprints(moved)
    with monkeypatch.context() as patch:
        dies(patch, RedisStore, "write", at=1)
        with pytest.raises(Killed):
            roll(moved, 2)
    assert fingerprints(moved) == before

    with pytest.raises(RollbackError, match="it is rolled back already"):
        roll(moved, 2)

    assert number_of(moved) == {"score": 1, "spend": 1}
    assert not set(fingerprints(moved)) & set(before)


def test_lookups_use_one_version_throughout_while_readers_go_back_and_forth(moved: Refreshed) -> None:
    """Beside benchmarks.faults.switch: pointers of both services are read in one instant while they move."""
    keys = [PLACE.pointer("score"), PLACE.pointer("spend")]
    seen: set[tuple[bytes | None, ...]] = set()
    is_over = threading.Event()

    def read() -> None:
        store = RedisStore(moved.url)
        while not is_over.is_set():
            seen.add(tuple(store.read(keys)))
        store.close()

    reader = threading.Thread(target=read)
    reader.start()
    for way in range(10):
        roll(moved, 2, is_forward=bool(way % 2))
    is_over.set()
    reader.join()
    assert len(seen) == 2
    assert not {one for one, _ in seen} & {other for _, other in seen}


def test_readers_that_were_moved_back_are_refreshed_beside_what_is_defined(moved: Refreshed) -> None:
    roll(moved, 2)
    moved.now += 30 * HOUR
    needed = {use.version.number: use.by for use in moved.registry.uses().needed_views.values()}
    assert set(needed) == {1, 2}
    assert needed[1] == ("score@1, serving", "spend@1, serving")

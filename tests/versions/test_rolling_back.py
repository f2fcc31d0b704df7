"""Back to the refresh before, and forward again: what lookups get, and what all records say of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from featurekit import refreshing, rolling_back
from featurekit.clock import DAY, HOUR, Instant
from featurekit.computing import Computation
from featurekit.errors import NotRegisteredError, RollbackError
from featurekit.leasing import Tenancy, leased
from featurekit.offline.history import History, served_at
from featurekit.offline.materialize import MaterializeResult
from featurekit.offline.served_refreshes import NOBODY, picks
from featurekit.online.client import FeatureClient
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import read_head
from featurekit.registry.writer import Writer
from featurekit.serving_history import served_history
from featurekit.status import Status
from tests.refreshed import PLACE, Refreshed
from tests.registry.states import TODAY
from tests.versions.rolling import LATER, Killed, dies, roll


def looked_up(shop: Refreshed) -> Instant | None:
    """Return the as-of that a lookup now is answered from."""
    client = FeatureClient(shop.url, project=PLACE.project, environment=PLACE.environment, clock=lambda: shop.now)
    with client:
        return client.lookup("spend", {"user_id": 1}).as_of["spend"]


def on_record(shop: Refreshed, at: Instant) -> tuple[Instant | None, Instant | None]:
    """Return the as-of that served at a time by the history, and by what training sets as served go by."""
    assert shop.history is not None
    kept = served_at(shop.history.entries("spend", shop.view.fingerprint.data), at)
    served = served_history(shop.compiled.view_services["spend"], shop.history, shop.registry).views["spend"]
    place = next((place for start, place in reversed(picks(served.refreshes)) if start <= at), NOBODY)
    return None if kept is None else kept.as_of, None if place == NOBODY else served.refreshes[place].as_of


def test_the_refresh_before_serves_and_all_records_agree(shop: Refreshed) -> None:
    assert looked_up(shop) == TODAY

    done = roll(shop)

    assert done.changed == ((TODAY, 0),)
    assert done.serves == (TODAY - DAY, 0)
    assert looked_up(shop) == TODAY - DAY
    assert on_record(shop, shop.now) == (TODAY - DAY, TODAY - DAY)
    assert on_record(shop, shop.now - 1) == (TODAY, TODAY)  # it did serve until then
    assert shop.registry.watermarks(shop.now)[shop.view.fingerprint.data].as_of == TODAY - DAY


def test_what_was_rolled_back_is_not_computed_again_by_itself(shop: Refreshed) -> None:
    roll(shop)

    outcome = shop.refresh(TODAY)

    assert (outcome.is_new, outcome.is_withdrawn) == (False, True)
    assert looked_up(shop) == TODAY - DAY
    again = shop.refresh(TODAY, restate="the source is right now")
    assert (again.is_new, again.restatement) == (True, 1)
    assert looked_up(shop) == TODAY


def test_the_next_refresh_serves_as_usual(shop: Refreshed) -> None:
    roll(shop)
    shop.now += DAY
    shop.refresh(TODAY + DAY)
    assert looked_up(shop) == TODAY + DAY
    assert shop.refresh(TODAY).is_withdrawn


def test_it_goes_back_further_and_forward_again_step_by_step(shop: Refreshed) -> None:
    roll(shop)
    shop.now += HOUR
    roll(shop)
    assert looked_up(shop) == TODAY - 2 * DAY
    shop.now += HOUR

    first = roll(shop, is_forward=True)
    assert (first.changed, looked_up(shop)) == (((TODAY - DAY, 0),), TODAY - DAY)
    shop.now += HOUR
    second = roll(shop, is_forward=True)
    assert (second.changed, looked_up(shop)) == (((TODAY, 0),), TODAY)

    # Whatever happened since, each hour is told as lookups had it.
    seen = [on_record(shop, LATER + hours * HOUR)[1] for hours in range(4)]
    assert seen == [TODAY - DAY, TODAY - 2 * DAY, TODAY - DAY, TODAY]
    assert on_record(shop, LATER - 1)[1] == TODAY


def test_to_goes_back_as_far_as_is_asked_at_once(shop: Refreshed) -> None:
    done = roll(shop, to=TODAY - 2 * DAY)
    assert done.changed == ((TODAY - DAY, 0), (TODAY, 0))
    assert looked_up(shop) == TODAY - 2 * DAY
    roll(shop, is_forward=True)
    assert looked_up(shop) == TODAY


def test_a_restatement_goes_back_to_what_it_restated(shop: Refreshed) -> None:
    shop.refresh(TODAY, restate="late rows")
    done = roll(shop)
    assert (done.changed, done.serves) == (((TODAY, 1),), (TODAY, 0))
    assert not shop.refresh(TODAY).is_withdrawn  # that as-of is served


def test_a_refresh_that_is_not_visible_yet_goes_with_the_one_before_it(shop: Refreshed) -> None:
    shop.now = TODAY + DAY + HOUR  # its delay is two hours
    shop.refresh(TODAY + DAY)
    assert looked_up(shop) == TODAY
    done = roll(shop)
    assert done.changed == ((TODAY, 0), (TODAY + DAY, 0))
    shop.now += 2 * HOUR
    assert looked_up(shop) == TODAY - DAY


REFUSED: dict[str, tuple[Callable[[Refreshed], object], str]] = {
    "a time that is not kept": (lambda shop: roll(shop, to=TODAY - 9 * DAY), "that refresh is not kept"),
    "nothing was rolled back": (lambda shop: roll(shop, is_forward=True), "nothing of spend@1 was rolled back"),
    "rows that expired": (
        lambda shop: (shop.store.change(shop.space(TODAY - DAY).marker, lambda _: None), roll(shop)),
        "its rows have expired",
    ),
    "nothing before it": (
        lambda shop: (roll(shop, to=TODAY - 2 * DAY), roll(shop)),
        "no refresh before the one that serves is kept",
    ),
    "rows that expired meanwhile": (
        lambda shop: (
            roll(shop),
            shop.store.change(shop.space(TODAY).marker, lambda _: None),
            roll(shop, is_forward=True),
        ),
        "its rows have expired, or were collected",
    ),
}


def test_what_is_older_than_all_that_is_kept_is_not_recorded_as_brought_back(shop: Refreshed) -> None:
    roll(shop)
    for day in range(1, 12):
        shop.now += DAY
        shop.refresh(TODAY + day * DAY)
    oldest = read_head(shop.store, shop.space(TODAY)).entries[0].as_of
    assert oldest > TODAY
    before = on_record(shop, shop.now)

    with pytest.raises(RollbackError, match="can't go forward to 2013-11-15T00:00Z") as caught:
        roll(shop, is_forward=True)

    assert "older than all that can serve" in str(caught.value)
    (record,) = [one for one in shop.registry.refreshes("spend") if one.as_of == TODAY]
    assert record.withdrawn_at is not None
    assert not record.absences
    assert on_record(shop, shop.now) == before == (looked_up(shop), looked_up(shop))


@pytest.mark.parametrize("what", REFUSED)
def test_what_can_not_be_done_is_refused_with_the_reason(shop: Refreshed, what: str) -> None:
    act, why = REFUSED[what]
    with pytest.raises(RollbackError) as caught:
        act(shop)
    assert why in str(caught.value)


def test_a_view_that_nobody_registered_can_not_go_back(shop: Refreshed) -> None:
    with pytest.raises(NotRegisteredError):
        roll(shop, "nothing")
    with pytest.raises(NotRegisteredError, match="there is no view version 'spend@7'"):
        roll(shop, "spend@7")


STEPS = {"the registry": (Writer, 1), "the head": (RedisStore, 2), "the history": (History, 1)}


@pytest.mark.parametrize("is_forward", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_a_rollback_that_died_is_completed_by_the_next_and_not_taken_for_another(
    shop: Refreshed, monkeypatch: pytest.MonkeyPatch, step: str, is_forward: bool
) -> None:
    if is_forward:
        roll(shop)
        shop.now += HOUR
    before, after = (TODAY - DAY, TODAY) if is_forward else (TODAY, TODAY - DAY)
    (owner, at), way = STEPS[step], "bring_back" if is_forward else "withdraw"
    with monkeypatch.context() as patch:
        dies(patch, owner, "change" if owner is RedisStore else "withdraw" if owner is History else way, at=at)
        with pytest.raises(Killed):
            roll(shop, is_forward=is_forward)
    assert looked_up(shop) == (after if step == "the history" else before)

    if step == "the history":
        rolling_back._follow(place_of(shop))  # whatever is done next begins with this
    else:
        assert roll(shop, is_forward=is_forward).is_resumed is (step == "the head")

    assert looked_up(shop) == after
    assert on_record(shop, shop.now) == (after, after)
    listed = [entry.as_of for entry in read_head(shop.store, shop.space(TODAY)).entries]
    assert listed == [TODAY - 2 * DAY, TODAY - DAY, *([TODAY] if is_forward else [])]


def test_two_that_go_back_and_forward_at_once_leave_what_the_later_one_said(
    shop: Refreshed, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, forward = RedisStore.change, threading.Thread(target=lambda: roll(shop, is_forward=True))

    def slow(store: RedisStore, *given: Any) -> Any:
        is_second = threading.current_thread() is not forward and shop.registry.refreshes("spend")[0].withdrawn_at
        if is_second and not forward.ident:
            forward.start()
            forward.join(0.5)  # it has to wait
        return real(store, *given)

    monkeypatch.setattr(RedisStore, "change", slow)
    roll(shop)
    forward.join()

    assert shop.registry.refreshes("spend")[0].withdrawn_at is None
    assert looked_up(shop) == TODAY
    assert on_record(shop, shop.now) == (TODAY, TODAY)


def test_a_run_that_waited_for_one_that_was_rolled_back_at_once_does_not_compute_it_again(
    shop: Refreshed, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.now += DAY

    def after_another(*given: Any, **named: Any) -> AbstractContextManager[Tenancy]:
        monkeypatch.setattr(refreshing, "leased", leased)
        assert shop.refresh(TODAY + DAY).is_new
        roll(shop)
        return leased(*given, **named)

    monkeypatch.setattr(refreshing, "leased", after_another)
    outcome = shop.refresh(TODAY + DAY, wait=True)

    assert (outcome.is_new, outcome.is_withdrawn) == (False, True)
    assert looked_up(shop) == TODAY
    assert [one.restatement for one in shop.registry.refreshes("spend") if one.as_of == TODAY + DAY] == [0]


def test_what_was_rolled_back_is_no_base_of_the_next_refresh_also_where_the_history_does_not_know(
    shop: Refreshed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        dies(patch, History, "withdraw", at=1)
        with pytest.raises(Killed):
            roll(shop)
    history, computations = shop.history, []
    assert history is not None
    assert history.latest(shop.view, before=TODAY + DAY) == history.get(shop.view, TODAY)  # it still lists it

    def materialize(*given: Any, compute: Computation, **named: Any) -> MaterializeResult:
        computations.append(compute)
        return shop.materialize(*given, **named)

    monkeypatch.setattr(refreshing, "materialize", materialize)
    shop.now += DAY
    shop.refresh(TODAY + DAY)

    (compute,) = computations
    base = history.latest(shop.view, before=TODAY + DAY, without=compute.rolled_back)
    assert base == history.get(shop.view, TODAY - DAY) is not None


def place_of(shop: Refreshed) -> rolling_back._Place:
    assert shop.history is not None
    (version,) = [one for one in shop.registry.view_versions() if one.name == "spend"]
    return rolling_back._Place(
        version=version, space=shop.space(0), registry=shop.registry, store=shop.store, history=shop.history
    )


def test_no_lookup_is_without_an_answer_while_readers_go_back_and_forth(shop: Refreshed) -> None:
    client = FeatureClient(shop.url, project=PLACE.project, environment=PLACE.environment, clock=lambda: shop.now)
    with client:
        for way in range(20):
            roll(shop, is_forward=bool(way % 2))
            shop.now += 1
            found = client.lookup("spend", [{"user_id": 1}, {"user_id": 2}])
            assert set(found.statuses.ravel().tolist()) == {Status.PRESENT}
            assert found.as_of["spend"] == (TODAY if way % 2 else TODAY - DAY)

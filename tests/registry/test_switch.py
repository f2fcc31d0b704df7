"""When readers move: pure decisions over deployed state and watermarks."""

from __future__ import annotations

from featurekit.clock import DAY, HOUR
from featurekit.registry.state import Deployed, DesiredView
from featurekit.registry.switch import Move, moves
from tests.registry.states import (
    NOW,
    TODAY,
    deployed,
    pending,
    registered_service,
    registered_view,
    service,
    view,
    watermarks,
)

SPEND, SPEND_B = view("spend"), view("spend", "b")
LOAD, LOAD_B = view("load"), view("load", "b")
SCORE, SCORE_B = service("score", SPEND), service("score", SPEND_B)
RANK, RANK_B = service("rank", LOAD), service("rank", LOAD_B)
SECOND = pending(2, "score", "rank")
BOTH_CHANGED = deployed(
    [registered_view(SPEND_B, 2, registration=2), registered_view(LOAD_B, 2, registration=2)],
    [registered_service(SCORE_B, 2), registered_service(RANK_B, 2)],
    serving=[registered_service(SCORE), registered_service(RANK)],
    pending=(SECOND,),
    registration=2,
)


def test_nothing_moves_while_one_view_of_the_registration_is_missing() -> None:
    assert moves(BOTH_CHANGED, {}, NOW) == ()
    assert moves(BOTH_CHANGED, watermarks((SPEND_B, TODAY)), NOW) == ()


def test_all_services_of_the_registration_move_with_its_last_view() -> None:
    done = watermarks((SPEND_B, TODAY), (LOAD_B, TODAY))

    assert moves(BOTH_CHANGED, done, NOW) == (
        Move(
            registration=SECOND,
            services=(registered_service(SCORE_B, 2), registered_service(RANK_B, 2)),
            is_whole=True,
        ),
    )


def changed(new: DesiredView) -> Deployed:
    """SPEND serves and `new` waits to take its place."""
    return deployed(
        [registered_view(new, 2, registration=2)],
        [registered_service(service("score", new), 2)],
        serving=[registered_service(SCORE)],
        pending=(pending(2, "score"),),
    )


def test_readers_are_not_moved_back_in_time() -> None:
    state = changed(SPEND_B)

    assert moves(state, watermarks((SPEND, TODAY), (SPEND_B, TODAY - DAY)), NOW) == ()
    assert len(moves(state, watermarks((SPEND, TODAY), (SPEND_B, TODAY)), NOW)) == 1


def test_readers_move_to_an_older_as_of_where_the_new_grid_has_none_between() -> None:
    weekly = view("spend", "b", every=7 * DAY)
    thursday = TODAY - DAY  # the epoch was a Thursday, and so 2013-11-14 is on the weekly grid

    assert len(moves(changed(weekly), watermarks((SPEND, TODAY), (weekly, thursday)), NOW)) == 1


def test_readers_move_to_an_older_as_of_where_the_new_delay_asks_for_it() -> None:
    slow = view("spend", "b", delay=10 * HOUR)

    assert len(moves(changed(slow), watermarks((SPEND, TODAY), (slow, TODAY - DAY)), NOW)) == 1


def test_a_refresh_that_lookups_do_not_see_yet_moves_nobody() -> None:
    slow = view("spend", "b", delay=10 * HOUR)
    done = watermarks((SPEND, TODAY), (slow, TODAY))

    assert moves(changed(slow), done, NOW) == ()
    assert len(moves(changed(slow), done, TODAY + 10 * HOUR)) == 1


def test_a_late_view_can_be_replaced_by_one_that_is_as_late() -> None:
    late = TODAY - 3 * DAY

    assert len(moves(changed(SPEND_B), watermarks((SPEND, late), (SPEND_B, late)), NOW)) == 1


def test_a_view_that_never_had_values_is_replaced_by_one_that_has_any() -> None:
    assert len(moves(changed(SPEND_B), watermarks((SPEND_B, TODAY - 30 * DAY)), NOW)) == 1


def test_a_new_service_moves_at_once_and_the_others_of_its_registration_wait() -> None:
    state = deployed(
        [registered_view(SPEND_B, 2, registration=2), registered_view(LOAD_B, 1, registration=2)],
        [registered_service(SCORE_B, 2), registered_service(RANK_B, 1)],
        serving=[registered_service(SCORE)],
        pending=(SECOND,),
        registration=2,
    )

    assert moves(state, {}, NOW) == (
        Move(registration=SECOND, services=(registered_service(RANK_B, 1),), is_whole=False),
    )


def test_a_registration_whose_services_all_moved_already_ends() -> None:
    state = deployed([registered_view(SPEND_B, 2, registration=2)], [registered_service(SCORE_B, 2)], pending=(SECOND,))

    assert moves(state, {}, NOW) == (Move(registration=SECOND, services=(), is_whole=True),)


def test_registrations_move_each_on_its_own() -> None:
    state = deployed(
        [registered_view(SPEND_B, 2, registration=2), registered_view(LOAD_B, 2, registration=3)],
        [registered_service(SCORE_B, 2), registered_service(RANK_B, 2)],
        serving=[registered_service(SCORE), registered_service(RANK)],
        pending=(pending(2, "score"), pending(3, "rank")),
        registration=3,
    )

    assert moves(state, watermarks((LOAD_B, TODAY)), NOW) == (
        Move(registration=pending(3, "rank"), services=(registered_service(RANK_B, 2),), is_whole=True),
    )

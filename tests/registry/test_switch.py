"""When readers move: pure decisions over deployed state and watermarks."""

from __future__ import annotations

from featurekit.registry.switch import Move, moves
from tests.registry.states import (
    deployed,
    pending,
    registered_service,
    registered_view,
    service,
    view,
    watermark,
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
    assert moves(BOTH_CHANGED, {}) == ()
    assert moves(BOTH_CHANGED, watermarks(watermark(SPEND_B, registration=2))) == ()


def test_all_services_of_the_registration_move_with_its_last_view() -> None:
    done = watermarks(watermark(SPEND_B, registration=2), watermark(LOAD_B, registration=2))

    assert moves(BOTH_CHANGED, done) == (
        Move(
            registration=SECOND,
            services=(registered_service(SCORE_B, 2), registered_service(RANK_B, 2)),
            is_whole=True,
        ),
    )


def test_a_refresh_that_began_before_the_registration_does_not_count() -> None:
    done = watermarks(watermark(SPEND_B, registration=1), watermark(LOAD_B, registration=2))

    assert moves(BOTH_CHANGED, done) == ()


def test_a_new_service_moves_at_once_and_the_others_of_its_registration_wait() -> None:
    state = deployed(
        [registered_view(SPEND_B, 2, registration=2), registered_view(LOAD_B, 1, registration=2)],
        [registered_service(SCORE_B, 2), registered_service(RANK_B, 1)],
        serving=[registered_service(SCORE)],
        pending=(SECOND,),
        registration=2,
    )

    assert moves(state, {}) == (Move(registration=SECOND, services=(registered_service(RANK_B, 1),), is_whole=False),)


def test_a_registration_whose_services_all_moved_already_ends() -> None:
    state = deployed([registered_view(SPEND_B, 2, registration=2)], [registered_service(SCORE_B, 2)], pending=(SECOND,))

    assert moves(state, {}) == (Move(registration=SECOND, services=(), is_whole=True),)


def test_registrations_move_each_on_its_own() -> None:
    state = deployed(
        [registered_view(SPEND_B, 2, registration=2), registered_view(LOAD_B, 2, registration=3)],
        [registered_service(SCORE_B, 2), registered_service(RANK_B, 2)],
        serving=[registered_service(SCORE), registered_service(RANK)],
        pending=(pending(2, "score"), pending(3, "rank")),
        registration=3,
    )

    assert moves(state, watermarks(watermark(LOAD_B, registration=3))) == (
        Move(registration=pending(3, "rank"), services=(registered_service(RANK_B, 2),), is_whole=True),
    )

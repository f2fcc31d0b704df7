from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from featurekit.errors import (
    BreakerOpenError,
    InputError,
    OnlineStoreError,
    OnlineStoreTimeoutError,
    SettingsError,
)
from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.breaker import PASS, REFUSED, TRIAL, Breaker
from featurekit.online.calls import Call, Calls
from featurekit.online.client import FeatureClient
from featurekit.online.retries import Retries, RetryBudget
from featurekit.online.store import READ_SPAN_S

AWAY = OnlineStoreError("away")
LATE = OnlineStoreTimeoutError("late")


class Watch:
    """A clock that stands until it is moved; seconds."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


def breaker_of(watch: Watch, failures: int = 3) -> Breaker:
    return Breaker(failures=failures, open_ms=1000, elapsed=watch)


def opened(watch: Watch) -> Breaker:
    breaker = breaker_of(watch)
    for _ in range(3):
        breaker.failed(breaker.admit())
    return breaker


def calls_of(watch: Watch, *, timeout_ms: float = 1000, breaker: Breaker | None = None, **retries: float) -> Calls:
    return Calls(
        "redis://here",
        timeout_ms=timeout_ms,
        retries=Retries(**retries),  # type: ignore[arg-type]
        breaker=breaker_of(watch, failures=100) if breaker is None else breaker,
        elapsed=watch,
        random=lambda: 0.5,
    )


def test_it_opens_after_a_run_of_failures_and_not_before(watch: Watch) -> None:
    breaker = breaker_of(watch)
    for _ in range(2):
        breaker.failed(breaker.admit())
    breaker.succeeded(breaker.admit())  # the run is over
    for _ in range(2):
        breaker.failed(breaker.admit())
    assert (breaker.state, breaker.admit()) == ("closed", PASS)
    breaker.failed(PASS)
    assert (breaker.state, breaker.admit()) == ("open", REFUSED)


def test_one_read_alone_is_tried_when_the_time_has_come(watch: Watch) -> None:
    breaker = opened(watch)
    watch.now += 0.999
    assert breaker.admit() is REFUSED
    watch.now += 0.001
    assert breaker.state == "half-open"
    assert [breaker.admit() for _ in range(4)] == [TRIAL, REFUSED, REFUSED, REFUSED]
    breaker.succeeded(TRIAL)
    assert (breaker.state, breaker.admit(), breaker.admit()) == ("closed", PASS, PASS)


def test_a_trial_that_fails_leaves_it_open_as_long_once_more(watch: Watch) -> None:
    breaker = opened(watch)
    watch.now += 1
    breaker.failed(breaker.admit())
    watch.now += 0.999
    assert (breaker.state, breaker.admit()) == ("open", REFUSED)
    watch.now += 0.001
    assert breaker.admit() is TRIAL


def test_a_trial_whose_caller_went_away_is_given_to_the_next(watch: Watch) -> None:
    breaker = opened(watch)
    watch.now += 1
    breaker.dropped(breaker.admit())
    assert breaker.admit() is TRIAL


def test_an_answer_to_what_was_asked_before_it_opened_closes_nothing(watch: Watch) -> None:
    breaker = breaker_of(watch)
    slow = breaker.admit()
    for _ in range(3):
        breaker.failed(breaker.admit())
    breaker.succeeded(slow)
    assert breaker.state == "open"
    breaker.failed(slow)  # nor does a failure from then put the trial off
    watch.now += 1
    assert breaker.admit() is TRIAL


def test_of_many_threads_one_has_the_trial(watch: Watch) -> None:
    for _ in range(50):
        breaker = opened(watch)
        watch.now += 1
        barrier = threading.Barrier(8)
        found: list[object] = []

        def ask(breaker: Breaker = breaker, barrier: threading.Barrier = barrier, found: list[object] = found) -> None:
            barrier.wait()
            found.append(breaker.admit())

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found.count(TRIAL) == 1
        assert found.count(REFUSED) == 7


def test_a_child_that_was_forked_while_a_thread_held_the_lock_has_one_of_its_own(watch: Watch) -> None:
    breaker = opened(watch)
    budget = RetryBudget(Retries(), watch)
    watch.now += 1
    assert breaker.admit() is TRIAL  # and the parent's trial is not the child's
    with breaker._lock, budget._lock:
        child = os.fork()
        if not child:
            os._exit(0 if breaker.admit() is TRIAL and budget.take() else 1)
    with _ended(child) as status:
        assert os.waitstatus_to_exitcode(status) == 0


@contextmanager
def _ended(child: int) -> Iterator[int]:
    timer = threading.Timer(20, os.kill, (child, 9))
    timer.start()
    _, status = os.waitpid(child, 0)
    timer.cancel()
    yield status


def test_retries_are_a_share_of_the_reads_and_a_little_more(watch: Watch) -> None:
    budget = RetryBudget(Retries(share=0.1, per_second=0, burst=10), watch)
    assert sum(budget.take() for _ in range(100)) <= 10 + 10  # what was saved up, and a share of these
    for _ in range(10_000):
        budget.add_read()
    assert sum(budget.take() for _ in range(100)) <= 10 + 10  # a long good time saves up no more
    for _ in range(1000):
        budget.add_read()
        budget.take()
    watch.now += 3600
    slow = RetryBudget(Retries(share=0, per_second=1, burst=2), watch)
    assert [slow.take() for _ in range(3)] == [True, True, False]
    watch.now += 1
    assert [slow.take() for _ in range(2)] == [True, False]


def test_an_outage_at_a_high_rate_is_not_doubled_by_retries(watch: Watch) -> None:
    calls = calls_of(watch, breaker=breaker_of(watch, failures=1_000_000), tries=3, pause_ms=0)
    sent = retried = 0
    for _ in range(5000):
        call = calls.begin()
        again: float | None = 0.0
        while again is not None:
            call.admit()
            sent += 1
            again = call.failed(AWAY)
        retried += call.retries
        watch.now += 0.0002
    assert sent == 5000 + retried
    assert 300 < retried <= 0.12 * 5000 + 20


def test_a_call_has_one_deadline_for_all_its_reads(watch: Watch) -> None:
    call = calls_of(watch, timeout_ms=100, tries=10, pause_ms=20).begin()
    assert call.admit() == pytest.approx(0.1)
    watch.now += 0.06
    pause = call.failed(AWAY)
    assert pause == pytest.approx(0.01)
    watch.now += 0.01
    assert call.admit() == pytest.approx(0.03)
    watch.now += 0.02
    assert call.failed(AWAY) is None  # 20 ms of pause would end after the 10 ms that are left


def test_a_call_whose_time_is_over_reads_nothing(watch: Watch) -> None:
    call = calls_of(watch).begin(50)
    call.admit()
    call.succeeded()
    watch.now += 0.05
    with pytest.raises(OnlineStoreTimeoutError, match="within 50 ms") as caught:
        call.admit()
    assert call.failed(caught.value) is None


def test_no_read_takes_longer_than_rows_outlive_what_leads_to_them(watch: Watch) -> None:
    assert calls_of(watch, timeout_ms=3_600_000).begin().admit() < READ_SPAN_S


def test_a_try_can_be_cut_off_before_the_call(watch: Watch) -> None:
    call = calls_of(watch, attempt_ms=30, tries=2, pause_ms=0).begin()
    assert call.admit() == pytest.approx(0.03)
    watch.now += 0.03
    assert call.failed(LATE) == 0
    assert call.admit() == pytest.approx(0.03)


def test_the_pauses_grow_and_are_drawn(watch: Watch) -> None:
    calls = Calls(
        "here",
        timeout_ms=10_000,
        retries=Retries(tries=5, pause_ms=10),
        breaker=breaker_of(watch, 100),
        elapsed=watch,
        random=iter([1.0, 0.5, 0.0, 1.0]).__next__,
    )
    call = calls.begin()
    pauses = []
    for _ in range(5):
        call.admit()
        pauses.append(call.failed(AWAY))
    assert pauses == [0.01, 0.01, 0.0, 0.08, None]


def test_an_open_breaker_refuses_at_once_and_the_failure_that_opened_it_is_told(watch: Watch) -> None:
    breaker = breaker_of(watch, failures=2)
    calls = calls_of(watch, breaker=breaker, tries=5, pause_ms=0)
    first = calls.begin()
    first.admit()
    assert first.failed(AWAY) == 0
    first.admit()
    assert first.failed(AWAY) is None  # it is open now: the caller hears of AWAY
    second = calls.begin()
    with pytest.raises(BreakerOpenError, match="failed again and again") as caught:
        second.admit()
    assert second.failed(caught.value) is None
    assert caught.value.where == "redis://here"
    assert caught.value.why == "away; it is left alone for 1000 ms, then tried by one read"


def test_who_gave_it_no_time_says_nothing_of_the_store(watch: Watch) -> None:
    breaker = breaker_of(watch, failures=1)
    calls = calls_of(watch, breaker=breaker)
    hasty = calls.begin(2)
    hasty.admit()
    hasty.failed(LATE)
    assert breaker.state == "closed"
    patient = calls.begin(500)
    patient.admit()
    patient.failed(LATE)
    assert breaker.state == "open"


def test_a_trial_is_not_used_up_by_who_gave_it_no_time(watch: Watch) -> None:
    breaker = opened(watch)
    watch.now += 1
    hasty = calls_of(watch, breaker=breaker).begin(2)
    hasty.admit()
    hasty.failed(LATE)
    assert breaker.admit() is TRIAL


def test_a_read_whose_caller_is_cancelled_gives_the_trial_back(watch: Watch) -> None:
    breaker = opened(watch)
    watch.now += 1
    call: Call = calls_of(watch, breaker=breaker).begin()
    call.admit()
    call.dropped()
    assert breaker.admit() is TRIAL


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_a_lookup_needs_some_time(watch: Watch, wrong: float) -> None:
    with pytest.raises(InputError, match="can't take"):
        calls_of(watch).begin(wrong)
    for client in (FeatureClient, AsyncFeatureClient):
        with pytest.raises(InputError, match="can't take"):
            client("redis://127.0.0.1:1/0", project="shop", environment="test", timeout_ms=wrong)


def test_settings_that_mean_nothing_are_refused() -> None:
    for make in (
        lambda: Retries(tries=0),
        lambda: Retries(pause_ms=-1),
        lambda: Retries(attempt_ms=0),
        lambda: Retries(share=-0.1),
        lambda: Breaker(failures=0),
        lambda: Breaker(open_ms=0),
    ):
        with pytest.raises(SettingsError):
            make()

"""The cache against a real server, by any schedule: what is answered was the store's answer within `max_staleness`.

The store's state is changed, lost, and put back to an older one; reads are under way while that happens; what the
server pushes comes late, in pieces or never; time passes, and the time of day jumps. After each change a client without
a cache says what is right: an answer of the client with one must be exactly that of one state of the last
`max_staleness`, all rows and views of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, Final, NamedTuple

import pytest
import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from featurekit.clock import DAY
from featurekit.errors import FeaturekitError, OnlineStoreError
from featurekit.online.cache import Cache, CachedReads
from featurekit.online.client import FeatureClient
from featurekit.online.publish import withdraw_services
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import drop_space, withdraw_refresh
from featurekit.plan import PlanView
from featurekit.types import Int64
from tests.online.servers import (
    NAMESPACE,
    flush,
    key_space,
    materialize,
    offline_batch,
    plan_field,
    service_plan,
    view_plan,
)
from tests.online.test_lookup import publish

STALE_S: Final = 5.0
USERS: Final = (1, 2, 3)
DAYS: Final = (20, 21, 22)
MOMENTS: Final = tuple((day + 1) * DAY for day in DAYS)
A = view_plan([plan_field("a", Int64())], name="a")
B = view_plan([plan_field("b", Int64(), is_latest=True)], name="b", fingerprint="89abcdef" * 8)
PLANS: Final = {
    "one": [service_plan(A, name="one", fingerprint="1" * 64), service_plan(A, B, name="one", fingerprint="2" * 64)],
    "other": [service_plan(B, A, name="other", fingerprint="3" * 64)],
}
ASKED: Final = st.tuples(
    st.sampled_from(["one", "one", "other"]),
    st.sampled_from([MOMENTS[-1], MOMENTS[-1], *MOMENTS]),
    st.lists(st.sampled_from(USERS), min_size=1, max_size=3).map(tuple),
)
SOME_USERS: Final = st.lists(st.sampled_from(USERS), unique=True)
Asked = tuple[str, int, tuple[int, ...]]
Answer = Any
Read = Callable[[list[bytes]], list[bytes | None]]


class State(NamedTuple):
    """What the store answers, by service and moment, since when."""

    since_s: float
    answers: dict[tuple[str, int], Answer]


class UnderWay(NamedTuple):
    steps: Generator[list[bytes], Any, Any]
    values: list[bytes | None]
    begun_s: float
    known: int
    asked: Asked


def answer_of(look_up: Callable[[], Any], users: tuple[int, ...]) -> Answer:
    """Return an answer by user, in a form that can be compared; why there is none does not count."""
    try:
        found = look_up()
    except FeaturekitError:
        return None
    if all(as_of is None for as_of in found.as_of.values()):
        return None
    rows = found.to_dict()
    shown = tuple(sorted(found.as_of.items())), found.fingerprint
    return {user: (shown, row, codes) for user, row, codes in zip(users, rows, found.statuses.tolist(), strict=True)}


class CachedLookups(RuleBasedStateMachine):
    """One client with a cache, and a store that anything may happen to."""

    url: str

    def __init__(self) -> None:
        super().__init__()
        flush(self.url)
        self.now_s = 100.0
        self.store = RedisStore(self.url)
        self.raw = redis.Redis.from_url(self.url)
        made = partial(FeatureClient, self.url, project="shop", environment="test", elapsed=lambda: self.now_s)
        self.plain = made()
        self.client = made(cache=Cache(max_bytes=6000, max_staleness="5s", tracking=False))
        assert self.client._cached is not None
        self.cached: CachedReads = self.client._cached
        self.pushes = self.store.pushes(self.cached.prefixes)
        self.pushes.open()
        self.pushed: list[bytes] = []
        self.numbers = itertools.count(1)
        self.written: dict[tuple[str, int], tuple[int, int]] = {}  # by view and as-of: the restatement, the first value
        self.older: dict[bytes, bytes] | None = None
        self.under_way: list[UnderWay] = []
        self.asked: list[Asked] = []
        self.history: list[State] = []
        self.known = 0  # since which state all that was pushed has been heard and handed on
        self.is_tight = True  # nothing that was pushed was lost for good
        self.note()

    def teardown(self) -> None:
        self.pushes.close()
        self.raw.close()
        for one in (self.plain, self.client, self.store):
            one.close()

    def note(self) -> None:
        """Write down what is right from now on; before and after a change both may be seen."""
        users = {"user_id": list(USERS)}
        answers = {
            (service, at): answer_of(partial(self.plain.lookup, service, users, at=at), USERS)
            for service in PLANS
            for at in MOMENTS
        }
        self.history.append(State(self.now_s, answers))

    def check(self, asked: Asked, answer: Answer, begun_s: float, known: int) -> None:
        service, at, users = asked
        oldest = begun_s - STALE_S
        ends = [state.since_s for state in self.history[1:]] + [float("inf")]
        allowed = [
            None if (whole := state.answers[service, at]) is None else {user: whole[user] for user in users}
            for number, (state, end) in enumerate(zip(self.history, ends, strict=True))
            if end >= oldest and number >= known
        ]
        assert answer in allowed, (asked, answer, allowed)

    @initialize()
    def begin(self) -> None:
        publish(self.store, PLANS["one"][0], PLANS["other"][0])
        for view in (A, B):
            self.write(view, DAYS[0], [*USERS])
        self.note()

    def write(self, view: PlanView, day: int, users: list[int], *, again: bool = False) -> None:
        place = (view.view, day)
        restatement, first = self.written.get(place, (0, 0))
        if place not in self.written:
            first = next(self.numbers) * 100
        elif again:
            restatement, first = restatement + 1, next(self.numbers) * 100
        self.written[place] = restatement, first
        rows = [{"user_id": user, view.fields[0].name: first + user} for user in users]
        materialize(
            self.store, self.url, view, day * DAY, offline_batch(view, rows),
            completed_at=day * DAY + next(self.numbers), restatement=restatement,
        )  # fmt: skip

    @rule(draw=st.data(), seconds=st.sampled_from([0.0, 1.5, 4.0]))
    def change(self, draw: st.DataObject, seconds: float) -> None:
        """Something happens to the store, a while after what happened last."""
        self.now_s += seconds
        often = [self.refresh] * 4 + [self.take_back, self.switch] * 2
        draw.draw(st.sampled_from([*often, self.withdraw, self.restart_empty, self.fail_over]))(draw)
        self.note()
        self.ask_again()

    def refresh(self, draw: st.DataObject) -> None:
        """A refresh that was not there, or a restatement with other values and other entities."""
        view, day = draw.draw(st.sampled_from([A, B])), draw.draw(st.sampled_from(DAYS))
        self.write(view, day, draw.draw(SOME_USERS), again=True)

    def take_back(self, draw: st.DataObject) -> None:
        if not self.written:
            return
        name, day = draw.draw(st.sampled_from(sorted(self.written)))
        view = A if name == A.view else B
        space = key_space(view, day * DAY, restatement=self.written[name, day][0])
        draw.draw(st.sampled_from([drop_space, withdraw_refresh]))(self.store, space)

    def switch(self, draw: st.DataObject) -> None:
        publish(self.store, draw.draw(st.sampled_from(PLANS["one"])))

    def withdraw(self, draw: st.DataObject) -> None:  # noqa: ARG002
        withdraw_services(self.store, NAMESPACE, ["one"])

    def restart_empty(self, draw: st.DataObject) -> None:
        """All is lost; some is registered and written anew, from a source that has changed since."""
        flush(self.url)
        self.note()
        self.written = {}
        publish(self.store, PLANS["one"][0], PLANS["other"][0])
        users = draw.draw(SOME_USERS)
        for day in sorted(draw.draw(st.sets(st.sampled_from(DAYS)))):
            for view in (A, B):
                self.note()
                self.write(view, day, users)

    def fail_over(self, draw: st.DataObject) -> None:
        """Another server takes over, which was behind; what is behind now may take over later."""
        older = self.older
        self.older = {key: self.raw.dump(key) or b"" for key in self.raw.scan_iter()}
        if older is not None and draw.draw(st.booleans()):
            with self.raw.pipeline() as pipeline:
                pipeline.flushall()
                for key, dumped in older.items():
                    pipeline.restore(key, 0, dumped)
                pipeline.execute()

    @rule(seconds=st.sampled_from([1.0, 3.5, 5.5]))
    def time_passes(self, seconds: float) -> None:
        self.now_s += seconds
        self.ask_again()

    @rule(asked=st.lists(ASKED, min_size=1, max_size=6))
    def look_up(self, asked: list[Asked]) -> None:
        self.asked = asked
        self.ask_again()

    def ask_again(self) -> None:
        for service, at, users in self.asked:
            answer = answer_of(partial(self.client.lookup, service, {"user_id": users}, at=at), users)
            self.check((service, at, users), answer, self.now_s, self.known)

    @rule(asked=ASKED)
    def begin_a_lookup(self, asked: Asked) -> None:
        """The server has answered, and the answer is on its way."""
        service, at, users = asked
        steps = self.client._steps(service, {"user_id": users}, None, at)
        try:
            keys = next(steps)
        except StopIteration as done:
            found = done.value
            self.check(asked, answer_of(lambda: found, users), self.now_s, self.known)
            return
        self.under_way.append(UnderWay(steps, self.store.read(keys), self.now_s, self.known, asked))

    @precondition(lambda self: self.under_way)
    @rule(first=st.booleans(), fails=st.sampled_from([False, False, True]))
    def end_a_lookup(self, first: bool, fails: bool) -> None:
        steps, values, begun_s, known, asked = self.under_way.pop(0 if first else -1)

        def carried() -> Any:
            try:
                keys = steps.throw(OnlineStoreError("lost on its way")) if fails else steps.send(values)
                while True:
                    keys = steps.send(self.store.read(keys))
            except StopIteration as done:
                return done.value

        answer = answer_of(carried, asked[2])
        if answer is not None:
            self.check(asked, answer, begun_s, known)
        self.ask_again()

    @rule(draw=st.data())
    def push(self, draw: st.DataObject) -> None:
        often = [self.hear_all] * 6 + [self.hear_some] * 3
        draw.draw(st.sampled_from([*often, self.connect_anew, self.lose]))(draw)
        self.ask_again()

    def hear_some(self, draw: st.DataObject) -> None:
        """What the server has pushed so far arrives, and is handed on in pieces, in any order."""
        self.hear()
        if self.pushed:
            some = draw.draw(st.lists(st.sampled_from(self.pushed), min_size=1, unique=True))
            self.pushed = [key for key in self.pushed if key not in some]
            self.cached.forget(some)

    def hear_all(self, draw: st.DataObject) -> None:  # noqa: ARG002
        """Nothing is on its way any more: from now on, no answer may be of an earlier state."""
        self.hear()
        if self.pushed:
            self.cached.forget(self.pushed)
            self.pushed = []
        if self.is_tight:
            self.known = len(self.history) - 1

    def connect_anew(self, draw: st.DataObject) -> None:  # noqa: ARG002
        """As `Tracking` does when a connection is lost: what was missed is unknown, so all is forgotten."""
        self.pushes.open()
        self.pushed = []
        self.cached.forget(None)
        self.is_tight = True

    def lose(self, draw: st.DataObject) -> None:  # noqa: ARG002
        """What was pushed is lost, and nobody notices."""
        self.pushes.open()
        self.pushed = []
        self.is_tight = False

    def hear(self) -> None:
        for link in self.pushes._links.values():
            told = link.take()
            if told is None:
                self.pushed = []
                self.cached.forget(None)
            else:
                self.pushed += told


@pytest.mark.parametrize("rounds", [60, pytest.param(2000, marks=pytest.mark.long)])
def test_no_answer_is_older_than_it_may_be_and_none_is_mixed(url: str, rounds: int) -> None:
    machine = type("CachedLookupsHere", (CachedLookups,), {"url": url})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=rounds, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )

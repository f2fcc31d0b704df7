"""Redis killed and restarted under lookups, with and without its data; and clients whose clocks jump.

`python -m benchmarks.faults.restart --rounds 3` prints what came of it and exits with 1 where an answer was wrong.

Every row says whose it is and of which refresh, and every entity has one: so an answer that is another's, of another
refresh than it says, of several at once, or that a known entity has no row, is seen for what it is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.faults.findings import Findings
from featurekit.clock import DAY, HOUR, Instant
from featurekit.errors import FeaturekitError, FeaturesUnavailableError, OnlineStoreError
from featurekit.on_unavailable import Instead, OnUnavailable
from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.breaker import Breaker
from featurekit.online.client import FeatureClient
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.reason import Reason
from featurekit.online.redis import RedisStore
from featurekit.online.result import Features
from featurekit.status import Status
from featurekit.types import Int64
from tests.online.deployments import Server, standalone
from tests.online.servers import DAILY, NAMESPACE, materialize, offline_batch, plan_field, service_plan, view_plan

USERS: Final = 200
DAYS: Final = tuple(day * DAY for day in (20, 21, 22))
NOW: Final = DAYS[-1] + 12 * HOUR
POLICIES: Final[dict[str, OnUnavailable | None]] = {
    "undeclared": None,
    "error": OnUnavailable(Instead.ERROR),
    "null": OnUnavailable(Instead.NULL),
    "default": OnUnavailable(Instead.DEFAULT),
    "last_known": OnUnavailable(Instead.LAST_KNOWN, HOUR),
}
VIEW: Final = view_plan(
    [plan_field("id", Int64()), plan_field("day", Int64(), default=-1), plan_field("orders", Int64(), empty=0)],
    name="spend",
)
_AWAY: Final = {Reason.STORE_UNREACHABLE, Reason.STORE_TIMEOUT, Reason.BREAKER_OPEN, Reason.STORE_EMPTY}
_AWAY_OR_FILLING: Final = _AWAY | {Reason.NO_REFRESH, Reason.KEY_SPACE_DROPPED}
_STEADY_S: Final = 0.2
_DOWN_S: Final = 0.3
_RECOVERY_LIMIT_S: Final = 20.0


@dataclass(kw_only=True)
class Tally(Findings):
    """What was seen: answers by policy, status and reason, and what must not be; filled by several threads."""

    answers: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    mixed: int = 0
    wrong: int = 0
    unexplained_errors: int = 0
    lookups: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(
        self, policy: str, users: list[int], found: Features, *, as_of: Instant | None, must_be_whole: bool
    ) -> bool:
        """Judge an answer; return whether it is whole, and of the refresh `as_of`. Where all is well it must be."""
        rows, statuses, reasons = found.to_dict(), found.statuses, found.reasons
        served = found.as_of["spend"]
        with self.lock:
            self.lookups += 1
            for status, reason in zip(statuses.ravel().tolist(), reasons.ravel().tolist(), strict=True):
                self.answers[policy, Status(status).name, Reason(reason).name] += 1
            is_whole = served == as_of and bool((statuses == Status.PRESENT).all() and (reasons == Reason.NONE).all())
            days = {row["spend.day"] for row, codes in zip(rows, statuses, strict=True) if codes[1] == Status.PRESENT}
            if len(days) > 1:
                self.tell("mixed", f"{policy}: rows of days {sorted(days)} in one answer")
            if days and (served is None or days != {served // DAY}):
                self.tell("wrong", f"{policy}: rows of days {days}, said to be as of {served}")
            for user, row, codes, why in zip(users, rows, statuses.tolist(), reasons.tolist(), strict=True):
                self._judge_row(policy, user, row, codes, why)
            if must_be_whole and not is_whole:
                told = ", ".join(sorted({Reason(code).name for code in reasons.ravel().tolist()}))
                self.tell("unexplained_errors", f"{policy}: {told}, as of {served}, while all was well")
        return is_whole

    def _judge_row(self, policy: str, user: int, row: dict[str, Any], codes: list[int], why: list[int]) -> None:
        for name, status, reason in zip(("id", "day", "orders"), codes, why, strict=True):
            value = row[f"spend.{name}"]
            match Status(status):
                case Status.PRESENT:
                    right = name == "day" or value == (user if name == "id" else 7)
                    right = right and reason in (Reason.NONE, Reason.LAST_KNOWN)
                case Status.UNAVAILABLE:
                    right = value is None and reason in _AWAY_OR_FILLING
                case Status.DEFAULTED:
                    right = policy == "default" and name == "day" and value == -1 and reason in _AWAY_OR_FILLING
                case _:
                    right = False  # every entity has a row: MISSING would be a lie
            if reason == Reason.LAST_KNOWN and policy != "last_known":
                right = False
            if not right:
                told = f"{name} of {user} is {value!r}, {Status(status).name}, {Reason(reason).name}"
                self.tell("wrong", f"{policy}: {told}")

    def error(self, policy: str, error: FeaturekitError, *, may_fail: bool) -> None:
        with self.lock:
            self.lookups += 1
            self.errors[policy, type(error).__name__] += 1
            declared = policy in ("undeclared", "error") and isinstance(
                error, OnlineStoreError | FeaturesUnavailableError
            )
            if not declared or not may_fail:
                self.tell("unexplained_errors", f"{policy}: {error.what}")


class Load:
    """Lookups of every policy without end, by threads and by tasks.

    `epoch` changes where something is broken (then it is odd) and where it is mended. `whole` says when each client
    last asked what it had a whole answer to.
    """

    def __init__(self, url: str, tally: Tally, seed: int) -> None:
        self.epoch = 0  # even: all is well
        self._url, self._tally, self._seed = url, tally, seed
        self._done = threading.Event()
        self.whole: dict[str, float] = {}
        self._threads = [threading.Thread(target=self._by_thread, args=(policy,)) for policy in POLICIES]
        self._threads.append(threading.Thread(target=lambda: asyncio.run(self._by_tasks())))

    @contextmanager
    def running(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._done.set()
            for thread in self._threads:
                thread.join()

    def await_whole(self) -> float:
        """Return after how many seconds every client had a whole answer again."""
        begun = time.monotonic()
        expected = {(kind, policy) for kind in ("thread", "task") for policy in POLICIES}
        while not all(self.whole.get(f"{kind} {policy}", 0) > begun for kind, policy in expected):
            if time.monotonic() - begun > _RECOVERY_LIMIT_S:
                raise TimeoutError(f"no whole answer in {_RECOVERY_LIMIT_S} s: {self.whole}")
            time.sleep(0.001)
        return time.monotonic() - begun

    def _place(self) -> dict[str, Any]:
        return {"project": NAMESPACE.project, "environment": NAMESPACE.environment, "clock": lambda: NOW}

    def _by_thread(self, policy: str) -> None:
        draw = random.Random(f"{self._seed} thread {policy}")
        breaker = Breaker(failures=5, open_ms=100)
        with FeatureClient(self._url, timeout_ms=5000, breaker=breaker, **self._place()) as client:
            while not self._done.is_set():
                users, before, asked_at = _drawn(draw), self.epoch, time.monotonic()
                try:
                    found = client.lookup(policy, {"user_id": users})
                except FeaturekitError as error:
                    self._tally.error(policy, error, may_fail=before % 2 == 1 or before != self.epoch)
                else:
                    self._judge("thread", policy, users, found, before, asked_at)
                time.sleep(0.002)

    async def _by_tasks(self) -> None:
        breaker = Breaker(failures=5, open_ms=100)
        async with AsyncFeatureClient(self._url, timeout_ms=5000, breaker=breaker, **self._place()) as client:
            await asyncio.gather(*(self._task(client, policy) for policy in POLICIES))

    async def _task(self, client: AsyncFeatureClient, policy: str) -> None:
        draw = random.Random(f"{self._seed} task {policy}")
        while not self._done.is_set():
            users, before, asked_at = _drawn(draw), self.epoch, time.monotonic()
            try:
                found = await client.lookup(policy, {"user_id": users})
            except FeaturekitError as error:
                self._tally.error(policy, error, may_fail=before % 2 == 1 or before != self.epoch)
            else:
                self._judge("task", policy, users, found, before, asked_at)
            await asyncio.sleep(0.002)

    def _judge(self, kind: str, policy: str, users: list[int], found: Features, before: int, asked_at: float) -> None:
        must_be_whole = before % 2 == 0 and before == self.epoch
        if self._tally.answer(policy, users, found, as_of=DAYS[-1], must_be_whole=must_be_whole):
            self.whole[f"{kind} {policy}"] = asked_at


def _drawn(draw: random.Random) -> list[int]:
    return [draw.randrange(USERS) for _ in range(draw.choice((1, 1, 5, 30)))]


def _fill(url: str) -> None:
    """Publish the services and write the refreshes, as register and materialize do."""
    store = RedisStore(url)
    bodies = [
        PlanBody.of(replace(service_plan(VIEW, name=name), on_unavailable=policy)) for name, policy in POLICIES.items()
    ]
    publish_plans(store, NAMESPACE, bodies)
    switch_services(store, NAMESPACE, {body.service: body.pointer for body in bodies})
    for as_of in DAYS:
        rows = [{"user_id": user, "id": user, "day": as_of // DAY, "orders": 7} for user in range(USERS)]
        materialize(store, url, VIEW, as_of, offline_batch(VIEW, rows), completed_at=as_of)
    store.close()


def _restarts(server: Server, load: Load, rounds: int, draw: random.Random) -> dict[str, list[float]]:
    """Kill and restart the server; return how long each recovery took, in seconds, with its data and without."""
    took: dict[str, list[float]] = {"with_data": [], "without_data": []}
    for n in range(rounds):
        time.sleep(_STEADY_S * (0.5 + draw.random()))
        load.epoch += 1
        server.kill()
        time.sleep(_DOWN_S * draw.random())
        keeps = n % 2 == 0
        if not keeps:
            shutil.rmtree(server.folder / "appendonlydir")
        server.start()
        if not keeps:
            time.sleep(_DOWN_S * draw.random())  # empty, and nobody has noticed
            _fill(server.url)
        took["with_data" if keeps else "without_data"].append(load.await_whole())
        load.epoch += 1
    return took


def _clock_jumps(url: str, tally: Tally, lookups: int, draw: random.Random) -> None:
    """Look up by clocks that jump: a day on, an hour back, to the very instants at which a refresh becomes visible."""
    delay = DAILY.availability_delay
    edges = [as_of + delay for as_of in DAYS]
    now = [NOW]
    with FeatureClient(
        url, project=NAMESPACE.project, environment=NAMESPACE.environment, clock=lambda: now[0]
    ) as client:
        for _ in range(lookups):
            jump = draw.choice(("on", "back", "edge", "before", "after", "past"))
            now[0] = {
                "on": now[0] + DAY,
                "back": now[0] - HOUR,
                "edge": draw.choice(edges),
                "before": draw.choice(edges) - 1,
                "after": draw.choice(edges) + 1,
                "past": DAYS[0] - draw.randrange(DAY),
            }[jump]
            visible = [as_of for as_of in DAYS if as_of + delay <= now[0]]
            policy, users = draw.choice(list(POLICIES)), _drawn(draw)
            try:
                found = client.lookup(policy, {"user_id": users})
            except FeaturesUnavailableError as error:
                tally.error(policy, error, may_fail=not visible)
                continue
            expected = visible[-1] if visible else None
            if found.as_of["spend"] != expected and policy != "last_known":
                tally.tell("wrong", f"{policy} at {now[0]}: as of {found.as_of['spend']}, expected {expected}")
            if policy == "last_known" and found.as_of["spend"] not in (expected, *visible, None):
                tally.tell("wrong", f"{policy} at {now[0]}: as of {found.as_of['spend']}, which is not visible yet")
            tally.answer(policy, users, found, as_of=expected, must_be_whole=bool(visible))


def run(folder: Path, *, rounds: int, seed: int, quick: bool) -> dict[str, int]:
    """Return what came of `rounds` restarts and of as many hundreds of lookups by jumping clocks; `quick`: a tenth."""
    tally, draw = Tally(), random.Random(seed)
    with standalone(folder, "valkey", "appendonly yes", "appendfsync always") as server:
        _fill(server.url)
        load = Load(server.url, tally, seed)
        with load.running():
            load.await_whole()
            took = _restarts(server, load, rounds, draw)
            time.sleep(_STEADY_S)
        under_load = tally.lookups
        _clock_jumps(server.url, tally, rounds * (10 if quick else 100), draw)
    recovery = {
        f"recovery_{how}_ms_{name}": round(1000 * float(of(seconds)))
        for how, seconds in took.items()
        if seconds
        for name, of in (("median", np.median), ("max", np.max))
    }
    _print(tally)
    return {
        "kills": rounds,
        "lookups": under_load,
        "clock_lookups": tally.lookups - under_load,
        "mixed": tally.mixed,
        "wrong": tally.wrong,
        "unexplained_errors": tally.unexplained_errors,
        **recovery,
    }


def _print(tally: Tally) -> None:
    for (policy, status, reason), values in sorted(tally.answers.items()):
        print(f"{policy:>11} {status:>12} {reason:>18} {values:>9,}")
    for (policy, error), count in sorted(tally.errors.items()):
        print(f"{policy:>11} {error:>31} {count:>9,}")
    tally.show_problems()


def main() -> None:
    """Run it alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder) / "server", rounds=given.rounds, seed=given.seed, quick=given.quick)
    print(json.dumps(found))
    sys.exit(1 if found["mixed"] or found["wrong"] or found["unexplained_errors"] else 0)


if __name__ == "__main__":
    main()

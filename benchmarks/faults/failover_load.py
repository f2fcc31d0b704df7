"""Lookups without end while refreshes are written and servers are lost; and what must be true of each answer.

Every row says whose it is and of which refresh, and every entity has one: so an answer that is another's, of another
refresh than it says, of several at once, older than what was acknowledged before, or that an entity has
no row, is seen for what it is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

from benchmarks.faults.findings import Findings
from featurekit.clock import DAY, Instant
from featurekit.errors import FeaturekitError, OnlineStoreError
from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.breaker import Breaker
from featurekit.online.client import FeatureClient
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.reason import Reason
from featurekit.online.redis.store import RedisStore
from featurekit.online.refresh import begin_refresh, complete_refresh, read_head
from featurekit.online.result import Features
from featurekit.status import Status
from featurekit.types import Int64
from tests.online.servers import (
    DAILY,
    NAMESPACE,
    key_space,
    offline_batch,
    plan_field,
    row_sink,
    service_plan,
    view_plan,
)

USERS: Final = 1000
NOW: Final = 100_000 * DAY
VIEW: Final = view_plan([plan_field("id", Int64()), plan_field("day", Int64())], name="spend")
PLAN: Final = service_plan(VIEW)
THREADS: Final = 3
TASKS: Final = 3
_BATCHES: Final = 20
_BATCH_S: Final = 0.02  # a refresh takes long enough to be hit in its middle
_LIMIT_S: Final = 60.0


@dataclass(kw_only=True)
class Tally(Findings):
    """What came of the lookups and refreshes; filled by several threads."""

    lookups: int = 0
    wrong: int = 0
    mixed: int = 0
    lost: int = 0
    torn: int = 0
    stale_over_new: int = 0
    unexplained_errors: int = 0
    refreshes: int = 0
    reruns: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def counts(self) -> dict[str, int]:
        names = (
            "lookups",
            "wrong",
            "mixed",
            "lost",
            "torn",
            "stale_over_new",
            "unexplained_errors",
            "refreshes",
            "reruns",
        )
        return {name: getattr(self, name) for name in names}

    def show(self) -> None:
        for error, count in sorted(self.errors.items()):
            print(f"{count:>9,}  {error}")
        self.show_problems()


class Load:
    """Threads and tasks that look up; `is_well` says whether an error needs an explanation."""

    def __init__(self, url: str, tally: Tally, seed: int) -> None:
        self._url, self._tally, self._seed = url, tally, seed
        self._done = threading.Event()
        self.breaks = 0  # odd: something is broken
        self.acknowledged: Instant = 0  # the newest refresh that was told to be complete
        self.begun: Instant = 0  # the newest one that may be
        self._whole: dict[str, float] = {}  # since when each reader's newest whole answer was asked for
        self._failed: BaseException | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._kept, args=(self._by_thread, f"thread {i}")) for i in range(THREADS)]
        threads.append(threading.Thread(target=self._kept, args=(lambda _: asyncio.run(self._by_tasks()), "tasks")))
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._done.set()
            for thread in threads:
                thread.join()
        if self._failed is not None:
            raise self._failed

    def await_whole(self, since: float | None = None) -> float:
        """Return after how many seconds, from `since` or now, every reader had asked for a whole answer and got it."""
        begun = time.monotonic()
        readers = [f"thread {i}" for i in range(THREADS)] + [f"task {i}" for i in range(TASKS)]
        while not all(self._whole.get(reader, 0) > begun for reader in readers):
            if self._failed is not None:
                raise self._failed
            if time.monotonic() - begun > _LIMIT_S:
                raise TimeoutError(f"no whole answer in {_LIMIT_S} s: {self._tally}")
            time.sleep(0.002)
        return min(self._whole[reader] for reader in readers) - (begun if since is None else since)

    def _kept(self, work: Any, name: str) -> None:
        try:
            work(name)
        except BaseException as error:  # noqa: BLE001  # raised again where the load is ended
            self._failed = error

    def _place(self) -> dict[str, Any]:
        return {"project": NAMESPACE.project, "environment": NAMESPACE.environment, "clock": lambda: NOW}

    def _by_thread(self, name: str) -> None:
        draw = random.Random(f"{self._seed} {name}")
        with FeatureClient(self._url, timeout_ms=300, breaker=Breaker(failures=1_000_000), **self._place()) as client:
            while not self._done.is_set():
                asked = self._drawn(draw)
                try:
                    found = client.lookup("service", {"user_id": asked[0]})
                except FeaturekitError as error:
                    self._error(error, asked)
                else:
                    self._judge(name, found, asked)
                time.sleep(0.002)

    async def _by_tasks(self) -> None:
        async with AsyncFeatureClient(
            self._url, timeout_ms=300, breaker=Breaker(failures=1_000_000), **self._place()
        ) as client:
            await asyncio.gather(*(self._task(client, f"task {i}") for i in range(TASKS)))

    async def _task(self, client: AsyncFeatureClient, name: str) -> None:
        draw = random.Random(f"{self._seed} {name}")
        while not self._done.is_set():
            asked = self._drawn(draw)
            try:
                found = await client.lookup("service", {"user_id": asked[0]})
            except FeaturekitError as error:
                self._error(error, asked)
            else:
                self._judge(name, found, asked)
            await asyncio.sleep(0.002)

    def _drawn(self, draw: random.Random) -> tuple[list[int], int, Instant, float]:
        users = [draw.randrange(USERS) for _ in range(draw.choice((1, 5, 30)))]
        return users, self.breaks, self.acknowledged, time.monotonic()

    def _error(self, error: FeaturekitError, asked: tuple[list[int], int, Instant, float]) -> None:
        _, breaks, _, _ = asked
        with self._tally.lock:
            self._tally.lookups += 1
            self._tally.errors[f"{type(error).__name__}: {error.what}"] += 1
            is_explained = isinstance(error, OnlineStoreError) and error.try_ is not None
            if not is_explained or (breaks % 2 == 0 and breaks == self.breaks):
                self._tally.tell("unexplained_errors", str(error))

    def _judge(self, name: str, found: Features, asked: tuple[list[int], int, Instant, float]) -> None:
        users, breaks, acknowledged, asked_at = asked
        rows = found.to_dict()
        statuses = {Status(code) for code in found.statuses.ravel().tolist()}
        as_of = found.as_of["spend"]
        tally = self._tally
        with tally.lock:
            tally.lookups += 1
            if statuses == {Status.UNAVAILABLE}:
                reasons = {Reason(code).name for code in found.reasons.ravel().tolist()}
                tally.errors[f"UNAVAILABLE: {', '.join(sorted(reasons))}"] += 1
                if breaks % 2 == 0 and breaks == self.breaks:
                    tally.tell("unexplained_errors", f"{reasons} while all was well")
                return
            days = {row["spend.day"] for row in rows}
            if statuses != {Status.PRESENT} or [row["spend.id"] for row in rows] != users:
                tally.tell("wrong", f"{statuses} of {users}: {rows}")
            elif len(days) > 1:
                tally.tell("mixed", f"days {days} in one answer")
            elif as_of is None or days != {as_of // DAY} or as_of > self.begun:
                tally.tell("wrong", f"days {days}, said to be as of {as_of}")
            else:
                self._whole[name] = asked_at
                if as_of < acknowledged:
                    tally.tell("stale_over_new", f"as of {as_of // DAY} after {acknowledged // DAY} was acknowledged")


def publish(url: str) -> None:
    store = RedisStore(url)
    body = PlanBody.of(PLAN)
    publish_plans(store, NAMESPACE, [body])
    switch_services(store, NAMESPACE, {body.service: body.pointer})
    store.close()


def refresh_until_done(url: str, load: Load, tally: Tally, day: int) -> None:
    """Write a refresh, and again from its beginning where it fails, as a scheduler does."""
    space = key_space(VIEW, day * DAY)
    load.begun = max(load.begun, space.as_of)
    begun = time.monotonic()
    while True:
        store = RedisStore(url, timeout_ms=1000)
        try:
            refresh = begin_refresh(store, space, expires_in_s=3600)
            list(row_sink(url, VIEW, space, timeout_ms=1000, retries=3)(_batches(day)))
            complete_refresh(store, refresh, grid=DAILY, completed_at=space.as_of, rows=USERS)
        except OnlineStoreError as error:
            with tally.lock:
                tally.reruns += 1
                tally.errors[f"refresh, {type(error).__name__}: {error.what[:60]}"] += 1
            if error.exit_code != 3 or time.monotonic() - begun > _LIMIT_S:
                raise
            time.sleep(0.1)
        else:
            load.acknowledged = space.as_of
            tally.refreshes += 1
            return
        finally:
            store.close()


def _batches(day: int) -> Iterator[Any]:
    share = USERS // _BATCHES
    for first in range(0, USERS, share):
        yield offline_batch(VIEW, [{"user_id": i, "id": i, "day": day} for i in range(first, first + share)])
        time.sleep(_BATCH_S)


def audit(url: str, tally: Tally, day: int) -> None:
    """Count what is not as acknowledged: the refresh in the head, and each of its rows."""
    store = RedisStore(url, timeout_ms=3000)
    space = key_space(VIEW, day * DAY)
    entry = read_head(store, space).get(space.as_of, 0)
    if entry is None:
        tally.tell("lost", f"the refresh of day {day} is in the head no more")
    else:
        rows = store.read([space.row(b"%d" % i) for i in range(USERS)])
        if missing := rows.count(None):
            tally.tell("torn", f"{missing} rows of day {day} are missing")
    store.close()


def run_alone(run: Callable[..., dict[str, int]], description: str | None) -> NoReturn:
    """Run a part as a command of its own: print what came of it; exit with 1 where anything is wrong."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kind", choices=("valkey", "redis"), default="valkey")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), rounds=given.rounds, seed=given.seed, quick=given.quick, kind=given.kind)
    print(json.dumps(found))
    bad = ("torn", "lost", "stale_over_new", "mixed", "wrong", "unexplained_errors")
    sys.exit(1 if any(found[name] for name in bad) else 0)

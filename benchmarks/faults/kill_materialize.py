"""The materializing process killed at random points, and run again: what is served, and what is there in the end.

`python -m benchmarks.faults.kill_materialize --rounds 100` prints what came of it and exits with 1 where a row was
torn, lost or older than what it replaced, or a lookup was answered by what was not complete.

Two views of one source, one with a key space for each refresh and one that is written in place, are refreshed hour
after hour. Each round kills the process somewhere in a refresh, runs it again and compares every row with that of a run
in another namespace that nobody killed. Lookups go on all the while. Most rounds do without Spark, whose start takes
longer than all else; in some, the JVM and its Python workers are killed too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.faults.findings import Findings
from benchmarks.faults.materializing import START, VIEWS, ThreadEngine, as_of, refresh, store_of
from benchmarks.sides import ROOT
from benchmarks.tree import tree
from featurekit.clock import HOUR, Instant
from featurekit.errors import FeaturekitError
from featurekit.online.client import FeatureClient
from featurekit.online.codec import RowCodec
from featurekit.online.keys import KeySpace
from featurekit.online.reason import Reason
from featurekit.online.refresh import read_head
from featurekit.online.result import Features
from featurekit.online.store import HeadEntry
from featurekit.status import Status
from featurekit.types import Field
from tests.online.servers import embedded_server

USERS: Final = 3000
QUICK_USERS: Final = 300
EACH_BY_SPARK: Final = 10  # of so many rounds one
FEATURES: Final = 12
_ASKED: Final = 20
_BETWEEN_S: Final = 0.005  # the writer needs the machine, too
_LONGEST_S: Final = 0.8  # about as long as both views take
_TIME: Final = pa.timestamp("us", "UTC")
_DEFINITIONS: Final = """\
entities:
  user: {join_keys: {user_id: bigint}}
sources:
  activity: {path: activity.parquet, event_timestamp: at}
feature_views:
"""
_VIEW: Final = """\
  {name}:
    entity: user
    source: activity
    refresh: 1h
{write}    features:
{features}
"""
Rows = dict[bytes, bytes]


@dataclass(kw_only=True)
class Tally(Findings):
    """What was found wrong, beside how much was looked up."""

    torn: int = 0
    lost: int = 0
    stale_over_new: int = 0
    wrong: int = 0
    unexplained_errors: int = 0
    lookups: int = 0
    ahead: int = 0


def write_world(folder: Path, *, users: int, hours: int, seed: int) -> None:
    """Write events of each hour, of most users: who has none for two hours is gone, and comes back later."""
    draw = np.random.default_rng(seed)
    (folder / "defs").mkdir(parents=True)
    with pq.ParquetWriter(folder / "activity.parquet", _events(draw, 1, 0).schema) as file:
        for hour in range(hours):
            file.write_table(_events(draw, users, hour))  # a row group of its own: no others are read
    features = "\n".join(f"      f{i}: {{sql: f{i}, ttl: 1h}}" for i in range(FEATURES))
    writes = {"apart": "", "in_place": "    write: in_place\n"}
    views = [_VIEW.format(name=name, write=writes[name], features=features) for name in VIEWS]
    (folder / "defs" / "world.yaml").write_text(_DEFINITIONS + "".join(views))


def _events(draw: np.random.Generator, users: int, hour: int) -> pa.Table:
    user = np.flatnonzero(draw.random(users) < 0.4)
    at = as_of(hour) - 1 - draw.integers(0, HOUR, len(user))
    columns: dict[str, Any] = {"user_id": pa.array(user), "at": pa.array(at).cast(_TIME)}
    for i in range(FEATURES):
        numbers = draw.integers(0, 9**6, len(user))
        columns[f"f{i}"] = pa.array(
            numbers / 8 if i % 3 else [f"text {n}" for n in numbers], None if i % 3 else pa.string()
        )
    return pa.table(columns)


class World:
    """The source, what a run without faults makes of each hour, and what the other one has made."""

    def __init__(self, folder: Path, url: str, *, users: int, hours: int, seed: int) -> None:
        self.folder, self.url, self.hours = folder, url, hours
        write_world(folder, users=users, hours=hours, seed=seed)
        self.clean: dict[tuple[str, int], Rows] = {}
        self.codecs: dict[str, RowCodec] = {}
        for hour in range(hours):
            with store_of(folder, url, "clean", hour) as store:
                if hour == 0:
                    store.register()
                    for name, compiled in store.definitions.views.items():
                        fields = [Field(feature.name, feature.type) for feature in compiled.features]
                        self.codecs[name] = RowCodec(fields, compiled.fingerprint.data)
                refresh(store, hour, ThreadEngine(folder))
                for view in VIEWS:
                    self.clean[view, hour] = self.rows("clean", view)[1]
        with store_of(folder, url, "killed", 0) as store:
            store.register()

    def rows(self, environment: str, view: str) -> tuple[HeadEntry, Rows]:
        """Return the newest entry of a view's head, and the rows of its key space by entity key."""
        with store_of(self.folder, self.url, environment, 0) as store:
            compiled = store.definitions.views[view]
            space = KeySpace(namespace=store.namespace, view=view, fingerprint=compiled.fingerprint.data, as_of=0)
            entry = read_head(store.online, space).entries[-1]
            space = space.at(entry.as_of, entry.restatement, entry.live)
            prefix, suffix = store.namespace.row_prefix(), space.row_suffix
            keys = sorted({key for key in store.online.find(prefix) if key.endswith(suffix)})
            values = store.online.read(keys) if keys else []
        found = {key[len(prefix) : -len(suffix)]: value for key, value in zip(keys, values, strict=True)}
        return entry, {key: value for key, value in found.items() if value is not None}

    def expected(self, view: str, hour: int, user: int) -> tuple[tuple[int, ...], tuple[Any, ...]]:
        """Return statuses and values of a user as of an hour."""
        row = self.clean[view, hour].get(b"%d" % user)
        if row is None:
            return (Status.MISSING,) * FEATURES, (None,) * FEATURES
        decoded = self.codecs[view].decode_row(row)
        return tuple(decoded.statuses), decoded.values

    def compare(self, hour: int, tally: Tally) -> None:
        """Hold every row of both views as of an hour against those of the run that nobody killed."""
        for view in VIEWS:
            entry, found = self.rows("killed", view)
            expected = self.clean[view, hour]
            if entry.as_of != as_of(hour):
                tally.tell("lost", f"the head of {view} has {entry.as_of}, not {as_of(hour)}")
                continue
            for key in expected.keys() | found.keys():
                one, other = found.get(key), expected.get(key)
                if one is None:
                    tally.tell("lost", f"{view} hour {hour}: {key!r}")
                elif one != other and _as_of(one) < entry.as_of:
                    # A run that was killed when its head was there may leave what it had to sweep: it reads as no row.
                    if other is not None:
                        tally.tell("stale_over_new", f"{view} hour {hour}: {key!r}")
                elif one != other:
                    tally.tell("torn", f"{view} hour {hour}: {key!r}")


def _as_of(row: bytes) -> Instant:
    return int.from_bytes(row[8:16], "little", signed=True)


@dataclass
class Readers:
    """Looks entities up all the while, and holds each answer against what a clean run has for its as-of."""

    world: World
    tally: Tally
    users: int
    seed: int
    has_served: bool = False
    is_over: bool = False

    @contextmanager
    def asking(self) -> Iterator[Readers]:
        thread = threading.Thread(target=self._ask, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.is_over = True
            thread.join()

    def _ask(self) -> None:
        chance = random.Random(self.seed)
        # A clock that is ahead of the writer's, however fast that one is: whatever a head lists is visible.
        with FeatureClient(
            self.world.url, project="default", environment="killed", clock=lambda: as_of(self.world.hours + 2)
        ) as client:
            while not self.is_over:
                time.sleep(_BETWEEN_S)
                view, users = chance.choice(VIEWS), chance.sample(range(self.users), _ASKED)
                try:
                    self._judge(view, users, client.lookup(view, {"user_id": users}))
                except FeaturekitError as error:
                    self.tally.tell("unexplained_errors", str(error))

    def _judge(self, view: str, users: list[int], found: Features) -> None:
        self.tally.lookups += 1
        served = found.as_of[view]
        if served is None:
            if self.has_served or (found.reasons != Reason.NO_REFRESH).any():
                self.tally.tell("wrong", f"{view} is UNAVAILABLE: {Reason(int(found.reasons[0, 0])).name}")
            return
        hour = (served - START) // HOUR
        is_ahead = (found.reasons == Reason.AHEAD).any(axis=1).tolist()
        self.tally.ahead += sum(is_ahead)
        rows = found.to_arrow().to_pylist()
        for place, user in enumerate(users):
            expected = self.world.expected(view, hour + is_ahead[place], user)
            statuses = tuple(found.statuses[place].tolist())
            answered = statuses, tuple(rows[place][f"{view}.f{at}"] for at in range(FEATURES))
            if answered != expected:
                ahead = ", ahead" if is_ahead[place] else ""
                self.tally.tell("torn", f"{view} hour {hour}{ahead}, user {user}: {answered} and not {expected}")


class Killed:
    """The process that is killed, and what it said of itself."""

    def __init__(self, world: World, hour: int, *, spark: bool) -> None:
        command = [sys.executable, "-m", "benchmarks.faults.materializing", str(world.folder), world.url]
        command += [str(hour), str(world.hours)]
        self._process = subprocess.Popen(
            [*command, *(["--spark"] if spark else [])], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )

    def wait_for(self, *lines: str) -> None:
        """Read on to one of the lines."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip() in lines:
                return
        raise RuntimeError(f"the process ended before it said {lines}")

    def kill(self) -> int:
        """Kill it and all below it; return the last hour that it began."""
        for process in tree(self._process.pid):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        assert self._process.stdout is not None
        said = [line.split() for line in self._process.stdout]
        self._process.wait()
        return max((int(hour) for what, hour in said if what == "begin"), default=-1)


def run(folder: Path, *, rounds: int, seed: int, quick: bool) -> dict[str, int]:
    """Kill so many times and return the counts; `quick` is with few entities and without Spark."""
    chance, tally, users = random.Random(seed), Tally(), QUICK_USERS if quick else USERS
    by_spark = 0
    with embedded_server(folder / "server") as url:
        # On a quiet machine it gets through some three hours before it is killed, and one after.
        world = World(folder / "world", url, users=users, hours=rounds * 5 + 4, seed=seed)
        readers = Readers(world, tally, users, seed)
        with readers.asking():
            hour = 0
            spark = False
            killed = Killed(world, hour, spark=spark)
            killed.wait_for("begin 0")
            for number in range(rounds):
                time.sleep(chance.random() * _LONGEST_S * (4 if spark else 1))
                hour = max(hour, killed.kill())
                spark = not quick and number % EACH_BY_SPARK == EACH_BY_SPARK - 1
                by_spark += spark
                killed = Killed(world, hour, spark=spark)
                killed.wait_for(f"end {hour}")
                readers.has_served = True
                killed.wait_for(f"begin {hour + 1}")
                # Its writer may be at work on the next hour by now: what a head lists is compared, and that can't move
                # before it is whole.
                world.compare(hour, tally)
                hour += 1
            killed.kill()
    tally.show_problems()
    return {
        "kills": rounds,
        "kills_of_spark": by_spark,
        "torn": tally.torn,
        "lost": tally.lost,
        "stale_over_new": tally.stale_over_new,
        "wrong": tally.wrong,
        "unexplained_errors": tally.unexplained_errors,
        "lookups": tally.lookups,
        "rows_ahead": tally.ahead,
    }


def main() -> None:
    """Run it alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="featurekit-kill-") as folder:
        found = run(Path(folder), rounds=given.rounds, seed=given.seed, quick=given.quick)
    print(json.dumps(found))
    sys.exit(any(found[what] for what in ("torn", "lost", "stale_over_new", "wrong", "unexplained_errors")))


if __name__ == "__main__":
    main()

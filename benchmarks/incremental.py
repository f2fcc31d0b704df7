"""Daily refreshes computed from the one before, beside the same ones in full: each bit, and what was read and computed.

    python -m benchmarks.incremental [--events 2000000] [--entities 20000] [--days 30] [--world visits]

The worlds but the first are refreshed for at most SHORTER days.

Events come as one file a day, of what landed on it: most on the day they happened, some one to three days late, some
corrections of earlier ones. The worlds differ in who is active:

    visits       a shop: one entity in twelve comes on a day, some far more often than others, and leaves many events
    versions     the same, of a source that declares `event_id`: corrections take the place of what they correct
    all          the worst: all entities have events every day, so that nothing is left to keep

What is read are the rows that Spark's scans gave (row groups that were skipped are not in it), of the source, the kept
rows and the tiles, and what was held between two queries, each time; CPU is that of Spark's tasks. RESULT is of the
first world asked for.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from benchmarks.report import finish
from featurekit.clock import DAY, HOUR, MINUTE, Instant, parse_instant
from featurekit.compiled import CompiledView
from featurekit.compiler import compile_repository
from featurekit.config import Settings
from featurekit.definitions.repo import load_repo
from featurekit.offline.history_folder import HistoryEntry, KeptFile
from featurekit.offline.incremental import incremental_frame
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.session import SparkEngine, start_engine
from featurekit.offline.snapshot import snapshot_source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FIRST: Final = parse_instant("2026-01-01")
BEFORE: Final = 30  # days of events before the first refresh: the longest window is full
ROW_GROUP: Final = 10_000
WORLDS: Final = ("visits", "versions", "all")
SHORTER: Final = {"versions": 10, "all": 5}  # days of the worlds that need no month
_VISITORS: Final = 12  # one entity in so many comes on a day
_DEFINITIONS: Final = """\
entities:
  user: {join_keys: {user_id: bigint}}
sources:
  plain: &source {path: landed, event_timestamp: at, created_timestamp: landed_at}
  versions: {path: landed, event_timestamp: at, created_timestamp: landed_at, event_id: event}
feature_views:
"""
_FEATURES: Final = ("count(*)", "sum(amount)", "avg(amount)", "max(amount)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What Spark did: rows and bytes that its scans gave, CPU seconds of its tasks, and the time it took."""

    rows: int
    bytes: int
    cpu: float
    seconds: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            rows=self.rows + other.rows,
            bytes=self.bytes + other.bytes,
            cpu=self.cpu + other.cpu,
            seconds=self.seconds + other.seconds,
        )


NOTHING: Final = Cost(rows=0, bytes=0, cpu=0.0, seconds=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldResult:
    """A month of one world: `computed` is the share of entities that were computed, `in_full` counts days that were."""

    world: str
    days: int
    in_full: int
    rows: int
    computed: float
    differ: int
    full: Cost
    incremental: Cost

    @property
    def read_share(self) -> float:
        return self.incremental.rows / max(self.full.rows, 1)

    @property
    def wall_share(self) -> float:
        return self.incremental.seconds / max(self.full.seconds, 1e-9)

    @property
    def cpu_share(self) -> float:
        return self.incremental.cpu / max(self.full.cpu, 1e-9)


class Meter:
    """Says what Spark did since it was last asked, from the stages that its status store knows of."""

    def __init__(self, engine: SparkEngine) -> None:
        context: Any = engine.session.sparkContext
        self._spark = getattr(context, "_jsc").sc()  # noqa: B009  Spark's status is in Java alone
        # Stages of long ago are forgotten, and who asked for them would wait for ever.
        self._stage = self._spark.dagScheduler().nextStageId()
        self._at = time.perf_counter()
        self.cost()

    def cost(self) -> Cost:
        self._spark.listenerBus().waitUntilEmpty()
        now = time.perf_counter()
        found = Cost(rows=0, bytes=0, cpu=0.0, seconds=now - self._at)
        following = self._spark.dagScheduler().nextStageId()
        for number in range(self._stage, following):
            stage = self._stage_of(number)
            if stage is None:  # skipped, and forgotten at once in a session of more than a thousand stages
                continue
            cpu = stage.executorCpuTime() / 1e9
            found += Cost(rows=stage.inputRecords(), bytes=stage.inputBytes(), cpu=cpu, seconds=0.0)
        self._stage = following
        self._at = time.perf_counter()
        return found

    def _stage_of(self, number: int) -> Any:
        try:
            return self._spark.statusStore().lastStageAttempt(number)
        except Py4JJavaError as error:
            if "NoSuchElement" in str(error):
                return None
            raise


def write_log(folder: Path, *, world: str, events: int, entities: int, days: int, seed: int) -> list[Path]:
    """Write one file a day of what landed on it, under `drawn`; return them in order."""
    draw = np.random.default_rng(seed)
    count = days + BEFORE
    day = np.sort(draw.integers(0, count, events))
    user = np.empty(events, np.int64)
    for number in range(count):
        here = day == number
        user[here] = draw.choice(_active(draw, world, entities), here.sum())
    at = FIRST - BEFORE * DAY + day * DAY + draw.integers(0, DAY, events)
    late = draw.random(events) < 0.01
    landed = at + np.where(late, draw.integers(HOUR, 3 * DAY, events), draw.integers(0, 5 * MINUTE, events))
    amount = np.round(draw.gamma(2.0, 20.0, events), 2)
    # Corrections: a tenth of a percent of the events once more, up to two days later.
    again = np.flatnonzero(draw.random(events) < 0.001)
    table = pa.table(
        {
            "user_id": np.concatenate([user, user[again]]),
            "at": _instants(np.concatenate([at, at[again]])),
            "landed_at": _instants(np.concatenate([landed, landed[again] + draw.integers(1, 2 * DAY, len(again))])),
            "event": np.concatenate([np.arange(events), again]),
            "amount": np.concatenate([amount, amount[again] + 1.0]),
            "page": np.concatenate([draw.integers(0, 1000, events), again % 1000]),
        }
    )
    landing = (table["landed_at"].cast(pa.int64()).to_numpy() - (FIRST - BEFORE * DAY)) // DAY
    files = []
    (folder / "drawn").mkdir(parents=True)
    for number in range(count):
        part = table.filter(pa.array(landing == number)).sort_by("at")
        files.append(folder / "drawn" / f"day-{number:03d}.parquet")
        pq.write_table(part, files[-1], row_group_size=ROW_GROUP)
    return files


def _active(draw: np.random.Generator, world: str, entities: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return who is active on a day."""
    if world == "all":
        return np.arange(entities)
    # Weights as of a shop's customers: the most frequent comes nearly daily, most once in a while.
    weights = 1.0 / np.arange(1, entities + 1) ** 0.5
    return draw.choice(entities, entities // _VISITORS, replace=False, p=weights / weights.sum())


def _instants(micros: np.ndarray[Any, np.dtype[np.int64]]) -> pa.Array:
    return pa.array(micros, pa.int64()).cast(pa.timestamp("us", "UTC"))


def definitions(source: str) -> str:
    lines = [_DEFINITIONS.replace("&source ", ""), "  activity:\n    entity: user\n"]
    lines.append(f"    source: {source}\n    refresh: 1d\n    allowed_lateness: 10m\n    availability_delay: 1h\n")
    lines.append("    features:\n")
    for window in ("1d", "7d", "30d"):
        for number, sql in enumerate(_FEATURES):
            lines.append(f"      f{number}_{window}: {{sql: {sql}, window: {window}}}\n")
    lines.append("      last_page: {sql: page, ttl: 7d}\n")
    return "".join(lines)


def run_world(engine: SparkEngine, folder: Path, world: str, options: argparse.Namespace) -> WorldResult:
    """Refresh every day twice, and compare: in full, and from the day before."""
    days = min(options.days, SHORTER.get(world, options.days))
    # As many events a day as in the month.
    events = options.events * (days + BEFORE) // (options.days + BEFORE)
    files = write_log(folder, world=world, events=events, entities=options.entities, days=days, seed=options.seed)
    (folder / "defs").mkdir()
    (folder / "defs" / "activity.yaml").write_text(definitions("versions" if world == "versions" else "plain"))
    (folder / "landed").mkdir()
    for file in files[: BEFORE + 1]:
        file.rename(folder / "landed" / file.name)
    view = compile_repository(load_repo(folder / "defs"), folder).views["activity"]
    meter = Meter(engine)
    base = _kept(engine, view, FIRST, materialized_frame(engine, view, FIRST), folder / "kept")
    meter.cost()
    full, incremental, differ, rows, computed, in_full = NOTHING, NOTHING, 0, 0, 0.0, 0
    for number in range(1, days):
        as_of = FIRST + number * DAY
        landed = files[BEFORE + number]  # what landed on the day itself: a row of its first minutes may count
        landed.rename(folder / "landed" / landed.name)
        wanted = _kept(engine, view, as_of, materialized_frame(engine, view, as_of), folder / "full")
        full += meter.cost()
        found = incremental_frame(engine, view, as_of, base, engine.read_parquet(str(base.path)))
        frame = found.frame if found.frame is not None else materialized_frame(engine, view, as_of)
        in_full += found.frame is None
        before = base
        base = _kept(engine, view, as_of, frame, folder / "kept")
        cost = meter.cost()
        incremental += cost
        differ += _differing(engine, view, wanted, base)
        rows += base.rows
        computed += 1.0 if found.changed is None else found.changed / max(base.rows, 1)
        shutil.rmtree(wanted.path)
        shutil.rmtree(before.path)
        meter.cost()
        print(f"{world} {number:>3}  {found.changed} of {base.rows}  {found.reason}  read {cost.rows:,}", flush=True)
    return WorldResult(
        world=world,
        days=days - 1,
        in_full=in_full,
        rows=rows,
        computed=computed / max(days - 1, 1),
        differ=differ,
        full=full,
        incremental=incremental,
    )


def _kept(engine: SparkEngine, view: CompiledView, as_of: Instant, frame: DataFrame, folder: Path) -> HistoryEntry:
    path = folder / str(as_of)
    engine.write_parquet(frame, path)
    files = tuple(
        KeptFile(name=file.name, rows=pq.read_metadata(file).num_rows, bytes=file.stat().st_size)
        for file in sorted(path.glob("*.parquet"))
    )
    return HistoryEntry(
        view=view.name,
        fingerprint=view.fingerprint.data,
        as_of=as_of,
        restatement=0,
        visible_from=as_of,
        completed_at=as_of,
        snapshot=snapshot_source(engine, view),
        files=files,
        path=path,
    )


def _differing(engine: SparkEngine, view: CompiledView, one: HistoryEntry, other: HistoryEntry) -> int:
    """Return the number of rows that differ: in being there, or in a bit."""
    keys = [(key.name, "ascending") for key in view.keys]
    wanted, found = (engine.to_arrow(engine.read_parquet(str(each.path))).sort_by(keys) for each in (one, other))
    names = [key for key, _ in keys]
    if wanted.select(names) != found.select(names):
        return abs(wanted.num_rows - found.num_rows) or 1
    same = np.ones(wanted.num_rows, bool)
    for label in wanted.column_names:
        left, right = _bits(wanted[label]), _bits(found[label])
        both_null = pc.and_(left.is_null(), right.is_null())
        equal = pc.or_(pc.fill_null(pc.equal(left, right), False), both_null)
        same &= equal.to_numpy(zero_copy_only=False)
    return int((~same).sum())


def _bits(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    return array.view(pa.int64()) if pa.types.is_float64(array.type) else array


def show(results: Sequence[WorldResult]) -> str:
    shares = f"{'read':>7}{'CPU':>6}{'s':>6}"
    head = f"{'world':<10}{'days':>5}{'in full':>8}{'computed':>10}{'differ':>8}{'rows read':>22}{'CPU s':>18}{'s':>16}"
    head += shares
    lines = [head]
    for each in results:
        read = f"{each.incremental.rows:,} / {each.full.rows:,}"
        cpu = f"{each.incremental.cpu:.0f} / {each.full.cpu:.0f}"
        took = f"{each.incremental.seconds:.0f} / {each.full.seconds:.0f}"
        shares = f"{each.read_share:>7.2f}{each.cpu_share:>6.2f}{each.wall_share:>6.2f}"
        lines.append(
            f"{each.world:<10}{each.days:>5}{each.in_full:>8}{each.computed:>10.0%}{each.differ:>8}{read:>22}{cpu:>18}{took:>16}"
            + shares
        )
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.incremental", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=2_000_000, help="in all days together (2,000,000)")
    parser.add_argument("--entities", type=int, default=20_000)
    parser.add_argument("--days", type=int, default=30, help="refreshes, after 30 days of events (30)")
    parser.add_argument("--world", action="append", choices=WORLDS, help="only this one; may be repeated")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    results = []
    with tempfile.TemporaryDirectory(prefix="featurekit-incremental-") as scratch:
        for world in options.world or WORLDS:
            engine = start_engine(Settings(root=Path(scratch) / world, state=Path(scratch) / "state"))
            results.append(run_world(engine, Path(scratch) / world, world, options))
            shutil.rmtree(Path(scratch) / world)
        engine.stop()
    print(show(results))
    differ, first = sum(each.differ for each in results), results[0]
    finish(
        "incremental",
        {
            "days": first.days,
            "rows": sum(each.rows for each in results),
            "differ": differ,
            "read_share": first.read_share,
            "cpu_share": first.cpu_share,
            "wall_share": first.wall_share,
        },
        details={"options": vars(options), "worlds": [asdict(each) for each in results]},
        seed=options.seed,
    )
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

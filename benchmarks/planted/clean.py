"""Clean runs: days on which nothing is planted and much happens, each check of which must find nothing.

Days around the end of daylight saving time. Each day what has landed by then is in the source, and the views are
refreshed, from the day before where they can be. Then they are checked at once; again when late rows have landed; and,
by turns, after the server and the store were started anew, after a restatement, after a rollback and forward again; and
at an instant before the day's refresh served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.planted.flights import hop_table, until, with_corrections
from benchmarks.planted.world import DEFINITIONS, settings_of
from featurekit.clock import DAY, HOUR, MINUTE, Instant, format_instant, parse_instant
from featurekit.config import Settings
from featurekit.consistency.sample import SampleRule
from featurekit.consistency.view_report import Outcome, ViewReport
from featurekit.feature_store import FeatureStore
from featurekit.online import embedded

START: Final = parse_instant("2013-10-30")
DAYS: Final = 11
_SAMPLE: Final = 300
_ROLLED_BACK: Final = "corrected"


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanRun:
    """One check: when, after what, and what it found; each of `alarms` is a false one."""

    at: str
    after: str
    cells: int
    indeterminate: int
    alarms: tuple[str, ...]


def clean_runs(folder: Path, departures: Path, *, seed: int, days: int = DAYS) -> Iterator[CleanRun]:
    """Yield the checks of so many days, as they end."""
    world = _CleanWorld(folder, departures, seed)
    try:
        for number in range(days):
            yield from world.day(START + number * DAY, number)
    finally:
        world.close()


class _CleanWorld:
    def __init__(self, folder: Path, departures: Path, seed: int) -> None:
        self._data, self._seed, self._checks = folder / "data", seed, 0
        self._settings: Settings = replace(settings_of(folder), project="clean")
        hops = hop_table(departures, seed)
        self._tables = {"hops": hops, "legs": with_corrections(hops, seed), "undated": hops}
        for made in (self._data, folder / "feature_defs"):
            made.mkdir(parents=True)
        text = (DEFINITIONS.parent / "clean.yaml").read_text(encoding="utf-8")
        (folder / "feature_defs" / "clean.yaml").write_text(text, encoding="utf-8")
        self._open: FeatureStore | None = None

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
        embedded.stop(self._settings.state)

    def day(self, today: Instant, number: int) -> Iterator[CleanRun]:
        """Yield the day's five checks."""
        now = today + 6 * HOUR  # both grids' refreshes of the day serve: UTC's and New York's
        self._land(now)
        store = self._at(now)
        if number == 0:
            store.register()
        store.materialize()
        yield self._check(store, now, "the refresh")
        if number:
            # What a view in place served before its refresh, it gives up.
            kept = [name for name, view in store.definitions.views.items() if view.view.write != "in_place"]
            yield self._check(store, today + 30 * MINUTE, "the refresh, of what served before it", kept)
        later = today + 15 * HOUR
        self._land(later)
        yield self._check(self._at(later), later, "late rows landed")
        turns: Sequence[tuple[str, Callable[[Instant], None]]] = (
            ("a restart of the server and of the store", self._restart),
            ("a restatement", self._restate),
            ("a rollback", self._roll_back),
        )
        if number:
            what, turn = turns[number % 3]
            turn(later)
            yield self._check(self._at(later), later, what)
            if what == "a rollback":
                self._at(later).rollback(_ROLLED_BACK, forward=True)
        evening = today + DAY - MINUTE
        yield self._check(self._at(evening), evening, "a day without news")

    def _land(self, now: Instant) -> None:
        """Let the source hold what was on record by now."""
        for name, table in self._tables.items():
            landed = until(table, "recorded_at", now)
            pq.write_table(_undated(landed) if name == "undated" else landed, self._data / f"{name}.parquet")

    def _at(self, now: Instant) -> FeatureStore:
        """Return a store whose clock stands at an instant."""
        if self._open is not None:
            self._open.close()
        self._open = FeatureStore(replace(self._settings, now=now))
        return self._open

    def _restart(self, _: Instant) -> None:
        self.close()

    def _restate(self, now: Instant) -> None:
        self._at(now).materialize(restate="clean run")

    def _roll_back(self, now: Instant) -> None:
        self._at(now).rollback(_ROLLED_BACK)

    def _check(self, store: FeatureStore, at: Instant, after: str, views: Sequence[str] | None = None) -> CleanRun:
        self._checks += 1
        rule = SampleRule(max_entities=_SAMPLE, seed=f"{self._seed} {self._checks}")
        report = store.check(views, sample=rule, at=at)
        alarms = [
            f"{view.view}.{finding.field}: {finding.cause} ×{finding.count}"
            for view in report.views
            for finding in view.findings
        ]
        alarms += [
            f"{view.view}: {view.outcome}" for view in report.views if not (view.outcome.passes or _is_old(view))
        ]
        return CleanRun(
            at=format_instant(at),
            after=after,
            cells=sum(field.cells for view in report.views for field in view.fields),
            indeterminate=sum(view.indeterminate_cells for view in report.views),
            alarms=tuple(alarms),
        )


def _is_old(view: ViewReport) -> bool:
    """Return whether a view is told to be late, and no more, because it is: it was rolled back."""
    return view.is_late and view.outcome is Outcome.BREACHED


def _undated(table: pa.Table) -> pa.Table:
    return table.drop_columns(["recorded_at"])

"""What the schedule does with the store: which refreshes are due by its views' cadence, and each task done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from featurekit.alerting.delivery import Delivery
from featurekit.alerting.notification import Condition
from featurekit.alerting.sinks import sinks_of
from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledView
from featurekit.consistency.files import write_report
from featurekit.consistency.sample import SampleRule
from featurekit.errors import GateError, RefreshRunningError, SettingsError
from featurekit.feature_store import FeatureStore
from featurekit.leasing import leased
from featurekit.notifying import conditions_of, failure_condition, notify
from featurekit.online.keys import KeySpace
from featurekit.online.refresh import read_head
from featurekit.refreshing import due
from featurekit.registry.state import RefreshStatus
from featurekit.scheduling.plan import Job, Plan, Task, ViewCadence, make_plan
from featurekit.scheduling.running import Performed, run_due

LEASE: Final = "(schedule)"  # no view can be called so
_MOST_MISSED: Final = 500


class ScheduledWork:
    """The tasks of one project and environment, of some jobs: each job is one instance's at a time."""

    def __init__(self, store: FeatureStore, jobs: Collection[Job] = tuple(Job)) -> None:
        self._store = store
        self._jobs = frozenset(jobs)
        self._leases = tuple(number for number, job in enumerate(Job) if job in self._jobs)
        self._conditions: list[Condition] = []
        self._run: int | None = None

    def plan(self) -> Plan:
        """Return what is due now and what comes next. Starts no Spark."""
        store, settings = self._store, self._store.settings
        now = settings.clock()
        found = make_plan(
            self._cadences(now),
            store.registry.schedule.latest(),
            at=now,
            check_at=settings.schedule_check_at,
            gc_at=settings.schedule_gc_at,
        )
        return replace(found, tasks=tuple(task for task in found.tasks if task.job in self._jobs))

    def is_running(self) -> bool:
        """Return whether an instance is at work on one of the jobs."""
        return not self._store.registry.leased(LEASE, "").isdisjoint(self._leases)

    def run(self, *, is_stopped: Callable[[], bool]) -> tuple[tuple[Performed, ...], Delivery]:
        """Do what is due, tell whom it concerns, and return what came of it.

        RefreshRunningError where another is at work on one of the jobs. `is_stopped` is asked before each task.
        """
        store, clock = self._store, self._store.settings.clock
        registry = store.registry
        with leased(registry, LEASE, "", self._leases, holder=f"schedule in {store.holder}") as tenancy:

            def may_go_on() -> bool:
                return not is_stopped() and registry.renew_lease(tenancy.lease, length=tenancy.length)

            done = tuple(run_due(self.plan(), self, registry.schedule, clock=clock, may_go_on=may_go_on))
            return done, self._tell(done)

    def perform(self, task: Task) -> tuple[str, bool]:
        """Do one task; return what came of it, and whether that is bad news."""
        match task.job:
            case Job.MATERIALIZE:
                return self._materialize(task), False
            case Job.CHECK:
                return self._check()
            case Job.GC:
                done = self._store.gc()
                gone = len(done.views) + len(done.services) + len(done.spaces) + len(done.plans)
                return f"dropped {done.rows:,} rows and {gone:,} other things", False

    def _materialize(self, task: Task) -> str:
        assert task.view is not None
        outcomes = self._store.materialize([task.view]) if task.as_ofs else ()
        if task.missed:
            outcomes += self._store.backfill([task.view], start=task.missed[0], end=task.missed[-1] + 1)
        new = [outcome for outcome in outcomes if outcome.is_new]
        times = ", ".join(format_instant(outcome.as_of) for outcome in new[:3]) + (", …" if len(new) > 3 else "")
        return f"computed {times}: {sum(outcome.rows for outcome in new):,} rows" if new else "was there already"

    def _check(self) -> tuple[str, bool]:
        store, folder = self._store, self._store.settings.schedule_reports
        day = format_instant(store.settings.clock())[: len("2013-11-15")]
        report = store.check(sample=SampleRule(seed=day))  # other entities each day: in time all are looked at
        self._conditions += conditions_of(report)
        self._run = report.run
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise SettingsError("schedule.reports is no folder", where=str(folder), why=str(error)) from error
            write_report(report, html=folder / "check.html", json=folder / "check.json")
        return report.summary, not report.passed

    def _tell(self, done: Sequence[Performed]) -> Delivery:
        settings = self._store.settings
        # That another run computes it is no failure: it will be there.
        tried = [one for one in done if not isinstance(one.error, RefreshRunningError)]
        failures = [failure_condition(f"schedule:{one.task.name}", one.error) for one in tried]
        return notify(
            (*failures, *self._conditions),
            registry=self._store.registry,
            sinks=sinks_of(settings),
            project=settings.project,
            environment=settings.environment,
            at=settings.clock(),
            run=self._run,
        )

    def _cadences(self, now: Instant) -> Sequence[ViewCadence]:
        """Return a cadence for each view that is registered, over all of its versions that somebody needs."""
        versions = self._store.registry.view_versions()
        kept = {version.fingerprint.data for version in versions if version.collected_at is None}
        live, _ = self._store._live_views(None, now)
        by_name: dict[str, list[CompiledView]] = {}
        for view in live:
            if view.fingerprint.data in kept:
                by_name.setdefault(view.name, []).append(view)
        return [self._cadence(versions, now) for versions in by_name.values()]

    def _cadence(self, versions: Sequence[CompiledView], now: Instant) -> ViewCadence:
        wanted = {at for view in versions for at in due(view, now) if not self._is_there(view, at)}
        defined = versions[0]
        missed, skipped = self._missed(defined, now)
        return ViewCadence(
            view=defined.name,
            grid=defined.view.grid,
            lateness=defined.view.allowed_lateness,
            due=tuple(sorted(wanted)),
            missed=missed,
            skipped=skipped,
        )

    def _is_there(self, view: CompiledView, as_of: Instant) -> bool:
        """Return whether the store serves the refresh, or somebody has rolled it back on purpose."""
        store, data = self._store, view.fingerprint.data
        space = KeySpace(namespace=store.namespace, view=view.name, fingerprint=data, as_of=as_of)
        entries = [entry for entry in read_head(store.online, space).entries if entry.as_of == as_of]
        if entries:
            entry = max(entries, key=lambda one: one.restatement)
            (marker,) = store.online.read([space.at(as_of, entry.restatement, entry.live).marker])
            return marker is not None
        records = [one for one in store.registry.refreshes(view.name, fingerprint=data) if one.as_of == as_of]
        last = max((one for one in records if one.online), key=lambda one: one.restatement, default=None)
        return last is not None and last.withdrawn_at is not None and last.dropped_at is None

    def _missed(self, view: CompiledView, now: Instant) -> tuple[tuple[Instant, ...], int]:
        """Return the as-ofs before the due ones that nobody computed, and how many more are too old to be caught up.

        None where the view keeps no history: lookups would never see them. What broke an expectation was not missed.
        """
        settings = self._store.settings
        if view.name not in self._store.definitions.views or not view.view.history_keep(settings.history_keep):
            return (), 0
        records = self._store.registry.refreshes(view.name, fingerprint=view.fingerprint.data)
        done = {one.as_of for one in records if one.status is RefreshStatus.COMPLETE}
        if not done:
            return (), 0
        settled = done | {one.as_of for one in records if (one.failure or "").startswith(GateError.__name__)}
        earliest, until = now - settings.schedule_catch_up, due(view, now)[0]
        grid = view.view.grid
        recent = [at for at in grid.between(max(min(done), earliest), until) if at not in settled]
        skipped = len(grid.between(grid.next(max(done)), min(earliest, until)))
        return tuple(recent[-_MOST_MISSED:]), skipped

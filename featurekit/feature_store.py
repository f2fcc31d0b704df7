"""The SDK's facade: one object that knows the settings and hands each task to the module that does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from featurekit import apply
from featurekit.alerting.delivery import Delivery
from featurekit.alerting.sinks import sinks_of
from featurekit.backfilling import Backfilled, Done, backfill_each, backfill_view, backfilled_instants
from featurekit.clock import Instant
from featurekit.collecting import GRACE, PAUSE_S, STEP, Collected, Collector
from featurekit.compiled import CompiledService, CompiledView
from featurekit.consistency.as_of_effect import AsOfEffect, compare_as_of
from featurekit.consistency.attribution.causes import causes_by_column
from featurekit.consistency.check import check_consistency
from featurekit.consistency.described import describe_view
from featurekit.consistency.leakage.audit import audit_training_table
from featurekit.consistency.leakage.report import AuditReport
from featurekit.consistency.leakage.table import AuditSpec
from featurekit.consistency.recording import recorded, recorded_replay
from featurekit.consistency.replay.logged import ReplayRule
from featurekit.consistency.replay.replay import ReplayLimits, replay_log
from featurekit.consistency.replay.report import ReplayReport
from featurekit.consistency.replay.versions import Definitions
from featurekit.consistency.report import ConsistencyReport
from featurekit.consistency.sample import SampleRule
from featurekit.errors import InputError
from featurekit.explain import Explanation, explain_service, explain_view
from featurekit.forgetting import Forgetting, forget, known_tombstones, refuse_labels, remember
from featurekit.from_log import build_from_log
from featurekit.from_log_values import FromLogResult, FromLogSpec
from featurekit.keeping import Changed, ViewHistory, compact, expire, view_histories
from featurekit.materializing import Progress, Shown, refresh_each
from featurekit.model_loss import LossSpec, ModelLoss, attribute_loss, is_file, model_of_file, registered_model
from featurekit.notifying import conditions_of, notify
from featurekit.offline.join_shape import choose_shapes
from featurekit.offline.labels import LabelSpec, check_label_file
from featurekit.offline.manifest import AsOfMode, read_manifest
from featurekit.offline.manifest_diff import ManifestDiff, diff_manifests
from featurekit.offline.point_in_time import join_shapes, training_table
from featurekit.offline.rebuild import Rebuild, rebuild_dataset
from featurekit.offline.row_diff import RowDiff, diff_rows
from featurekit.offline.training import DatasetResult, build_dataset, check_out
from featurekit.online.result import Features
from featurekit.pinning import pin_version, unpin_version
from featurekit.refresh_values import RefreshOutcome
from featurekit.refreshing import due, refresh_view
from featurekit.registered_views import compile_version, earlier_views
from featurekit.registration_rollback import RegistrationRolledBack, rollback_registration
from featurekit.registry.check_run import Retention
from featurekit.registry.desired import desired_state
from featurekit.registry.model_record import ModelRecord
from featurekit.registry.plan import RegistrationPlan, plan_registration
from featurekit.registry.state import Pin
from featurekit.rolling_back import RolledBack, rollback_view
from featurekit.serving.model import OnUnavailable, Prediction
from featurekit.serving.register import register_model
from featurekit.serving_history import served_history
from featurekit.store_parts import StoreParts
from featurekit.tombstones import Tombstones
from featurekit.trace import Trace, trace_feature


class FeatureStore(StoreParts):
    """Everything featurekit does, for one project and environment.

    Definitions, Spark, the online store and the registry are each opened when a method first needs them; `close` (or
    leaving a `with` block) closes them. The embedded server is started where the settings name no Redis.

        with FeatureStore.from_settings() as store:
            store.register()
            store.materialize()
            store.lookup("flight_delay", {"carrier": "UA", "origin": "EWR", "dest": "LAX", "tailnum": "N39463"})
    """

    def plan(self) -> RegistrationPlan:
        """Return what `register` would do now."""
        registry, now = self.registry, self.settings.clock()
        desired, deployed = desired_state(self.definitions), registry.deployed()
        return plan_registration(desired, deployed, registry.watermarks(now), now, registry.models())

    def register(self, plan: RegistrationPlan | None = None) -> apply.Registered:
        """Register the definitions, or carry out a plan as it was shown; return what was done. Computes nothing."""
        now = self.settings.clock()
        if plan is not None:
            return apply.apply(plan, self.registry, self.online, self.namespace, now)
        return apply.register(desired_state(self.definitions), self.registry, self.online, self.namespace, now)

    def materialize(
        self,
        views: Sequence[str] | None = None,
        *,
        as_of: Instant | None = None,
        at: Instant | None = None,
        restate: str | None = None,
        full: bool = False,
        wait: bool = False,
        progress: Progress | None = None,
    ) -> tuple[RefreshOutcome, ...]:
        """Refresh views (all, if none are named) as of a grid instant, of what serves `at` a time, or of all due now.

        Each view as it is defined, and in each version that somebody needs: that serves still, is pinned, or is what a
        model was trained on. `view@number` names one version.
        `restate`, `full` and `wait` are those of `refresh_view`. A view that fails takes no other with it:
        MaterializeErrors at the end says which, and has the other outcomes. Kept rows that are too old are dropped.
        """
        clock = self.settings.clock

        def instants(view: CompiledView) -> tuple[Instant, ...]:
            if as_of is not None:
                return (as_of,)
            return due(view, clock()) if at is None else (view.view.grid.served_at(at),)

        chosen, failed = self._live_views(views, clock())
        wanted = [(view, instant) for view in chosen for instant in instants(view)]
        to = self._deployment(view for view, _ in wanted)

        shown = None if progress is None else Shown(progress)

        def refresh(view: CompiledView, instant: Instant) -> RefreshOutcome:
            return refresh_view(
                view,
                instant,
                engine=self.engine,
                to=to,
                clock=clock,
                restate=restate,
                full=full,
                wait=wait,
                watch=None if shown is None else shown.rows,
            )

        outcomes = refresh_each(wanted, refresh, failed=failed, progress=None if shown is None else shown.refreshes)
        expire(self.history, self.registry, now=clock(), keep=self._keep, views=[view.name for view, _ in wanted])
        return outcomes

    def rollback(self, view: str, *, to: Instant | None = None, forward: bool = False) -> RolledBack:
        """Let the refresh before serve, or the one as of `to`; `forward` brings back what was rolled back last."""
        return rollback_view(
            view,
            to=to,
            is_forward=forward,
            registry=self.registry,
            store=self.online,
            namespace=self.namespace,
            history=self.history,
            now=self.settings.clock(),
        )

    def rollback_registration(self, number: int, *, forward: bool = False) -> RegistrationRolledBack:
        """Let what served before a registration serve, for all services that it moved, in one switch."""
        return rollback_registration(
            number,
            is_forward=forward,
            registry=self.registry,
            store=self.online,
            namespace=self.namespace,
            now=self.settings.clock(),
        )

    def pin(self, version: str, by: str) -> Pin:
        """Keep and refresh `service@number` for `by`, until `unpin`."""
        return pin_version(self.registry, version, by, self.settings.clock())

    def unpin(self, version: str, by: str) -> None:
        unpin_version(self.registry, version, by, self.settings.clock())

    def gc(self, *, dry_run: bool = False, grace: int = GRACE, step: int = STEP, pause_s: float = PAUSE_S) -> Collected:
        """Drop what nobody has needed for `grace` from the online store, at most `step` keys at once."""
        collector = Collector(
            registry=self.registry,
            store=self.online,
            namespace=self.namespace,
            grace=grace,
            step=step,
            pause_s=pause_s,
            holder=f"gc in {self.holder}",
        )
        return collector.collect(self.settings.clock(), dry_run=dry_run)

    def backfill(
        self,
        views: Sequence[str] | None = None,
        *,
        start: Instant,
        end: Instant | None = None,
        restate: str | None = None,
        wait: bool = False,
        progress: Progress | None = None,
    ) -> tuple[RefreshOutcome, ...]:
        """Keep what views were as of each grid instant in [start, end), in the history; serve what is due now, too.

        What is there already is not computed, unless `restate`, a reason, is given. Errors as of `materialize`.
        """
        clock = self.settings.clock
        chosen = [view for view in self._views(views) if views or view.view.history_keep(self.settings.history_keep)]
        wanted = [(view, backfilled_instants(view, start, end, clock())) for view in chosen]
        to = self._deployment(chosen)
        engine = self.engine

        def backfill(view: CompiledView, instants: Sequence[Instant], done: Done) -> Backfilled:
            return backfill_view(
                view, instants, engine=engine, to=to, clock=clock, restate=restate, wait=wait, done=done
            )

        return backfill_each([(view, instants) for view, instants in wanted if instants], backfill, progress=progress)

    def histories(self) -> tuple[ViewHistory, ...]:
        """Return what is kept of each view's refreshes."""
        return view_histories(self.history, self.registry)

    def compact_history(self, views: Sequence[str] | None = None) -> tuple[Changed, ...]:
        """Join the files of each kept refresh into one; return what was joined."""
        now = self.settings.clock()
        return compact(self.history, self.registry, now=now, holder=self.holder, views=self._kept(views))

    def expire_history(self, views: Sequence[str] | None = None, *, dry_run: bool = False) -> tuple[Changed, ...]:
        """Drop kept rows that are older than their view keeps them; return what went, or would go."""
        return expire(
            self.history,
            self.registry,
            now=self.settings.clock(),
            keep=self._keep,
            views=self._kept(views),
            dry_run=dry_run,
        )

    def forget(
        self,
        entity: str,
        rows: Sequence[Mapping[str, Any]],
        *,
        dry_run: bool = False,
        check_sources: bool = True,
        datasets: Sequence[Path] = (),
    ) -> Forgetting:
        """Refuse entities from now on, by their join keys, and erase what is kept of them; return the proof."""
        return forget(self, entity, rows, dry_run=dry_run, check_sources=check_sources, datasets=datasets)

    def remember(self, entity: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Let entities in again, by their join keys; return how many were forgotten."""
        return remember(self, entity, rows)

    def lookup(
        self,
        service: str,
        entities: Any,
        request: Any = None,
        *,
        at: Instant | None = None,
        request_id: str | None = None,
    ) -> Features:
        """Return the features of one or many entities, as `FeatureClient.lookup` does."""
        return self.client.lookup(service, entities, request, at=at, request_id=request_id)

    def training_table(self, service: str, labels: LabelSpec) -> pa.Table:
        """Return the rows of a training set as an Arrow table, and write nothing: for a look, or a notebook."""
        compiled = self._service(service)
        self._refuse_labels(compiled, labels)
        return training_table(self.engine, compiled, labels, now=self.settings.clock())

    def dataset(
        self, service: str, labels: LabelSpec, out: Path, *, as_of: AsOfMode = AsOfMode.DECLARED
    ) -> DatasetResult:
        """Write a training set: for each label row what serving would have answered at its time.

        Or, by `as_of`, what it did answer, by the refreshes on record; or all that had happened by then, which leaks.
        """
        compiled = self._service(service)
        check_out(out)
        check_label_file(compiled, labels, self.settings.root)  # before Spark starts: most mistakes are in here
        served = None
        if as_of is AsOfMode.SERVED:
            served = served_history(compiled, self.history, self.registry).require_any(service)
        self._refuse_labels(compiled, labels)
        now = self.settings.clock()
        return build_dataset(self.engine, compiled, labels, out, now=now, as_of=as_of, served=served)

    def _refuse_labels(self, service: CompiledService, labels: LabelSpec) -> None:
        if tombstones := known_tombstones(self):
            refuse_labels(self.engine, service, labels, tombstones)

    def dataset_compare(self, service: str, labels: LabelSpec, out: Path | None = None) -> AsOfEffect:
        """Build the labels' set as declared, as served and by event time; return what that does to each feature."""
        compiled, settings = self._service(service), self.settings
        check_label_file(compiled, labels, settings.root)
        self._refuse_labels(compiled, labels)
        served = served_history(compiled, self.history, self.registry)
        return compare_as_of(self.engine, compiled, labels, served=served, out=out, now=settings.clock())

    def dataset_diff(self, before: Path, after: Path) -> tuple[ManifestDiff, RowDiff]:
        """Return how two training sets differ: in what they were made from, and row by row."""
        sides = (before, read_manifest(before)), (after, read_manifest(after))
        return diff_manifests(sides[0][1], sides[1][1]), diff_rows(self.engine, *sides)

    def dataset_rebuild(self, folder: Path, out: Path | None = None) -> Rebuild:
        """Make a training set again by the definitions and sources as they are now; say whether it is the same."""
        return rebuild_dataset(
            lambda: self.engine,
            self._service,
            self.settings.root,
            folder,
            out=out,
            now=self.settings.clock(),
            served=lambda compiled: served_history(compiled, self.history, self.registry),
            refuse=self._refuse_labels,
        )

    def dataset_from_log(self, service: str, spec: FromLogSpec, out: Path, *, recompute: bool = False) -> FromLogResult:
        """Write a training set of what was served, joined to labels; beside it what training computes, if asked."""
        engine = (lambda: self.engine) if recompute else None
        return build_from_log(self._service(service), spec, out, now=self.settings.clock(), engine=engine)

    def audit(self, service: str, table: AuditSpec) -> AuditReport:
        """Compare a training table made elsewhere with what serving would have had at each row's time."""
        return audit_training_table(self.engine, self._service(service), table, now=self.settings.clock())

    def check(
        self,
        views: Sequence[str] | None = None,
        *,
        sample: SampleRule | None = None,
        at: Instant | None = None,
        record: bool = True,
    ) -> ConsistencyReport:
        """Compare what is served with what training says, for a sample of entities; `record`: for the history too."""
        chosen, forgotten = self._views(views), self.registry.tombstones()
        services = self.definitions.services.values()
        found = check_consistency(
            engine=self.engine,
            client=self.client.unlogged(),
            store=self.online,
            namespace=self.namespace,
            views=chosen,
            sample=sample or SampleRule(),
            at=self.settings.clock() if at is None else at,
            recorded=self._recorded_snapshot,
            forgotten=forgotten,
            services=services,
            earlier=self._earlier,
        )
        report = replace(found, descriptions={view.name: describe_view(view, services) for view in chosen})
        return recorded(report, self.registry.checks, **self._recording(forgotten)) if record else report

    def alert(self, report: ConsistencyReport, *, always: bool = False) -> Delivery:
        """Tell the sinks of the settings which views turned red, changed their cause or recovered since they were told.

        `always`: which are red still, too. What a sink does not take is kept, and sent the next time.
        """
        settings = self.settings
        return notify(
            conditions_of(report),
            registry=self.registry,
            sinks=sinks_of(settings),
            project=settings.project,
            environment=settings.environment,
            at=settings.clock(),
            run=report.run,
            always=always,
        )

    def replay(
        self,
        log: Path,
        services: Sequence[str] = (),
        *,
        rule: ReplayRule | None = None,
        limits: ReplayLimits | None = None,
        record: bool = True,
    ) -> ReplayReport:
        """Compare what the served-feature log says was answered with what training says of the same requests.

        Of all services in the log where none is named. Reads no online store. `record`: for the history too.
        """
        defined, root = self.definitions, self.settings.root
        forgotten = self.registry.tombstones()
        report = replay_log(
            log,
            services=services,
            rule=rule or ReplayRule(),
            limits=limits or ReplayLimits(),
            registry=self.registry,
            definitions=Definitions(
                services={**defined.view_services, **defined.services},
                views=tuple(defined.views.values()),
                compile_version=lambda version: compile_version(version, defined.repository.sources, root),
                earlier=self._earlier,
            ),
            engine=lambda: self.engine,
            namespace=self.namespace,
            now=self.settings.clock(),
        )
        return recorded_replay(report, self.registry.checks, **self._recording(forgotten)) if record else report

    def _earlier(self, view: CompiledView) -> tuple[CompiledView, ...]:
        versions, sources = self.registry.view_versions(), self.definitions.repository.sources
        return earlier_views(view, versions, sources, self.settings.root)

    def _recording(self, forgotten: Tombstones) -> dict[str, Any]:
        """Return how a report is kept whose check knew what was `forgotten` when it began."""
        return {
            "at": self.settings.clock(),
            "retention": Retention(age=self.settings.check_keep),
            "forgotten": lambda: self.registry.tombstones().changes != forgotten.changes,
        }

    def attribute(self, model: str, loss: LossSpec, *, service: str | None = None, by_cause: bool = False) -> ModelLoss:
        """Return what a model lost on labelled requests of a log by being served other values than it was trained on.

        `model` is a registered one, `name` or `name@version`, or an ONNX file for `service`. By field, or by the causes
        that a replay of the log finds.
        """
        chosen = None
        if not is_file(model):
            chosen = registered_model(model, self.registry)
            service = service or chosen.service
        if service is None:
            raise InputError(f"{model} does not say which service it is for", try_="--service NAME")
        compiled = self._service(service)
        causes = None
        if by_cause:
            (replayed,) = self.replay(loss.log.log, (service,), record=False).services
            causes = causes_by_column(replayed, compiled)
        return attribute_loss(
            compiled,
            chosen or model_of_file(Path(model), compiled),
            loss,
            engine=lambda: self.engine,
            now=self.settings.clock(),
            causes=causes,
        )

    def register_model(self, name: str, onnx: Path, service: str, columns: Sequence[str] | None = None) -> ModelRecord:
        """Keep an ONNX model as the next version of `name`, bound to the service as it is registered now."""
        return register_model(
            self.registry, name=name, onnx=onnx, service=service, columns=columns, now=self.settings.clock()
        )

    def predict(
        self,
        model: str,
        entities: Any,
        request: Any = None,
        *,
        at: Instant | None = None,
        on_unavailable: OnUnavailable = "refuse",
        request_id: str | None = None,
    ) -> Prediction:
        """Look up the model's features and run it; not where one of them is UNAVAILABLE, unless that is to be NaN."""
        return self.models.predict(
            model, entities, request, at=at, on_unavailable=on_unavailable, request_id=request_id
        )

    def explain(self, name: str, labels: LabelSpec | None = None) -> Explanation:
        """Return how a view or service is computed, encoded and evaluated, and how training sets of it are joined.

        With `labels` the join is the one of these labels: they are counted, which needs Spark.
        """
        if name in self.definitions.views:
            view = self.definitions.views[name]
            return explain_view(view, self.namespace, as_of=view.view.grid.served_at(self.settings.clock()))
        service = self._service(name)
        if labels is not None:
            return explain_service(service, join_shapes(self.engine, service, labels))
        views = tuple({part.view.name: part.view for part in service.views}.values())
        refused = None if self.settings.spark_master.startswith("local") else "the executors run on other machines"
        return explain_service(service, choose_shapes(views, self.settings.root, [None] * len(views), refused=refused))

    def trace(self, feature: str, entity: Mapping[str, Any], *, at: Instant | None = None) -> Trace:
        """Follow one value from its source rows to what is served, through the real code."""
        view, _, name = feature.partition(".")
        (compiled,) = self._views([view])
        return trace_feature(
            compiled,
            name,
            entity,
            engine=self.engine,
            client=self.client.unlogged(),
            store=self.online,
            namespace=self.namespace,
            at=self.settings.clock() if at is None else at,
        )

"""`check --replay`: logged requests asked again of the training path at their own times (DESIGN §7).

files ─▶ versions, sampled rows ─▶ per view: freshness, one sweep for (entity, as-of), verdicts ─▶ on demand ─▶ report
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from featurekit.clock import Instant
from featurekit.consistency.recompute import field_specs
from featurekit.consistency.replay.diagnosis import view_findings
from featurekit.consistency.replay.evaluator import evaluate
from featurekit.consistency.replay.freshness import Ages, ages
from featurekit.consistency.replay.logged import LoggedRows, ReplayRule, sample_log
from featurekit.consistency.replay.logic import Replayed, ask, recompute, replay
from featurekit.consistency.replay.report import ReplayReport, ServiceReplay
from featurekit.consistency.replay.source_changes import SourceChanges, with_changes
from featurekit.consistency.replay.summary import Outcome, service_report
from featurekit.consistency.replay.versions import Definitions, Versions
from featurekit.errors import InputError
from featurekit.offline.engine import BatchEngine
from featurekit.online.forgotten import forgotten_rows
from featurekit.online.keys import Namespace
from featurekit.online.reason import Reason
from featurekit.online.served_log_erasure import finders, mask_of
from featurekit.online.served_log_reading import LogFile, logged_services
from featurekit.plan import PlanView
from featurekit.registry.registry import Registry
from featurekit.tombstones import Tombstones

MOST_LATE: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayLimits:
    """What a replay lets pass: the share of late answers of a view, and ulps of fields by `view.feature`."""

    most_late: float = MOST_LATE
    ulps: Mapping[str, int] = field(default_factory=dict)


def replay_log(
    log: Path,
    *,
    services: Sequence[str],
    rule: ReplayRule,
    limits: ReplayLimits,
    registry: Registry,
    definitions: Definitions,
    engine: Callable[[], BatchEngine],
    namespace: Namespace,
    now: Instant,
) -> ReplayReport:
    """Return what a log says was served beside what training says; of all its services where none is named.

    Needs no online store. Answers of another project or environment, of versions of the service that nobody knows any
    more and of forgotten entities are counted, and not compared. InputError where there is no log of a service, or
    nothing that this environment served.
    """
    there = logged_services(log)
    if missing := next((name for name in services if name not in there), None):
        raise InputError(f"there is no log of {missing}", where=str(log), try_=f"one of {', '.join(sorted(there))}")
    place = f"{namespace.project}/{namespace.environment}"
    own = {
        name: [file for file in files if file.place == place]
        for name, files in sorted(there.items())
        if not services or name in services
    }
    if not any(own.values()):
        places = sorted({file.place for files in there.values() for file in files})
        raise InputError(
            f"the log has nothing that {place} served",
            where=str(log),
            why=f"it holds answers of {', '.join(places)}",
            try_="run it with the settings of the environment that served",
        )
    replayer = _Replayer(
        rule=rule,
        limits=limits,
        definitions=definitions,
        versions=Versions(registry, definitions),
        registry=registry,
        forgotten=registry.tombstones(),
        engine=engine,
    )
    return ReplayReport(
        project=namespace.project,
        environment=namespace.environment,
        log=str(log),
        seed=rule.seed,
        share=rule.share,
        at=now,
        services=tuple(
            replayer.service(name, files, others=sum(file.rows for file in there[name] if file.place != place))
            for name, files in own.items()
            if files or name in services
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replayer:
    """What the services of one replay share."""

    rule: ReplayRule
    limits: ReplayLimits
    definitions: Definitions
    versions: Versions
    registry: Registry
    forgotten: Tombstones
    engine: Callable[[], BatchEngine]

    def service(self, name: str, files: Sequence[LogFile], *, others: int) -> ServiceReplay:
        versions = {file.fingerprint: self.versions.get(name, file.fingerprint) for file in files}
        known = {fingerprint: version for fingerprint, version in versions.items() if version is not None}
        sample = sample_log([file for file in files if file.fingerprint in known], known, self.rule)
        kept = [_without_forgotten(rows, self.forgotten) for rows in sample.rows]
        outcomes = self._outcomes([rows for rows in kept if len(rows)])
        defined = self.definitions.services.get(name)
        report = service_report(
            name,
            outcomes,
            thresholds=None if defined is None else defined.service.thresholds,
            most_late=self.limits.most_late,
            findings=lambda replayed: view_findings(self.engine(), replayed, self.definitions.earlier),
        )
        return replace(
            report,
            logged=sample.logged,
            sampled=sample.sampled,
            forgotten=sample.sampled - sum(map(len, kept)),
            other_versions=sum(file.rows for file in files if file.fingerprint not in known),
            other_places=others,
        )

    def _outcomes(self, logged: Sequence[LoggedRows]) -> list[Outcome]:
        if not logged:
            return []
        engine = self.engine()
        replayed = self._replayed(engine, logged)
        return [
            Outcome(
                logged=rows,
                ages={part.alias: _ages(rows, part) for part in rows.plan.views},
                views=replayed[at],
                on_demand=tuple(evaluate(engine, rows, replayed[at])),
            )
            for at, rows in enumerate(logged)
        ]

    def _replayed(self, engine: BatchEngine, logged: Sequence[LoggedRows]) -> list[dict[str, Replayed]]:
        """Return the views of each part of the log by alias; a view is swept once for all that ask of it."""
        asked = [
            (at, ask(rows, part, rows.version.views[part.alias]))
            for at, rows in enumerate(logged)
            for part in rows.plan.views
            if part.alias in rows.version.views
        ]
        found: list[dict[str, Replayed]] = [{} for _ in logged]
        changes = SourceChanges(self.registry, engine)
        for view in {each.view.fingerprint.data: each.view for _, each in asked}.values():
            same = [(at, each) for at, each in asked if each.view is view]
            specs = field_specs(view, self.limits.ulps)
            answers = recompute(engine, [each for _, each in same], specs)
            both = [replay(each, specs, right) for (_, each), right in zip(same, answers, strict=True)]
            for (at, each), one in zip(same, with_changes(both, changes), strict=True):
                found[at][each.part.alias] = one
        return found


def _without_forgotten(rows: LoggedRows, forgotten: Tombstones) -> LoggedRows:
    found = finders(rows.plan, partial(forgotten_rows, forgotten))
    return rows.take(np.flatnonzero(~mask_of(rows.table, found))) if found else rows


def _ages(rows: LoggedRows, part: PlanView) -> Ages:
    told = [name for field in part.fields if rows.has(name := f"{part.alias}.{field.name}")]
    reasons = [rows.reasons(name) for name in told]

    def any_is(reason: Reason) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = np.logical_or.reduce(
            [np.zeros(len(rows), np.bool_), *(codes == reason for codes in reasons)]
        )
        return found

    return ages(
        part.grid,
        rows.times,
        rows.as_ofs(part.alias),
        ahead=any_is(Reason.AHEAD),
        last_known=any_is(Reason.LAST_KNOWN),
    )

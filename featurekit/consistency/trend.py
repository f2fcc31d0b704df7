"""How the numbers of a check went before: one point for each day, of the run that found the most on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from featurekit.clock import DAY, Instant
from featurekit.registry.check_run import CheckedField, CheckedView, CheckRun

DAYS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDay:
    """One field on one day (`start`, UTC): what was compared, what differed, its share of the population, the run."""

    start: Instant
    cells: int
    differing: int
    share: float
    run: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewDay:
    """One view on one day: the least coverage, and by how much the served as-of was behind the promised one, in µs."""

    start: Instant
    coverage: float | None
    behind: int | None
    run: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """One view's days and those of its fields, oldest first; a day without a run has no point."""

    days: tuple[ViewDay, ...] = ()
    fields: Mapping[str, tuple[FieldDay, ...]]

    def of(self, field: str) -> tuple[FieldDay, ...]:
        """Return one field's days."""
        return self.fields.get(field, ())


def trends(runs: Iterable[CheckRun]) -> dict[str, Trend]:
    """Return each view's trend over some runs; where several are of one day, the one that found most counts."""
    views: dict[str, dict[Instant, ViewDay]] = {}
    fields: dict[str, dict[str, dict[Instant, FieldDay]]] = {}
    for run in sorted(runs, key=lambda each: (each.at, each.run)):
        start = run.at - run.at % DAY
        for view in run.views:
            days = views.setdefault(view.view, {})
            days[start] = _worse_view(days.get(start), view, start, run.run)
            for field in view.fields:
                if field.cells:
                    points = fields.setdefault(view.view, {}).setdefault(field.field, {})
                    points[start] = _worse_field(points.get(start), field, start, run.run)
    return {
        name: Trend(
            days=tuple(days.values()),
            fields={field: tuple(points.values()) for field, points in fields.get(name, {}).items()},
        )
        for name, days in views.items()
    }


def _worse_field(before: FieldDay | None, field: CheckedField, start: Instant, run: int) -> FieldDay:
    found = FieldDay(start=start, cells=field.cells, differing=field.differing, share=field.share, run=run)
    return found if before is None or found.share >= before.share else before


def _worse_view(before: ViewDay | None, view: CheckedView, start: Instant, run: int) -> ViewDay:
    behind = None
    if view.as_of is not None and view.promised_as_of is not None:
        behind = max(0, view.promised_as_of - view.as_of)
    found = ViewDay(start=start, coverage=view.coverage, behind=behind, run=run)
    if before is None:
        return found
    coverages = [each for each in (before.coverage, found.coverage) if each is not None]
    lags = [each for each in (before.behind, found.behind) if each is not None]
    return ViewDay(start=start, coverage=min(coverages, default=None), behind=max(lags, default=None), run=run)

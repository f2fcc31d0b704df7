"""The days before a run with the run's own: where several runs are of one day, the one that found most counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from featurekit.clock import DAY, Instant
from featurekit.registry.check_run import CheckedField, CheckedView, CheckRun
from featurekit.registry.check_trend import FieldDay, Trend, ViewDay

DAYS: Final = 30


def with_run(before: Mapping[str, Trend], run: CheckRun) -> dict[str, Trend]:
    """Return the trends of a run's views, the run's day among them; `before` are those until its time."""
    start = run.at - run.at % DAY
    return {view.view: _with_view(before.get(view.view, Trend(fields={})), view, start, run.run) for view in run.views}


def _with_view(before: Trend, view: CheckedView, start: Instant, run: int) -> Trend:
    fields = {field.field: _with_field(before.of(field.field), field, start, run) for field in view.fields}
    behind = None
    if view.as_of is not None and view.promised_as_of is not None:
        behind = max(0, view.promised_as_of - view.as_of)
    point = ViewDay(start=start, coverage=view.coverage, behind=behind, run=run)
    *earlier, last = before.days or (point,)
    if last.start == start:
        return Trend(days=(*earlier, _worse(last, point)), fields=fields)
    return Trend(days=(*before.days, point), fields=fields)


def _with_field(before: tuple[FieldDay, ...], field: CheckedField, start: Instant, run: int) -> tuple[FieldDay, ...]:
    if not field.cells:
        return before
    point = FieldDay(start=start, cells=field.cells, differing=field.differing, share=field.share, run=run)
    if before and before[-1].start == start:
        return (*before[:-1], point if point.share >= before[-1].share else before[-1])
    return (*before, point)


def _worse(one: ViewDay, other: ViewDay) -> ViewDay:
    coverages = [each.coverage for each in (one, other) if each.coverage is not None]
    lags = [each.behind for each in (one, other) if each.behind is not None]
    return replace(other, coverage=min(coverages, default=None), behind=max(lags, default=None))

"""When a replay passes, and what it says where it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from featurekit.clock import DAY, HOUR
from featurekit.consistency.compare import Verdict
from featurekit.consistency.replay.freshness import Freshness
from featurekit.consistency.replay.report import FieldReplay, Question, ServiceReplay, ViewReplay


def cells(name: str, question: Question, **counts: int) -> FieldReplay:
    return FieldReplay(
        name=name,
        type="double",
        question=question,
        counts={verdict: counts.get(verdict.name.lower(), 0) for verdict in Verdict},
        unavailable=0,
        degraded=0,
        share=None,
        days=(),
    )


VIEW = ViewReplay(
    alias="load",
    view="load",
    fingerprint="f" * 64,
    rows=100,
    freshness=Freshness(on_time=100, late_share=0.0, oldest=25 * HOUR),
    fields=(cells("load.mean", Question.LOGIC, match=100),),
    findings=(),
)
SERVICE = ServiceReplay(
    service="trips",
    logged=100,
    sampled=100,
    forgotten=0,
    other_versions=0,
    other_places=0,
    start=0,
    end=DAY,
    views=(VIEW,),
    on_demand=(),
    answered_by=(),
    most_late=0.01,
)
MIXED = cells("load.mean", Question.LOGIC, match=97, mismatch=2, indeterminate=1)


@pytest.mark.parametrize(
    ("view", "problems"),
    [
        (VIEW, ()),
        (replace(VIEW, fields=(MIXED,)), ("2 values differ (logic)",)),
        (replace(VIEW, fields=(cells("load.mean", Question.LOGIC, indeterminate=100),)), ()),
        (replace(VIEW, fields=()), ("no value was compared",)),
        (replace(VIEW, lost="its source is gone"), ("load can't be recomputed",)),
        (replace(VIEW, most_age=25 * HOUR), ()),
        (replace(VIEW, most_age=DAY), ("load was answered from an as-of 1d1h old, 1d is allowed",)),
        (replace(VIEW, freshness=Freshness(on_time=99, late={1: 1}, late_share=0.01)), ()),
        (
            replace(VIEW, freshness=Freshness(on_time=90, late={1: 10}, late_share=0.1)),
            ("load was late in 10.00% of its answers",),
        ),
        (
            replace(VIEW, freshness=Freshness(on_time=99, off_grid=1, late_share=0.0)),
            ("load has 1 answer as of an instant that is no refresh of it",),
        ),
        (replace(VIEW, freshness=Freshness(on_time=98, ahead=2, late_share=0.0)), ()),
    ],
)
def test_what_does_not_pass_is_told(view: ViewReplay, problems: tuple[str, ...]) -> None:
    replay = replace(SERVICE, views=(view,))
    assert (replay.problems, replay.passed) == (problems, not problems)

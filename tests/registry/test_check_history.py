"""What checks found is kept: numbered, found again by view and field, with since when, and dropped when it is old."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from featurekit.clock import DAY, HOUR, Instant
from featurekit.registry.check_run import CheckedField, CheckedView, CheckRun, KeptCause, Retention
from featurekit.registry.check_trend import Period
from featurekit.registry.registry import Registry
from tests.registry.states import TODAY

KEEP = Retention()


def field(name: str = "mean", *causes: str, cells: int = 100) -> CheckedField:
    found = tuple(KeptCause(cause=cause, count=3) for cause in causes)
    return CheckedField(
        field=name, cells=cells, differing=3 * len(causes), indeterminate=0, share=0.03 * len(causes), causes=found
    )


def view(*fields: CheckedField, name: str = "spend", as_of: Instant | None = TODAY, **changed: Any) -> CheckedView:
    plain: dict[str, Any] = {
        "view": name,
        "fingerprint": "fp",
        "outcome": "consistent",
        "as_of": as_of,
        "promised_as_of": as_of,
        "sampled": 100,
        "coverage": 0.99,
        "fields": fields or (field(),),
    }
    return CheckedView(**{**plain, **changed})


def run(*views: CheckedView, at: Instant = TODAY, **changed: Any) -> CheckRun:
    plain: dict[str, Any] = {
        "kind": "store",
        "at": at,
        "recorded_at": at,
        "passed": True,
        "summary": "All agree.",
        "cells": 100,
        "differing": 0,
        "breaches": 0,
        "views": views or (view(),),
    }
    return CheckRun(**{**plain, **changed})


def record(registry: Registry, found: CheckRun, *, keep: Retention = KEEP, document: str = "{}") -> CheckRun:
    return registry.checks.record(found, lambda _: document, retention=keep)


def day(registry: Registry, number: int, *causes: str, **changed: Any) -> Instant | None:
    """Record a daily run in which `mean` differs for some causes; return since when the first is known."""
    at = TODAY + number * DAY
    kept = record(registry, run(view(field("mean", *causes), as_of=at), **{"at": at, **changed}))
    found = kept.views[0].fields[0].causes
    return found[0].since if found else None


def test_a_run_is_read_as_it_was_written(open_registry: Callable[[], Registry]) -> None:
    wrong = KeptCause(cause="missing row", count=2, since=TODAY)
    shown = view(field("mean", "scaled by 100"), field("n"), causes=(wrong,), coverage=0.98)
    kept = record(open_registry(), run(shown, view(name="stock", as_of=None, sampled=0, coverage=None)))
    assert open_registry().checks.runs() == (kept,)
    assert kept.run == 1


def test_the_report_is_kept_whole_and_knows_its_number(registry: Registry) -> None:
    registry.checks.record(run(), lambda kept: json.dumps({"run": kept.run, "text": "é" * 10_000}), retention=KEEP)
    record(registry, run(at=TODAY + DAY), document="newer")
    assert registry.checks.document(1) == json.dumps({"run": 1, "text": "é" * 10_000})
    assert registry.checks.document() == "newer"
    assert registry.checks.document(3) is None


def test_runs_of_a_view_or_a_field_are_those_that_checked_it(registry: Registry) -> None:
    record(registry, run(view(field("mean"), field("n")), view(name="stock")))
    record(registry, run(view(name="stock"), at=TODAY + DAY))
    record(registry, run(view(field("n")), at=TODAY + 2 * DAY, kind="replay"))
    history = registry.checks
    assert [one.run for one in history.runs()] == [3, 2, 1]
    assert [one.run for one in history.runs(view="spend")] == [3, 1]
    assert [one.run for one in history.runs(kind="store", last=1)] == [2]
    (only,) = history.runs(view="spend", field="mean")
    assert [(each.view, [one.field for one in each.fields]) for each in only.views] == [("spend", ["mean"])]
    assert history.runs(view="nobody") == ()


def test_of_each_day_the_run_that_found_most_is_its_point(registry: Registry) -> None:
    for hours, differing, coverage in ((0, 0, 1.0), (6, 2, 0.9), (12, 1, 0.95), (30, 0, None), (80, 5, 1.0)):
        found = CheckedField(field="mean", cells=100, differing=differing, indeterminate=0, share=differing / 100)
        other = CheckedField(field="n", cells=0, differing=0, indeterminate=0, share=0)
        shown = view(found, other, coverage=coverage, promised_as_of=TODAY + HOUR)
        record(registry, run(shown, view(name="stock"), at=TODAY + hours * HOUR))
    record(registry, run(view(field()), at=TODAY, kind="replay"))
    period = Period(kind="store", views=["spend", "nobody"], since=TODAY, until=TODAY + 2 * DAY)
    (trend,) = registry.checks.trends(period).values()
    assert [(each.start, each.run, each.differing, each.share) for each in trend.of("mean")] == [
        (TODAY, 2, 2, 0.02),
        (TODAY + DAY, 4, 0, 0.0),
    ]
    assert trend.of("n") == ()
    assert [(each.start, each.run, each.coverage, each.behind) for each in trend.days] == [
        (TODAY, 3, 0.9, HOUR),
        (TODAY + DAY, 4, None, HOUR),
    ]


def test_a_cause_is_known_since_the_first_of_the_runs_in_a_row_that_found_it(registry: Registry) -> None:
    assert day(registry, 0, "scaled by 100") == TODAY
    assert day(registry, 1, "scaled by 100", "rounded") == TODAY
    assert day(registry, 2) is None
    assert day(registry, 3, "scaled by 100") == TODAY + 3 * DAY


def test_a_run_that_compared_nothing_of_a_field_says_nothing_of_its_cause(registry: Registry) -> None:
    day(registry, 0, "scaled by 100")
    record(registry, run(view(field(cells=0), sampled=0), at=TODAY + DAY))
    record(registry, run(view(name="stock"), at=TODAY + DAY))
    assert day(registry, 2, "scaled by 100", kind="replay") == TODAY + 2 * DAY  # another question
    assert day(registry, 3, "scaled by 100") == TODAY


def test_a_run_of_an_earlier_time_does_not_ask_what_came_after_it(registry: Registry) -> None:
    day(registry, 5, "scaled by 100")
    assert day(registry, 2, "scaled by 100") == TODAY + 2 * DAY
    assert day(registry, 6, "scaled by 100") == TODAY + 5 * DAY


def test_since_outlives_the_run_that_saw_it_first(registry: Registry) -> None:
    for number in range(5):
        record(
            registry,
            run(view(field("mean", "rounded"), as_of=TODAY + number * DAY), at=TODAY + number * DAY),
            keep=Retention(runs=2),
        )
    (newest, before) = registry.checks.runs()
    assert (newest.run, before.run) == (5, 4)
    assert newest.views[0].fields[0].causes[0].since == TODAY


def test_old_runs_go_and_the_newest_stays_whatever_its_age(registry: Registry) -> None:
    record(registry, run(at=TODAY))
    record(registry, run(at=TODAY + 9 * DAY))
    record(registry, run(at=TODAY + 11 * DAY), keep=Retention(age=10 * DAY))
    assert [one.run for one in registry.checks.runs()] == [3, 2]
    assert registry.checks.document(1) is None
    record(registry, run(at=TODAY + 400 * DAY), keep=Retention(age=0, runs=1))
    assert [one.run for one in registry.checks.runs()] == [4]


def test_runs_that_end_at_once_have_numbers_of_their_own(open_registry: Callable[[], Registry]) -> None:
    def one(_: int) -> int:
        return record(open_registry(), run()).run

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(one, range(8))) == list(range(1, 9))


def test_a_report_that_can_not_be_made_leaves_no_run(registry: Registry) -> None:
    def fail(_: CheckRun) -> str:
        raise ValueError("no report")

    with pytest.raises(ValueError, match="no report"):
        registry.checks.record(run(), fail, retention=KEEP)
    assert registry.checks.runs() == ()


def test_another_namespace_has_a_history_of_its_own(url: str, registry: Registry, project: str) -> None:
    record(registry, run())
    other = Registry(url, project=project, environment="prod", models=registry.models_folder)
    assert other.checks.runs() == ()
    assert record(other, run()).run == 1


def test_who_is_forgotten_is_taken_out_of_the_evidence_of_kept_reports(registry: Registry) -> None:
    shown = {"entity": "user = 7", "served": "1.5", "source_rows": ["user 7 spent 3"], "field": None}
    other: dict[str, Any] = {"entity": "user = 70", "served": "2.5", "source_rows": [], "field": None}
    report = {"summary": "7 values differ", "views": [{"findings": [{"count": 2, "evidence": [shown, other]}]}]}
    record(registry, run(), document=json.dumps(report))

    def names(text: str) -> bool:
        return text.endswith("= 7")

    assert registry.texts_that(names) == 1
    assert registry.texts_that(names, instead="(forgotten)") == 1
    assert registry.texts_that(names) == 0
    content = json.loads(registry.checks.document() or "")
    assert content["summary"] == "7 values differ"
    evidence = content["views"][0]["findings"][0]["evidence"]
    gone: dict[str, Any] = {"entity": "(forgotten)", "served": "(forgotten)", "source_rows": [], "field": None}
    assert evidence == [gone, other]

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import fault_bench
from benchmarks.planted.judge import Case, judged
from benchmarks.planted.kind import kind
from benchmarks.planted.kinds import KINDS, PAIRS, VIEWS
from benchmarks.planted.world import Hits
from featurekit.consistency.compare import Verdict
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.findings import Finding
from featurekit.consistency.view_report import FieldReport, ViewReport

ONE = kind("a", "scaled")
PAIR = (ONE, kind("b", "rounded", "rounded down"))


def test_each_right_name_is_that_of_a_cause_and_each_kind_sits_somewhere() -> None:
    causes = {str(cause) for cause in Cause}
    for each in KINDS.values():
        assert each.right, each.name
        assert each.right <= causes, (each.name, each.right - causes)
        assert each.needs_spark or each.rows or each.stored or each.plan, each.name
    assert len(KINDS) >= 30
    assert len(set(PAIRS)) == 20
    assert all(one.view == other.view for one, other in PAIRS)
    assert len(VIEWS) == 3


def case(kinds: Sequence[object], *found: tuple[Cause, ...]) -> Case:
    findings = tuple(Finding(cause=causes[0], together=causes[1:], field="x", count=3, evidence=()) for causes in found)
    counts = dict.fromkeys(Verdict, 0) | {Verdict.MISMATCH: 3}
    view = ViewReport(
        view="v",
        fingerprint="",
        as_of=0,
        promised_as_of=0,
        online=9,
        offline=9,
        sampled=9,
        found=9,
        fields=(FieldReport(name="x", type="double", counts=counts),),
        findings=findings,
    )
    return judged(kinds, 1.0, Hits(entities=9, rows=3, cells=3), view, 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kinds", "found", "named_first", "unnamed"),
    [
        ([ONE], [(Cause.SCALED,), (Cause.ROUNDED,)], True, False),
        ([ONE], [(Cause.ROUNDED,), (Cause.SCALED,)], False, False),
        ([ONE], [(Cause.UNKNOWN,)], False, True),
        ([ONE], [], False, False),
        (PAIR, [(Cause.SCALED, Cause.FLOORED)], True, False),
        (PAIR, [(Cause.ROUNDED,), (Cause.SCALED,)], True, False),
        (PAIR, [(Cause.ROUNDED,), (Cause.FLOORED,)], False, False),
        (PAIR, [(Cause.SCALED,)], False, False),
        (PAIR, [(Cause.CONSTANT,), (Cause.SCALED, Cause.ROUNDED)], False, False),
    ],
)
def test_only_a_right_cause_that_comes_first_counts(
    kinds: Sequence[object], found: list[tuple[Cause, ...]], named_first: bool, unnamed: bool
) -> None:
    judged = case(kinds, *found)
    assert (judged.named_first, judged.unnamed) == (named_first, unnamed)


@pytest.mark.long
@pytest.mark.spark
def test_some_faults_of_each_sort_are_seen_and_named_and_a_clean_day_has_no_finding(tmp_path: Path) -> None:
    options = argparse.Namespace(
        quick=True,
        only=None,
        shares=(1.0, 0.01),
        no_pairs=True,
        no_clean=False,
        taking=None,
        seed=fault_bench.SEED,
    )
    cases, clean = fault_bench.measure(tmp_path, options)
    assert [one.kinds for one in cases if not (one.detected and one.named_first)] == []
    assert [one.alarms for one in clean] == [()] * len(clean)
    assert len(cases) == 8
    assert clean

"""What a check lets pass is declared: by the view for itself, and by a service for what it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featurekit.clock import DAY, HOUR
from featurekit.compiled import CompiledRepository
from featurekit.compiler import compile_repository
from featurekit.consistency.compare import Verdict
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.findings import Finding
from featurekit.consistency.shares import Share
from featurekit.consistency.thresholds import with_thresholds
from featurekit.consistency.view_report import ExpectedReport, FieldReport, Outcome, ViewReport
from featurekit.definitions.repo import load_repo

AS_OF = 100 * DAY
AT = AS_OF + 3 * HOUR
DEFINITIONS = """\
entities:
  user: {join_keys: {user: string}}
sources:
  orders: {path: orders.parquet, event_timestamp: at}
feature_views:
  spend:
    entity: user
    source: orders
    refresh: 1d
    availability_delay: 2h
    features:
      n: {sql: count(*), window: 7d}
      last: {sql: amount, ttl: 3d}
VIEW
feature_services:
  risk:
    features: [spend.n, spend.last as newest]
SERVICE
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    columns = {
        "user": ["a"],
        "amount": [1.0],
        "at": pa.array([0], pa.timestamp("us", "UTC")),
    }
    pq.write_table(pa.table(columns), tmp_path / "orders.parquet")
    return tmp_path


def compiled(base: Path, *, view: str = "", service: str = "") -> CompiledRepository:
    folder = base / "defs"
    folder.mkdir(exist_ok=True)
    text = DEFINITIONS
    for mark, declared in (("VIEW", view), ("SERVICE", service)):
        text = text.replace(mark, f"    thresholds: {declared}" if declared else "")
    (folder / "defs.yaml").write_text(text)
    return compile_repository(load_repo(folder), base)


def share(value: float) -> Share:
    return Share(value=value, low=value, high=value)


def field(name: str, mismatch: float = 0.0, nulls: float = 0.0) -> FieldReport:
    counts = dict.fromkeys(Verdict, 0)
    counts[Verdict.MISMATCH] = round(100 * mismatch) or (1 if mismatch else 0)
    counts[Verdict.MATCH] = 100 - counts[Verdict.MISMATCH]
    return FieldReport(name=name, type="double", counts=counts, mismatch=share(mismatch), nulls=share(nulls))


def report(*fields: FieldReport, **changed: Any) -> ViewReport:
    plain: dict[str, Any] = {
        "view": "spend",
        "fingerprint": "9f3c",
        "as_of": AS_OF,
        "promised_as_of": AS_OF,
        "online": 100,
        "offline": 100,
        "sampled": 100,
        "found": 100,
        "covered": share(1.0),
        "fields": fields or (field("n"), field("last")),
        "findings": (),
    }
    return ViewReport(**{**plain, **changed})


def judged(repository: CompiledRepository, found: ViewReport, at: int = AT) -> ViewReport:
    return with_thresholds(found, repository.views["spend"], at=at, services=repository.services.values())


def expected(broken: int) -> ExpectedReport:
    return ExpectedReport(field="n", expected="between: [0, 9]", passed=not broken, broken=broken, rows=100)


DIFFERING = (field("n", 0.004), field("last"))
CASES: dict[str, tuple[str, str, ViewReport, Outcome, list[tuple[str, str | None, str]]]] = {
    "all is well": ("", "", report(), Outcome.CONSISTENT, []),
    "what is served agrees and is not as expected": (
        "",
        "",
        report(expectations=(expected(broken=0), expected(broken=3))),
        Outcome.BREACHED,
        [("expectation", "n", "spend")],
    ),
    "by default nothing may differ": ("", "", report(*DIFFERING), Outcome.INCONSISTENT, []),
    "a share that is declared is tolerated": (
        "{mismatch_share: 0.005}",
        "",
        report(*DIFFERING),
        Outcome.TOLERATED,
        [],
    ),
    "a share at its threshold is tolerated": ("{mismatch_share: 0.004}", "", report(*DIFFERING), Outcome.TOLERATED, []),
    "a share beyond it is not": (
        "{mismatch_share: 0.0039}",
        "",
        report(*DIFFERING),
        Outcome.INCONSISTENT,
        [("mismatch_share", "n", "spend")],
    ),
    "a service can ask for more than the view": (
        "{mismatch_share: 0.5}",
        "{mismatch_share: 0.001}",
        report(*DIFFERING),
        Outcome.INCONSISTENT,
        [("mismatch_share", "n", "service risk")],
    ),
    "a service can't let pass what the view does not": (
        "",
        "{mismatch_share: 0.5}",
        report(*DIFFERING),
        Outcome.INCONSISTENT,
        [],
    ),
    "what no share counts is not tolerated": (
        "{mismatch_share: 0.5}",
        "",
        report(*DIFFERING, outside=1, findings=(Finding(cause=Cause.EXTRA_ROW, field=None, count=1, evidence=()),)),
        Outcome.INCONSISTENT,
        [],
    ),
    "by default 99 of 100 are served": ("", "", report(covered=share(0.99)), Outcome.CONSISTENT, []),
    "and not fewer": ("", "", report(covered=share(0.9899)), Outcome.BREACHED, [("coverage", None, "spend")]),
    "fewer where they are asked for": ("{coverage: 0.5}", "", report(covered=share(0.6)), Outcome.CONSISTENT, []),
    "a service asks for all": (
        "{coverage: 0.5}",
        "{coverage: 1}",
        report(covered=share(0.999)),
        Outcome.BREACHED,
        [("coverage", None, "service risk")],
    ),
    "nulls are nobody's matter": ("", "", report(field("n", nulls=1.0), field("last")), Outcome.CONSISTENT, []),
    "unless somebody says so": (
        "{null_share: {n: 0.1}}",
        "{null_share: {newest.last: 0.2}}",
        report(field("n", nulls=0.11), field("last", nulls=0.21)),
        Outcome.BREACHED,
        [("null_share", "n", "spend"), ("null_share", "last", "service risk")],
    ),
    "a breach beside what is tolerated fails": (
        "{mismatch_share: 0.5, coverage: 1}",
        "",
        report(*DIFFERING, covered=share(0.9)),
        Outcome.BREACHED,
        [("coverage", None, "spend")],
    ),
    "a late refresh": (
        "",
        "",
        report(as_of=AS_OF - DAY),
        Outcome.BREACHED,
        [("freshness", None, "spend")],
    ),
    "an age that is declared": (
        "{freshness: 48h}",
        "{freshness: 26h}",
        report(as_of=AS_OF - DAY),
        Outcome.BREACHED,
        [("freshness", None, "service risk")],
    ),
    "a late refresh that is young enough": ("{freshness: 27h}", "", report(as_of=AS_OF - DAY), Outcome.CONSISTENT, []),
    "nothing was compared": (
        "",
        "",
        report(sampled=0, found=0, covered=None, as_of=AS_OF - DAY, fields=()),
        Outcome.EMPTY,
        [],
    ),
}


@pytest.mark.parametrize(("view", "service", "found", "outcome", "breaches"), CASES.values(), ids=CASES)
def test_a_report_is_held_against_what_is_declared(
    base: Path,
    view: str,
    service: str,
    found: ViewReport,
    outcome: Outcome,
    breaches: list[tuple[str, str | None, str]],
) -> None:
    result = judged(compiled(base, view=view, service=service), found)
    assert [(each.threshold, each.field, each.asked_by) for each in result.breaches] == breaches
    assert result.outcome is outcome
    assert result.outcome.passes is (outcome in (Outcome.CONSISTENT, Outcome.TOLERATED))


def test_a_service_asks_only_of_what_it_reads(base: Path) -> None:
    repository = compiled(base, view="{mismatch_share: 1}", service="{mismatch_share: 0}")
    result = judged(repository, report(field("n"), field("last"), field("other", 0.5)))
    assert result.outcome is Outcome.TOLERATED


def test_a_breach_says_what_was_found_and_what_was_asked_for(base: Path) -> None:
    found = report(field("n", 0.00001), field("last"), covered=share(0.98999), as_of=AS_OF - DAY)
    result = judged(compiled(base, view="{mismatch_share: 0, freshness: 26h}"), found)
    assert [each.told for each in result.breaches] == [
        "the as-of that is served is 1d3h old, 1d2h is asked for",
        "98.999 % of the entities are served, at least 99 % are asked for",
        "0.001 % of n differ, 0 % may",
    ]
    assert [(each.measured, each.allowed) for each in result.breaches] == [
        (27 * 3600, 26 * 3600),
        (0.98999, 0.99),
        (0.00001, 0),
    ]


def test_thresholds_decide_no_value(base: Path) -> None:
    plain, asking = compiled(base), compiled(base, view="{coverage: 1}", service="{coverage: 1}")
    for before, after in (
        (plain.views["spend"], asking.views["spend"]),
        (plain.services["risk"], asking.services["risk"]),
    ):
        assert before.fingerprint.data == after.fingerprint.data
        assert before.fingerprint.metadata != after.fingerprint.metadata

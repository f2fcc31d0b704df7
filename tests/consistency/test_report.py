"""A report says at once how the check ended, and neither a machine nor a person can take a failure for a pass."""

from __future__ import annotations

import base64
import hashlib
import json
from html.parser import HTMLParser
from typing import Any

import pytest

from featurekit.clock import parse_instant
from featurekit.consistency.compare import Verdict
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.findings import Evidence, Finding
from featurekit.consistency.report import ConsistencyReport
from featurekit.consistency.view_report import FieldReport, Outcome, ViewReport

AT = parse_instant("2013-11-15T14:30Z")


def field(name: str = "mean_delay_7d", kind: str = "double", **counts: int) -> FieldReport:
    numbers = {verdict: counts.get(verdict.name.lower(), 0) for verdict in Verdict}
    return FieldReport(name=name, type=kind, counts=numbers)


def finding(cause: Cause, name: str | None = None, *, entity: str = "carrier = 'AA'", count: int = 1) -> Finding:
    evidence = Evidence(entity=entity, field=name, served="0.0", recomputed="NULL", explanation="It was filled.")
    return Finding(cause=cause, field=name, count=count, evidence=(evidence,))


def view(**changed: Any) -> ViewReport:
    """Return the report of a view where all is well, but for what is changed."""
    plain: dict[str, Any] = {
        "view": "carrier_punctuality",
        "fingerprint": "9f3c" * 16,
        "as_of": parse_instant("2013-11-15T00:00Z"),
        "promised_as_of": parse_instant("2013-11-15T00:00Z"),
        "online": 16,
        "offline": 16,
        "sampled": 16,
        "found": 16,
        "fields": (field(match=16),),
        "findings": (),
    }
    return ViewReport(**{**plain, **changed})


def report(*views: ViewReport) -> ConsistencyReport:
    return ConsistencyReport(project="flights", environment="dev", at=AT, seed="2013", views=views)


DELETED = finding(Cause.MISSING_ROW)
FILLED = finding(Cause.NULL_FILLED_WITH_ZERO, "mean_delay_7d", count=1200)

OUTCOMES: dict[str, tuple[ViewReport, Outcome, str]] = {
    "agreement": (view(), Outcome.CONSISTENT, "everything agrees"),
    "within a declared tolerance": (
        view(fields=(field(match=15, within_tolerance=1),)),
        Outcome.CONSISTENT,
        "everything agrees",
    ),
    "no entity was sampled": (
        view(sampled=0, found=0, fields=(field(),)),
        Outcome.EMPTY,
        "no entity to compare",
    ),
    "a missing row": (
        view(found=15, fields=(field(match=15, missing=1),), findings=(DELETED,)),
        Outcome.INCONSISTENT,
        "1 missing row",
    ),
    "cells that were filled": (
        view(fields=(field(match=0, null_to_value=1200),), findings=(FILLED,)),
        Outcome.INCONSISTENT,
        "1,200 values differ (null filled with 0)",
    ),
    "rows and cells": (
        view(found=15, fields=(field(match=14, missing=1, null_to_value=1),), findings=(DELETED, FILLED)),
        Outcome.INCONSISTENT,
        "1 missing row, 1,200 values differ (null filled with 0)",
    ),
    "a difference that no finding tells of": (
        view(fields=(field(match=15, mismatch=1),)),
        Outcome.INCONSISTENT,
        "1 value without a cause",
    ),
    "nothing is served": (
        view(as_of=None, sampled=0, found=0, fields=(), problem="No refresh was published.\nMaterialize it."),
        Outcome.UNAVAILABLE,
        "No refresh was published",
    ),
    "the store did not answer": (
        view(fields=(field(unavailable=16),), findings=(finding(Cause.UNAVAILABLE, count=16),)),
        Outcome.UNAVAILABLE,
        "the store could not answer",
    ),
}


@pytest.mark.parametrize(("each", "outcome", "words"), OUTCOMES.values(), ids=OUTCOMES)
def test_a_view_has_the_outcome_of_its_case_and_only_agreement_passes(
    each: ViewReport, outcome: Outcome, words: str
) -> None:
    assert each.outcome is outcome
    result = report(view(), each)
    assert result.passed is (outcome is Outcome.CONSISTENT)
    assert result.exit_code == (0 if outcome is Outcome.CONSISTENT else 1)
    assert words in result.summary or outcome is Outcome.CONSISTENT
    page = text_of(result.to_html())
    assert result.compared in page
    assert words.lower() in page.lower() or outcome is Outcome.CONSISTENT


def test_a_check_of_no_views_does_not_pass() -> None:
    assert report().exit_code == 1
    assert report().summary == "No view was checked."
    assert "No view was checked." in report().to_html()


def test_the_summary_of_a_pass_says_how_much_was_compared() -> None:
    assert (
        report(view()).summary == "Served and recomputed agree: 16 values of 16 rows in 1 view compared, none differs."
    )


def test_the_summary_of_a_failure_says_what_each_view_comes_to() -> None:
    result = report(view(), OUTCOMES["rows and cells"][0], OUTCOMES["nothing is served"][0])
    assert result.summary == (
        "32 values of 32 rows in 3 views compared, 2 differ. carrier_punctuality: 1 missing row, 1,200 values differ "
        "(null filled with 0); carrier_punctuality: No refresh was published."
    )


def test_json_holds_every_number_cause_and_evidence() -> None:
    answer = json.loads(report(OUTCOMES["rows and cells"][0]).to_json())
    assert (answer["format"], answer["kind"], answer["run"], answer["passed"]) == (2, "store", None, False)
    assert (answer["exit_code"], answer["mismatches"]) == (1, 2)
    (only,) = answer["views"]
    assert only["outcome"] == "inconsistent"
    assert (only["as_of"], only["age_seconds"]) == ("2013-11-15T00:00Z", 52200)
    assert only["entities"] == {"online": 16, "offline": 16, "sampled": 16, "found": 15}
    assert only["coverage"] == 15 / 16
    (one,) = only["fields"]
    assert (one["match"], one["missing"], one["null_to_value"], one["value_to_null"]) == (14, 1, 1, 0)
    assert [each["cause"] for each in only["findings"]] == ["missing row", "null filled with 0"]
    assert only["findings"][1]["value_mismatch"]
    assert only["findings"][1]["evidence"] == [
        {
            "entity": "carrier = 'AA'",
            "field": "mean_delay_7d",
            "served": "0.0",
            "recomputed": "NULL",
            "explanation": "It was filled.",
            "source_rows": [],
        }
    ]


def test_equal_reports_give_equal_bytes() -> None:
    one, other = report(OUTCOMES["rows and cells"][0]), report(OUTCOMES["rows and cells"][0])
    assert (one.to_json(), one.to_html()) == (other.to_json(), other.to_html())


def test_data_can_not_write_into_the_page() -> None:
    evil = "<script>alert('x')</script>"
    each = view(view="v", findings=(finding(Cause.UNKNOWN, "mean_delay_7d", entity=evil),), problem=evil)
    page = report(each).to_html()
    assert page.count("<script>") == 1
    assert "alert('x')" not in page
    assert evil in text_of(page)


def test_only_the_page_s_own_script_and_style_may_run() -> None:
    page = report(view()).to_html()
    for element, policy in (("script", "script-src"), ("style", "style-src")):
        _, _, rest = page.partition(f"<{element}>")
        own = rest.partition(f"</{element}>")[0]
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert f"{policy} &#39;sha256-{digest}&#39;" in page
    assert " style=" not in page
    assert " onclick=" not in page


def test_the_page_loads_nothing_from_elsewhere() -> None:
    page = report(view(), OUTCOMES["rows and cells"][0]).to_html()
    assert not any(part in page for part in ("http://", "https://", "url(", "@import", "<img", "src=", "srcset"))
    assert page.count("<link") == page.count('<link rel="icon" href="data:,">') == 1


def test_a_late_refresh_is_told_and_does_not_fail_by_itself() -> None:
    late = view(promised_as_of=parse_instant("2013-11-15T12:00Z"))
    assert late.is_late
    assert late.outcome is Outcome.CONSISTENT
    page = text_of(report(late).to_html())
    assert "late: 2013-11-15 12:00 UTC is promised" in page
    assert "! 14h30m old" in page


def test_a_coverage_short_of_everything_is_never_rounded_to_it() -> None:
    assert "99.99 %" in report(view(sampled=10**6, found=10**6 - 1)).to_html()


def test_a_difference_is_marked_by_more_than_its_colour() -> None:
    page = text_of(report(OUTCOMES["cells that were filled"][0]).to_html())
    assert "≠ inconsistent" in page
    assert "≠ 1,200" in page


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.tag = ""

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tag = tag

    def handle_data(self, data: str) -> None:
        if self.tag not in ("style", "script"):
            self.parts.append(data)


def text_of(page: str) -> str:
    """Return what a reader of the page sees, in one line."""
    parser = _Text()
    parser.feed(page)
    return " ".join("".join(parser.parts).split())

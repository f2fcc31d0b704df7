"""Each job asks the facade for one thing and exits with its verdict; a defect never looks like a mismatch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from featurekit.clock import Instant, parse_instant
from featurekit.consistency.sample import SampleRule
from featurekit.errors import GateError, OnlineStoreError
from featurekit.materializing import MaterializeErrors, RefreshFailure
from featurekit.refresh_values import RefreshOutcome
from jobs import daily_consistency, materialize
from tests.consistency.test_report import OUTCOMES, report, view

DONE = RefreshOutcome(
    view="takings",
    fingerprint="9f3c" * 16,
    as_of=parse_instant("2013-11-15"),
    restatement=0,
    visible_from=parse_instant("2013-11-15T02:00Z"),
    rows=1600,
    bytes=100,
    invisible=0,
    is_new=True,
    moved=(),
)


class Facade:
    """In place of FeatureStore: keeps what it was asked, and answers or raises what it was made with."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: dict[str, Any] = {}

    def from_settings(self, file: Path | None, *, now: Instant | None) -> Facade:
        self.asked |= {"file": file, "now": now}
        return self

    def __enter__(self) -> Facade:
        return self

    def __exit__(self, *_: object) -> None:
        self.asked["closed"] = True

    def check(self, views: Sequence[str] | None, *, sample: SampleRule, at: Instant | None) -> Any:
        self.asked |= {"views": views, "sample": sample, "at": at}
        return self._answer()

    def materialize(self, views: Sequence[str] | None, *, as_of: Instant | None) -> Any:
        self.asked |= {"views": views, "as_of": as_of}
        return self._answer()

    def _answer(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def run(monkeypatch: pytest.MonkeyPatch, job: Any, answer: Any, *arguments: str) -> tuple[int, dict[str, Any]]:
    facade = Facade(answer)
    monkeypatch.setattr(job, "FeatureStore", facade)
    return job.main(arguments), facade.asked


FAILURES: dict[str, tuple[ModuleType, Exception, int]] = {
    "a gate": (materialize, GateError("mean_1d is not between 0 and 1"), 2),
    "Redis away": (materialize, OnlineStoreError("the online store can't be reached"), 3),
    "a defect": (materialize, ZeroDivisionError("division by zero"), 70),
    "Redis away for the check": (daily_consistency, OnlineStoreError("the online store can't be reached"), 3),
    "a defect of the check": (daily_consistency, KeyError("mean_1d"), 70),
}


@pytest.mark.parametrize(("job", "error", "code"), FAILURES.values(), ids=FAILURES)
def test_an_error_has_its_own_exit_code_and_says_what_happened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], job: ModuleType, error: Exception, code: int
) -> None:
    assert run(monkeypatch, job, error)[0] == code
    assert str(error) in capsys.readouterr().err


def test_the_check_exits_with_its_verdict_and_writes_the_report_where_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = report(OUTCOMES["a missing row"][0])
    html, machine = tmp_path / "check.html", tmp_path / "check.json"
    code, asked = run(monkeypatch, daily_consistency, found, "--report", str(html), "--json", str(machine))
    assert code == 1
    assert html.read_text() == found.to_html()
    assert json.loads(machine.read_text())["exit_code"] == 1
    assert capsys.readouterr().out == f"{found.summary}\n"
    assert asked == {"file": None, "now": None, "views": None, "sample": SampleRule(), "at": None, "closed": True}


def test_the_check_of_what_agrees_exits_0(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, daily_consistency, report(view()))[0] == 0


def test_the_check_is_asked_for_what_the_arguments_say(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("takings", "--share", "0.1", "--max-entities", "50", "--seed", "s", "--at", "2013-11-15T09:00Z")
    _, asked = run(
        monkeypatch, daily_consistency, report(view()), *arguments, "--settings", "shop.toml", "--now", "2013-11-16"
    )
    assert asked["views"] == ["takings"]
    assert asked["sample"] == SampleRule(share=0.1, max_entities=50, seed="s")
    assert (asked["at"], asked["now"]) == (parse_instant("2013-11-15T09:00Z"), parse_instant("2013-11-16"))
    assert asked["file"] == Path("shop.toml")


def test_a_share_in_percent_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, asked = run(monkeypatch, daily_consistency, report(view()), "--share", "10")
    assert (code, asked) == (2, {})
    assert "0.1 for 10 %" in capsys.readouterr().err


def test_a_report_that_could_not_be_written_is_told_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code, asked = run(monkeypatch, daily_consistency, report(view()), "--report", str(tmp_path / "no" / "check.html"))
    assert (code, asked) == (2, {})


def test_materialize_says_what_it_published(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, asked = run(monkeypatch, materialize, (DONE,), "takings", "--as-of", "2013-11-15")
    assert (code, asked["views"], asked["as_of"]) == (0, ["takings"], parse_instant("2013-11-15"))
    words = "takings as of 2013-11-15T00:00Z, served from 2013-11-15T02:00Z: 1,600 rows computed\n"
    assert capsys.readouterr().out == words


def test_materialize_says_what_it_published_beside_what_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = GateError("mean_1d is not between 0 and 1")
    failure = RefreshFailure(view="sales", as_of=DONE.as_of, error=gate)
    away = RefreshFailure(view="tips", as_of=DONE.as_of, error=OnlineStoreError("the online store can't be reached"))
    code, _ = run(monkeypatch, materialize, MaterializeErrors((DONE,), (failure, away)))
    shown = capsys.readouterr()
    assert code == 3
    assert "takings as of 2013-11-15T00:00Z" in shown.out
    assert "sales as of 2013-11-15T00:00Z: GateError: mean_1d is not between 0 and 1\n" in shown.err
    assert "2 of 3 refreshes failed" in shown.err


@pytest.mark.parametrize("job", [materialize, daily_consistency])
def test_a_wrong_argument_exits_2(job: Any) -> None:
    with pytest.raises(SystemExit) as raised:
        job.main(["--no-such-option"])
    assert raised.value.code == 2

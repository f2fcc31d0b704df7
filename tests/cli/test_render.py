"""One printer, three readers: a person at a terminal, a pipe, a program."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from featurekit.cli.answer import Answer, Code, Line, Table, Tone, Toned, to_json
from featurekit.cli.render import Output
from featurekit.errors import SourceError

LONG = "word " * 60
ANSWER = Answer(
    document={"views": [{"name": "load", "share": float("nan")}]},
    blocks=(
        Table(title="views", columns=("view", "verdict"), rows=(("load", Toned("ok", Tone.GOOD)), ("x", LONG))),
        Code(title="Spark SQL", text="SELECT [bold]1[/bold]", language="sql"),
        Line("2 views", Tone.FAINT),
    ),
)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_a_pipe_gets_plain_lines_that_are_never_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    Output().answer(ANSWER)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["views", "  view  verdict", "  load  ok"]
    assert lines[3] == f"  x     {LONG.rstrip()}"
    assert lines[4:7] == ["-- Spark SQL", "SELECT [bold]1[/bold]", ""]
    assert lines[7] == "2 views"


def test_a_terminal_gets_colour_and_wrapped_cells(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    Output().answer(ANSWER)
    shown = capsys.readouterr().out
    assert "\x1b[32mok" in shown
    assert "[bold]" in shown
    assert len(shown.splitlines()) > 8


def test_a_program_gets_one_document_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    Output(as_json=True).answer(ANSWER)
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"views": [{"name": "load", "share": "NaN"}]}
    assert shown.err == ""


def test_errors_on_a_terminal_keep_their_four_parts(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    Output().error(SourceError("cut [short]", where="a.parquet", why=LONG, try_="write it again"))
    shown = capsys.readouterr().err
    assert "cut [short]" in shown
    for label in ("where", "why", "try"):
        assert label in shown


def test_progress_is_for_terminals_and_never_on_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Output().progress() as advance:
        advance("load", 1, 2)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with Output(as_json=True).progress() as advance:
        advance("load", 1, 2)
        advance("load", 2, 2)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "load" in shown.err


def test_values_keep_their_meaning_in_json() -> None:
    values = {
        "big": 2**63 - 1,
        "exact": Decimal("0.10"),
        "endless": float("-inf"),
        "when": datetime(2026, 1, 2, tzinfo=UTC),
        "path": Path("a"),
        "tone": Tone.GOOD,
        "bytes": b"\x00\xff",
        "numpy": [np.int32(7), np.float64("nan")],
        "nothing": None,
        "yes": True,
    }
    assert to_json(values) == {
        "big": 2**63 - 1,
        "exact": "0.10",
        "endless": "-Infinity",
        "when": "2026-01-02T00:00:00+00:00",
        "path": "a",
        "tone": "good",
        "bytes": "00ff",
        "numpy": [7, "NaN"],
        "nothing": None,
        "yes": True,
    }


def test_what_failed_beside_an_answer_is_an_error_for_people_and_in_the_document_for_programs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = Answer(document={"done": 1}, blocks=(Line("1 done"),), errors=(SourceError("the source is not there"),))
    Output().answer(answer)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("1 done\n", "SourceError: the source is not there\n")
    Output(as_json=True).answer(answer)
    shown = capsys.readouterr()
    assert (json.loads(shown.out), shown.err) == ({"done": 1}, "")

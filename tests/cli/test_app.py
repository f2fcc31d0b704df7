"""How the program ends: exit codes that never lie, errors in four parts, one JSON document."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from featurekit.cli import app as program_module
from featurekit.cli.answer import Answer, Line
from featurekit.cli.app import COMMANDS, finish, load_command
from featurekit.cli.render import Output
from featurekit.errors import (
    DefinitionError,
    DefinitionErrors,
    FeaturekitError,
    JavaMissingError,
    OnlineStoreError,
    SourceError,
    TruncatedRowError,
)
from tests.cli.conftest import Cli


def fail_with(error: BaseException) -> Answer:
    raise error


ENDS = {
    "wrong input": (SourceError("cut short"), 2),
    "Redis is away": (OnlineStoreError("away"), 3),
    "no Java": (JavaMissingError("none"), 3),
    "bytes that are no row": (TruncatedRowError("short"), 70),
    "our own bug": (KeyError("x"), 70),
    "a broken pipe that is not standard output's": (BrokenPipeError("a socket"), 70),
    "a library that ends the process as if it had found something": (SystemExit(1), 70),
    "an assertion": (AssertionError("no"), 70),
    "Ctrl-C": (KeyboardInterrupt(), 130),
}


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(("error", "exit_code"), ENDS.values(), ids=ENDS.keys())
def test_each_way_to_fail_has_its_exit_code_and_none_is_a_mismatch(
    error: BaseException, exit_code: int, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finish(lambda: fail_with(error), Output(as_json=as_json)) == exit_code
    shown = capsys.readouterr()
    if as_json and exit_code != 130:
        assert json.loads(shown.out)["exit_code"] == exit_code
        assert shown.err == ""
    else:
        assert shown.out == ""
        assert shown.err


def test_an_answer_decides_the_exit_code() -> None:
    found_something = Answer(document={}, blocks=(Line("3 values differ"),), exit_code=1)
    assert finish(lambda: found_something, Output()) == 1
    assert finish(lambda: None, Output()) == 0


def test_a_reader_that_stops_reading_does_not_change_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object) -> None:
        raise BrokenPipeError

    kept = sys.stdout
    monkeypatch.setattr(Output, "answer", closed)
    assert finish(lambda: Answer(document={}, blocks=(), exit_code=1), Output()) == 1
    sys.stdout.close()
    monkeypatch.setattr(sys, "stdout", kept)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_closed_pipe_is_no_bug_and_no_mismatch(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`featurekit list | head -1` and `featurekit validate 2>&1 | head -1`: rich by itself would exit with 1."""
    reader, writer = os.pipe()
    os.close(reader)
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # so that both are put back
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    pipe = os.fdopen(writer, "w")
    setattr(sys, stream, pipe)
    long = Answer(document={}, blocks=(Line("x" * 100_000),) * 2)
    assert finish(lambda: long if stream == "stdout" else fail_with(SourceError("y" * 100_000)), Output()) == (
        0 if stream == "stdout" else 2
    )
    getattr(sys, stream).close()  # what took the pipe's place
    with suppress(BrokenPipeError):
        pipe.close()


def test_an_error_is_laid_out_in_its_four_parts(capsys: pytest.CaptureFixture[str]) -> None:
    error = SourceError("the file is cut short", where="data/a.parquet", why="its footer is missing", try_="write it")
    finish(lambda: fail_with(error), Output())
    assert capsys.readouterr().err.splitlines() == [
        "SourceError: the file is cut short",
        "  where  data/a.parquet",
        "  why    its footer is missing",
        "  try    write it",
    ]


def test_every_mistake_of_the_definitions_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    mistakes = DefinitionErrors(
        (DefinitionError("one", where="a.yaml:1:1"), DefinitionError("two", where="b.yaml:2:5"))
    )
    finish(lambda: fail_with(mistakes), Output())
    shown = capsys.readouterr().err
    assert "a.yaml:1:1" in shown
    assert "b.yaml:2:5" in shown
    assert shown.rstrip().endswith("2 mistakes in the definitions")
    finish(lambda: fail_with(mistakes), Output(as_json=True))
    assert [one["what"] for one in json.loads(capsys.readouterr().out)["mistakes"]] == ["one", "two"]


def test_a_bug_names_our_line_and_leaves_the_traceback_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert finish(lambda: load_command("nothing of this name"), Output()) == 70
    shown = capsys.readouterr().err
    assert "KeyError" in shown
    assert "app.py:" in shown
    file = Path(shown.partition("which is in ")[2].strip())
    assert "Traceback (most recent call last)" in file.read_text()
    file.unlink()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["valdiate"], "Did you mean 'validate'?"),
        (["up", "--nope"], "No such option: --nope"),
        (["--settings"], "requires an argument"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_where_help_is(cli: Cli, words: list[str], says: str) -> None:
    shown = cli(*words)
    assert shown.exit_code == 2
    assert says in shown.stderr
    assert "--help" in shown.stderr
    as_json = cli("--json", *words)
    assert as_json.exit_code == 2
    assert as_json.document["error"] == "UsageError"


def test_no_command_shows_help_and_is_wrong_usage(cli: Cli) -> None:
    shown = cli()
    assert shown.exit_code == 2
    assert "validate" in shown.stdout


@pytest.mark.parametrize("group", [(), ("dataset",), ("history",), ("model",)], ids=" ".join)
def test_a_group_takes_the_options_that_every_command_takes(cli: Cli, group: tuple[str, ...]) -> None:
    shown = cli(*group)
    assert (shown.exit_code, shown.stderr) == (2, "")
    assert "--help" in shown.stdout
    as_json = cli(*group, "--project", "shop", "--json")
    assert as_json.exit_code == 2
    assert (as_json.document["error"], as_json.document["what"]) == ("UsageError", "a command is missing")


def test_a_service_in_place_of_a_command_is_told_which_builds_its_training_set(cli: Cli) -> None:
    shown = cli("dataset", "offer", "--labels", "labels.csv", "--out", "train")
    assert shown.exit_code == 2
    assert "No such command 'offer'" in shown.stderr
    assert "featurekit dataset build offer" in " ".join(shown.stderr.split())


def test_settings_that_are_wrong_exit_with_2(cli: Cli, folder: Path) -> None:
    assert cli("--settings", "nowhere.toml", "status").exit_code == 2
    assert cli("status", "--now", "yesterday").exit_code == 2
    (folder / "featurekit.toml").write_text('projekt = "x"\n')
    shown = cli("status")
    assert shown.exit_code == 2
    assert "unknown setting 'projekt'" in shown.stderr


def test_global_options_stand_before_the_command_or_after_it(cli: Cli) -> None:
    before = cli("--json", "--project", "shop", "status")
    after = cli("status", "--project", "shop", "--json")
    assert before.document == after.document
    assert before.document["project"] == "shop"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_command_says_of_itself(name: str) -> None:
    loaded = load_command(name)
    assert (loaded.help or "").partition("\n")[0] == COMMANDS[name].help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_the_global_options_and_has_help(cli: Cli, name: str) -> None:
    shown = cli(name, "--help")
    assert shown.exit_code == 0
    assert COMMANDS[name].help.partition(":")[0] in " ".join(shown.stdout.split())
    for part in getattr(load_command(name), "commands", {"": None}):
        assert "--redis-url URL" in cli(name, *part.split(), "--help").stdout


def test_command_modules_and_their_functions_are_there() -> None:
    for command in COMMANDS.values():
        assert hasattr(import_module(f"featurekit.cli.{command.module}"), command.target)


def test_help_waits_for_nothing_heavy(program: Cli) -> None:
    shown = program("--help")
    assert shown.exit_code == 0
    names = ("pyspark", "pandas", "sqlalchemy", "pyarrow", "sqlglot", "pydantic", "redis", "numpy")
    check = f"import sys, featurekit.cli.app, featurekit.cli.server; print([n for n in {names!r} if n in sys.modules])"
    import subprocess

    from tests.cli.conftest import ROOT

    answer = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert answer.stdout.strip() == "[]", answer.stderr


def test_version_is_told_as_text_and_as_json(cli: Cli) -> None:
    assert cli("--version").stdout.startswith("featurekit ")
    assert "featurekit" in cli("--version", "--json").document


def test_the_app_is_a_typer_app_that_knows_all_commands() -> None:
    assert isinstance(program_module.app, typer.Typer)
    assert set(get_command(program_module.app).commands) == set(COMMANDS)  # type: ignore[attr-defined]


def test_an_error_without_parts_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    finish(lambda: fail_with(FeaturekitError("odd")), Output())
    assert capsys.readouterr().err == "FeaturekitError: odd\n"

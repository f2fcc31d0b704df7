"""`check` alone is `check run`, and whatever stands before their names, the commands beside it are found."""

from __future__ import annotations

from typing import Any

import pytest
from typer.core import TyperCommand

from featurekit.cli.app import load_command
from featurekit.cli.context import Invocation
from featurekit.cli.render import Output


@pytest.mark.parametrize(
    ("words", "command", "rest"),
    [
        ([], "run", []),
        (["orders"], "run", ["orders"]),
        (["--share", "0.1", "beside"], "run", ["--share", "0.1", "beside"]),
        (["--at", "2013-11-15T02:00Z"], "run", ["--at", "2013-11-15T02:00Z"]),
        (["run", "beside"], "run", ["beside"]),
        (["--", "beside"], "run", ["--", "beside"]),
        (["beside", "--json"], "beside", ["--json"]),
        (["--json", "beside", "run"], "beside", ["run"]),
        (["--project", "orders", "beside"], "beside", []),
        (["--project=orders", "beside"], "beside", []),
        (["--project", "beside"], "run", ["--project", "beside"]),
        (["--help"], "run", ["--help"]),
        (["--replay", "log", "orders"], "replay", ["log", "orders"]),
        (["orders", "--json", "--replay=log"], "replay", ["log", "orders", "--json"]),
        (["replay", "log"], "replay", ["log"]),
        (["--replay"], "replay", []),
        (["--", "--replay"], "run", ["--", "--replay"]),
    ],
)
def test_words_that_name_no_command_are_those_of_run(words: list[str], command: str, rest: list[str]) -> None:
    group: Any = load_command("check")
    group.commands["beside"] = TyperCommand("beside")
    context = group.make_context("check", list(words), obj=Invocation(output=Output()))
    assert (context._protected_args, context.args) == ([command], rest)

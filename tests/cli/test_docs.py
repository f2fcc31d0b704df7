"""docs/cli.md names every command, option, setting and exit code that there is."""

from __future__ import annotations

import re
from pathlib import Path

from typer.main import get_command

from featurekit.cli.app import COMMANDS, app, load_command
from featurekit.config import _KEYS

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()


def test_every_command_is_on_the_page_and_no_other() -> None:
    table = PAGE.partition("## Exit codes")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)", row)}
    assert named == set(COMMANDS)


def test_every_setting_is_on_the_page_with_its_variable() -> None:
    for path in _KEYS:
        row = f"| `{'.'.join(path)}` | `FEATUREKIT_{'_'.join(path).upper()}`"
        assert row in PAGE


def test_every_global_option_for_a_setting_is_on_the_page() -> None:
    options = {word for option in get_command(app).params for word in option.opts}
    for option in options - {"--json", "--version", "--help", "--install-completion", "--show-completion"}:
        assert f"`{option}" in PAGE


def test_every_option_that_the_page_names_is_there() -> None:
    known = {word for option in get_command(app).params for word in option.opts}
    for name in COMMANDS:
        loaded = load_command(name)
        for command in (loaded, *getattr(loaded, "commands", {}).values()):
            known |= {word for option in command.params for word in option.opts}
    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) <= known | {"--help"}

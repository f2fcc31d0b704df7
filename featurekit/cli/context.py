"""What one run of the program was asked for globally: settings flags, and how to print."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer
from typer import Context

from featurekit.cli.render import Output
from featurekit.config import FILE_NAME, Settings, read_settings
from featurekit.errors import InputError, SettingsError


class UsageError(InputError):
    """A command line that can't be read."""


@dataclass(slots=True, kw_only=True)
class Invocation:
    """The global options of one run; they may stand before the command or after it."""

    output: Output
    settings_file: Path | None = None
    flags: dict[str, Any] = field(default_factory=dict)

    def settings(self) -> Settings:
        """Return the settings of the working folder, read when a command asks: `init` runs where there are none.

        SettingsError where there is no file and nothing else names the project: a command that went on with defaults
        would start a store of its own, and then not find in it what is somewhere else.
        """
        found = read_settings(start=Path.cwd(), environ=os.environ, flags=self.flags, file=self.settings_file)
        if found.file is None and not self.flags.get("project") and "FEATUREKIT_PROJECT" not in os.environ:
            raise SettingsError(
                f"there is no {FILE_NAME} in {Path.cwd()} or above it",
                why="it names the project and says where its definitions and its state are",
                try_="go to the project's folder; `featurekit init` begins a new one here",
            )
        return found


def invocation(context: Context) -> Invocation:
    """Return what the program was asked for, from any command's context."""
    found = context.find_root().obj
    if not isinstance(found, Invocation):
        raise TypeError("a command runs only inside featurekit.cli.app")
    return found


def no_command(context: Context) -> None:
    """Print the help of a group that was asked for none of its commands, and end as wrong usage does."""
    found = invocation(context)
    if found.output.as_json:
        raise UsageError("a command is missing", where=context.command_path, try_=f"{context.command_path} --help")
    found.output.text(context.get_help())
    raise typer.Exit(UsageError.exit_code)

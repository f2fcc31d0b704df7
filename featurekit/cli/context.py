"""What one run of the program was asked for globally: settings flags, and how to print."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer import Context

from featurekit.cli.render import Output
from featurekit.config import Settings, read_settings


@dataclass(slots=True, kw_only=True)
class Invocation:
    """The global options of one run; they may stand before the command or after it."""

    output: Output
    settings_file: Path | None = None
    flags: dict[str, Any] = field(default_factory=dict)

    def settings(self) -> Settings:
        """Return the settings of the working folder, read when a command asks: `init` runs where there are none."""
        return read_settings(start=Path.cwd(), environ=os.environ, flags=self.flags, file=self.settings_file)


def invocation(context: Context) -> Invocation:
    """Return what the program was asked for, from any command's context."""
    found = context.find_root().obj
    if not isinstance(found, Invocation):
        raise TypeError("a command runs only inside featurekit.cli.app")
    return found

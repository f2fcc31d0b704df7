"""How the CLI's tests run it: in this process with captured streams, or as a program of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from featurekit.cli.app import app
from featurekit.cli.start import write_project
from featurekit.online import embedded
from tests.cli.served import Served, registered_project

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Run:
    """How one run of the program ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """What --json printed; fails where that is not one document."""
        return json.loads(self.stdout)


Cli = Callable[..., Run]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder, and an environment without settings; its embedded server is stopped at the end."""
    for name in os.environ:
        if name.startswith("FEATUREKIT_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    if (tmp_path / ".featurekit").exists():
        embedded.stop(tmp_path / ".featurekit")


@pytest.fixture
def project(folder: Path) -> Path:
    """The project that `init` writes."""
    write_project(folder)
    return folder


@pytest.fixture
def registered(project: Path) -> Iterator[Served]:
    """The project, registered and not materialized."""
    with registered_project(project) as found:
        yield found


@pytest.fixture
def served(registered: Served) -> Served:
    """The project with rows of two customers, as of 8 January."""
    registered.serve()
    return registered


@pytest.fixture
def cli(folder: Path) -> Cli:
    """Run the program in this process."""

    def run(*words: str) -> Run:
        result = CliRunner().invoke(app, list(words))
        return Run(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def program(folder: Path) -> Cli:
    """Run the program, or a script in its place, as a process of its own."""

    def run(*words: str, script: str | None = None, environ: Mapping[str, str] | None = None) -> Run:
        start = [script] if script else ["-m", "featurekit.cli.app"]
        command = [sys.executable, "-W", "error", *start, *words]
        found = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": found, **(environ or {})}
        result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        return Run(result.returncode, result.stdout, result.stderr)

    return run

"""Other processes that measuring commands compare with: one at work at a time, told what to do a line at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from benchmarks.report import fail
from benchmarks.tree import PeakMemory

ROOT: Final = Path(__file__).parents[1]


class Side:
    """A process that takes a command a line and answers with what it took; alone at work while it is asked."""

    def __init__(self, python: Path | str, module: str, *arguments: str) -> None:
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [str(python), "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
        )

    def __enter__(self) -> Side:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)

    def ask(self, command: str, argument: Path | str) -> dict[str, Any]:
        """Return what the process answers, and as `gib` the peak of its and its children's memory."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with PeakMemory(self._process.pid) as memory:
            self._process.stdin.write(f"{command} {argument}\n")
            self._process.stdin.flush()
            while (line := self._process.stdout.readline()) and not line.startswith("{"):
                pass
        if not line:
            fail(f"{command} did not answer: see what it said above")
        return {**json.loads(line), "gib": memory.gib}


def feast_python(name: str, requirement: str) -> Path:
    """Return the Python of an environment with Feast, made as .featurekit/NAME where there is none yet."""
    folder = ROOT / ".featurekit" / name
    python, installed = folder / "bin" / "python", folder / ".installed"
    if not installed.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement]
        subprocess.run(install, check=True)
        installed.touch()
    return python

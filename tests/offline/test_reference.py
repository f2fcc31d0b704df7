"""The plain reference is its own: what it says can't be what featurekit computes."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.offline.reference_hash import xxhash64

PARTS = sorted(Path(__file__).parent.glob("reference*.py"))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.stem)
def test_the_reference_imports_nothing_but_the_language_and_its_own_parts(part: Path) -> None:
    assert len(PARTS) >= 5
    for node in ast.walk(ast.parse(part.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [f"{node.module}.{alias.name}" for alias in node.names if node.module == "tests.offline"]
            modules = modules or [str(node.module)]
        else:
            continue
        for module in modules:
            own = module.startswith("tests.offline.reference")
            assert own or module.partition(".")[0] in sys.stdlib_module_names, f"{part.name} imports {module}"


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    # Asked of Spark 4.3: xxhash64(…).
    [
        (1, "int", -6698625589789238999),
        (1, "bigint", -7001672635703045582),
        ("Spark", "string", -4294468057691064905),
        (0.0, "double", -5252525462095825812),
        ("x" * 101, "string", -8116958218630918081),  # all four lanes, and each kind of rest
    ],
)
def test_its_hash_is_the_one_that_spark_has(value: object, kind: str, expected: int) -> None:
    assert xxhash64(value, kind) == expected % 2**64

"""The seeded defects follow the code: each text is there, once, and each defect is Python."""

from __future__ import annotations

import ast
from pathlib import Path

from benchmarks.mutants_base import Mutant
from benchmarks.mutants_list import MUTANTS

ROOT = Path(__file__).parents[2]


def test_each_text_is_found_exactly_once() -> None:
    assert [mistake for mutant in MUTANTS if (mistake := mutant.mistake(ROOT))] == []


def test_a_text_that_is_gone_or_there_twice_is_told() -> None:
    gone = Mutant(file="exact.py", what="gone", old="no such text", new="")
    twice = Mutant(file="exact.py", what="twice", old="return", new="")
    nowhere = Mutant(file="no_such.py", what="nowhere", old="x", new="y")
    assert all(mutant.mistake(ROOT) for mutant in (gone, twice, nowhere))


def test_defects_differ_and_are_python() -> None:
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS) >= 60
    for mutant in MUTANTS:
        text = (ROOT / "featurekit" / mutant.file).read_text(encoding="utf-8")
        ast.parse(text.replace(mutant.old, mutant.new))

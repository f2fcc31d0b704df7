"""All seeded defects."""

from __future__ import annotations

from typing import Final

from benchmarks.mutants_base import Mutant
from benchmarks.mutants_families import FAMILIES
from benchmarks.mutants_kernels import KERNELS
from benchmarks.mutants_rules import RULES
from benchmarks.mutants_vectors import VECTORS

MUTANTS: Final[tuple[Mutant, ...]] = (*KERNELS, *FAMILIES, *VECTORS, *RULES)

"""All seeded defects."""

from __future__ import annotations

from typing import Final

from benchmarks.mutants_base import Mutant
from benchmarks.mutants_families import FAMILIES
from benchmarks.mutants_kernels import KERNELS
from benchmarks.mutants_rules import RULES
from benchmarks.mutants_sql import SQL
from benchmarks.mutants_vectors import VECTORS

MUTANTS: Final[tuple[Mutant, ...]] = (*KERNELS, *FAMILIES, *VECTORS, *RULES, *SQL)
"""Those of the SQL stand last: Spark judges them, all in one session."""

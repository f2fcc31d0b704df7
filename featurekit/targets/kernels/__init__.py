"""Spark's meaning, function by function, in plain Python: one kernel for each row of the catalogue."""

from __future__ import annotations

from typing import Final

from featurekit.targets.kernels import nulls, numeric, temporal, text
from featurekit.targets.kernels.kernel import Factory

KERNELS: Final[dict[str, Factory]] = {**numeric.KERNELS, **nulls.KERNELS, **text.KERNELS, **temporal.KERNELS}

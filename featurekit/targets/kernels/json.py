"""Fields of JSON text, by a declared subset of paths."""

from __future__ import annotations

from typing import Final

from featurekit.targets.kernels.kernel import Factory

KERNELS: Final[dict[str, Factory]] = {}

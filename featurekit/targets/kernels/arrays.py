"""Arrays, with functions of their elements."""

from __future__ import annotations

from typing import Final

from featurekit.targets.kernels.kernel import Factory

KERNELS: Final[dict[str, Factory]] = {}

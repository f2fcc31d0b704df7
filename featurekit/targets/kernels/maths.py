"""Mathematical functions, exact to the last bit; the last bit is the same on every machine."""

from __future__ import annotations

from typing import Final

from featurekit.targets.kernels.kernel import Factory

KERNELS: Final[dict[str, Factory]] = {}

"""Buckets of numbers, and features made of two or more places or vectors."""

from __future__ import annotations

from typing import Final

from featurekit.targets.kernels.kernel import Factory

KERNELS: Final[dict[str, Factory]] = {}

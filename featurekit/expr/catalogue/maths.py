"""Mathematical functions, exact to the last bit; `targets/kernels/maths` says how."""

from __future__ import annotations

from typing import Final

from featurekit.expr.catalogue.row import Function

ROWS: Final[tuple[Function, ...]] = ()

"""Maps."""

from __future__ import annotations

from typing import Final

from featurekit.expr.catalogue.row import Function

ROWS: Final[tuple[Function, ...]] = ()

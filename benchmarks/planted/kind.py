"""A kind of fault: where in a pipeline it sits, and what a right name of it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from benchmarks.planted.flights import TODAY
from featurekit.clock import Instant
from featurekit.plan import PlanField

Row = dict[str, Any]
"""An offline row as plain Python has it: its keys, its fields, what `featurekit.rows` puts beside them."""

Edit = Callable[[str], str]
SourceChange = Callable[[pa.Table], pa.Table]
RowsChange = Callable[[list[Row], pa.Table], list[Row]]
"""Rows, sorted by key, and the source they came of -> what the pipeline makes of them."""
StoredChange = Callable[[bytes, bytes], bytes | None]
"""The stored bytes of an entity's row, and those of the refresh before -> what lies in the store; None: nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One fault. `right` holds the names that are truly the same thing, said before anything was run.

    Of the changes those that are there are applied in the order in which they stand here. `everywhere` is what can't
    hit a share of the entities.
    """

    name: str
    right: frozenset[str]
    view: str = "plane_week"
    definition: Edit | None = None
    source: SourceChange | None = None
    as_of: Instant = TODAY
    rows: RowsChange | None = None
    stored: StoredChange | None = None
    plan: Callable[[PlanField], PlanField] | None = None

    @property
    def everywhere(self) -> bool:
        return self.plan is not None

    @property
    def needs_spark(self) -> bool:
        """Whether the rows have to be computed again."""
        return self.definition is not None or self.source is not None or self.as_of != TODAY


def kind(name: str, *right: str, **changes: Any) -> Kind:
    """Return a kind with its right names."""
    return Kind(name=name, right=frozenset(right), **changes)

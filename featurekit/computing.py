"""How a refresh's rows come about: from the refresh before and what has changed since, or in full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.offline.engine import BatchEngine
from featurekit.offline.history import History
from featurekit.offline.incremental import incremental_frame
from featurekit.offline.materialize import materialized_frame
from featurekit.registry.state import RefreshKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(slots=True, kw_only=True)
class Computation:
    """Makes the rows of a refresh when it is called, and tells then how: the bytes are the same in each way.

    `reason` says what an incremental run started from, or why there was none; `computed` is how many entities were
    computed and not taken from the refresh before, None for all.
    """

    history: History | None
    kind: RefreshKind = RefreshKind.FULL
    reason: str | None = None
    computed: int | None = None

    def __call__(self, engine: BatchEngine, view: CompiledView, as_of: Instant) -> DataFrame:
        base = None if self.history is None else self.history.latest(view, before=as_of)
        if self.history is not None and base is not None:
            found = incremental_frame(engine, view, as_of, base, self.history.read(engine, view, base))
            self.reason = found.reason
            if found.frame is not None:
                self.kind, self.computed = RefreshKind.INCREMENTAL, found.changed
                return found.frame
        elif self.history is not None:
            self.reason = "no earlier refresh is kept"
        return materialized_frame(engine, view, as_of)

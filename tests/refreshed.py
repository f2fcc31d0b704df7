"""A shop whose view is refreshed without Spark: its rows are given, all else of a refresh is real."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from featurekit.apply import register
from featurekit.arrow_types import to_arrow_schema
from featurekit.clock import DAY, Instant
from featurekit.compiled import CompiledRepository, CompiledView
from featurekit.counters import add_counters
from featurekit.offline.history import History
from featurekit.offline.materialize import MaterializeResult, Sink
from featurekit.offline.snapshot import SourceSnapshot
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.redis import RedisStore
from featurekit.refresh_values import Deployment, RefreshOutcome
from featurekit.refreshing import refresh_view
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from featurekit.rows import offline_schema

PLACE = Namespace("shop", "dev")


@dataclass(kw_only=True)
class Refreshed:
    """The shop of `tests.registry.definitions`, with a clock that the test sets.

    `compute` is called before the rows of a refresh are written, `computed` after it: to raise what a run may.
    """

    compiled: CompiledRepository
    store: RedisStore
    url: str
    registry: Registry
    now: Instant
    retention: int = 30 * DAY
    rows: int = 3
    history: History | None = None
    holder: str = "this run"
    compute: Callable[[], object] = field(default=lambda: None)
    computed: Callable[[], object] = field(default=lambda: None)

    @property
    def to(self) -> Deployment:
        return Deployment(
            store=self.store,
            url=self.url,
            registry=self.registry,
            namespace=PLACE,
            retention=self.retention,
            history=self.history,
            holder=self.holder,
        )

    @property
    def view(self) -> CompiledView:
        return self.compiled.views["spend"]

    def register(self) -> None:
        register(desired_state(self.compiled), self.registry, self.store, PLACE, self.now)

    def refresh(self, as_of: Instant, *, restate: str | None = None, wait: bool = False) -> RefreshOutcome:
        engine: Any = None
        return refresh_view(
            self.view, as_of, engine=engine, to=self.to, clock=lambda: self.now, restate=restate, wait=wait
        )

    def space(self, as_of: Instant, restatement: int = 0) -> KeySpace:
        return KeySpace(
            namespace=PLACE,
            view="spend",
            fingerprint=self.view.fingerprint.data,
            as_of=as_of,
            restatement=restatement,
        )

    def keys(self, space: KeySpace) -> int:
        """Return how many keys the space has: its marker and its rows."""
        found = set(self.store.find(PLACE.prefix))
        return sum(key == space.marker or key.endswith(space.row_suffix) for key in found)

    def materialize(
        self,
        engine: object,  # noqa: ARG002 - what `offline.materialize` is given
        view: CompiledView,
        as_of: Instant,
        *,
        now: Instant,  # noqa: ARG002
        sink: Sink,
        compute: object = None,  # noqa: ARG002 - there is no Spark to compute by
    ) -> MaterializeResult:
        """In place of `offline.materialize`: hand the rows to the sink here."""
        self.compute()
        columns = to_arrow_schema(offline_schema(view))
        cells = {name: range(self.rows) if name == "user_id" else [0] * self.rows for name in columns.names}
        batch = pa.RecordBatch.from_pydict({name: list(column) for name, column in cells.items()}, schema=columns)
        counters = add_counters(list(sink(iter([batch]))))
        self.computed()
        return MaterializeResult(
            view=view.name,
            as_of=as_of,
            rows=self.rows,
            counters=counters,
            invisible_rows=0,
            snapshot=SourceSnapshot(source="orders", origin="data/orders.csv", files=()),
            sql="",
        )

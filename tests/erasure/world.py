"""A shop that has kept something of its users everywhere: two refreshes online and in the history, and a served log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from featurekit.arrow_types import for_arrow, to_arrow, to_arrow_schema
from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.counters import add_counters
from featurekit.erasing import Entities, PlaceErased, Places, entities, erase, refuse
from featurekit.offline.history import History
from featurekit.offline.materialize import MaterializeResult, Sink
from featurekit.offline.snapshot import SourceSnapshot
from featurekit.online.client import FeatureClient
from featurekit.online.served_log import ServedLog
from featurekit.plan import decode_plan
from featurekit.rows import key_fields, offline_schema
from featurekit.types import DataType
from tests.refreshed import PLACE, Refreshed


def held_column(values: Sequence[Any], kind: DataType) -> pa.Array:
    """Return held values as an Arrow array of a type."""
    arrow = to_arrow(kind)
    if pa.types.is_temporal(arrow):
        return pa.array(values, pa.int32() if arrow.bit_width == 32 else pa.int64()).view(arrow)
    return pa.array([for_arrow(value, kind) for value in values], arrow)


@dataclass(kw_only=True)
class Shop(Refreshed):
    """`users` are their keys, held as `types` says, a tuple each in the view's order."""

    folder: Path
    users: Sequence[tuple[Any, ...]] = ((1,), (2,), (3,))
    notes: list[PlaceErased] = field(default_factory=list)

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
        """In place of `offline.materialize`: hand a row for each user to the sink here."""
        self.compute()
        columns = to_arrow_schema(offline_schema(view))
        cells = {key.name: held_column([row[at] for row in self.users], key.type) for at, key in enumerate(view.keys)}
        for name in columns.names:
            if name not in cells:
                cells[name] = pa.array([1] * len(self.users), pa.int64()).cast(columns.field(name).type)
        batch = pa.record_batch([cells[name] for name in columns.names], schema=columns)
        counters = add_counters(list(sink(iter([batch]))))
        self.computed()
        snapshot = SourceSnapshot(source="orders", origin="data/orders.csv", files=())
        return MaterializeResult(
            view=view.name, as_of=as_of, rows=0, counters=counters, invisible_rows=0, snapshot=snapshot, sql=""
        )

    @property
    def log_folder(self) -> Path:
        return self.folder / "served"

    def places(self) -> Places:
        return Places(
            registry=self.registry,
            store=self.store,
            namespace=PLACE,
            history=self.history or History(self.folder / "history", project="shop", environment="dev"),
            served_log=self.log_folder,
            state=self.folder,
            is_embedded=False,
            plans=tuple(map(decode_plan, self.registry.lookup_plans())),
            holder="who forgets",
        )

    def entities(self, *rows: tuple[Any, ...]) -> Entities:
        keys = self.view.keys
        named = [dict(zip((key.name for key in keys), row, strict=True)) for row in rows]
        return entities("user", key_fields(self.view), named)

    def forget(self, *rows: tuple[Any, ...], wait_s: float = 10) -> dict[str, int]:
        """Forget users, and return the rows that were found, by place."""
        return self.forget_all(self.entities(*rows), wait_s=wait_s)

    def forget_all(self, asked: Entities, *, wait_s: float = 10) -> dict[str, int]:
        places = self.places()
        refuse(asked, places, at=self.now, random=lambda count: bytes(range(count)))
        self.notes = list(erase(asked, places, random=lambda count: bytes(range(count)), wait_s=wait_s))
        found: dict[str, int] = {}
        for each in self.notes:
            found[each.place] = found.get(each.place, 0) + each.rows
        return found

    def serve(self, entities_: Any, *, log: ServedLog | None = None) -> list[Any]:
        """Look users up, and write the log where there is none; return the first feature's values."""
        own = log or ServedLog(self.log_folder, project="shop", environment="dev", clock=lambda: self.now)
        client = FeatureClient(self.url, project="shop", environment="dev", clock=lambda: self.now, log=own)
        found = client.lookup("spend", entities_).to_dict()
        client.close()
        if log is None:
            own.close()
        return [row["spend.amount_7d"] for row in found]

"""The live world: flights in Parquet, definitions, Spark, a server of its own, and rows that are put in on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.planted.flights import AT, TODAY, YESTERDAY, write_flights
from benchmarks.planted.kind import Kind, Row, StoredChange
from featurekit.arrow_types import to_arrow_schema
from featurekit.clock import DAY, SECOND
from featurekit.compiled import CompiledView
from featurekit.compiler import compile_repository
from featurekit.config import Settings
from featurekit.definitions.repo import load_repo
from featurekit.examples.flights import write_sources
from featurekit.feature_store import FeatureStore
from featurekit.key_sample import key_hash
from featurekit.lookup_plan import lookup_plan
from featurekit.offline.materialize import materialized_frame
from featurekit.online import embedded
from featurekit.online.arrow_keys import encode_key_columns
from featurekit.online.keys import KeySpace
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.writer import row_sink
from featurekit.rows import LAST_EVENT, STATUS_PREFIX, key_fields, offline_schema

DEFINITIONS: Final = Path(__file__).parent / "definitions" / "flights.yaml"
RETENTION: Final = 30 * DAY


def earlier_definition(text: str) -> str:
    """Return the definitions as they were before: the first version that is registered."""
    miles = '{sql: "sum(distance)", window: 7d, default: 0.0}'
    return edited(text, miles, miles.replace("sum", "max"))


def edited(text: str, old: str, new: str) -> str:
    """Return a text with a part replaced, wherever it stands; it must stand somewhere."""
    assert old in text, old
    return text.replace(old, new)


@dataclass(frozen=True, kw_only=True)
class Hits:
    """What a fault did to the store: entities in all, entities whose row is another one now, cells in them."""

    entities: int
    rows: int
    cells: int


class World:
    """The views of `definitions/flights.yaml`, registered and refreshed for yesterday and today."""

    def __init__(self, folder: Path, *, seed: int, views: Sequence[str]) -> None:
        self.folder, self.seed = folder, seed
        write_sources(folder / "flights")
        write_flights(folder / "flights" / "departures.parquet", folder / "data", seed)
        (folder / "feature_defs").mkdir(exist_ok=True)
        self.text = DEFINITIONS.read_text(encoding="utf-8")
        self.settings = settings_of(folder)
        self._define(earlier_definition(self.text))
        with FeatureStore(replace(self.settings, now=YESTERDAY)) as store:
            store.register()
        self._define(self.text)
        self.store = FeatureStore(self.settings)
        self.store.register()
        for as_of in (YESTERDAY, TODAY):
            self.store.materialize(list(views), as_of=as_of)
        self.honest = {name: self._rows(self.view(name), TODAY) for name in views}
        self._computed = 0

    def close(self) -> None:
        self.store.close()
        embedded.stop(self.settings.state)

    def view(self, name: str) -> CompiledView:
        return self.store.definitions.views[name]

    def rows_of(self, kinds: Sequence[Kind]) -> pa.Table:
        """Return the rows that a pipeline with these faults hands to the writer."""
        name = kinds[0].view
        honest = self.view(name)
        rows = self.honest[name]
        source = pq.read_table(self.folder / honest.source.path) if honest.source.path else pa.table({})
        if any(kind.needs_spark for kind in kinds):
            rows = self._rows(self._faulty_view(kinds, source), _as_of(kinds))
        if changes := [kind.rows for kind in kinds if kind.rows is not None]:
            labels = [key.name for key in honest.keys]
            plain: list[Row] = rows.sort_by([(label, "ascending") for label in labels]).to_pylist()
            for change in changes:
                plain = change(plain, source)
            rows = pa.Table.from_pylist(plain, schema=rows.schema)
        return rows

    @contextmanager
    def planted(self, kinds: Sequence[Kind], rows: pa.Table, share: float) -> Iterator[Hits]:
        """Give the world with faults that hit a share of the entities, and put everything back.

        `rows` are those that `rows_of` returns for the kinds. A fault of the plan hits whom it hits.
        """
        view = self.view(kinds[0].view)
        if any(kind.plan is not None for kind in kinds):
            with self._planted_plan(view, kinds):
                yield Hits(entities=self.honest[view.name].num_rows, rows=0, cells=0)
            return
        honest, faulty = _by_key(view, self.honest[view.name]), _by_key(view, rows)
        stored = [kind.stored for kind in kinds if kind.stored is not None]
        differing = [key for key in honest.keys() | faulty.keys() if stored or _text(honest, key) != _text(faulty, key)]
        place = key_hash(f"{self.seed} {' '.join(kind.name for kind in kinds)}")
        hit = sorted(differing, key=place)[: max(1, round(share * len(honest)))]
        space = self._space(view, TODAY)
        before = {key: self._bytes(space, key) for key in hit}
        try:
            self._put(view, [faulty[key] for key in hit if key in faulty])
            for key in hit:
                if key not in faulty:
                    self._store(space.row(key), None)
            for change in stored:
                self._rewrite(view, hit, change)
            cells = sum(_cells(honest.get(key, {}), faulty.get(key, {})) for key in hit)
            yield Hits(entities=len(honest), rows=len(hit), cells=cells)
        finally:
            for key, content in before.items():
                self._store(space.row(key), content)

    @contextmanager
    def _planted_plan(self, view: CompiledView, kinds: Sequence[Kind]) -> Iterator[None]:
        """Let readers have a plan whose fields are others."""
        service = lookup_plan(self.store.definitions.view_services[view.name])
        (part,) = service.views
        fields = part.fields
        for kind in kinds:
            fields = fields if kind.plan is None else tuple(map(kind.plan, fields))
        try:
            self._publish(PlanBody.of(replace(service, views=(replace(part, fields=fields),))))
            yield
        finally:
            self._publish(PlanBody.of(service))

    def _define(self, text: str) -> None:
        (self.folder / "feature_defs" / "flights.yaml").write_text(text, encoding="utf-8")

    def _rows(self, view: CompiledView, as_of: int) -> pa.Table:
        table = self.store.engine.to_arrow(materialized_frame(self.store.engine, view, as_of))
        return table.cast(to_arrow_schema(offline_schema(view)))

    def _faulty_view(self, kinds: Sequence[Kind], source: pa.Table) -> CompiledView:
        text = self.text
        for kind in kinds:
            text = text if kind.definition is None else kind.definition(text)
        if changes := [kind.source for kind in kinds if kind.source is not None]:
            for change in changes:
                source = change(source)
            self._computed += 1  # a file of its own each: Spark keeps what it knows of one
            written = self.folder / "faulty" / f"{self._computed}.parquet"
            written.parent.mkdir(exist_ok=True)
            pq.write_table(source, written)
            path = self.view(kinds[0].view).source.path
            text = edited(text, f"path: {path}", f"path: {written}")
        folder = self.folder / "faulty_defs"
        folder.mkdir(exist_ok=True)
        (folder / "flights.yaml").write_text(text, encoding="utf-8")
        return compile_repository(load_repo(folder), self.folder).views[kinds[0].view]

    def _space(self, view: CompiledView, as_of: int) -> KeySpace:
        return KeySpace(namespace=self.store.namespace, view=view.name, fingerprint=view.fingerprint.data, as_of=as_of)

    def _bytes(self, space: KeySpace, key: bytes) -> bytes | None:
        (content,) = self.store.online.read([space.row(key)])
        return content

    def _put(self, view: CompiledView, rows: Sequence[Row]) -> None:
        """Write rows by the writer that Spark's executors use, under the honest key space and fingerprint."""
        sink = row_sink(view, self._space(view, TODAY), self.store.online_url, expires_in_s=RETENTION // SECOND)
        table = pa.Table.from_pylist(list(rows), schema=to_arrow_schema(offline_schema(view)))
        list(sink(iter(table.to_batches())))

    def _store(self, key: bytes, content: bytes | None) -> None:
        self.store.online.change(key, lambda _: content)

    def _rewrite(self, view: CompiledView, hit: Sequence[bytes], change: StoredChange) -> None:
        today, yesterday = self._space(view, TODAY), self._space(view, YESTERDAY)
        for key in hit:
            own, old = self._bytes(today, key), self._bytes(yesterday, key)
            content = None if own is None else change(own, old or own)
            self._store(today.row(key), content)

    def _publish(self, body: PlanBody) -> None:
        publish_plans(self.store.online, self.store.namespace, [body])
        switch_services(self.store.online, self.store.namespace, {body.service: body.pointer})


def settings_of(folder: Path) -> Settings:
    """Return the settings of a world: two cores, and a clock that stands in the morning of the day that is served."""
    return Settings(
        root=folder,
        project="planted",
        environment="bench",
        definitions=folder / "feature_defs",
        state=folder / "state",
        now=AT,
        retention=RETENTION,
        spark_master="local[2]",
        spark_driver_memory="2g",
        spark_conf=(("spark.sql.shuffle.partitions", "2"),),
    )


def _as_of(kinds: Sequence[Kind]) -> int:
    return next((kind.as_of for kind in kinds if kind.as_of != TODAY), TODAY)


def _by_key(view: CompiledView, rows: pa.Table) -> dict[bytes, Row]:
    keys = [
        key for batch in rows.to_batches() for key in encode_key_columns(batch, key_fields(view)) if key is not None
    ]
    return dict(zip(keys, rows.to_pylist(), strict=True))


def _text(rows: dict[bytes, Row], key: bytes) -> str:
    """Return a row as text, in which NaN is itself and -0.0 is not 0.0."""
    return repr(rows.get(key))


def _cells(one: Row, other: Row) -> int:
    names = [name for name in one.keys() | other.keys() if not name.startswith((LAST_EVENT, STATUS_PREFIX))]
    return sum(repr(one.get(name)) != repr(other.get(name)) for name in names)

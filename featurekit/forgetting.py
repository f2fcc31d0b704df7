"""`forget` and `remember`, as the SDK has them: an entity by its name and keys, erased, and the proof of it kept."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from featurekit.arrow_types import from_arrow_schema
from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledService, CompiledView
from featurekit.counters import COUNTERS, add_counters, counter_batch
from featurekit.definitions.problem import did_you_mean
from featurekit.erasing import Entities, PlaceErased, Places, admit, entities, erase, refuse
from featurekit.erasure_proof import Looked, look
from featurekit.errors import InputError, KeyTypeError
from featurekit.offline.engine import BatchEngine, Batches
from featurekit.offline.labels import LabelSpec, read_labels
from featurekit.offline.source import entity_key, event_steps, frame_name, key_names, read_source
from featurekit.offline.sql import Query, Select, name, render_query
from featurekit.online.forgotten import Forgotten, forgotten_rows, named_rows
from featurekit.online.values import acceptor
from featurekit.plan import decode_plan
from featurekit.rows import key_fields
from featurekit.store_parts import StoreParts
from featurekit.tombstones import Tombstones, key_hash
from featurekit.types import Field

Random = Callable[[int], bytes]
_LABELS: Final = "featurekit_labels"
_ROWS: Final = "rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRows:
    """How many rows a view's source still has of the entities: a refresh refuses them, and `remember` lets them in."""

    view: str
    source: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRows:
    """How many rows of the entities a training set has; it is not changed: its id is the hash of its content."""

    folder: Path
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """What became of some entities: what was taken out where, and what a second walk found.

    Of a dry run nothing was changed, and the walk's findings are what would go. `keys` are keyed hashes; `new` of them
    were not refused before. `sources` is None where no source was looked into.
    """

    entity: str
    at: Instant
    is_dry_run: bool
    keys: tuple[str, ...]
    new: int
    erased: tuple[PlaceErased, ...]
    looked: Looked
    sources: tuple[SourceRows, ...] | None
    datasets: tuple[SetRows, ...] = ()
    number: int | None = None

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left; of a dry run, whether nothing is there."""
        return self.looked.is_clean

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON can hold it; it names no key."""
        content = asdict(self)
        return {
            **content,
            "at": format_instant(self.at),
            "datasets": [{"folder": str(one.folder), "rows": one.rows} for one in self.datasets],
            "is_clean": self.is_clean,
        }


def forget(
    parts: StoreParts,
    entity: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    dry_run: bool = False,
    check_sources: bool = True,
    datasets: Sequence[Path] = (),
    random: Random = os.urandom,
) -> Forgetting:
    """Refuse entities from now on and erase them everywhere; return the proof, which the registry keeps.

    `rows` are their join keys by name, as lookups take them. InputError for what names no entity.
    """
    asked, places, at = asked_entities(parts, entity, rows), places_of(parts), parts.settings.clock()
    new = 0
    erased: tuple[PlaceErased, ...] = ()
    if not dry_run:
        new = refuse(asked, places, at=at, random=random)
        erased = tuple(erase(asked, places, random=random))
    secret = parts.registry.tombstones().secret
    done = Forgetting(
        entity=entity,
        at=at,
        is_dry_run=dry_run,
        keys=tuple(key_hash(secret, asked.scope, text) for text in asked.texts) if secret else (),
        new=new,
        erased=erased,
        looked=look(asked, places),
        sources=_source_rows(parts, asked) if check_sources else None,
        datasets=tuple(SetRows(folder=folder, rows=_rows_of_set(folder, asked)) for folder in datasets),
    )
    if dry_run:
        return done
    number = parts.registry.add_erasure(json.dumps(done.to_json()), entity=entity, at=at)
    return replace(done, number=number)


def remember(parts: StoreParts, entity: str, rows: Sequence[Mapping[str, Any]]) -> int:
    """Let entities in again; return how many were refused. Their rows come back by refreshes, from their source."""
    return admit(asked_entities(parts, entity, rows), places_of(parts), at=parts.settings.clock())


def asked_entities(parts: StoreParts, entity: str, rows: Sequence[Mapping[str, Any]]) -> Entities:
    """Return entities by their join keys as lookups take them; InputError for what is no entity's key."""
    fields = entity_keys(parts, entity)
    accept = {field.name: acceptor(field.name, field.type) for field in fields}
    held = []
    for at, row in enumerate(rows, start=1):
        if row.keys() != accept.keys() or None in row.values():
            raise KeyTypeError(
                f"row {at} is no key of {entity}", why=f"it has {', '.join(accept)}, none of them NULL", try_="give all"
            )
        held.append({label: accept[label]([value])[0] for label, value in row.items()})
    if not held:
        raise InputError(f"which {entity} to forget is not said", try_="name a key, or --file FILE")
    return entities(entity, fields, held)


def entity_keys(parts: StoreParts, entity: str) -> tuple[Field, ...]:
    """Return an entity's join keys; InputError where there is no such entity."""
    defined = parts.definitions.repository.entities
    if entity not in defined:
        raise InputError(f"there is no entity {entity!r}", try_=did_you_mean(entity, defined) or "featurekit list")
    return defined[entity].keys


def known_tombstones(parts: StoreParts) -> Tombstones:
    """Return what is forgotten now; where there is no registry yet, looking makes none."""
    settings = parts.settings
    if settings.registry_url is None and not (settings.state / "registry.db").exists():
        return Tombstones()
    return parts.registry.tombstones()


def places_of(parts: StoreParts) -> Places:
    """Return all that keeps something of an entity."""
    settings = parts.settings
    return Places(
        registry=parts.registry,
        store=parts.online,
        namespace=parts.namespace,
        history=parts.history,
        served_log=settings.served_log,
        state=settings.state,
        is_embedded=settings.redis_url is None,
        plans=tuple(map(decode_plan, parts.registry.lookup_plans())),
        holder=parts.holder,
    )


class _Counting:
    """Counts the rows of entities, where each row of the batches is one entity and how many rows it has; it pickles."""

    def __init__(self, found: Forgotten) -> None:
        self._found = found

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            counts = batch.column(batch.num_columns - 1).filter(pa.array(self._found.mask(batch)))
            yield counter_batch({_ROWS: sum(counts.to_pylist())})


def _source_rows(parts: StoreParts, asked: Entities) -> tuple[SourceRows, ...]:
    views = [view for view in parts.definitions.views.values() if set(asked.scope) <= {key.name for key in view.keys}]
    return tuple(
        SourceRows(view=view.name, source=view.source.name, rows=_rows_in_source(parts.engine, view, asked))
        for view in views
    )


def _rows_in_source(engine: BatchEngine, view: CompiledView, asked: Entities) -> int:
    keys = tuple(map(name, key_names(view)))
    step = Select(columns=(*zip(key_names(view), keys, strict=True), ("n", "count(*)")), source="events", group_by=keys)
    query = event_steps(view, known_by=None, since=None, until=None).then("entities", step)
    frame = engine.query(render_query(query), {frame_name(view): read_source(engine, view)})
    found = named_rows(asked.scope, asked.texts, key_fields(view), key_names(view))
    counted = engine.to_arrow(engine.map_batches(frame, _Counting(found), from_arrow_schema(COUNTERS)))
    return add_counters(counted.to_batches()).get(_ROWS, 0)


def _rows_of_set(folder: Path, asked: Entities) -> int:
    """Return how many rows of a training set name one of the entities by columns called as its join keys are."""
    total = 0
    found = named_rows(asked.scope, asked.texts, asked.fields)
    for path in sorted(folder.rglob("*.parquet")):
        with pq.ParquetFile(path) as file:
            if set(asked.scope) <= set(file.schema_arrow.names):
                for batch in file.iter_batches(columns=list(asked.scope), use_threads=False):
                    total += int(found.mask(batch).sum())
    return total


def refuse_labels(engine: BatchEngine, service: CompiledService, labels: LabelSpec, tombstones: Tombstones) -> None:
    """Raise InputError where label rows name an entity that was forgotten: a training set would hold it again."""
    rows = 0
    for part in service.views:
        fields = key_fields(part.view)
        found = forgotten_rows(tombstones, fields)
        if not found:
            continue
        asked = zip(part.view.keys, part.request_keys, strict=True)
        columns = tuple((key.name, entity_key(key, name(request))) for key, request in asked)
        keys = Query(steps=(("keys", Select(columns=columns, source=_LABELS)),))
        grouped = Select(
            columns=(*((field.name, name(field.name)) for field in fields), ("n", "count(*)")),
            source="keys",
            group_by=tuple(name(field.name) for field in fields),
        )
        query = keys.then("entities", grouped)
        frame = engine.query(render_query(query), {_LABELS: read_labels(engine, service, labels)})
        counted = engine.to_arrow(engine.map_batches(frame, _Counting(found), from_arrow_schema(COUNTERS)))
        rows = max(rows, add_counters(counted.to_batches()).get(_ROWS, 0))
    if rows:
        raise InputError(
            f"{rows:,} label rows are of entities that were forgotten",
            where=str(labels.path),
            why="the training set would hold them again, by their keys and by what is known of them",
            try_="leave these rows out; featurekit remember lets an entity in again",
        )

"""The entities of both sides, each side cut to the sample where its keys are: rows in the store, events in Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from featurekit.arrow_types import to_arrow_schema
from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.consistency.sample import KeySampler, SampleRule
from featurekit.offline.engine import BatchEngine
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.sql import Query, Select, name, render_query
from featurekit.online.arrow_keys import encode_key_columns
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.store import ReadableStore
from featurekit.types import Binary, Field, Int64, Schema

_SAMPLED: Final = Schema((Field("key", Binary()), Field("seen", Int64(), nullable=False)))
_ENTITIES: Final = "featurekit_entities"
_SCAN_STEP: Final = 10_000
_SUFFIX_START: Final = b"}:"  # an entity key holds no bare brace: this ends it


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side's entities: how many it has, and which of them are in the sample."""

    seen: int
    keys: tuple[bytes, ...]


def online_entities(
    store: ReadableStore, namespace: Namespace, spaces: Sequence[KeySpace], rule: SampleRule
) -> Mapping[KeySpace, Side]:
    """Return the entities that have a row in each key space, whatever is in it: one pass over the project's rows."""
    prefix = namespace.row_prefix()
    samplers = {space: KeySampler(rule) for space in spaces}
    by_suffix = {space.row_suffix: sampler for space, sampler in samplers.items()}
    waiting: dict[bytes, list[bytes]] = {suffix: [] for suffix in by_suffix}
    for key in store.find(prefix):
        suffix = key[key.find(_SUFFIX_START) :]
        if (keys := waiting.get(suffix)) is not None:
            keys.append(key[len(prefix) : -len(suffix)])
            if len(keys) == _SCAN_STEP:
                by_suffix[suffix].add(set(keys))
                keys.clear()
    for suffix, keys in waiting.items():
        by_suffix[suffix].add(set(keys))  # a scan may yield a key twice, mostly soon after
    return {space: Side(seen=sampler.seen, keys=tuple(sampler.keys)) for space, sampler in samplers.items()}


def offline_entities(engine: BatchEngine, view: CompiledView, as_of: Instant, rule: SampleRule) -> Side:
    """Return the entities that have an event within reach of the view as of an instant; hashed in the executors."""
    columns = tuple((key.name, name(key.name)) for key in view.keys)
    query = Query(steps=(("entities", Select(columns=columns, source=_ENTITIES)),))
    # Only the keys are asked for, so Spark computes no feature.
    frame = engine.query(render_query(query), {_ENTITIES: materialized_frame(engine, view, as_of)})
    sampled = engine.to_arrow(engine.map_batches(frame, SampleKeys(keys=view_keys(view), rule=rule), _SAMPLED))
    sampler = KeySampler(rule)
    sampler.add(key for key in sampled["key"].to_pylist() if key is not None)
    return Side(seen=sum(sampled["seen"].to_pylist()), keys=tuple(sampler.keys))


def view_keys(view: CompiledView) -> tuple[Field, ...]:
    """Return the view's join keys as fields."""
    return tuple(Field(key.name, key.type, nullable=False) for key in view.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleKeys:
    """One partition's key columns -> its sampled key texts, and last a row without a key that says how many it saw."""

    keys: tuple[Field, ...]
    rule: SampleRule

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sampler = KeySampler(self.rule)
        for batch in batches:
            sampler.add(key for key in encode_key_columns(batch, self.keys) if key is not None)
        keys = sampler.keys
        columns = {"key": [*keys, None], "seen": [*(0 for _ in keys), sampler.seen]}
        yield pa.RecordBatch.from_pydict(columns, schema=to_arrow_schema(_SAMPLED))

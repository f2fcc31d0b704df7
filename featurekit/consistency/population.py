"""The entities of both sides, each side cut to the sample where its keys are: rows in the store, events in Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from featurekit.arrow_types import to_arrow_schema
from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.consistency.activity import BITS, ROWS, activity_query
from featurekit.consistency.sample import SampleRule, plain_sampler
from featurekit.consistency.strata import HASHED, Candidate, StrataSampler, Stratum
from featurekit.definitions.source import SourceKind
from featurekit.offline.engine import BatchEngine
from featurekit.offline.source import frame_name, read_source
from featurekit.offline.sql import render_query
from featurekit.offline.visible_rows import newest_snapshot
from featurekit.online.arrow_keys import encode_key_columns
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.store import ReadableStore
from featurekit.types import Binary, Field, Int32, Int64, Schema

_SAMPLED: Final = Schema(
    (Field("key", Binary()), Field("bits", Int32(), nullable=False), Field("rows", Int64(), nullable=False))
)
_SEEN: Final = -1  # in place of the bits, of the number of all
_SCAN_STEP: Final = 10_000
_SUFFIX_START: Final = b"}:"  # an entity key holds no bare brace: this ends it


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineKeys:
    """The store's entities: how many it has, and which of them may be in the sample."""

    seen: int = 0
    keys: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineKeys:
    """The source's entities: how many have visible rows, in all and of each stratum, and what may be in the sample."""

    seen: int
    strata: Mapping[Stratum, int]
    sampler: StrataSampler


def online_entities(
    store: ReadableStore, namespace: Namespace, spaces: Sequence[KeySpace], rule: SampleRule
) -> Mapping[KeySpace, OnlineKeys]:
    """Return the entities that have a row in each key space, whatever is in it: one pass over the project's rows."""
    prefix = namespace.row_prefix()
    samplers = {space: plain_sampler(rule) for space in spaces}
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
    return {space: OnlineKeys(seen=sampler.seen, keys=tuple(sampler.keys)) for space, sampler in samplers.items()}


def offline_entities(engine: BatchEngine, view: CompiledView, as_of: Instant, rule: SampleRule) -> OfflineKeys:
    """Return the entities that have rows before an as-of, with their strata: one query, hashed in the executors."""
    snapshot = newest_snapshot(engine, view, as_of) if view.source.kind is SourceKind.SNAPSHOTS else None
    query = render_query(activity_query(view, as_of, snapshot))
    frame = engine.query(query, {frame_name(view): read_source(engine, view)})
    found = engine.to_arrow(engine.map_batches(frame, SampleKeys(keys=view_keys(view), rule=rule), _SAMPLED))
    sampler, sizes = StrataSampler(rule), Counter[int]()
    for key, bits, rows in zip(*(found[column].to_pylist() for column in _SAMPLED.names), strict=True):
        if key is None:
            sizes[bits] += rows
        else:
            sampler.add([Candidate(key=key, bits=bits, rows=rows)])
    strata = {stratum: sizes[at] for at, stratum in enumerate(HASHED)}
    return OfflineKeys(seen=sizes[_SEEN], strata=strata | {Stratum.HEAVY: len(sampler.heaviest)}, sampler=sampler)


def view_keys(view: CompiledView) -> tuple[Field, ...]:
    """Return the view's join keys as fields."""
    return tuple(Field(key.name, key.type, nullable=False) for key in view.keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleKeys:
    """One partition's entities -> those that may be in the sample, and then rows without a key that count them all."""

    keys: tuple[Field, ...]
    rule: SampleRule

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sampler = StrataSampler(self.rule)
        for batch in batches:
            columns = (encode_key_columns(batch, self.keys), *(batch[each].to_pylist() for each in (BITS, ROWS)))
            sampler.add(
                Candidate(key=key, bits=bits, rows=rows)
                for key, bits, rows in zip(*columns, strict=True)
                if key is not None
            )
        rows: list[tuple[bytes | None, int, int]] = [(each.key, each.bits, each.rows) for each in sampler.candidates()]
        rows += [(None, at, sampler.sizes[stratum]) for at, stratum in enumerate(HASHED)]
        rows.append((None, _SEEN, sampler.seen))
        counted = dict(zip(_SAMPLED.names, zip(*rows, strict=True), strict=True))
        yield pa.RecordBatch.from_pydict(counted, schema=to_arrow_schema(_SAMPLED))

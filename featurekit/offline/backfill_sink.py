"""Rows of many as-ofs, sorted by as-of -> each as-of's rows to a sink of its own: runs in the executors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from featurekit.clock import Instant
from featurekit.counters import add_counters, counter_batch
from featurekit.offline.as_of import FOUND
from featurekit.offline.engine import BatchEngine, Batches
from featurekit.offline.sql import Query, Select, name, render_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Sink = Callable[[Batches], Batches]
AS_OF: Final = "as_of"
_ROWS: Final = "featurekit_rows"


def by_as_of(engine: BatchEngine, rows: DataFrame) -> DataFrame:
    """Return the rows of entities that have one, those of one as-of in one partition and behind each other."""
    step = Select(
        columns=(("*", "*"),),
        source=_ROWS,
        where=(name(FOUND),),
        distribute_by=(name(AS_OF),),
        sort_by=(name(AS_OF),),
        note="each as-of's rows together: they become one file",
    )
    return engine.query(render_query(Query(steps=(("sorted", step),))), {_ROWS: rows})


@dataclass(frozen=True, kw_only=True)
class BackfillSink:
    """Hands each as-of's rows, without `as_of` and `found`, to its own sink; counters begin with the as-of."""

    sinks: Mapping[Instant, Sink]

    def __call__(self, batches: Batches) -> Batches:
        for at, parts in groupby(_parts(batches), key=lambda part: part[0]):
            counters = add_counters(self.sinks[at](batch for _, batch in parts))
            yield counter_batch({f"{at} {label}": count for label, count in counters.items()})


def counters_of(counters: Mapping[str, int], as_of: Instant) -> dict[str, int]:
    """Return the counters of one as-of's sink."""
    start = f"{as_of} "
    return {label.removeprefix(start): count for label, count in counters.items() if label.startswith(start)}


def _parts(batches: Batches) -> Iterator[tuple[Instant, pa.RecordBatch]]:
    """Yield the batches cut where the as-of changes."""
    for batch in batches:
        times = batch[AS_OF].cast(pa.int64()).to_numpy()
        rows = batch.select([label for label in batch.schema.names if label not in (AS_OF, FOUND)])
        cuts = [0, *(np.flatnonzero(np.diff(times)) + 1).tolist(), len(times)]
        for start, end in pairwise(cuts):
            if end > start:
                yield int(times[start]), rows.slice(start, end - start)

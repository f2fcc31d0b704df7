"""What a training set's columns hold, and a hash of all their values that no order of rows changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from featurekit.compiled import CompiledService, ServiceOutput
from featurekit.offline.engine import BatchEngine
from featurekit.offline.manifest import FeatureStatistics
from featurekit.offline.sql import Query, Select, Sql, call, cast, entries, name, over, render_query
from featurekit.targets.spark import render_string
from featurekit.types import Boolean, Decimal, Float64, Int32, String, is_numeric

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_WRITTEN: Final = "featurekit_dataset"
_SHARES: Final = ("0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99")
_MOST_FREQUENT: Final = 5
_LONGEST_TEXT: Final = 100  # of a frequent value; the rest of it helps nobody who compares two sets


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """All of a training set's rows: how many, the hash of what they say, and statistics per output."""

    rows: int
    hash: str
    features: tuple[FeatureStatistics, ...]


def read_content(
    engine: BatchEngine,
    service: CompiledService,
    written: DataFrame,
    timestamp: str,
    expired: Mapping[str, int],
) -> Content:
    """Return what the written rows hold; `expired` says of how many rows an output's newest row was too old."""
    row = engine.to_arrow(engine.query(render_query(_query(service, timestamp)), {_WRITTEN: written})).to_pylist()[0]
    rows = int(row["rows"])
    top = _most_frequent(engine, service, written)
    features = tuple(
        replace(
            _feature(output, at, row),
            expired_share=_share(expired[output.name], rows) if output.name in expired else None,
            top=top.get(output.name, ()),
        )
        for at, output in enumerate(service.outputs)
    )
    return Content(rows=rows, hash=hash_of([str(row["hash0"]), str(row["hash1"])]), features=features)


def hash_of(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _query(service: CompiledService, timestamp: str) -> Query:
    values = [name(label) for label in (*service.keys.names, timestamp)]
    values += [entries(name(part.name), part.type) for part in service.outputs]
    # Two sums of 64-bit hashes: rows that are there twice count twice, which XOR would lose.
    hashes = [call("sum", cast(call("xxhash64", str(seed), *values), Decimal(38, 0))) for seed in (0, 1)]
    columns: list[tuple[str, Sql]] = [("rows", "count(*)"), ("hash0", hashes[0]), ("hash1", hashes[1])]
    for at, output in enumerate(service.outputs):
        value = name(output.name)
        columns.append((f"n{at}", f"count({value})"))
        columns.append((f"distinct{at}", call("approx_count_distinct", entries(value, output.type))))
        if _is_number(output):
            number = cast(cast(value, Int32()) if isinstance(output.type, Boolean) else value, Float64())
            columns += [(f"{what}{at}", call(what, number)) for what in ("min", "max", "avg", "stddev_samp")]
            shares = call("array", *_SHARES)
            columns.append((f"quantiles{at}", call("percentile_approx", number, shares, "1000")))
    return Query(steps=(("statistics", Select(columns=tuple(columns), source=_WRITTEN)),))


def _is_number(output: ServiceOutput) -> bool:
    return is_numeric(output.type) or isinstance(output.type, Boolean)


def _feature(output: ServiceOutput, at: int, row: Mapping[str, Any]) -> FeatureStatistics:
    quantiles = row.get(f"quantiles{at}")
    return FeatureStatistics(
        name=output.name,
        type=output.type.name,
        null_share=_share(row["rows"] - row[f"n{at}"], row["rows"]),
        low=row.get(f"min{at}"),
        high=row.get(f"max{at}"),
        mean=row.get(f"avg{at}"),
        stddev=row.get(f"stddev_samp{at}"),
        distinct=row[f"distinct{at}"],
        quantiles=quantiles and dict(zip(_SHARES, quantiles, strict=True)),
    )


def _share(count: int, rows: int) -> float:
    return count / rows if rows else 0.0


def _most_frequent(
    engine: BatchEngine, service: CompiledService, written: DataFrame
) -> dict[str, tuple[tuple[str, int], ...]]:
    """Return the most frequent values of each text output, the more frequent first, equally frequent ones by text."""
    texts = [output.name for output in service.outputs if isinstance(output.type, String)]
    if not texts:
        return {}
    pairs = (call("named_struct", "'name'", render_string(text), "'value'", name(text)) for text in texts)
    said = Select(columns=(("said", call("explode", call("array", *pairs))),), source=_WRITTEN)
    label, value = name("said", "name"), name("said", "value")
    counted = Select(
        columns=(("name", label), ("value", value), ("n", "count(*)")),
        source="said",
        where=(f"{value} IS NOT NULL",),
        group_by=(label, value),
    )
    order = (f"{name('n')} DESC", name("value"))
    place = over("row_number()", partition_by=(name("name"),), order_by=order)
    query = Query(steps=(("said", said), ("counted", counted)))
    query = query.then("placed", Select(columns=(("*", "*"), ("place", place)), source="counted"))
    query = query.then(
        "top", Select(columns=(("*", "*"),), source="placed", where=(f"{name('place')} <= {_MOST_FREQUENT}",))
    )
    rows = engine.to_arrow(engine.query(render_query(query), {_WRITTEN: written})).to_pylist()
    rows.sort(key=lambda row: (row["name"], row["place"]))
    return {
        text: tuple((row["value"][:_LONGEST_TEXT], row["n"]) for row in rows if row["name"] == text) for text in texts
    }

"""`materialize` and `point_in_time` give the same bits: every view of feature_defs/, every day of November 2013.

    python -m benchmarks.agree [--per-day 2] [--data DIR]
    python -m benchmarks.agree --seeds 200      # worlds drawn from seeds instead: see agree_seeds

The month is New York's, with the end of daylight saving time in it. A view that is refreshed once a day is compared at
each of its refreshes; one that is refreshed more often at `--per-day` of them (0: all), other ones each day, so that
over the month all hours are met. At each instant every entity that the source ever names is compared: whether it has a
row, each value as bits, each status.

The two share the expressions' SQL, and nothing of how rows are chosen, ordered and aggregated.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.agree_seeds import compare_seeds
from benchmarks.report import finish
from featurekit.clock import DAY, Instant, from_date, instant_to_local
from featurekit.compiled import CompiledView
from featurekit.compiler import compile_repository
from featurekit.config import Settings
from featurekit.definitions.repo import load_repo
from featurekit.examples.flights import write_sources
from featurekit.grid import first_instant
from featurekit.offline.as_of import FOUND, Span, as_of_rows, at_instants, known_entities
from featurekit.offline.engine import BatchEngine
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.session import start_engine
from featurekit.rows import offline_schema

DEFINITIONS: Final = Path(__file__).parents[1] / "feature_defs"
ZONE: Final = "America/New_York"
NOVEMBER: Final = range(from_date(date(2013, 11, 1)), from_date(date(2013, 12, 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewAgreement:
    view: str
    days: int
    instants: int
    entities: int
    rows: int
    differ: int
    first_difference: dict[str, Any] | None
    seconds: float


def instants_of(view: CompiledView, per_day: int) -> tuple[Instant, ...]:
    """Return the view's refreshes in the month: all where it has at most `per_day` a day, else as many, in turns."""
    chosen: list[Instant] = []
    for number, day in enumerate(NOVEMBER):
        found = view.view.grid.between(first_instant(day, ZONE), first_instant(day + 1, ZONE))
        step = 1 if per_day == 0 else max(1, len(found) // per_day)
        # 7 has no factor in common with the number of refreshes of a day: the turns meet them all.
        chosen += found if step == 1 else [found[(number * 7 + turn * step) % len(found)] for turn in range(per_day)]
    return tuple(sorted(chosen))


def compare_view(engine: BatchEngine, view: CompiledView, per_day: int) -> ViewAgreement:
    """Compare the two paths at the view's instants, for every entity of its source."""
    started = time.monotonic()
    instants = instants_of(view, per_day)
    entities = known_entities(engine, view)
    requests = at_instants(engine, entities, instants)
    swept = engine.to_arrow(as_of_rows(engine, view, requests, between=Span(instants[0], instants[-1])))
    swept = swept.set_column(swept.column_names.index("as_of"), "as_of", swept["as_of"].cast(pa.int64()))
    grouped = pa.concat_tables(
        _with_as_of(engine.to_arrow(materialized_frame(engine, view, at)), at) for at in instants
    )
    differences = differing_rows(view, grouped, swept)
    days = len({instant_to_local(at, ZONE) // DAY for at in instants})
    return ViewAgreement(
        view=view.name,
        days=days,
        instants=len(instants),
        entities=swept.num_rows // len(instants),
        rows=swept.num_rows,
        differ=len(differences),
        first_difference=differences[0] if differences else None,
        seconds=round(time.monotonic() - started, 1),
    )


def _with_as_of(rows: pa.Table, at: Instant) -> pa.Table:
    return rows.append_column("as_of", pa.array(np.full(rows.num_rows, at), pa.int64()))


def differing_rows(view: CompiledView, grouped: pa.Table, swept: pa.Table) -> list[dict[str, Any]]:
    """Return the rows, as keys and as-of, in which the two differ: in being there, or in a bit of a column."""
    keys = [*(key.name for key in view.keys), "as_of"]
    found = swept.filter(swept[FOUND])
    order = [(key, "ascending") for key in keys]
    found, grouped = found.sort_by(order), grouped.sort_by(order)
    if found.select(keys).cast(grouped.select(keys).schema) != grouped.select(keys):
        seen = {tuple(row.values()) for row in found.select(keys).to_pylist()}
        made = {tuple(row.values()) for row in grouped.select(keys).to_pylist()}
        return [{"row": [str(part) for part in row], "in": "one path only"} for row in sorted(seen ^ made, key=str)]
    differing: dict[int, list[str]] = {}
    for field in offline_schema(view).fields:
        one, other = _bits(grouped[field.name]), _bits(found[field.name])
        same = pc.fill_null(pc.equal(one, other), False)
        both_null = pc.and_(one.is_null(), other.is_null())
        for row in np.flatnonzero(~pc.or_(same, both_null).to_numpy(zero_copy_only=False)).tolist():
            differing.setdefault(row, []).append(field.name)
    rows = []
    for row, names in sorted(differing.items()):
        shown = {label: [str(grouped[label][row]), str(found[label][row])] for label in names}
        rows.append({"row": [str(grouped[key][row]) for key in keys], "in": shown})
    return rows


def _bits(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    if pa.types.is_float64(array.type):
        return array.view(pa.int64())
    return array.view(pa.int32()) if pa.types.is_float32(array.type) else array


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.agree", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--per-day", type=int, default=2, help="refreshes a day of views that have more; 0: all (2)")
    parser.add_argument("--data", type=Path, help="where the flights are or go (a temporary folder)")
    parser.add_argument("--view", action="append", help="only this view; may be repeated")
    parser.add_argument("--seeds", type=int, help="compare so many drawn worlds instead, a plain reference too")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    options = parser.parse_args(arguments)
    if options.seeds is not None:
        return compare_seeds(options.first, options.seeds)
    with tempfile.TemporaryDirectory(prefix="featurekit-agree-") as scratch:
        base = options.data or Path(scratch)
        write_sources(base / "data")
        views = compile_repository(load_repo(DEFINITIONS), base).views
        engine = start_engine(Settings(root=base, state=Path(scratch) / "state"))
        results = []
        for label, view in views.items():
            if options.view and label not in options.view:
                continue
            result = compare_view(engine, view, options.per_day)
            results.append(result)
            print(
                f"{label:<20} {result.instants:>4} instants × {result.entities:>5} entities"
                f"  {result.differ} differ  {result.seconds:.0f} s",
                flush=True,
            )
        engine.stop()
    differ = sum(result.differ for result in results)
    finish(
        "agree",
        {
            "grid_days": sum(result.days for result in results),
            "instants": sum(result.instants for result in results),
            "rows": sum(result.rows for result in results),
            "differ": differ,
        },
        details={"per_day": options.per_day, "views": [asdict(result) for result in results]},
    )
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

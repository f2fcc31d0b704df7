"""Two training sets, row by row: which label rows both have, and how many of those have other values.

A label row is known by its own columns: keys, timestamp and all that was carried along. Rows that are the same in all
of them are counted, not told apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from featurekit.errors import InputError
from featurekit.offline.engine import BatchEngine
from featurekit.offline.manifest import Manifest
from featurekit.offline.sql import Query, Select, Sql, call, case, entries, filtered, name, render_query
from featurekit.types import parse_type

_SIDES: Final = ("featurekit_before", "featurekit_after")
_SIDE: Final = "$side"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDiff:
    """How many label rows both sets have, and only one; and of those in both, how many differ in each output.

    `differing` has the outputs that are of one type on both sides. `identity` are the columns that rows are known by.
    """

    both: int
    only_before: int
    only_after: int
    differing: Mapping[str, int]
    identity: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        return not (self.only_before or self.only_after or any(self.differing.values()))


def diff_rows(engine: BatchEngine, before: tuple[Path, Manifest], after: tuple[Path, Manifest]) -> RowDiff:
    """Return how the rows of two training sets differ."""
    sides = (before[1], after[1])
    identity = _identity(*sides)
    outputs = _common(*({part.name: part.type for part in side.features} for side in sides))
    frames = {
        label: engine.read_parquet(str(folder.absolute()))
        for label, (folder, _) in zip(_SIDES, (before, after), strict=True)
    }
    text = render_query(_query(identity, outputs))
    row = engine.to_arrow(engine.query(text, frames)).to_pylist()[0]
    return RowDiff(
        both=int(row["both"] or 0),
        only_before=int(row["only_before"] or 0),
        only_after=int(row["only_after"] or 0),
        differing={output: int(row[f"d{at}"] or 0) for at, output in enumerate(outputs)},
        identity=tuple(identity),
    )


def _identity(before: Manifest, after: Manifest) -> dict[str, str]:
    """Return the label columns of both sets with their types; what has no order or differs in type names no row."""
    columns = []
    for side in (before, after):
        outputs = {part.name for part in side.features}
        columns.append({label: kind for label, kind in side.columns if label not in outputs})
    found = {label: kind for label, kind in _common(*columns).items() if "map<" not in kind and "variant" not in kind}
    if before.labels.timestamp not in found or before.labels.timestamp != after.labels.timestamp:
        raise InputError(
            "the two sets have no timestamp in common",
            why=f"one was asked by {before.labels.timestamp}, the other by {after.labels.timestamp}",
            try_="compare sets of the same labels",
        )
    return found


def _common(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    return {label: kind for label, kind in before.items() if after.get(label) == kind}


def _query(identity: Mapping[str, str], outputs: Mapping[str, str]) -> Query:
    labels = [f"$k{at}" for at in range(len(identity))]
    values = [f"$v{at}" for at in range(len(outputs))]
    step: Select | None = None
    for side in (1, 0):
        columns = (
            *((label, name(column)) for label, column in zip(labels, identity, strict=True)),
            (_SIDE, str(side)),
            *((value, _compared(column, kind)) for value, (column, kind) in zip(values, outputs.items(), strict=True)),
        )
        step = Select(columns=columns, source=_SIDES[side], union=step)
    assert step is not None
    sides = [f"{name(_SIDE)} = {side}" for side in (0, 1)]
    counts = [(f"n{side}", call("count_if", is_side)) for side, is_side in enumerate(sides)]
    kept = [
        (f"{value} {side}", filtered(call("any_value", name(value)), (is_side,)))
        for value in values
        for side, is_side in enumerate(sides)
    ]
    grouped = Select(columns=(*counts, *kept), source="rows", group_by=tuple(map(name, labels)))
    shared = call("least", "n0", "n1")
    totals = [
        ("both", call("sum", shared)),
        ("only_before", call("sum", call("greatest", "n0 - n1", "0L"))),
        ("only_after", call("sum", call("greatest", "n1 - n0", "0L"))),
    ]
    for at, value in enumerate(values):
        differs = f"NOT ({name(f'{value} 0')} <=> {name(f'{value} 1')})"
        totals.append((f"d{at}", call("sum", case((differs, shared), otherwise="0L"))))
    query = Query(steps=(("rows", step), ("by_label_row", grouped)))
    return query.then("totals", Select(columns=tuple(totals), source="by_label_row"))


def _compared(column: str, kind: str) -> Sql:
    return entries(name(column), parse_type(kind))

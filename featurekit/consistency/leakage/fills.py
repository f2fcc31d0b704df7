"""What a table may hold in place of no value: 0, the mean, nothing where a default is declared; and rounded values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.consistency.cells import (
    Cells,
    FieldSpec,
    Flags,
    rounded_to_float32,
    same_values,
    within_ulps,
    zeros_of,
)
from featurekit.consistency.leakage.factors import Verdict
from featurekit.consistency.leakage.table import TableFeature, numbers
from featurekit.consistency.leakage.verdict import chance_of_constant
from featurekit.status import Status
from featurekit.types import Float32, Float64

_MEAN_TOLERANCE: Final = 1e-9  # who fills a mean has computed it in another order of sums
Places = npt.NDArray[np.intp]
Fill = tuple[str, Verdict, Flags, float]


def fills(spec: FieldSpec, whole: TableFeature, all_served: Cells, rows: Places, served: Cells) -> list[Fill]:
    """Return what a table may hold in place of no value or of all its bits: told, and where the two would agree."""
    found = taken(whole, rows)
    same = ~beside(spec, found, served).differs
    is_null = flags(served.values.is_null())
    is_default = served.statuses == Status.DEFAULTED
    has_own = ~is_null & ~is_default
    # A default is in place of no value, so what else stands there may stand in its place.
    open_ = is_null | is_default
    raw = numbers(found.raw)
    made: list[Fill] = []

    def fill(told: str, where: Flags, holds: Flags) -> None:
        made.append((told, Verdict.FILLED, np.where(where, holds, same), chance_of_constant(holds[has_own])))

    fill("0 in place of no value", open_, zeros_of(found.values))
    if spec.default is not None:
        fill("no value in place of the default", is_default, flags(found.raw.is_null()))
    if isinstance(spec.type, Float32 | Float64):
        fill("NaN in place of no value", open_, np.isnan(numbers(found.values)) & flags(found.values.is_valid()))
    own = flags(all_served.values.is_valid()) & (all_served.statuses != Status.DEFAULTED)
    known = numbers(whole.raw)[own]
    known = known[np.isfinite(known)]
    if len(known):
        for told, value in (("the mean", float(known.mean())), ("the median", float(np.median(known)))):
            near = np.abs(raw - value) <= _MEAN_TOLERANCE * abs(value)
            fill(f"{told} of the table's other values in place of no value", open_, near)
    if isinstance(spec.type, Float64):
        rounded = same_values(found.values, rounded_to_float32(served.values), spec.type)
        made.append(("rounded to float32", Verdict.OTHER, rounded | (same & is_null), 0.0))
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class CellsBeside:
    """One feature's cells beside those of serving."""

    equal: Flags
    near: Flags

    @property
    def differs(self) -> Flags:
        differs: Flags = ~(self.equal | self.near)
        return differs


def beside(spec: FieldSpec, found: TableFeature, served: Cells) -> CellsBeside:
    """Return where the table has what serving has: the same value, or none on both sides."""
    neither = flags(pc.and_(found.values.is_null(), served.values.is_null()))
    equal: Flags = (same_values(found.values, served.values, spec.type) | neither) & ~found.is_foreign
    near: Flags = within_ulps(found.values, served.values, spec.type, spec.ulps) & ~equal & ~found.is_foreign
    return CellsBeside(equal=equal, near=near)


def taken(found: TableFeature, rows: Places) -> TableFeature:
    places = pa.array(rows)
    return TableFeature(values=found.values.take(places), is_foreign=found.is_foreign[rows], raw=found.raw.take(places))


def cells_at(cells: Cells, rows: Places) -> Cells:
    return Cells(values=cells.values.take(pa.array(rows)), statuses=cells.statuses[rows])


def flags(values: pa.Array) -> Flags:
    """Return an Arrow array of booleans without nulls as NumPy's."""
    return np.asarray(values.to_numpy(zero_copy_only=False), np.bool_)

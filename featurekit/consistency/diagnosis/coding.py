"""Cells as whole numbers: what compares as the same answer is the same number, so that many worlds are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.consistency.cells import Cells, FieldSpec, Flags, float_bits
from featurekit.consistency.diagnosis.cell_values import as_doubles, is_temporal, present
from featurekit.online.nested_arrow import value_bytes
from featurekit.status import Status
from featurekit.types import Float32, Float64, is_integer, is_nested, is_numeric

Numbers = npt.NDArray[np.int64]

OTHER: Final = -1
"""A value that neither side has: it equals nothing."""
_STATES: Final = 8
_NEAR: Final = {Float64(): 2e-13, Float32(): 5e-7}
"""How far apart two floats may be that come of the same computation in another order, in parts of their size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding:
    """One field's answers as numbers: `served` and `honest` (recomputed), and the cells they were made of.

    Where the two agree by the declared rule, both have the same number. `noise` is where they differ by no more than
    the order of adding up makes; `surprise` are the bits that each served value is worth by itself, between 1 and 24:
    a round number is easily met, a long one is not.
    """

    spec: FieldSpec
    served_cells: Cells
    honest_cells: Cells
    agrees: Flags
    values: pa.Array
    served: Numbers
    honest: Numbers
    noise: Flags
    surprise: npt.NDArray[np.float64]

    def codes(self, cells: Cells, *, near: bool = True) -> Numbers:
        """Return the numbers of a world's cells, in the order of the rows; OTHER for what neither side has.

        With `near`, a float that comes as close as another order of adding up does is taken for the served one, or
        the honest one.
        """
        found = _codes(cells, self.spec, self.values)
        if not near or self.spec.type not in _NEAR:
            return found
        own = present(cells)
        as_served = own & present(self.served_cells) & close(cells, self.served_cells, self.spec) & ~self.noise
        as_honest = own & present(self.honest_cells) & close(cells, self.honest_cells, self.spec) & ~as_served
        found = np.where(as_honest & (found != self.served), self.honest, found)
        return np.where(as_served, self.served, found)

    def closer(self, cells: Cells, rows: Numbers) -> float:
        """Return the share of some rows in which a number is nearer to the served one than the honest one is."""
        kind = self.spec.type
        if not (is_numeric(kind) or is_temporal(kind)):
            return 0.0
        served, honest, other = (
            as_doubles(each.values, kind)[rows] for each in (self.served_cells, self.honest_cells, cells)
        )
        with np.errstate(invalid="ignore"):
            return float((np.abs(other - served) < np.abs(honest - served)).mean())

    def tiled(self, rows: Numbers, times: int) -> Coding:
        """Return the coding of some rows, repeated: for several worlds of these rows after one another."""
        at = np.tile(rows, times)
        chosen = pa.array(at)

        def taken(cells: Cells) -> Cells:
            return Cells(values=cells.values.take(chosen), statuses=cells.statuses[at])

        return replace(
            self,
            served_cells=taken(self.served_cells),
            honest_cells=taken(self.honest_cells),
            agrees=self.agrees[at],
            served=self.served[at],
            honest=self.honest[at],
            noise=self.noise[at],
            surprise=self.surprise[at],
        )


def coded(spec: FieldSpec, served: Cells, honest: Cells, agrees: Flags) -> Coding:
    """Return a field's two sides as numbers."""
    keys = pa.concat_arrays([_keys(served, spec), _keys(honest, spec)])
    values = keys.unique().drop_null()
    numbers = _codes(honest, spec, values)
    return Coding(
        spec=spec,
        served_cells=served,
        honest_cells=honest,
        agrees=agrees,
        values=values,
        served=np.where(agrees, numbers, _codes(served, spec, values)),
        honest=numbers,
        noise=present(served) & present(honest) & ~agrees & close(served, honest, spec),
        surprise=_surprise(served, spec),
    )


def close(left: Cells, right: Cells, spec: FieldSpec) -> Flags:
    """Return where two floats are as near as two orders of the same sum come; nowhere for other types."""
    limit = _NEAR.get(spec.type)
    if limit is None:
        return np.zeros(len(left.statuses), np.bool_)
    one, other = as_doubles(left.values, spec.type), as_doubles(right.values, spec.type)
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(one) & np.isfinite(other)
        near: Flags = finite & (np.abs(one - other) <= limit * np.maximum(np.abs(one), np.abs(other)))
    nonzero: Flags = near & ~((one == 0) & (other == 0))  # the sign of zero is no noise
    return nonzero


def _surprise(cells: Cells, spec: FieldSpec) -> npt.NDArray[np.float64]:
    if spec.type in _NEAR:
        return _float_bits(as_doubles(cells.values, spec.type), present(cells))
    if is_integer(spec.type) or is_temporal(spec.type) or pa.types.is_decimal(cells.values.type):
        sizes = np.abs(as_doubles(cells.values, spec.type))
        if is_temporal(spec.type):
            whole = np.isfinite(sizes) & (sizes % 3_600_000_000 == 0)
            sizes = np.where(whole, sizes / 3_600_000_000 % 65_536, sizes)
        return _bounded(np.log2(1 + np.nan_to_num(sizes)) + 2, present(cells))
    if pa.types.is_boolean(cells.values.type):
        return np.ones(len(cells.statuses))
    sizes = pc.binary_length(_keys(cells, spec)).fill_null(0).to_numpy(zero_copy_only=False)
    return _bounded(3.0 * sizes + 2, present(cells))


def _float_bits(numbers: npt.NDArray[np.float64], own: Flags) -> npt.NDArray[np.float64]:
    mantissas, _ = np.frexp(np.where(np.isfinite(numbers), numbers, 0))
    whole = (np.abs(mantissas) * 2.0**53).astype(np.int64)
    lowest = whole & -whole
    used = 53 - np.log2(np.maximum(lowest, 1))
    bits = np.minimum(np.where(whole == 0, 2, used + 2), 3.3 * _digits(numbers) + 2)
    return _bounded(np.where(np.isfinite(numbers), bits, 10), own)


def _digits(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return how many decimal digits write each number, 7 for more than six: 1.1 is round, whatever its bits are."""
    sizes = np.abs(np.where(np.isfinite(numbers) & (numbers != 0), numbers, 1.0))
    leading = sizes / 10.0 ** np.floor(np.log10(sizes))
    found = np.full(len(numbers), 7.0)
    for digits in range(6, 0, -1):
        found[np.abs(np.round(leading, digits - 1) - leading) <= 1e-14 * leading] = digits
    return found


def _bounded(bits: npt.NDArray[np.float64], own: Flags) -> npt.NDArray[np.float64]:
    return np.where(own, np.clip(bits, 1, 24), 2)


def _codes(cells: Cells, spec: FieldSpec, values: pa.Array) -> Numbers:
    places = pc.index_in(_keys(cells, spec), value_set=values)
    at = np.asarray(pc.fill_null(places, -1).to_numpy(zero_copy_only=False), np.int64)
    statuses = cells.statuses.astype(np.int64)
    has_value = (statuses == Status.PRESENT) | (statuses == Status.DEFAULTED)
    known = np.where(at >= 0, at * _STATES + statuses, OTHER)
    # A default is a value with a reason; NULL, MISSING and EXPIRED are answers by themselves.
    return np.where(has_value, known, -2 - statuses)


def _keys(cells: Cells, spec: FieldSpec) -> pa.Array:
    """Return values in a form in which equal means the same value."""
    if isinstance(spec.type, Float32 | Float64):
        bits = float_bits(cells.values, spec.type)
        return pa.array(bits.astype(np.uint64), mask=cells.values.is_null().to_numpy(zero_copy_only=False))
    return value_bytes(cells.values, spec.type) if is_nested(spec.type) else cells.values

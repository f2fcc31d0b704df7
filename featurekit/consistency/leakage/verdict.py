"""Which of the ways that were tried explains a feature's values. Pure: counts in, a verdict out.

A factor explains only if it turns the cells that differ and leaves those that match matching. How many it turns by
chance alone is estimated from the two columns' own values and taken off: with a feature that is nearly always 0, what
is 0 elsewhere explains nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from featurekit.consistency.cells import Flags, float_bits
from featurekit.consistency.leakage.factors import Verdict
from featurekit.online.nested_arrow import value_bytes
from featurekit.types import DataType, Float32, Float64, is_nested

ENOUGH = 0.9
"""The share of differing cells that a verdict has to explain, chance taken off."""
_TRYING = 0.5  # from here on a factor is worth a word in the report
_KEPT = 0.999


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How a factor did on one feature.

    `turned` of `differing` cells it explains, `kept` of `matching` ones it leaves as they are; `chance` is the share of
    the differing cells that it would turn if its values went to any rows.
    """

    told: str
    verdict: Verdict
    turned: int
    differing: int
    kept: int
    matching: int
    chance: float

    @property
    def share(self) -> float:
        return self.turned / self.differing if self.differing else 0.0

    @property
    def beyond_chance(self) -> float:
        return (self.share - self.chance) / (1 - self.chance) if self.chance < 1 else 0.0

    @property
    def leaves_the_rest(self) -> bool:
        return self.kept >= _KEPT * self.matching


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict on a feature that differs, the trial it rests on, and what explains the same cells as well."""

    verdict: Verdict
    best: int | None
    also: tuple[str, ...] = ()


def judge(trials: Sequence[Trial]) -> Judgement:
    """Return what explains a feature's differing cells."""
    fitting = [place for place, trial in enumerate(trials) if trial.leaves_the_rest and trial.share >= _TRYING]
    if not fitting:
        return Judgement(verdict=Verdict.OTHER, best=None)
    most = max(trials[place].turned for place in fitting)
    best, *others = [place for place in fitting if trials[place].turned == most]
    also = tuple(trials[place].told for place in others)
    if trials[best].share < ENOUGH:
        return Judgement(verdict=Verdict.OTHER, best=best, also=also)
    kinds = {trials[place].verdict for place in (best, *others)}
    is_certain = len(kinds) == 1 and max(trials[place].beyond_chance for place in (best, *others)) >= ENOUGH
    return Judgement(verdict=trials[best].verdict if is_certain else Verdict.AMBIGUOUS, best=best, also=also)


def chance_of(table: pa.Array, factor: pa.Array, kind: DataType) -> float:
    """Return how often a value of one column is one of the other's, each drawn by itself.

    >>> from featurekit.types import Int64
    >>> chance_of(pa.array([0, 0, 0, 1]), pa.array([0, 0]), Int64())
    0.75
    """
    if not len(table) or not len(factor):
        return 0.0
    both = pa.concat_arrays([_comparable(table, kind), _comparable(factor, kind)]).dictionary_encode("encode")
    codes: npt.NDArray[np.int64] = both.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    size = int(codes.max()) + 1
    left, right = np.bincount(codes[: len(table)], minlength=size), np.bincount(codes[len(table) :], minlength=size)
    return float((left / len(table)) @ (right / len(factor)))


def chance_of_constant(matches: Flags) -> float:
    """Return how often a value that stands for none is there anyway, among cells that have a value."""
    return float(matches.mean()) if len(matches) else 0.0


def _comparable(values: pa.Array, kind: DataType) -> pa.Array:
    """Return values as something equal where they are the same value, bit for bit."""
    if isinstance(kind, Float32 | Float64):
        bits = float_bits(values, kind).astype(np.uint64)
        return pa.array(bits, mask=np.asarray(values.is_null()))
    if is_nested(kind):
        texts = value_bytes(values, kind)
        return pa.array(texts.to_pylist(), pa.binary(), mask=np.asarray(values.is_null()))
    return values

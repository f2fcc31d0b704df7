"""Two faults on the same cells: a world's values turned by what turns cells, where neither explains them alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from featurekit.consistency.cells import Cells
from featurekit.consistency.diagnosis.choose import Candidate
from featurekit.consistency.diagnosis.coding import Coding, Numbers
from featurekit.consistency.diagnosis.factors import Factor

_SCREENED: Final = 48
_SHARE: Final = 0.4
_MOST_WORLDS: Final = 60

World = tuple[Factor, Cells]


def value_pairs(
    coding: Coding, asked: Numbers, worlds: Sequence[World], turns: Sequence[Factor]
) -> Iterator[Candidate]:
    """Yield each world with each turn on top that gives some of the served values, turns also on top of turns."""
    sample = asked[np.linspace(0, len(asked) - 1, min(len(asked), _SCREENED)).astype(np.int64)]
    bases = _distinct(coding, [*worlds, *_turned(coding, turns)], sample)
    if not bases:
        return
    stacked = _stacked([cells for _, cells in bases], sample)
    screen = coding.tiled(sample, len(bases))
    for turn in turns:
        assert turn.cells is not None
        made = turn.cells(stacked, coding.spec)
        if made is None:
            continue
        hits = (screen.codes(made) == screen.served).reshape(len(bases), len(sample))
        for at in np.flatnonzero(hits.mean(axis=1) >= _SHARE):
            factor, cells = bases[at]
            both = turn.cells(cells, coding.spec)
            if both is not None and factor is not turn:
                yield Candidate(factors=(factor, turn), codes=coding.codes(both))


def _turned(coding: Coding, turns: Sequence[Factor]) -> Iterator[World]:
    for turn in turns:
        if turn.cells is not None and (cells := turn.cells(coding.honest_cells, coding.spec)) is not None:
            yield turn, cells


def _distinct(coding: Coding, worlds: Sequence[World], sample: Numbers) -> list[World]:
    """Return the worlds that differ from the honest one and from each other in the cells that are looked at."""
    found: dict[bytes, World] = {}
    honest = _signature(coding.honest_cells, sample)
    for factor, cells in sorted(worlds, key=lambda world: world[0].cost):
        signature = _signature(cells, sample)
        if signature != honest:
            found.setdefault(signature, (factor, cells))
    return list(found.values())[:_MOST_WORLDS]


def _signature(cells: Cells, sample: Numbers) -> bytes:
    values = cells.values.take(pa.array(sample))
    return b"".join(memoryview(part) for part in values.buffers() if part) + cells.statuses[sample].tobytes()


def _stacked(parts: Sequence[Cells], sample: Numbers) -> Cells:
    chosen = pa.array(sample)
    return Cells(
        values=pa.concat_arrays([cells.values.take(chosen) for cells in parts]),
        statuses=np.concatenate([cells.statuses[sample] for cells in parts]),
    )

"""Whose row it is: rows of other entities, found among those of the sample, and keys that were spelled otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final
from unicodedata import normalize

import numpy as np

from featurekit.consistency.cells import Answers, Flags
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.coding import OTHER, Coding, Numbers
from featurekit.consistency.diagnosis.factors import Entities, Factor

_FEWEST: Final = 2


def key_factors(entities: Entities) -> Iterator[Factor]:
    """Yield the ways to ask for the row of another spelling of the key; only those that change some key."""
    for cause, told, change in (
        (Cause.KEY_TRIMMED, "without its blanks", str.strip),
        (Cause.KEY_LOWER_CASED, "in lower case", str.lower),
        (Cause.KEY_UPPER_CASED, "in upper case", str.upper),
        (Cause.KEY_NORMALISED, "in Unicode's form NFC", lambda text: normalize("NFC", text)),
    ):
        yield from _respelled(entities, cause, told, str, change)
    yield from _respelled(entities, Cause.KEY_INT32, "cut to its low 32 bits", int, _low_bits)


def _respelled(
    entities: Entities, cause: Cause, told: str, kind: type, change: Callable[[Any], Any]
) -> Iterator[Factor]:
    def turn(asked: Entities) -> Entities | None:
        changed = [tuple(change(part) if type(part) is kind else part for part in entity) for entity in asked]
        return None if changed == list(asked) else changed

    if turn(entities) is not None:
        told = f"The row is that of the key {told}."
        yield Factor(cause=cause, told=told, entities=turn, conditional=True)


def _low_bits(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def other_rows(codings: list[Coding], recomputed: Answers, asked: Flags) -> Iterator[tuple[Factor, Answers]]:
    """Yield worlds in which rows are those of other sampled entities, as the served rows suggest.

    `codings` are the view's fields, in which a row is told from others; `asked` the rows that differ.
    """
    honest, served = _rows(codings, [c.honest for c in codings]), _rows(codings, [c.served for c in codings])
    owners = Counter(honest[recomputed.found].tolist())
    place = {row: at for at, row in enumerate(honest.tolist()) if owners[row] == 1}
    taken = np.array([place.get(row, OTHER) for row in served.tolist()], np.int64)
    taken = np.where(asked, taken, OTHER)
    hits = np.flatnonzero(taken >= 0)
    if len(hits) < _FEWEST:
        return
    own = np.arange(len(taken))
    target, count = Counter(taken[hits].tolist()).most_common(1)[0]
    if count >= max(3, len(hits) / 2):
        told = "The rows of many entities are that of a single one."
        yield Factor(cause=Cause.ONE_ROW_FOR_ALL, told=told), recomputed.take(np.full(len(own), target))
        return
    steps = Counter((taken[hits] - hits).tolist())
    step, count = steps.most_common(1)[0]
    if step and count >= max(3, 0.9 * len(hits)):
        told = f"The row is that of the entity {abs(step)} place{'' if abs(step) == 1 else 's'} away."
        yield Factor(cause=Cause.NEXT_ENTITY, told=told), recomputed.take(np.clip(own + step, 0, len(own) - 1))
    told = "The row is that of another entity."
    where = np.where(taken >= 0, taken, own)
    yield Factor(cause=Cause.OTHER_ENTITY, told=told, extra=1, fitted=True), recomputed.take(where)


def _rows(codings: list[Coding], columns: list[Numbers]) -> Numbers:
    """Return a number for each row, the same for rows with the same answers in all fields."""
    numbers = np.zeros(len(columns[0]), np.int64)
    for coding, column in zip(codings, columns, strict=True):
        both = np.unique(np.concatenate([coding.served, coding.honest]), return_inverse=False)
        numbers = numbers * np.int64(1_000_003) + np.searchsorted(both, column) * np.int64(2_654_435_761)
    return numbers

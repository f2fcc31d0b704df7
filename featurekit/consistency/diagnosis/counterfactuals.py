"""The worlds of one view: its source rows fetched once, and the answers with one factor changed, or two.

Nothing is read before a world is asked for, so a check that finds nothing costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np

from featurekit.compiled import CompiledView
from featurekit.consistency.cells import Answers, FieldSpec, Flags
from featurekit.consistency.compare import compare_fields
from featurekit.consistency.diagnosis.changes import answers_with, changes_of
from featurekit.consistency.diagnosis.evidence import evidence_rows
from featurekit.consistency.diagnosis.factors import Entities, Factor, Instants
from featurekit.consistency.diagnosis.key_factors import key_factors
from featurekit.consistency.diagnosis.source_rows import SourceRows, fetch_rows
from featurekit.consistency.diagnosis.worlds import Recomputation
from featurekit.offline.as_of import Span
from featurekit.offline.engine import BatchEngine

MOST_PAIRS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What would have been answered, had one thing been otherwise; two where two were."""

    factors: tuple[Factor, ...]
    answers: Answers


class Counterfactuals:
    """Makes worlds of one view for sampled entities, each row as of an instant of its own.

    `asked_at` is when each row was asked for, where that is known; `previous` are earlier definitions of the view.
    """

    def __init__(
        self,
        engine: BatchEngine,
        view: CompiledView,
        fields: Sequence[FieldSpec],
        entities: Entities,
        as_ofs: Instants,
        *,
        asked_at: Instants | None = None,
        previous: Sequence[CompiledView] = (),
    ) -> None:
        self._engine = engine
        self._view = view
        self._fields = tuple(fields)
        self._entities = entities
        self._as_ofs = as_ofs
        self._asked_at = asked_at
        self._previous = previous
        self._pairs: dict[frozenset[str], World | None] = {}
        self._kept: frozenset[str] = frozenset()
        self._recomputed: Answers | None = None

    def worlds(self, recomputed: Answers) -> Iterator[World]:
        """Yield the worlds of one factor each, with those fields that this process computes as Spark does.

        Fields that agree are there too: they speak against what would have changed them. None are yielded where rows
        are not found alike. Of entities whose source rows are not all at hand nothing is otherwise: no world explains
        their cells, and none is spoken against by them.
        """
        self._recomputed = recomputed
        base = self._only_whole(self._computed.base)
        if (base.found != recomputed.found).any():
            return
        compared = compare_fields(self._fields, base, recomputed)
        self._kept = frozenset(name for name, found in compared.items() if not found.differs.any())
        changes = changes_of(self._computed, asked_at=self._asked_at, previous=self._previous)
        for factor in (*changes, *key_factors(self._entities)):
            if (world := self._world((factor,))) is not None:
                yield world

    def pairs(self, factors: Sequence[Factor]) -> Iterator[World]:
        """Yield worlds of two of these factors each, MOST_PAIRS in all over the calls; each is computed once."""
        for two in combinations(sorted(factors, key=lambda factor: factor.cause.layer), 2):
            told = frozenset(factor.told for factor in two)
            if two[0].cause is not two[1].cause and told not in self._pairs and len(self._pairs) < MOST_PAIRS:
                self._pairs[told] = self._world(two)
            if (world := self._pairs.get(told)) is not None:
                yield world

    def source_rows(self, factors: Sequence[Factor], position: int, field: str) -> tuple[str, ...]:
        """Return the source rows that these factors bring or take, or that a cell is made of, as people read them."""
        if field not in self._kept or not self._whole[position]:
            return ()
        return evidence_rows(self._computed, [factor for factor in factors if factor.cells is None], position, field)

    @cached_property
    def rows(self) -> SourceRows:
        """The source rows of the entities, and those near them."""
        instants = self._as_ofs if self._asked_at is None else np.concatenate([self._as_ofs, self._asked_at])
        span = Span(int(instants.min()), int(instants.max()))
        return fetch_rows(self._engine, self._view, list(dict.fromkeys(self._entities)), span)

    @cached_property
    def _computed(self) -> Recomputation:
        return Recomputation(self._view, self._fields, self.rows, self._entities, self._as_ofs)

    @cached_property
    def _whole(self) -> Flags:
        """Which rows are of entities whose source rows are all at hand."""
        entities = dict(zip(dict.fromkeys(self._entities), self.rows.whole.tolist(), strict=True))
        return np.array([entities[entity] for entity in self._entities], np.bool_)

    def _only_whole(self, answers: Answers) -> Answers:
        if self._whole.all() or self._recomputed is None:
            return answers
        return answers.where(self._whole, self._recomputed)

    def _world(self, factors: tuple[Factor, ...]) -> World | None:
        answers = answers_with(self._computed, factors)
        if answers is None:
            return None
        answers = self._only_whole(answers)
        touched = self._kept
        if len(factors) == 1 and factors[0].fields is not None:
            touched &= factors[0].fields
        fields = {name: cells for name, cells in answers.fields.items() if name in touched}
        return World(factors=factors, answers=Answers(found=answers.found, fields=fields))

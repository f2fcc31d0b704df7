"""The questions that `choose` is asked about one view: each field with its worlds, and whether there is a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from featurekit.consistency.cells import Cells, FieldSpec, Flags
from featurekit.consistency.compare import Verdict
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.chance import Chance
from featurekit.consistency.diagnosis.choose import Candidate, FieldCase, Support, supports
from featurekit.consistency.diagnosis.coding import OTHER, Coding, Numbers, coded
from featurekit.consistency.diagnosis.compared import Compared
from featurekit.consistency.diagnosis.counterfactuals import World
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.found_factors import found_factors
from featurekit.consistency.diagnosis.null_factors import fills
from featurekit.consistency.diagnosis.pairs import value_pairs
from featurekit.consistency.diagnosis.value_factors import value_factors
from featurekit.status import Status
from featurekit.types import Boolean

PRESENCE: Final = FieldSpec(name="", type=Boolean(), is_latest=False, default=None, empty=None)
"""Whether there is a row, as if it were a field."""


_MOST_SUPPORT: Final = 20.0
_PROMISING: Final = 8
_SWAPPED: Final = 0.9
WorldPairs = Callable[[Sequence[Factor]], Iterator[World]]
"""Makes worlds of two factors each."""


def field_codings(compared: Compared) -> dict[str, Coding]:
    """Return each field's two sides as numbers."""
    return {
        spec.name: coded(
            spec,
            compared.served.fields[spec.name],
            compared.recomputed.fields[spec.name],
            compared.comparisons[spec.name].verdicts <= Verdict.WITHIN_TOLERANCE,
        )
        for spec in compared.fields
    }


def field_cases(
    compared: Compared, codings: Mapping[str, Coding], settled: Flags, worlds: Sequence[World], pairs: WorldPairs
) -> dict[str, FieldCase]:
    """Return a case for each field in which a row without a cause of its own differs."""
    cases: dict[str, FieldCase] = {}
    seen = _Seen(codings, compared.served.found, worlds)
    for name, coding in codings.items():
        comparison = compared.comparisons[name]
        open_ = comparison.differs & ~settled
        if open_.any():
            undecided = np.isin(comparison.verdicts, (Verdict.INDETERMINATE, Verdict.UNAVAILABLE))
            chance = Chance(coding=coding, differs=open_, settled=settled | undecided)
            cases[name] = _case(chance, compared, seen, pairs)
    return _with_support(cases)


def presence_case(compared: Compared, open_: Flags, settled: Flags, worlds: Sequence[World]) -> FieldCase:
    """Return the case of rows that one side lacks."""
    served, honest = compared.served.found, compared.recomputed.found
    coding = coded(PRESENCE, _flag_cells(served), _flag_cells(honest), served == honest)
    candidates = [
        Candidate(factors=world.factors, codes=coding.codes(_flag_cells(world.answers.found))) for world in worlds
    ]
    return FieldCase(chance=Chance(coding=coding, differs=open_, settled=settled), candidates=candidates)


def supported(case: FieldCase, others: Sequence[Support]) -> FieldCase:
    """Return a case that knows what other fields say for each world."""
    total: dict[tuple[str, ...], float] = {}
    for other in others:
        for told, bits in other.items():
            total[told] = total.get(told, 0.0) + bits
    return replace(case, support={told: min(bits, _MOST_SUPPORT) for told, bits in total.items()})


def _with_support(cases: Mapping[str, FieldCase]) -> dict[str, FieldCase]:
    found = {name: supports(case.chance, case.candidates) for name, case in cases.items()}
    return {
        name: supported(case, [bits for other, bits in found.items() if other != name]) for name, case in cases.items()
    }


class _Seen:
    """Worlds as numbers, field by field, each made when it is asked for."""

    def __init__(self, codings: Mapping[str, Coding], served_found: Flags, worlds: Sequence[World]) -> None:
        self.worlds = worlds
        self._codings, self._served_found = codings, served_found
        self._codes: dict[tuple[int, str], Numbers] = {}

    def candidate(self, world: World, name: str) -> Candidate:
        return Candidate(
            factors=world.factors, codes=self._of(world, name), refuted=lambda rows: self._refuted(world, name, rows)
        )

    def _of(self, world: World, name: str) -> Numbers:
        """Return a world's numbers; where it has no row and the served side has one, or the other way, neither's."""
        key = id(world), name
        if key not in self._codes:
            codes = self._codings[name].codes(world.answers.fields[name])
            self._codes[key] = np.where(world.answers.found == self._served_found, codes, OTHER)
        return self._codes[key]

    def _refuted(self, world: World, name: str, rows: Numbers) -> float:
        changed = kept = 0
        for other in world.answers.fields.keys() - {name}:
            coding = self._codings[other]
            changes = self._of(world, other)[rows] != coding.honest[rows]
            changed += int(changes.sum())
            kept += int((changes & coding.agrees[rows]).sum())
        return kept / changed if changed else 0.0


def _case(chance: Chance, compared: Compared, seen: _Seen, pairs: WorldPairs) -> FieldCase:
    coding = chance.coding
    name = coding.spec.name
    turns = value_factors(coding.spec)

    def turned(factors: Iterator[Factor] | Sequence[Factor]) -> Iterator[Candidate]:
        for factor in factors:
            made = factor.cells(coding.honest_cells, coding.spec) if factor.cells is not None else None
            if made is not None:
                yield Candidate(factors=(factor,), codes=coding.codes(made))

    singles = [world for world in seen.worlds if name in world.answers.fields]

    def paired(asked: Numbers) -> Iterator[Candidate]:
        bases = [(world.factors[0], world.answers.fields[name]) for world in singles]
        yield from value_pairs(coding, asked, bases, turns)
        for world in pairs(_promising(coding, asked, singles, name)):
            if name in world.answers.fields:
                yield seen.candidate(world, name)

    candidates = [seen.candidate(world, name) for world in singles]
    candidates += [
        *turned(turns),
        *turned(_refilled(singles, name, coding.spec)),
        *_other_fields(chance, compared),
    ]
    return FieldCase(
        chance=chance, candidates=candidates, found=lambda asked: turned(found_factors(coding, asked)), pairs=paired
    )


def _promising(coding: Coding, asked: Numbers, worlds: Sequence[World], name: str) -> list[Factor]:
    """Return the factors that come nearest to the served values: what turns most of them, or brings them closer."""
    found = []
    for world in worlds:
        cells = world.answers.fields[name]
        hits = float((coding.codes(cells)[asked] == coding.served[asked]).mean())
        found.append((hits + coding.closer(cells, asked) / 2, world.factors[0]))
    found.sort(key=lambda each: -each[0])
    return [factor for share, factor in found[:_PROMISING] if share > 0]


def _refilled(worlds: Sequence[World], name: str, spec: FieldSpec) -> Iterator[Factor]:
    """Yield what NULLs are filled with in place of what the definition's own coalesce has for them."""
    for world in worlds:
        if len(world.factors) == 1 and world.factors[0].cause is Cause.COALESCE_DROPPED:
            without = world.answers.fields[name]
            for one in fills(spec):
                assert one.cells is not None
                made = one.cells(without, spec)
                yield replace(one, cells=_always(made), extra=1)


def _always(made: Cells | None) -> Callable[[Cells, FieldSpec], Cells | None]:
    return lambda _cells, _spec: made


def _other_fields(chance: Chance, compared: Compared) -> Iterator[Candidate]:
    """Yield the other fields of the type: the value that is served may be theirs, and theirs this one's."""
    coding, asked = chance.coding, chance.differs
    name = coding.spec.name
    for other in compared.fields:
        if other.name == name or other.type != coding.spec.type:
            continue
        theirs = coding.codes(compared.served.fields[other.name])
        swapped = compared.comparisons[other.name].differs.any() and (theirs == coding.honest)[asked].mean() > _SWAPPED
        told = f"The served value is that of the field {other.name}."
        if swapped:
            told = f"The fields {' and '.join(sorted((name, other.name)))} hold each other's values."
        factor = Factor(cause=Cause.ANOTHER_FIELD, told=told, extra=-3 if swapped else 0)
        yield Candidate(factors=(factor,), codes=coding.codes(compared.recomputed.fields[other.name]))


def _flag_cells(flags: Flags) -> Cells:
    return Cells(values=pa.array(flags), statuses=np.full(len(flags), np.uint8(Status.PRESENT)))

"""Differing cells -> causes. A row's label is asked first, then whether there is a row, then its cells, field by field.

The cells of a field are explained by counterfactual worlds: the training path with one factor changed (from the source
rows on, where those are at hand), and what turns one cell into another. `choose` says which of them it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from featurekit.consistency.cells import FieldSpec
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.choose import Choice, choose, supports, weights_of
from featurekit.consistency.diagnosis.coding import Numbers
from featurekit.consistency.diagnosis.compared import Compared
from featurekit.consistency.diagnosis.counterfactuals import Counterfactuals, World
from featurekit.consistency.diagnosis.factors import Factor
from featurekit.consistency.diagnosis.field_cases import field_cases, field_codings, presence_case, supported
from featurekit.consistency.diagnosis.findings import EVIDENCE_ROWS, Evidence, Finding, by_weight
from featurekit.consistency.diagnosis.key_factors import other_rows
from featurekit.consistency.diagnosis.remedies import REMEDIES
from featurekit.consistency.diagnosis.row_causes import row_causes, row_finding
from featurekit.consistency.show import show_cell

UNEXPLAINED = "Nothing that was tried explains the served value."


def diagnose(
    compared: Compared, counterfactuals: Counterfactuals | None = None, worlds: Iterable[World] = ()
) -> tuple[Finding, ...]:
    """Return what differs and why, what matters most first; empty where everything agrees.

    `counterfactuals` make the worlds in which one thing was otherwise, for the same rows; `worlds` are more of them.
    They are asked for only where something differs that the stored row does not say itself.
    """
    labels = row_causes(compared)
    settled = np.array([cause is not None for cause in labels], np.bool_)
    absent = np.array([cause in (Cause.MISSING_ROW, Cause.EXTRA_ROW) for cause in labels], np.bool_)
    differs = np.logical_or.reduce([each.differs for each in compared.comparisons.values()]) & ~settled
    if not (differs | absent).any():
        return by_weight(_row_findings(labels, compared), width=len(compared.fields))
    codings = field_codings(compared)
    known = [*worlds]
    if counterfactuals is not None:
        known += counterfactuals.worlds(compared.recomputed)
    known += [
        World(factors=(factor,), answers=answers)
        for factor, answers in other_rows(list(codings.values()), compared.recomputed, differs)
    ]
    pairs = _no_pairs if counterfactuals is None else counterfactuals.pairs
    cases = field_cases(compared, codings, settled, known, pairs)
    findings: list[Finding] = []
    # Where no row is on both sides, a world without any row says no more than that they are missing.
    if absent.any() and known and (compared.served.found & compared.recomputed.found).any():
        case = presence_case(compared, absent, settled & ~absent, known)
        case = supported(case, [supports(each.chance, each.candidates) for each in cases.values()])
        for choice in choose(case)[0]:
            findings.append(_absence(choice, compared))
            for position in choice.cells:
                labels[position] = None
    findings += _row_findings(labels, compared)
    chosen = {name: choose(case) for name, case in cases.items()}
    weights = weights_of([choice for choices, _ in chosen.values() for choice in choices])
    for name, (found, unknown) in chosen.items():
        case = cases[name]
        spec, choices = case.chance.coding.spec, [choice.weighed(weights) for choice in found]
        total = int(case.chance.differs.sum())
        findings += [_cell_finding(choice, spec, total, compared, counterfactuals) for choice in choices]
        if len(unknown):
            findings.append(_unexplained(unknown, spec, total, compared, counterfactuals))
    return by_weight(findings, width=len(compared.fields))


def _no_pairs(_factors: Sequence[Factor]) -> Iterator[World]:
    return iter(())


def _row_findings(labels: Sequence[Cause | None], compared: Compared) -> list[Finding]:
    return [
        row_finding(cause, [at for at, each in enumerate(labels) if each is cause], compared)
        for cause in Cause
        if cause in labels
    ]


def _absence(choice: Choice, compared: Compared) -> Finding:
    cause = choice.candidate.factors[0].cause
    told = f"There is a row on one side only. {' '.join(choice.candidate.told)}"
    return row_finding(cause, choice.cells.tolist(), compared, told=told, confidence=choice.confidence)


def _cell_finding(
    choice: Choice, spec: FieldSpec, total: int, compared: Compared, worlds: Counterfactuals | None
) -> Finding:
    first, *others = choice.candidate.factors
    return Finding(
        cause=first.cause,
        field=spec.name,
        count=len(choice.cells),
        evidence=_evidence(choice.cells, spec, choice.candidate.factors, compared, worlds),
        share=len(choice.cells) / total,
        confidence=choice.confidence,
        also=tuple(candidate.factors[0].cause for candidate in choice.also),
        together=tuple(factor.cause for factor in others),
        remedy=REMEDIES[first.cause],
    )


def _unexplained(
    cells: Numbers, spec: FieldSpec, total: int, compared: Compared, worlds: Counterfactuals | None
) -> Finding:
    return Finding(
        cause=Cause.UNKNOWN,
        field=spec.name,
        count=len(cells),
        evidence=_evidence(cells, spec, (), compared, worlds),
        share=len(cells) / total,
        confidence=0.0,
        remedy=REMEDIES[Cause.UNKNOWN],
    )


def _evidence(
    cells: Numbers,
    spec: FieldSpec,
    factors: Sequence[Factor],
    compared: Compared,
    worlds: Counterfactuals | None,
) -> tuple[Evidence, ...]:
    told = " Then: ".join(factor.told for factor in factors) or UNEXPLAINED
    return tuple(
        Evidence(
            entity=compared.entities[position],
            field=spec.name,
            served=show_cell(spec, compared.served.fields[spec.name], position),
            recomputed=show_cell(spec, compared.recomputed.fields[spec.name], position),
            explanation=told,
            source_rows=() if worlds is None else worlds.source_rows(factors, position, spec.name),
        )
        for position in cells[:EVIDENCE_ROWS].tolist()
    )

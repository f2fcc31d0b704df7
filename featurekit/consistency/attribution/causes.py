"""Which cause each column's differences are of, by what a replay of the same log found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from featurekit.compiled import CompiledService
from featurekit.consistency.diagnosis.findings import Finding
from featurekit.consistency.replay.report import ServiceReplay
from featurekit.expr.nodes import columns

LATE: Final = "late refresh"
SEVERAL: Final = " + "


def causes_by_column(replayed: ServiceReplay, service: CompiledService) -> dict[str, str]:
    """Return the causes of the outputs that differ, by output; several of one output are named together.

    A stored value without a cause of its own, of a view that was answered late, is late. An on-demand value without one
    has those of its inputs.
    """
    found: dict[str, set[str]] = {}
    for view in replayed.views:
        named = _by_field(view.findings)
        for field in view.fields:
            own = named.get(field.name, named.get(field.name.partition(".")[2], set())) | named.get(None, set())
            late = {LATE} if view.freshness.late_rows else set()
            found.setdefault(field.name, set()).update(own or late)
    for each in replayed.on_demand:
        for name, causes in _by_field(each.findings).items():
            if name is not None:
                found.setdefault(name, set()).update(causes)
    for item in service.on_demand:
        name = f"{item.view}.{item.name}"
        if not found.get(name):
            found[name] = set().union(*(found.get(column.path, set()) for column in columns(item.expression)))
    return {name: SEVERAL.join(sorted(causes)) for name, causes in found.items() if causes}


def _by_field(findings: Iterable[Finding]) -> dict[str | None, set[str]]:
    named: dict[str | None, set[str]] = {}
    for finding in findings:
        named.setdefault(finding.field, set()).add(finding.cause.value)
    return named

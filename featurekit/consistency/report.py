"""The result of a consistency check: a frozen value; as JSON for machines, and as HTML for people."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jinja2

from featurekit.clock import SECOND, Instant, format_duration, format_instant
from featurekit.consistency.compare import Verdict
from featurekit.consistency.view_report import Outcome, ViewReport, counted, headline

REPORT_FORMAT: Final = 1
_TEMPLATE: Final = "report.html.j2"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyReport:
    """What was served beside what training says, for some views at one instant."""

    project: str
    environment: str
    at: Instant
    seed: str
    views: tuple[ViewReport, ...]

    @property
    def passed(self) -> bool:
        """Whether something was compared in every view, and nothing is known to differ."""
        return bool(self.views) and all(view.outcome.passes for view in self.views)

    @property
    def exit_code(self) -> int:
        """0 where the check passed, 1 where it found something."""
        return 0 if self.passed else 1

    @property
    def cells(self) -> int:
        return sum(view.cells for view in self.views)

    @property
    def mismatches(self) -> int:
        """How many cells differ, over all views."""
        return sum(view.differing_cells for view in self.views)

    @property
    def indeterminate(self) -> int:
        """How many cells differ where the source is no longer the one that the refresh read."""
        return sum(view.indeterminate_cells for view in self.views)

    @property
    def compared(self) -> str:
        """One sentence on how much was compared, and how many values differ."""
        if not self.views:
            return "No view was checked."
        entities = sum(view.sampled for view in self.views)
        size = f"{counted(self.cells, 'value')} of {counted(entities, 'row')} in {counted(len(self.views), 'view')}"
        if self.passed and not self.indeterminate:
            return f"Served and recomputed agree: {size} compared, none differs."
        open_ = f", {self.indeterminate:,} indeterminate" if self.indeterminate else ""
        return f"{size[0].upper()}{size[1:]} compared, {_differ(self.mismatches)}{open_}."

    @property
    def summary(self) -> str:
        """One line that says how the check ended: how much was compared, and what each view that failed comes to."""
        wrong = [view for view in self.views if view.outcome is not Outcome.CONSISTENT]
        told = "; ".join(f"{view.view}: {headline(view)}" for view in wrong)
        return f"{self.compared} {told}." if told else self.compared

    def to_json(self) -> str:
        """Return the report as JSON with sorted, stable content; instants are ISO text in UTC."""
        return json.dumps(_report_json(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_html(self) -> str:
        """Return the report as one self-contained page."""
        return _environment().get_template(_TEMPLATE).render(report=self, Outcome=Outcome, Verdict=Verdict)


def _differ(count: int) -> str:
    return "1 differs" if count == 1 else f"{count:,} differ"


def _report_json(report: ConsistencyReport) -> dict[str, Any]:
    return {
        "format": REPORT_FORMAT,
        "project": report.project,
        "environment": report.environment,
        "at": format_instant(report.at),
        "seed": report.seed,
        "passed": report.passed,
        "exit_code": report.exit_code,
        "summary": report.summary,
        "cells": report.cells,
        "mismatches": report.mismatches,
        "indeterminate": report.indeterminate,
        "views": [_view_json(view, report.at) for view in report.views],
    }


def _view_json(view: ViewReport, at: Instant) -> dict[str, Any]:
    return {
        "view": view.view,
        "fingerprint": view.fingerprint,
        "outcome": view.outcome.value,
        "problem": view.problem,
        "source_change": view.source_change,
        "as_of": _instant(view.as_of),
        "age_seconds": None if view.as_of is None else (at - view.as_of) // SECOND,
        "promised_as_of": format_instant(view.promised_as_of),
        "late": view.is_late,
        "entities": {"online": view.online, "offline": view.offline, "sampled": view.sampled, "found": view.found},
        "coverage": view.coverage,
        "fields": [
            {
                "field": field.name,
                "type": field.type,
                "differing": field.differing,
                **{verdict.name.lower(): count for verdict, count in field.counts.items()},
            }
            for field in view.fields
        ],
        "findings": [
            {
                "cause": finding.cause.value,
                "value_mismatch": finding.cause.is_value_mismatch,
                "field": finding.field,
                "count": finding.count,
                "evidence": [
                    {
                        "entity": each.entity,
                        "field": each.field,
                        "served": each.served,
                        "recomputed": each.recomputed,
                        "explanation": each.explanation,
                    }
                    for each in finding.evidence
                ],
            }
            for finding in view.findings
        ],
    }


def _instant(instant: Instant | None) -> str | None:
    return None if instant is None else format_instant(instant)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,  # entity keys and strings come from data, and data can hold anything
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["instant"] = _readable_instant
    environment.filters["duration"] = _readable_duration
    environment.filters["headline"] = headline
    environment.filters["grouped"] = "{:,}".format
    environment.filters["share"] = _share
    return environment


def _readable_instant(instant: Instant) -> str:
    return format_instant(instant).replace("T", " ").replace("Z", " UTC")


def _readable_duration(micros: int) -> str:
    return format_duration(micros - micros % SECOND)


def _share(share: float | None) -> str:
    if share is None:
        return "–"
    # Never rounded to a round 100 %: one row in a million that is missing is a row that is missing.
    return "100 %" if share == 1 else f"{min(100 * share, 99.99):.4g} %"

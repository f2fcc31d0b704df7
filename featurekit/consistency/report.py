"""The result of a consistency check: a frozen value; as JSON for machines, and as HTML for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from featurekit.clock import Instant, format_instant
from featurekit.consistency.described import DescribedView
from featurekit.consistency.page.render import render_page
from featurekit.consistency.report_document import REPORT_FORMAT, view_document
from featurekit.consistency.view_report import Outcome, ViewReport, counted, headline
from featurekit.registry.check_trend import Trend


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyReport:
    """What was served beside what training says, for some views at one instant.

    `run` is its number in the history, None where it is not kept; `trends` are the days before it and `descriptions`
    the definitions of what was checked, both by view. `notes` are what a reader has to know beside the numbers.
    """

    project: str
    environment: str
    at: Instant
    seed: str
    views: tuple[ViewReport, ...]
    run: int | None = None
    descriptions: Mapping[str, DescribedView] = field(default_factory=dict)
    trends: Mapping[str, Trend] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether something was compared in every view, nothing is known to differ, and thresholds are kept."""
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
    def breaches(self) -> int:
        """How many thresholds are not kept, over all views."""
        return sum(len(view.breaches) for view in self.views)

    @property
    def compared(self) -> str:
        """One sentence on how much was compared, and how many values differ."""
        if not self.views:
            return "No view was checked."
        entities = sum(view.sampled for view in self.views)
        size = f"{counted(self.cells, 'value')} of {counted(entities, 'row')} in {counted(len(self.views), 'view')}"
        if self.passed and not self.indeterminate and not self.mismatches:
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
        return json.dumps(self.document(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_html(self) -> str:
        """Return the report as one self-contained page."""
        return render_page(self.document())

    def document(self) -> dict[str, Any]:
        """Return what the JSON says, as docs/schemas/consistency-report.schema.json has it."""
        return {
            "format": REPORT_FORMAT,
            "kind": "store",
            "run": self.run,
            "project": self.project,
            "environment": self.environment,
            "at": format_instant(self.at),
            "seed": self.seed,
            "passed": self.passed,
            "exit_code": self.exit_code,
            "summary": self.summary,
            "compared": self.compared,
            "cells": self.cells,
            "mismatches": self.mismatches,
            "indeterminate": self.indeterminate,
            "breaches": self.breaches,
            "notes": list(self.notes),
            "views": [
                view_document(view, self.at, self.descriptions.get(view.view), self.trends.get(view.view))
                for view in self.views
            ],
        }


def _differ(count: int) -> str:
    return "1 differs" if count == 1 else f"{count:,} differ"

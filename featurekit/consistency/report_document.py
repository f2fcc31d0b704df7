"""A report as the JSON document that docs/schemas describes: for machines, for the history, and for the page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final

from featurekit.clock import SECOND, Instant, format_instant
from featurekit.consistency.described import DescribedField, DescribedView
from featurekit.consistency.diagnosis.findings import Finding
from featurekit.consistency.shares import Share
from featurekit.consistency.view_report import FieldReport, ViewReport, headline
from featurekit.registry.check_trend import FieldDay, Trend, ViewDay

REPORT_FORMAT: Final = 2


def view_document(
    view: ViewReport, at: Instant, described: DescribedView | None, trend: Trend | None
) -> dict[str, Any]:
    """Return one view's part; instants are ISO text in UTC, spans seconds, shares 0 to 1. `at` is the lookups'."""
    return {
        "view": view.view,
        "fingerprint": view.fingerprint,
        "outcome": view.outcome.value,
        "passes": view.outcome.passes,
        "headline": headline(view),
        "problem": view.problem,
        "source_change": view.source_change,
        "as_of": instant(view.as_of),
        "age_seconds": None if view.as_of is None else (at - view.as_of) // SECOND,
        "promised_as_of": format_instant(view.promised_as_of),
        "promised_age_seconds": (at - view.promised_as_of) // SECOND,
        "late": view.is_late,
        "entities": {"online": view.online, "offline": view.offline, "sampled": view.sampled, "found": view.found},
        "coverage": view.coverage,
        "coverage_share": _share(view.covered),
        "strata": [asdict(stratum) for stratum in view.strata],
        "breaches": [asdict(breach) for breach in view.breaches],
        "expectations": [asdict(each) for each in view.expectations],
        "definition": None if described is None else _definition(described),
        "fields": [
            _field(
                field,
                None if described is None else described.field(field.name),
                () if trend is None else trend.of(field.name),
            )
            for field in view.fields
        ],
        "findings": findings_document(view.findings),
        "trend": [] if trend is None else [_view_day(day) for day in trend.days],
    }


def _field(field: FieldReport, described: DescribedField | None, days: Iterable[FieldDay]) -> dict[str, Any]:
    return {
        "field": field.name,
        "type": field.type,
        "differing": field.differing,
        **{verdict.name.lower(): count for verdict, count in field.counts.items()},
        "share": field.share,
        "mismatch_share": _share(field.mismatch),
        "null_share": _share(field.nulls),
        "differences": None if field.differences is None else asdict(field.differences),
        "definition": None if described is None else asdict(described),
        "trend": [_field_day(day) for day in days],
    }


def _share(found: Share | None) -> dict[str, float] | None:
    return None if found is None else asdict(found)


def _definition(described: DescribedView) -> dict[str, Any]:
    # The fields' own definitions are beside their numbers.
    return {name: value for name, value in asdict(described).items() if name not in ("view", "fields")}


def _field_day(day: FieldDay) -> dict[str, Any]:
    return {
        "day": _day(day.start),
        "run": day.run,
        "cells": day.cells,
        "differing": day.differing,
        "share": day.share,
    }


def _view_day(day: ViewDay) -> dict[str, Any]:
    behind = None if day.behind is None else day.behind // SECOND
    return {"day": _day(day.start), "run": day.run, "coverage": day.coverage, "behind_seconds": behind}


def findings_document(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return findings as they stand in every kind of report."""
    return [
        {
            "cause": finding.cause.value,
            "value_mismatch": finding.cause.is_value_mismatch,
            "field": finding.field,
            "count": finding.count,
            "share": finding.share,
            "confidence": finding.confidence,
            "together": [each.value for each in finding.together],
            "also": [each.value for each in finding.also],
            "remedy": finding.remedy,
            "since": instant(finding.since),
            "evidence": [
                {
                    "entity": each.entity,
                    "field": each.field,
                    "served": each.served,
                    "recomputed": each.recomputed,
                    "explanation": each.explanation,
                    "source_rows": list(each.source_rows),
                }
                for each in finding.evidence
            ],
        }
        for finding in findings
    ]


def instant(at: Instant | None) -> str | None:
    """Return an instant as a document has it."""
    return None if at is None else format_instant(at)


def _day(start: Instant) -> str:
    return format_instant(start)[:10]

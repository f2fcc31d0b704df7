"""`dataset audit`: does a training table made elsewhere hold what serving would have had, or what was known later?"""

from __future__ import annotations

from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Block, Cell, Line, Table, Tone, Toned, counted
from featurekit.cli.context import invocation
from featurekit.cli.dataset_options import TIMESTAMP, Format, Timestamp, Timezone, from_here
from featurekit.clock import SECOND, format_duration, format_instant
from featurekit.consistency.leakage.factors import Verdict
from featurekit.consistency.leakage.report import AuditReport, FeatureAudit, LeakEvidence
from featurekit.consistency.leakage.table import MAX_ROWS, AuditSpec
from featurekit.errors import InputError
from featurekit.feature_store import FeatureStore

_SHOWN = 3
_TONES = {Verdict.AS_SERVED: Tone.GOOD, Verdict.LEAKS: Tone.BAD}


def audit(
    context: typer.Context,
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The training table: a Parquet or CSV file, or a folder.")
    ],
    service: Annotated[str, typer.Option("--service", metavar="SERVICE", help="Whose features it holds.")],
    timestamp: Timestamp = TIMESTAMP,
    timezone: Timezone = None,
    format_: Format = None,
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="COLUMN=VIEW.FEATURE", help="The column of a feature that is called otherwise."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="VIEW.FEATURE", help="Some features alone; all without.")
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option("--tolerance", metavar="VIEW.FEATURE=ULPS", help="How many floats apart still is the same."),
    ] = None,
    max_rows: Annotated[
        int, typer.Option("--max-rows", metavar="N", min=1, help="Of more rows about so many are looked at.")
    ] = MAX_ROWS,
) -> Answer:
    """Tell, feature by feature, whether a table made elsewhere holds what serving would have had.

    What differs is held against what was known later, earlier refreshes and filled values, and the table is told by how
    much it was ahead. Exits with 1 where a feature differs.
    """
    columns = {feature: column for column, feature in _pairs("--map", map_)}
    spec = AuditSpec(
        path=from_here(table),
        timestamp=timestamp,
        timezone=timezone,
        format=format_,
        columns=columns,
        only=tuple(only or ()),
        ulps={feature: _ulps(feature, text) for feature, text in _pairs("--tolerance", tolerance)},
        max_rows=max_rows,
    )
    with FeatureStore(invocation(context).settings()) as store:
        return audited(store.audit(service, spec))


def audited(report: AuditReport) -> Answer:
    """Return an audit as an answer."""
    looked = f" of {report.rows:,}" if report.audited < report.rows else ""
    differing = sum(feature.verdict is not Verdict.AS_SERVED for feature in report.features)
    told = "every value is what serving would have had" if report.passed else _differ(differing, len(report.features))
    line = f"{counted(report.audited, 'row')}{looked} of {report.path}: {told}"
    blocks: list[Block] = [Line(line, Tone.GOOD if report.passed else Tone.BAD)]
    rows = tuple(_row(feature) for feature in report.features)
    blocks.append(Table(columns=("feature", "as served", "differ", "verdict", "holds", "known later"), rows=rows))
    blocks += [_evidence(feature) for feature in report.features if feature.evidence]
    return Answer(document=report.to_json(), blocks=tuple(blocks), exit_code=report.exit_code)


def _differ(differing: int, features: int) -> str:
    return f"{differing} of {counted(features, 'feature')} {'is' if differing == 1 else 'are'} not what serving had"


def _row(feature: FeatureAudit) -> tuple[Cell, ...]:
    same = feature.equal + feature.within_tolerance
    tone = _TONES.get(feature.verdict, Tone.WARNING)
    later = feature.later
    return (
        feature.name,
        f"{same / feature.rows:.1%}" if feature.differing else "100 %",
        f"{feature.differing:,}",
        Toned(feature.verdict.value, tone),
        feature.cause or "",
        "" if later is None else f"{_span(later.median)} ({_span(later.least)} to {_span(later.most)})",
    )


def _evidence(feature: FeatureAudit) -> Table:
    rows = tuple(
        (each.entity, format_instant(each.at), each.table, each.served, _source_rows(each))
        for each in feature.evidence[:_SHOWN]
    )
    columns = ("entity", "asked", "table", "serving", "rows that serving had not")
    return Table(columns=columns, rows=rows, title=feature.name)


def _source_rows(each: LeakEvidence) -> str:
    if not each.rows:
        return ""
    event, landed = each.rows[0]
    more = f" and {each.hidden - 1:,} more" if each.hidden > 1 else ""
    return f"{format_instant(event)}, landed {format_instant(landed)}{more}"


def _span(micros: int) -> str:
    sign = "-" if micros < 0 else ""
    whole = abs(micros) - abs(micros) % (60 * SECOND)
    return sign + format_duration(whole)


def _pairs(option: str, given: list[str] | None) -> list[tuple[str, str]]:
    pairs = [text.partition("=") for text in given or ()]
    for before, equals, after in pairs:
        if not before or not equals or not after:
            raise InputError(f"{option} {before}{equals}{after} is no pair", try_=f"{option} NAME=VALUE")
    return [(before, after) for before, _, after in pairs]


def _ulps(feature: str, text: str) -> int:
    if not text.isdecimal():
        raise InputError(f"the tolerance of {feature} is {text!r}", why="it is a whole number of floats", try_="1")
    return int(text)

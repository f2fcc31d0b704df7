"""A view's report against its thresholds and those of the services that read it: what they let pass, and what not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from featurekit.clock import SECOND, Instant, format_duration
from featurekit.compiled import CompiledService, CompiledView
from featurekit.consistency.view_report import Breach, FieldReport, ViewReport
from featurekit.definitions.thresholds import Thresholds

COVERAGE: Final = 0.99
MISMATCH_SHARE: Final = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What someone asks for of a view: of which of its fields, and which of them may be without a value how often."""

    asked_by: str
    thresholds: Thresholds
    fields: frozenset[str]
    null_shares: dict[str, float]


def with_thresholds(
    report: ViewReport, view: CompiledView, *, at: Instant, services: Iterable[CompiledService] = ()
) -> ViewReport:
    """Return the report with what it breaches at the time of the lookups, and whether what differs is tolerated.

    What the view does not declare is its default; a service asks for what it declares, and can only ask for more.
    A view of which nothing was compared fails by that, and breaches nothing else.
    """
    if report.as_of is None or not report.sampled:
        return report
    own = view_limits(view)
    asked = [own, *service_limits(view, services)]
    breaches = (*(breach for limits in asked for breach in _breaches(report, limits, at)), *_unexpected(report))
    return replace(report, breaches=breaches, tolerated=_tolerates(report, own, breaches))


def view_limits(view: CompiledView) -> Limits:
    """Return what the view's definition asks for."""
    # Unchecked: one that asks for nothing is a mistake where people write it.
    declared = view.view.thresholds or Thresholds.model_construct()
    return Limits(
        asked_by=view.name,
        thresholds=declared,
        fields=frozenset(feature.name for feature in view.features),
        null_shares=dict(declared.null_share),
    )


def service_limits(view: CompiledView, services: Iterable[CompiledService]) -> Iterator[Limits]:
    """Yield what each service asks for of the fields of a view that it answers, or computes something from."""
    for service in services:
        declared = service.service.thresholds
        aliases = [part.alias for part in service.views if part.view.name == view.name]
        if declared is None or not aliases:
            continue
        names = [(alias, feature.name) for alias in aliases for feature in view.features]
        outputs = {output.name for output in service.outputs}
        read = {name for alias, name in names if f"{alias}.{name}" in outputs}
        shares = [(name, declared.null_share.get(f"{alias}.{name}")) for alias, name in names]
        yield Limits(
            asked_by=f"service {service.name}",
            thresholds=declared,
            fields=frozenset(read),
            null_shares={name: share for name, share in shares if share is not None},
        )


def _breaches(report: ViewReport, limits: Limits, at: Instant) -> Iterator[Breach]:
    yield from _freshness(report, limits, at)
    is_view = limits.asked_by == report.view
    least = limits.thresholds.coverage if limits.thresholds.coverage is not None else COVERAGE if is_view else None
    covered = report.coverage
    if least is not None and covered is not None and covered < least:
        shown, asked = _percents(covered, least)
        told = f"{shown} of the entities are served, at least {asked} are asked for"
        yield Breach(
            threshold="coverage", field=None, asked_by=limits.asked_by, measured=covered, allowed=least, told=told
        )
    for field in report.fields:
        if field.name in limits.fields:
            yield from _field_breaches(field, limits)


def _field_breaches(field: FieldReport, limits: Limits) -> Iterator[Breach]:
    allowed, share = limits.thresholds.mismatch_share, field.share
    # Without a declaration nothing may differ, and the outcome says that something does.
    if allowed is not None and share is not None and share > allowed:
        shown, asked = _percents(share, allowed)
        told = f"{shown} of {field.name} differ, {asked} may"
        yield Breach(
            threshold="mismatch_share",
            field=field.name,
            asked_by=limits.asked_by,
            measured=share,
            allowed=allowed,
            told=told,
        )
    nulls, most = field.nulls, limits.null_shares.get(field.name)
    if most is not None and nulls is not None and nulls.value > most:
        shown, asked = _percents(nulls.value, most)
        told = f"{shown} of {field.name} are without a value, {asked} may be"
        yield Breach(
            threshold="null_share",
            field=field.name,
            asked_by=limits.asked_by,
            measured=nulls.value,
            allowed=most,
            told=told,
        )


def _unexpected(report: ViewReport) -> Iterator[Breach]:
    """Yield what is served and not as the view's definition expects it, however it agrees with training."""
    for each in report.expectations:
        if not each.passed:
            yield Breach(
                threshold="expectation",
                field=each.field,
                asked_by=report.view,
                measured=each.broken / each.rows if each.rows else 0.0,
                allowed=0.0,
                told=f"{each.broken:,} of {each.rows:,} values of {each.field} are not as expected ({each.expected})",
            )


def _freshness(report: ViewReport, limits: Limits, at: Instant) -> Iterator[Breach]:
    assert report.as_of is not None
    age, oldest = at - report.as_of, limits.thresholds.freshness
    if oldest is None:
        if limits.asked_by != report.view or not report.is_late:
            return
        oldest = at - report.promised_as_of
        told = f"the as-of that is served is {_age(age)} old, {_age(oldest)} is promised"
    elif age > oldest:
        told = f"the as-of that is served is {_age(age)} old, {_age(oldest)} is asked for"
    else:
        return
    yield Breach(
        threshold="freshness",
        field=None,
        asked_by=limits.asked_by,
        measured=age / SECOND,
        allowed=oldest / SECOND,
        told=told,
    )


def _tolerates(report: ViewReport, own: Limits, breaches: Sequence[Breach]) -> bool:
    """Return whether the view lets pass all that differs: it says so, and shares count all of it."""
    if own.thresholds.mismatch_share is None or not report.differing_cells:
        return False
    if any(breach.threshold == "mismatch_share" for breach in breaches):
        return False
    return not report.outside


def _age(micros: int) -> str:
    return format_duration(micros - micros % SECOND)


def _percents(one: float, other: float) -> tuple[str, str]:
    """Return two shares as people read them, with as many digits as it takes to tell one from the other.

    >>> _percents(0.98999, 0.99), _percents(0.5, 0.001), _percents(0.9899996, 0.99)
    (('98.999 %', '99 %'), ('50 %', '0.1 %'), ('98.99996 %', '99 %'))
    """
    digits = 4
    while (shown := (_percent(one, digits), _percent(other, digits)))[0] == shown[1] and digits < 17:
        digits += 1
    return shown


def _percent(share: float, digits: int) -> str:
    return f"{100 * share:.{digits}g} %"

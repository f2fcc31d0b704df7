"""Who is to know what a check found or what the schedule could not do: conditions, told when they turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from featurekit.alerting.delivery import Delivery, deliver
from featurekit.alerting.notification import WELL, Condition, deciding
from featurekit.alerting.sinks import Sink, sinks_of
from featurekit.clock import Instant
from featurekit.config import Settings
from featurekit.consistency.report import ConsistencyReport
from featurekit.consistency.view_report import ViewReport, headline
from featurekit.errors import AlertError, FeaturekitError, RegistryError, SettingsError
from featurekit.registry.registry import Registry


def check_sinks(settings: Settings) -> None:
    """Raise SettingsError where nobody could be told: better before an hour's check than after it."""
    if not sinks_of(settings):
        raise SettingsError(
            "nobody is named whom alerts would go to",
            where="[alerts]",
            try_="alerts.webhook_url, alerts.smtp_url with its addresses, or FEATUREKIT_ALERTS_SLACK_URL",
        )


def conditions_of(report: ConsistencyReport) -> tuple[Condition, ...]:
    """Return how each view of a report stands; what is wrong is its outcome, causes and thresholds, and no number.

    So a condition changes where something else is wrong, and not where more of the same is. Nothing in it is of an
    entity.
    """
    return tuple(_condition(view) for view in report.views)


def _condition(view: ViewReport) -> Condition:
    state = WELL if view.outcome.passes else "; ".join([view.outcome.value, *sorted({*_causes(view)})])
    return Condition(subject=f"check:{view.view}", state=state, told=headline(view))


def _causes(view: ViewReport) -> list[str]:
    causes = [f"{finding.field or 'row'}: {' and '.join(map(str, finding.causes))}" for finding in view.findings]
    return causes + [f"{breach.field or 'view'}: {breach.threshold}" for breach in view.breaches]


def failure_condition(subject: str, error: FeaturekitError | None) -> Condition:
    """Return how something stands that was tried: what failed is the error's name and no more of it."""
    if error is None:
        return Condition(subject=subject, state=WELL, told="done")
    return Condition(subject=subject, state=type(error).__name__, told=f"{type(error).__name__}: {error.what}")


def notify(
    conditions: Sequence[Condition],
    *,
    registry: Registry,
    sinks: Sequence[Sink],
    project: str,
    environment: str,
    at: Instant,
    run: int | None = None,
    always: bool = False,
    sleep: Callable[[float], None] | None = None,
) -> Delivery:
    """Tell the sinks what turned, and send what waits for them from before; `always` tells what is still red, too.

    Raises nothing: what could not be sent, or recorded to be sent, is a failure of the delivery.
    """
    if not sinks:
        return Delivery(sent=0)
    decide = deciding(conditions, project=project, environment=environment, at=at, run=run, always=always)
    try:
        registry.alerts.record(decide, [sink.name for sink in sinks], at=at)
        return deliver(registry.alerts, sinks, at=at, **({} if sleep is None else {"sleep": sleep}))
    except RegistryError as error:
        told = AlertError("the registry could not keep an alert", where=error.where, why=error.why or error.what)
        return Delivery(sent=0, failures=(told,))


def tell(settings: Settings, conditions: Sequence[Condition]) -> Delivery:
    """Tell the sinks of the settings what turned, and send what waits for them."""
    registry = Registry(
        settings.registry, project=settings.project, environment=settings.environment, models=settings.models
    )
    return notify(
        conditions,
        registry=registry,
        sinks=sinks_of(settings),
        project=settings.project,
        environment=settings.environment,
        at=settings.clock(),
    )

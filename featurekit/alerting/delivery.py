"""Alerts that wait, brought to their sinks: each by one process, tried again where that may help, kept where not."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential

from featurekit.alerting.notification import read_notification
from featurekit.alerting.sinks import Sink
from featurekit.clock import Instant
from featurekit.errors import AlertError
from featurekit.registry.alert_outbox import AlertOutbox

TRIES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How many alerts were taken, why sinks did not take theirs (they are kept), and what went wrong beside."""

    sent: int
    failures: tuple[AlertError, ...] = ()
    notes: tuple[str, ...] = ()


def deliver(
    outbox: AlertOutbox, sinks: Sequence[Sink], *, at: Instant, sleep: Callable[[float], None] = time.sleep
) -> Delivery:
    """Send what waits for these sinks, oldest first; a sink that fails is left alone with the rest of its alerts."""
    by_name = {sink.name: sink for sink in sinks}
    sent, failures, notes = 0, {}, []
    for alert in outbox.pending(at=at):
        if alert.sink not in by_name or alert.sink in failures or not outbox.claim(alert, at=at):
            continue
        try:
            note = _tried(by_name[alert.sink], alert.body, sleep)
        except AlertError as error:
            failures[alert.sink] = error
            outbox.failed(alert, error.what, at=at)
        else:
            outbox.sent(alert)
            sent += 1
            notes += [] if note is None else [note]
    return Delivery(sent=sent, failures=tuple(failures.values()), notes=tuple(notes))


def _tried(sink: Sink, body: str, sleep: Callable[[float], None]) -> str | None:
    message = read_notification(body)
    retrying = Retrying(
        stop=stop_after_attempt(TRIES),
        wait=wait_exponential(max=10),
        retry=retry_if_exception(lambda error: isinstance(error, AlertError) and error.is_transient),
        sleep=sleep,
        reraise=True,
    )
    return retrying(sink.send, message)

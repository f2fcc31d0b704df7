"""What became of alerts, beside an answer whose verdict they don't change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from featurekit.alerting.delivery import Delivery
from featurekit.cli.answer import Answer, Line, Tone, counted


def with_delivery(answer: Answer, delivery: Delivery) -> Answer:
    """Return the answer with what was sent and what was not; its exit code stays what it is."""
    document = {**answer.document, "alerts": delivery_document(delivery)}
    return replace(answer, document=document, blocks=(*answer.blocks, *delivery_lines(delivery)))


def delivery_lines(delivery: Delivery) -> Iterator[Line]:
    """Yield a line for what was sent, and for each sink that took nothing."""
    if delivery.sent:
        yield Line(f"{counted(delivery.sent, 'alert')} sent", Tone.FAINT)
    for error in delivery.failures:
        told = "; ".join(part for part in (error.what, error.where, error.why) if part)
        yield Line(f"an alert is kept and sent the next time: {told}", Tone.WARNING)
    for note in delivery.notes:
        yield Line(note, Tone.WARNING)


def delivery_document(delivery: Delivery) -> dict[str, Any]:
    return {
        "sent": delivery.sent,
        "failures": [error.parts() for error in delivery.failures],
        "notes": list(delivery.notes),
    }

"""Causes that a replay found, as groups of columns: by field, by whole rows, late answers, and through expressions."""

from __future__ import annotations

from pathlib import Path

import pytest

from featurekit.consistency.attribution.causes import causes_by_column
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.findings import Finding
from featurekit.consistency.replay.freshness import Freshness
from featurekit.consistency.replay.report import FieldReplay, OnDemandReplay, Question, ServiceReplay, ViewReplay
from tests.registry.definitions import compiled

FIELDS = ("spend.amount_7d", "spend.orders_7d", "spend.last_items")


def found(cause: Cause, field: str | None) -> Finding:
    return Finding(cause=cause, field=field, count=1, evidence=())


def field_of(name: str) -> FieldReplay:
    return FieldReplay(
        name=name,
        type="double",
        question=Question.LOGIC,
        counts={},
        unavailable=0,
        degraded=0,
        share=None,
        days=(),
    )


def replayed(*findings: Finding, late: int = 0, on_demand: tuple[Finding, ...] = ()) -> ServiceReplay:
    view = ViewReplay(
        alias="spend",
        view="spend",
        fingerprint="a",
        rows=10,
        freshness=Freshness(on_time=10 - late, late={1: late} if late else {}),
        fields=tuple(field_of(name) for name in FIELDS),
        findings=findings,
    )
    computed = OnDemandReplay(fingerprint="a", fields=(field_of("basket.ratio"),), findings=on_demand)
    return ServiceReplay(
        service="score",
        logged=10,
        sampled=10,
        forgotten=0,
        other_versions=0,
        other_places=0,
        start=None,
        end=None,
        views=(view,),
        on_demand=(computed,),
        answered_by=(),
        most_late=0.01,
    )


BEFORE, MISSING = Cause.PREVIOUS_REFRESH, Cause.MISSING_ROW


@pytest.mark.parametrize(
    ("replay", "expected"),
    [
        (replayed(), {}),
        # `basket.ratio` is price / spend.amount_7d: it has the causes of that.
        (
            replayed(found(BEFORE, "amount_7d")),
            {"spend.amount_7d": BEFORE.value, "basket.ratio": BEFORE.value},
        ),
        (replayed(found(BEFORE, "spend.orders_7d")), {"spend.orders_7d": BEFORE.value}),
        (
            replayed(found(BEFORE, "orders_7d"), found(MISSING, None)),
            {
                **dict.fromkeys((*FIELDS, "basket.ratio"), MISSING.value),
                "spend.orders_7d": f"{MISSING.value} + {BEFORE.value}",
            },
        ),
        (
            replayed(found(BEFORE, "orders_7d"), late=3),
            {**dict.fromkeys((*FIELDS, "basket.ratio"), "late refresh"), "spend.orders_7d": BEFORE.value},
        ),
        (
            replayed(found(BEFORE, "amount_7d"), on_demand=(found(MISSING, "basket.ratio"),)),
            {"spend.amount_7d": BEFORE.value, "basket.ratio": MISSING.value},
        ),
    ],
)
def test_each_column_has_the_causes_of_what_it_is_made_of(
    tmp_path: Path, replay: ServiceReplay, expected: dict[str, str]
) -> None:
    assert causes_by_column(replay, compiled(tmp_path).services["score"]) == expected

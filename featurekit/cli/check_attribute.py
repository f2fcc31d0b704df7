"""`check attribute`: what a model lost by being served other values than it was trained on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Block, Line, Table, Tone, Toned, counted
from featurekit.cli.context import invocation
from featurekit.cli.dataset_options import LabelKnown, LabelTime, LogEnvironment, MatureAfter
from featurekit.clock import parse_duration
from featurekit.consistency.attribution.attribution import RESAMPLES, Attribution, Estimate
from featurekit.consistency.attribution.metrics import Metric
from featurekit.feature_store import FeatureStore
from featurekit.from_log_values import FromLogSpec
from featurekit.model_loss import LossSpec, ModelLoss


class By(StrEnum):
    FIELD = "field"
    CAUSE = "cause"


def attribute(
    context: typer.Context,
    log: Annotated[Path, typer.Argument(metavar="LOG", help="The folder of the served-feature log.")],
    labels: Annotated[Path, typer.Option("--labels", metavar="FILE", help="Labels by request_id: Parquet or CSV.")],
    label: Annotated[str, typer.Option("--label", metavar="COLUMN", help="The labels' column that is predicted.")],
    model: Annotated[
        str, typer.Option("--model", metavar="MODEL", help="NAME, NAME@VERSION, or an ONNX file with --service.")
    ],
    service: Annotated[
        str | None, typer.Option("--service", metavar="SERVICE", help="Whose answers are taken; else the model's.")
    ] = None,
    metric: Annotated[Metric, typer.Option("--metric", help="How the model is judged.")] = Metric.AUC,
    by: Annotated[By, typer.Option("--by", help="What is swapped: a field's values, or a cause's, by a replay.")] = (
        By.FIELD
    ),
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="N", min=20, max=10_000, help="Draws of the requests for intervals.")
    ] = RESAMPLES,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Another seed draws others.")] = 0,
    label_time: LabelTime = None,
    mature_after: MatureAfter = None,
    label_known: LabelKnown = None,
    log_environment: LogEnvironment = None,
) -> Answer:
    """Tell what a model lost by being served other values than it was trained on, and what cost how much.

    Scores labelled requests of the log with what was served and with what training computes for them, and with
    everything between: a field's share of the gap is what it adds, averaged over the orders in which fields can be
    made right, so shares add up. Intervals are of requests drawn again and again.
    """
    spec = LossSpec(
        log=FromLogSpec(
            log=log.absolute(),
            labels=labels.absolute(),
            label_time=label_time,
            label_known=label_known,
            mature_after=None if mature_after is None else parse_duration(mature_after),
            environments=tuple(log_environment or ()),
        ),
        label=label,
        metric=metric,
        resamples=resamples,
        seed=seed,
    )
    with FeatureStore(invocation(context).settings()) as store:
        return lost(store.attribute(model, spec, service=service, by_cause=by is By.CAUSE), by)


def lost(found: ModelLoss, by: By) -> Answer:
    """Return what a model lost as an answer."""
    told, count = found.attribution, found.count
    blocks: list[Block] = [
        Line(f"{found.model} on {counted(told.requests, 'labelled request')} of {found.service}: {told.metric}"),
        Table(
            columns=("", str(told.metric), "95 of 100 draws"),
            rows=(
                ("with what training says", _number(told.recomputed.value), _interval(told.recomputed)),
                ("with what was served", _number(told.served.value), _interval(told.served)),
                ("lost", _number(told.gap.value), _interval(told.gap)),
            ),
        ),
        _verdict(told),
    ]
    if told.parts:
        blocks.append(_parts(told, by))
    left_out = count.unavailable + count.degraded
    if left_out:
        blocks.append(
            Line(f"{counted(left_out, 'row')} that the store could not answer in full, left out", Tone.WARNING)
        )
    return Answer(document=_document(found, by), blocks=tuple(blocks))


def _verdict(told: Attribution) -> Line:
    if not told.parts:
        return Line("what was served is what training says, for every value that the model takes", Tone.GOOD)
    if not told.gap.is_nonzero:
        return Line("the loss can't be told from 0: its interval holds it; more labelled requests may tell", Tone.GOOD)
    if told.gap.value < 0:
        return Line("the model did better with what was served than with what training says", Tone.WARNING)
    return Line("the model lost by what it was served", Tone.BAD)


def _parts(told: Attribution, by: By) -> Table:
    orders = "all orders" if told.orders is None else f"{told.orders} random orders"
    return Table(
        title=f"what each {by} costs ({orders} of making them right)",
        columns=(by.value, "costs", "95 of 100 draws", "of the loss", "alone", "rows", "values"),
        rows=tuple(
            (
                part.name,
                Toned(_number(part.cost.value), Tone.BAD if part.cost.low > 0 else Tone.PLAIN),
                _interval(part.cost),
                "" if part.share is None else f"{part.share:.0%}",
                _number(part.alone.value),
                f"{part.rows:,}",
                f"{part.cells:,}",
            )
            for part in told.parts
        ),
    )


def _document(found: ModelLoss, by: By) -> dict[str, object]:
    told = found.attribution
    return {
        "model": found.model,
        "service": found.service,
        "label": found.label,
        "metric": told.metric.value,
        "rows": told.rows,
        "requests": told.requests,
        "unavailable": found.count.unavailable,
        "degraded": found.count.degraded,
        "other_version": found.count.other_version,
        "served": _estimate(told.served),
        "recomputed": _estimate(told.recomputed),
        "gap": _estimate(told.gap),
        "gap_is_nonzero": told.gap.is_nonzero,
        "by": by.value,
        "parts": [
            {
                "name": part.name,
                "fields": list(part.fields),
                "cost": _estimate(part.cost),
                "share": part.share,
                "alone": _estimate(part.alone),
                "rows": part.rows,
                "values": part.cells,
            }
            for part in told.parts
        ],
        "resamples": told.resamples,
        "orders": told.orders,
        "seed": told.seed,
    }


def _estimate(estimate: Estimate) -> dict[str, float]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _number(value: float) -> str:
    return f"{value:.4f}"


def _interval(estimate: Estimate) -> str:
    return f"{_number(estimate.low)} to {_number(estimate.high)}"

"""`dataset compare`: the same labels as declared, as served and by event time, and what that does to each feature."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Block, Cell, Line, Table, Tone, Toned, counted
from featurekit.cli.context import invocation
from featurekit.cli.dataset_options import TIMESTAMP, Format, Labels, Service, Timestamp, Timezone, label_spec
from featurekit.cli.dataset_show import told_of_mode
from featurekit.clock import MINUTE, format_duration
from featurekit.consistency.as_of_effect import AsOfEffect, Difference, FeatureEffect
from featurekit.feature_store import FeatureStore
from featurekit.offline.manifest import AsOfMode

_WORRY = 0.05  # of a standard deviation, or of the rows


def compare(
    context: typer.Context,
    service: Service,
    labels: Labels,
    timestamp: Timestamp = TIMESTAMP,
    timezone: Timezone = None,
    format_: Format = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Keep the three sets there; must not exist yet.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many features to show; --json has all.")] = 20,
) -> Answer:
    """Compare what is promised, what was served, and what nobody could know yet.

    Builds three training sets of the same labels, and tells per feature how the other two differ from the declared one.
    """
    spec = label_spec(labels, timestamp, timezone, format_)
    asked = invocation(context)
    with FeatureStore(asked.settings()) as store, asked.output.progress() as progress:
        progress(f"compare {service}", 0, 1)
        return compared(store.dataset_compare(service, spec, out and out.absolute()), top)


def compared(found: AsOfEffect, top: int) -> Answer:
    """Return a comparison as an answer."""
    blocks: list[Block] = [Line(f"{counted(found.rows, 'row')} of {found.service}, three times", Tone.GOOD)]
    blocks += told_of_mode(found.sets[AsOfMode.SERVED])
    served = sum(feature.served.share > 0 for feature in found.features)
    seeing = sum(feature.event_time.share > 0 for feature in found.features)
    features = counted(len(found.features), "feature")
    blocks.append(Line(f"as served, {served} of {features} differ from what was declared; by event time {seeing}"))
    shown = found.features[:top]
    columns = (
        "feature",
        "as served",
        "apart",
        "by event time",
        "apart",
        "shift",
        "correlation",
        "known later",
    )
    rows = tuple(_row(feature) for feature in shown)
    blocks.append(Table(columns=columns, rows=rows, title="what to worry about first"))
    if len(shown) < len(found.features):
        blocks.append(
            Line(f"and {counted(len(found.features) - len(shown), 'feature')} more: --top, --json", Tone.FAINT)
        )
    return Answer(document=found.to_json(), blocks=tuple(blocks))


def _row(feature: FeatureEffect) -> tuple[Cell, ...]:
    served, seeing = feature.served, feature.event_time
    return (
        feature.name,
        _share(served),
        _number(served.mean_absolute),
        _share(seeing),
        _number(seeing.mean_absolute),
        _number(seeing.mean_shift),
        "" if seeing.correlation is None else f"{seeing.correlation:.2f}",
        "" if feature.known_later is None else format_duration(feature.known_later // MINUTE * MINUTE),
    )


def _share(difference: Difference) -> Cell:
    tone = Tone.WARNING if difference.effect >= _WORRY else Tone.PLAIN
    return Toned(f"{difference.share:.1%}" if difference.share else "0 %", tone)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"

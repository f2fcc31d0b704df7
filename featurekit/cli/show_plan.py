"""A registration plan as an answer: the lines that `registry.explain` gives, and the same for machines."""

from __future__ import annotations

from typing import Any

from featurekit.cli.answer import Block, Line, Tone
from featurekit.clock import format_instant
from featurekit.registry.explain import explain, summarize
from featurekit.registry.plan import KeepModel, NeedsRefresh, RegistrationPlan, SwitchPointer

_TONES = {"+": Tone.GOOD, "~": Tone.WARNING, "-": Tone.BAD}


def plan_blocks(plan: RegistrationPlan) -> tuple[Block, ...]:
    """Return the plan's lines, changes first."""
    return tuple(Line(line, _TONES.get(line[:1], Tone.PLAIN)) for line in explain(plan))


def plan_document(plan: RegistrationPlan) -> dict[str, Any]:
    """Return the plan for machines: its changes, its lines, what must be materialized, and which models end with it."""
    return {
        "base": plan.base,
        "is_empty": plan.is_empty,
        "changes": list(summarize(plan)),
        "lines": list(explain(plan)),
        "materialize": [
            {"view": stage.view, "version": stage.number, "as_of": format_instant(stage.as_of)}
            for stage in plan.stages
            if isinstance(stage, NeedsRefresh)
        ],
        "switches": [
            {
                "service": stage.service,
                "version": stage.number,
                "replaces": stage.replaces,
                "waits_for": list(stage.waits),
            }
            for stage in plan.stages
            if isinstance(stage, SwitchPointer) and not stage.is_own
        ],
        "kept_models": [
            {
                "model": stage.model,
                "version": stage.version,
                "service": stage.service,
                "service_version": stage.number,
                "becomes": stage.becomes,
            }
            for stage in plan.stages
            if isinstance(stage, KeepModel)
        ],
    }

"""From what the store returned to columns of outputs: rows decoded, defaults applied, on-demand features computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from featurekit.clock import Instant
from featurekit.online.columns import Array, Codes, Rows, as_index
from featurekit.online.counts import Counts
from featurekit.online.on_demand import compute
from featurekit.online.one_row import OneEntity, OneView, WholeRow, is_taken_out
from featurekit.online.planned import PlannedService, PlannedView
from featurekit.online.present import is_number
from featurekit.online.reason import Reason
from featurekit.types import DataType

Index = npt.NDArray[np.intp] | slice


# Named tuples, where dataclasses are the rule: these are made for every request, in a third of the time.


class ViewRows(NamedTuple):
    """What the store returned for one view: rows as of one refresh, or the reason why there are none.

    `reasons` are each row's own, where they are not what the store has just said: LAST_KNOWN, or why there is no row.
    """

    rows: Rows
    as_of: Instant | None
    reason: Reason = Reason.NONE
    reasons: Codes | None = None


class Part(NamedTuple):
    """Outputs of one type: `outputs` are their positions, `values` an array (outputs × rows) or as many lists."""

    kind: DataType
    outputs: Index
    values: Array | list[Sequence[Any]]

    def put(self, columns: Sequence[Any], into: list[Any]) -> None:
        """Put this part's columns where they belong among all outputs'."""
        if isinstance(self.outputs, slice):
            into[self.outputs] = columns
        else:
            for place, column in zip(self.outputs.tolist(), columns, strict=True):
                into[place] = column


class Answer(NamedTuple):
    """All outputs; `statuses` and `reasons` (outputs × rows) are None where all are PRESENT."""

    parts: tuple[Part, ...]
    statuses: Codes | None
    reasons: Codes | None
    found: dict[str, npt.NDArray[np.bool_] | None]  # by view; None where every entity had a row


@dataclass(frozen=True, slots=True)
class _ViewPlan:
    """Where a view's columns go: `outputs` of its first fields (the rest are only inputs), and those of each group."""

    outputs: Index
    shown: int
    groups: tuple[tuple[Index, int], ...]


class AnswerPlan:
    """How a service's answers are put together, worked out once."""

    def __init__(self, service: PlannedService, counts: Counts | None = None) -> None:
        self.plan = service.plan
        self.outputs = service.plan.outputs
        self.names = tuple(output.name for output in service.plan.outputs)
        self._unnamed: dict[str, Any] = dict.fromkeys(self.names)
        self.aliases = tuple(view.alias for view in service.views)
        self.not_numbers = frozenset(i for i, output in enumerate(self.outputs) if not is_number(output.type))
        self.arrow: Any = None  # an ArrowPlan, when first asked for: Arrow is not loaded here
        self._views = service.views
        self._on_demand = service.on_demand
        at = {output.name: i for i, output in enumerate(service.plan.outputs)}
        self._view_plans = tuple(_view_plan(view, at) for view in service.views)
        self._on_demand_at = tuple(at.get(item.name) for item in service.plan.on_demand)
        self._count = len(service.plan.outputs)
        self.one = self._one_entity()
        self._tally = None if counts is None else counts.tally(service.plan.service, self.names)

    def named(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return the outputs' names with these values."""
        # A copy has room for all names: a dict that grows takes nearly twice as long.
        named = self._unnamed.copy()
        named.update(zip(self.names, values, strict=True))
        return named

    def whole_rows(self, views: Sequence[ViewRows]) -> list[WholeRow] | None:
        """Return the rows of one entity where `one` can take all outputs out of them."""
        if self.one is None:
            return None
        rows = self.one.read(views)
        if rows is not None and self._tally is not None:
            self._tally.add(None, 1)
        return rows

    def answer_whole(self, rows: Sequence[WholeRow]) -> Answer:
        """Return what `answer` does, of `whole_rows`."""
        assert self.one is not None
        parts = tuple([Part(*part) for part in self.one.columns(rows)])
        return Answer(parts=parts, statuses=None, reasons=None, found=dict.fromkeys(self.aliases))

    def _one_entity(self) -> OneEntity | None:
        kinds = [output.type for output in self.outputs]
        if self._on_demand is not None or not kinds or not all(map(is_taken_out, kinds)):
            return None
        views = [
            OneView(view.codec, view.reader, [outputs for outputs, _ in plan.groups], len(kinds))
            for view, plan in zip(self._views, self._view_plans, strict=True)
        ]
        return OneEntity(views, kinds)

    def answer(self, views: Sequence[ViewRows], request: Mapping[str, Sequence[Any]], count: int) -> Answer:
        """Return the outputs for `count` rows of a request."""
        columns = [
            view.reader.unavailable(count, got.reason)
            if got.as_of is None
            else view.reader.read(got.rows, got.as_of, got.reasons)
            for view, got in zip(self._views, views, strict=True)
        ]
        parts: list[Part] = []
        statuses: list[tuple[Index, Codes, Codes]] = []
        for view, plan, read in zip(self._views, self._view_plans, columns, strict=True):
            for group, (outputs, shown), values in zip(view.reader.groups, plan.groups, read.values, strict=True):
                if shown:
                    parts.append(Part(group.kind, outputs, values if shown == group.count else values[:shown]))
            if read.statuses is not None and read.reasons is not None and plan.shown:
                statuses.append((plan.outputs, read.statuses[: plan.shown], read.reasons[: plan.shown]))
        if self._on_demand is not None:
            computed = compute(self._on_demand, self._views, columns, request, count)
            for i, item, each in zip(self._on_demand_at, self._on_demand.features, computed, strict=True):
                if i is not None:
                    parts.append(Part(item.type, slice(i, i + 1), each.values))
                    statuses.append((slice(i, i + 1), each.statuses, each.reasons))
        merged = self._merged(statuses, count)
        if self._tally is not None:
            self._tally.add(merged[0], count)
        found = {view.alias: read.found for view, read in zip(self._views, columns, strict=True)}
        return Answer(parts=tuple(parts), statuses=merged[0], reasons=merged[1], found=found)

    def _merged(
        self, parts: Sequence[tuple[Index, Codes, Codes]], count: int
    ) -> tuple[Codes, Codes] | tuple[None, None]:
        if not parts:
            return None, None
        statuses = np.zeros((self._count, count), np.uint8)
        reasons = np.zeros((self._count, count), np.uint8)
        for outputs, some_statuses, some_reasons in parts:
            statuses[outputs] = some_statuses
            reasons[outputs] = some_reasons
        return statuses, reasons


def _view_plan(view: PlannedView, at: Mapping[str, int]) -> _ViewPlan:
    # Outputs come first among the wanted fields, also within each group: so what is shown is a beginning.
    by_place = [at.get(path) for path in view.places]
    outputs = [i for i in by_place if i is not None]
    groups = []
    for group in view.reader.groups:
        shown = [i for i in np.array(by_place, object)[group.places].tolist() if i is not None]
        groups.append((as_index(shown), len(shown)))
    return _ViewPlan(as_index(outputs), len(outputs), tuple(groups))

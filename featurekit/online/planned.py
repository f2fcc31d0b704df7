"""A lookup plan, compiled: everything about a service's requests that can be decided before the first one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from featurekit.clock import Instant
from featurekit.errors import OnlineStoreError, StoreEmptyError
from featurekit.expr.nodes import Column, Node, columns
from featurekit.on_unavailable import Instead
from featurekit.online.codec import RowCodec
from featurekit.online.columns import RowReader
from featurekit.online.keys import KeySpace, KeyTexts, Namespace, entity_key_encoder
from featurekit.online.parts import array_depth
from featurekit.online.request import Columns, is_one, request_columns
from featurekit.online.store import Value, decode_head
from featurekit.online.values import Accept, acceptor
from featurekit.plan import LookupPlan, PlanExpression, PlanView
from featurekit.types import DataType, Field

if TYPE_CHECKING:
    from featurekit.targets.python import LoopEvaluator
    from featurekit.targets.vectors.evaluate import ColumnsEvaluator


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A refresh that can be served, and the texts its keys are made of.

    `is_live` where it was written in place, `is_overwritten` where a later one was, into the same keys.
    """

    as_of: Instant
    restatement: int
    visible_from: Instant
    marker: bytes
    row_suffix: bytes
    is_live: bool = False
    is_overwritten: bool = False


@dataclass(frozen=True, slots=True)
class ReadHead:
    """A view's head as it was last read; `picks` the newest first. Before the first read its content is unlike any."""

    content: bytes | None = b""
    picks: tuple[Pick, ...] = ()

    def at(self, instant: Instant) -> Pick | None:
        for pick in self.picks:
            if pick.visible_from <= instant:
                return pick
        return None


class Selection(NamedTuple):
    """The refreshes that answer from `begins` until before `ends`, and what is read for them: decided once for many.

    `contents`, the pointer's and the heads', are what it was decided by: it holds where they are read again. `fixed`
    are the keys that every request reads before its rows: the pointer's, the heads', the markers of the `picks`.
    `as_ofs` is None where a row does not simply stand for itself: a view without a refresh, or one written in place.
    """

    begins: float
    ends: float
    contents: list[Value]
    picks: tuple[Pick | None, ...]
    fixed: list[bytes]
    as_ofs: list[Instant] | None

    @classmethod
    def at(cls, at: Instant, service: PlannedService) -> Selection:
        """Return what answers at an instant, by the heads that are known."""
        heads = [view.head for view in service.views]
        picks = tuple([head.at(at) for head in heads])
        begins, ends = -math.inf, math.inf
        for head in heads:
            for pick in head.picks:
                if pick.visible_from <= at:
                    begins = max(begins, pick.visible_from)
                    break
                ends = min(ends, pick.visible_from)
        chosen = [pick for pick in picks if pick is not None]
        is_plain = bool(chosen) and len(chosen) == len(picks) and not any(pick.is_live for pick in chosen)
        return cls(
            begins=begins,
            ends=ends,
            contents=[service.pointer, *[head.content for head in heads]],
            picks=picks,
            fixed=[service.pointer_key, *service.head_keys, *[pick.marker for pick in chosen]],
            as_ofs=[pick.as_of for pick in chosen] if is_plain else None,
        )


@dataclass(frozen=True, slots=True)
class OnDemand:
    """The on-demand features of a service as one function of inputs: `loop` for few rows, `columns()` for many.

    `inputs` say where each input comes from; `feature_inputs` which of them each feature needs to be available, or its
    default stands in where `defaults_stand_in`.
    """

    features: tuple[PlanExpression, ...]
    inputs: tuple[Column, ...]
    feature_inputs: tuple[tuple[int, ...], ...]
    defaults_stand_in: bool
    loop: LoopEvaluator
    columns: Callable[[], ColumnsEvaluator]


class PlannedView:
    """A view as a service reads it. The head is replaced as a whole when it is read anew; nothing else changes."""

    def __init__(
        self,
        view: PlanView,
        namespace: Namespace,
        wanted: Sequence[str],
        encoder: int,
        *,
        defaults_stand_in: bool = False,
    ) -> None:
        self.alias = view.alias
        self.view = view
        self.encoder = encoder
        self.head_key = namespace.head(view.view, view.fingerprint)
        self.head = ReadHead()
        names = [field.name for field in view.fields]
        self.wanted = tuple(wanted)
        self.codec = RowCodec([Field(field.name, field.type) for field in view.fields], view.fingerprint)
        self.reader = RowReader(self.codec, view.fields, [names.index(name) for name in wanted], defaults_stand_in)
        self.places = {f"{view.alias}.{name}": place for place, name in enumerate(wanted)}
        self._namespace = namespace

    def learned(self, content: bytes | None) -> ReadHead:
        """Return the head as it was just read, and know it from now on."""
        head = self.head
        if content != head.content:
            head = self.head = self._read(content)
        return head

    def _read(self, content: bytes | None) -> ReadHead:
        delay = self.view.grid.availability_delay
        any_space = KeySpace(namespace=self._namespace, view=self.view.view, fingerprint=self.view.fingerprint, as_of=0)
        picks: list[Pick] = []
        for entry in reversed(decode_head(content).entries):
            space = any_space.at(entry.as_of, entry.restatement, entry.live)
            # Never before the grid says so: as-ofs lie on the grid, so this is as_of <= g(t) for every t. What was
            # written in place is there from then on, and what it replaced is not.
            promised = entry.visible_from if entry.live is not None else entry.as_of + delay
            pick = Pick(
                as_of=entry.as_of,
                restatement=entry.restatement,
                visible_from=max(entry.visible_from, promised),
                marker=space.marker,
                row_suffix=space.row_suffix,
                is_live=entry.live is not None,
                is_overwritten=any(later.marker == space.marker for later in picks),
            )
            picks.append(pick)
        return ReadHead(content, tuple(picks))


class PlannedService:
    """All that answering for one service takes, but for the store's answers."""

    def __init__(self, plan: LookupPlan, namespace: Namespace, *, pointer_key: bytes, pointer: bytes) -> None:
        self.plan = plan
        self.pointer = pointer
        self.pointer_key = pointer_key
        self.row_prefix = namespace.row_prefix()
        self.on_unavailable = plan.on_unavailable
        self.keeps_rows = plan.on_unavailable is not None and plan.on_unavailable.instead is Instead.LAST_KNOWN
        self.names = tuple(dict.fromkeys([key.request for key in plan.keys] + list(plan.request.names)))
        self._acceptors = _acceptors(plan)
        self._depths = {field.name: depth for field in plan.request.fields if (depth := array_depth(field.type))}
        self.on_demand = _on_demand(plan)
        # Views that read their keys from the same request columns share the entity key texts.
        key_columns = list(dict.fromkeys(_key_columns(view) for view in plan.views))
        self._encoders = [
            ([name for name, _ in group], entity_key_encoder([kind for _, kind in group])) for group in key_columns
        ]
        self.views = tuple(
            PlannedView(
                view,
                namespace,
                _wanted(plan, view, self.on_demand),
                key_columns.index(_key_columns(view)),
                defaults_stand_in=plan.defaults_stand_in,
            )
            for view in plan.views
        )
        self.head_keys = [view.head_key for view in self.views]
        self._names = frozenset(self.names)
        self._selection: Selection | None = None

    def answers_without(self, error: OnlineStoreError) -> bool:
        """Return whether there is an answer although nothing could be read."""
        if self.on_unavailable is None:
            return isinstance(error, StoreEmptyError)  # the store did answer: every view of it is UNAVAILABLE
        return self.on_unavailable.instead is not Instead.ERROR

    def select(self, at: Instant) -> Selection:
        """Return which refreshes answer at an instant, by the heads that are known."""
        selection = self._selection
        if selection is None or not selection.begins <= at < selection.ends:
            selection = self._selection = Selection.at(at, self)
        return selection

    def still_selects(self, selection: Selection, heads: Sequence[Value], at: Instant) -> bool:
        """Learn the heads just read; return whether they lead to the same refreshes."""
        # What was read here, and not what the views have by now: another thread may put back there what it read before.
        learned = [view.learned(content) for view, content in zip(self.views, heads, strict=True)]
        self._selection = None
        return all(head.at(at) == pick for head, pick in zip(learned, selection.picks, strict=True))

    def accept(self, entities: Any, request: Any) -> Columns:
        """Return the request's columns as `types` says values are held; KeyTypeError says what can't be."""
        if request is None and type(entities) is dict and is_one(entities) and entities.keys() == self._names:
            # What most requests are: it needs no look for columns, for tables, for what is given twice.
            return Columns({name: accept([entities[name]]) for name, accept in self._acceptors.items()}, 1, True)
        columns = request_columns(entities, request, self.names, self._depths)
        held = {name: accept(columns.values[name]) for name, accept in self._acceptors.items()}
        return Columns(held, columns.length, columns.is_single)

    def entity_keys(self, columns: Mapping[str, Sequence[Any]]) -> list[KeyTexts]:
        """Return the entity key texts for each `PlannedView.encoder`."""
        return [encode([columns[name] for name in names]) for names, encode in self._encoders]


def _key_columns(view: PlanView) -> tuple[tuple[str, DataType], ...]:
    return tuple((key.request, key.type) for key in view.keys)


def _acceptors(plan: LookupPlan) -> dict[str, Accept]:
    types: dict[str, DataType] = {key.request: key.type for key in plan.keys}
    types.update((field.name, field.type) for field in plan.request.fields)
    return {name: acceptor(name, kind) for name, kind in types.items()}


def _wanted(plan: LookupPlan, view: PlanView, on_demand: OnDemand | None) -> list[str]:
    """Return the fields that the service's outputs and on-demand features read, in the order of the outputs."""
    outputs = [output.name for output in plan.outputs]
    paths = [column.path for column in on_demand.inputs] if on_demand else []
    by_path = {f"{view.alias}.{field.name}": field.name for field in view.fields}
    return [by_path[path] for path in dict.fromkeys(outputs + paths) if path in by_path]


def _on_demand(plan: LookupPlan) -> OnDemand | None:
    if not plan.on_demand:
        return None
    from featurekit.targets.python import compile_loop  # who looks up stored features alone loads no kernels

    nodes = tuple(item.node for item in plan.on_demand)
    inputs = tuple(dict.fromkeys(column for node in nodes for column in columns(node)))
    return OnDemand(
        features=plan.on_demand,
        inputs=inputs,
        feature_inputs=tuple(
            tuple(inputs.index(column) for column in columns(item.node) if column.qualifier is not None)
            for item in plan.on_demand
        ),
        defaults_stand_in=plan.defaults_stand_in,
        loop=compile_loop(nodes, inputs),
        columns=cache(lambda: _compiled_for_columns(nodes, inputs)),
    )


def _compiled_for_columns(nodes: Sequence[Node], inputs: Sequence[Column]) -> ColumnsEvaluator:
    # Here: who looks up few rows loads no vector kernels.
    from featurekit.targets.vectors.evaluate import compile_columns

    return compile_columns(nodes, inputs)

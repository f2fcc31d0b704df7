"""What the compiler makes of definitions: the values that both paths, batch and online, are built from.

A feature is an expression over *slots*. A slot is one aggregate over the rows of one entity: what has to be computed
from events. What is left of the feature's expression is computed once per entity from the slots' results:

    late_share_7d: count(*) FILTER (WHERE dep_delay > 15) / count(*)     window 7d
        slots        a0 = count(*) over 7d where dep_delay > 15,  a1 = count(*) over 7d
        expression   divide(a0, a1)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from featurekit.clock import Instant
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import Expectation, FeatureView
from featurekit.definitions.on_demand import OnDemandFeatureView
from featurekit.definitions.repository import Repository
from featurekit.definitions.service import FeatureService
from featurekit.definitions.source import Source
from featurekit.expr.nodes import Column, Node, columns
from featurekit.source_schema import SourceSchema
from featurekit.types import DataType, Schema
from featurekit.windows import Calendar, Elapsed, LastRows, Lifetime, Window, start_of


class SlotFunction(StrEnum):
    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    VAR_POP = "var_pop"
    VAR_SAMP = "var_samp"
    STDDEV_POP = "stddev_pop"
    STDDEV_SAMP = "stddev_samp"
    MIN_BY = "min_by"
    MAX_BY = "max_by"
    TOP_K = "top_k"
    COLLECT_LAST = "collect_last"
    COUNT_DISTINCT = "count_distinct"
    APPROX_COUNT_DISTINCT = "approx_count_distinct"
    LATEST = "latest"


SPREADS: Final = frozenset(
    (SlotFunction.VAR_POP, SlotFunction.VAR_SAMP, SlotFunction.STDDEV_POP, SlotFunction.STDDEV_SAMP)
)
ORDERED: Final = frozenset((SlotFunction.MIN_BY, SlotFunction.MAX_BY, SlotFunction.COLLECT_LAST, SlotFunction.LATEST))
"""What asks which row comes first: by the total order of DESIGN T4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One aggregate over the visible rows of one entity that pass the view's `where`.

    Rows count when they are in `window` as of the instant (None: all are) and `filter` (where given) is true; a
    window's rows are chosen before the filter. `argument` is None for count(*). A LATEST slot takes `argument` of the
    greatest row by (event timestamp, created timestamp, the view's columns), whatever its age; `window` is None there.
    MIN_BY and MAX_BY take it of the least and the greatest row by (`by`, event timestamp, created timestamp, the view's
    columns), rows whose `by` is NULL left out.
    `parameter` is the most values that TOP_K and COLLECT_LAST give, and the precision of APPROX_COUNT_DISTINCT. What
    of no rows is not NULL (`nullable`) is 0.
    """

    name: str
    function: SlotFunction
    argument: Node | None
    filter: Node | None
    window: Window | None
    type: DataType
    nullable: bool
    by: Node | None = None
    parameter: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledFeature:
    """A feature: `expression` over columns that are named like slots.

    `is_latest` features are the latest row's value: MISSING without a visible row, EXPIRED when it is older than
    `ttl`, MISSING again beyond twice that. All other features always have a value or NULL. `default` (None: none
    declared) has the feature's type.
    """

    name: str
    type: DataType
    nullable: bool
    expression: Node
    is_latest: bool
    ttl: int | None
    default: Any
    expectation: Expectation | None

    @property
    def output_nullable(self) -> bool:
        """Whether a value can be NULL after defaults."""
        return self.default is None and (self.nullable or self.is_latest)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyColumn:
    """A join key of the view's entity, and the source column that holds it."""

    name: str
    type: DataType
    source_column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Hex SHA-256 of what decides values (`data`) and of what does not (`metadata`: owner, description)."""

    data: str
    metadata: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledView:
    """A feature view with its meaning worked out; `columns` are the source columns that decide values, by name.

    Of changes, `row_key` are the columns that name the thing a row is about, and `deleted` is true where it is gone.
    """

    view: FeatureView
    entity: Entity
    source: Source
    source_schema: SourceSchema
    keys: tuple[KeyColumn, ...]
    where: Node | None
    columns: tuple[Column, ...]
    slots: tuple[Slot, ...]
    features: tuple[CompiledFeature, ...]
    fingerprint: Fingerprint
    row_key: tuple[Column, ...] = ()
    deleted: Node | None = None

    @property
    def name(self) -> str:
        return self.view.name

    @property
    def reach(self) -> tuple[Elapsed | Calendar, ...] | None:
        """The windows in which a row can still decide something; None where any row before the as-of can.

        A latest row matters up to twice its ttl (EXPIRED until then). An entity with no row in it has no row online.
        """
        windows = [slot.window for slot in self.slots if slot.function is not SlotFunction.LATEST]
        windows += [None if f.ttl is None else Elapsed(2 * f.ttl) for f in self.features if f.is_latest]
        # A sibling may use a LATEST slot without being a latest feature: then the row matters at any age.
        own = {slot.name for slot in self.slots if slot.function is SlotFunction.LATEST}
        if any(_uses(f.expression, own) for f in self.features if not f.is_latest):
            return None
        lengths, calendars = [], []
        for window in windows:
            match window:
                case Calendar():
                    calendars.append(window)
                case Elapsed(length) | LastRows(_, int(length)):
                    lengths.append(length)
                case None | Lifetime() | LastRows():
                    return None
        return (*((Elapsed(max(lengths)),) if lengths else ()), *dict.fromkeys(calendars))

    def since(self, as_of: Instant) -> Instant | None:
        """Return the instant from which on a row can decide something as of an instant; None where any can."""
        starts = [start_of(window, as_of) for window in self.reach or ()]
        found = [start for start in starts if start is not None]
        return min(found) if found and len(found) == len(starts) else None

    def windows_of(self, feature: CompiledFeature) -> tuple[Window, ...]:
        """Return the windows that a feature's value comes of, each once."""
        slots = [slot for slot in self.slots if _uses(feature.expression, {slot.name})]
        return tuple(dict.fromkeys(slot.window for slot in slots if slot.window is not None))

    def feature(self, name: str) -> CompiledFeature | None:
        return next((feature for feature in self.features if feature.name == name), None)


def _uses(node: Node, names: set[str]) -> bool:
    return any(column.name in names for column in columns(node))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceView:
    """A view as one service uses it: under `alias`, its join keys read from the named request keys."""

    alias: str
    view: CompiledView
    request_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDemandOutput:
    """An on-demand feature in a service: `expression` over request columns and `alias.feature` columns."""

    view: str
    name: str
    type: DataType
    nullable: bool
    expression: Node
    default: Any

    @property
    def output_nullable(self) -> bool:
        return self.default is None and self.nullable


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOutput:
    """One column of a service's answer, named `view.feature` (or `alias.feature`)."""

    name: str
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledService:
    """A service with everything it reads and computes; `outputs` is the order a model sees.

    `keys` are the request's entity keys, `request` the other values an on-demand feature needs.
    """

    service: FeatureService
    views: tuple[ServiceView, ...]
    on_demand_views: tuple[OnDemandFeatureView, ...]
    on_demand: tuple[OnDemandOutput, ...]
    keys: Schema
    request: Schema
    outputs: tuple[ServiceOutput, ...]
    fingerprint: Fingerprint

    @property
    def name(self) -> str:
        return self.service.name


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledRepository:
    """All of a repo compiled; `view_services` are the views as services of their own, under their names."""

    repository: Repository
    views: dict[str, CompiledView]
    services: dict[str, CompiledService]
    view_services: dict[str, CompiledService]

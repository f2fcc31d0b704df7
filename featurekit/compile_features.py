"""A view's features -> slots and expressions over them (see `compiled`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from featurekit.compiled import CompiledFeature, Slot, SlotFunction
from featurekit.defaults import typed_default
from featurekit.definitions.expectation import check_expectation
from featurekit.definitions.feature_view import Feature, FeatureView
from featurekit.definitions.problem import Place
from featurekit.definitions.source import Source, SourceKind
from featurekit.errors import ExpressionError, FeaturekitError, InputError, UnsupportedFunctionError
from featurekit.expr.nodes import Aggregate, Column, Node, aggregates, columns, transform
from featurekit.expr.parse import parse_expression
from featurekit.lower_aggregates import Lowered, lower_aggregate
from featurekit.rows import check_storable
from featurekit.source_schema import SourceSchema
from featurekit.types import DataType, Map, Timestamp, TimestampNtz, holds, is_nested
from featurekit.windows import Calendar, Elapsed, Window

SIBLING: Final = "$feature"
"""The qualifier of a column that stands for another feature of the view while its expression is compiled."""


class AlreadyToldError(ExpressionError):
    """It depends on something whose mistake is reported where that stands; telling it again would be noise."""


@dataclass(frozen=True, slots=True)
class RowScope:
    """The columns of a source's rows; naive timestamps are instants where the source declares their zone."""

    columns: dict[str, Column]
    unsupported: dict[str, str]

    @staticmethod
    def of(source: Source, schema: SourceSchema) -> RowScope:
        found = {}
        unsupported = dict(schema.unsupported)
        for part in schema.schema.fields:
            kind: DataType = part.type
            if holds(kind, Map):
                unsupported[part.name] = "maps have no order, and a view's rows need one that no run changes"
                continue
            if is_nested(kind) and holds(kind, TimestampNtz):
                unsupported[part.name] = "it holds timestamps without a zone, which are read only as a column's own"
                continue
            if isinstance(kind, TimestampNtz):
                if source.timezone is None:
                    unsupported[part.name] = f"it has no zone, and the source {source.name} declares none"
                    continue
                kind = Timestamp()
            found[part.name] = Column(type=kind, nullable=part.nullable, name=part.name)
        return RowScope(found, unsupported)

    def resolve(self, qualifier: str | None, name: str) -> Column | None:
        if qualifier is None and name in self.unsupported:
            raise UnsupportedFunctionError(
                f"column {name!r} can't be used",
                why=self.unsupported[name],
                try_=_advice(self.unsupported[name]),
            )
        return self.columns.get(name) if qualifier is None else None

    def candidates(self) -> tuple[str, ...]:
        return tuple(self.columns)


def _advice(why: str) -> str:
    if "it has no zone" in why:
        return "declare the source's `timezone`, or convert the column in a `sql:` source"
    if "maps" in why:
        return "map_entries(column) in a `sql:` source; map_from_entries makes a map of it again"
    return "convert it in a `sql:` source"


@dataclass(frozen=True, slots=True)
class _WithSiblings:
    rows: RowScope
    sibling: Callable[[str], Column | None]
    names: tuple[str, ...]

    def resolve(self, qualifier: str | None, name: str) -> Column | None:
        return self.rows.resolve(qualifier, name) or (self.sibling(name) if qualifier is None else None)

    def candidates(self) -> tuple[str, ...]:
        return (*self.rows.candidates(), *self.names)


@dataclass(slots=True)
class FeatureCompiler:
    """Compiles the features of one view, each once, siblings first, and collects their slots."""

    view: FeatureView
    scope: RowScope
    report: Callable[[Place, FeaturekitError], None]
    kind: SourceKind = SourceKind.EVENTS
    _done: dict[str, CompiledFeature | None] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)
    _slots: dict[tuple[object, ...], Slot] = field(default_factory=dict)

    @property
    def slots(self) -> tuple[Slot, ...]:
        return tuple(self._slots.values())

    def compile(self, name: str) -> CompiledFeature | None:
        """Return the feature, or None after reporting why it can't be."""
        if name not in self._done:
            feature = self.view.feature(name)
            assert feature is not None
            self._open.append(name)
            try:
                self._done[name] = self._compile(feature)
            except FeaturekitError as error:
                self.report(("feature_views", self.view.name, "features", name, "sql"), error)
                self._done[name] = None
            finally:
                self._open.pop()
        return self._done[name]

    def _compile(self, feature: Feature) -> CompiledFeature | None:
        names = tuple(other.name for other in self.view.features if other.name != feature.name)
        scope = _WithSiblings(self.scope, self._sibling, names)
        node = parse_expression(feature.sql, scope, aggregates_allowed=True)
        outside = columns(transform(node, _without_aggregates))
        siblings = [column for column in outside if column.qualifier == SIBLING]
        is_latest = not aggregates(node) and not siblings
        self._check_shape(feature, node, siblings, outside)
        if is_latest:
            slot = self._slot(Lowered(function=SlotFunction.LATEST, argument=node), None, node.type, True)
            expression: Node = Column(type=slot.type, nullable=True, name=slot.name)
        else:
            expression = transform(node, lambda part: self._lower(part, feature))
        check_storable(feature.name, node.type)
        default = self._default(feature, node.type)
        if feature.expect and (why := check_expectation(feature.expect, node.type)):
            self._report(feature, "expect", InputError(f"`expect` can't be checked: {why}"))
        return CompiledFeature(
            name=feature.name,
            type=node.type,
            nullable=node.nullable,
            expression=expression,
            is_latest=is_latest,
            ttl=feature.ttl,
            default=default,
            expectation=feature.expect,
        )

    def _sibling(self, name: str) -> Column | None:
        feature = self.view.feature(name)
        if feature is None:
            return None
        if name in self._open:
            path = " -> ".join([*self._open[self._open.index(name) :], name])
            raise InputError(
                f"features refer to each other in a circle: {path}"
                if name != self._open[-1]
                else f"feature {name!r} refers to itself, and its source has no column {name!r}",
                try_="write out one of them from source columns",
            )
        compiled = self.compile(name)
        if compiled is None:
            raise AlreadyToldError(f"feature {name!r} has a mistake of its own")
        if compiled.is_latest and compiled.ttl is not None:
            raise UnsupportedFunctionError(
                f"feature {name!r} has a ttl and can't be used by a sibling",
                why="whether it is expired is known only when the row is read",
                try_="combine the two in an on-demand feature view",
            )
        return Column(
            type=compiled.type, nullable=compiled.nullable or compiled.is_latest, name=name, qualifier=SIBLING
        )

    def _check_shape(self, feature: Feature, node: Node, siblings: list[Column], outside: tuple[Column, ...]) -> None:
        has_aggregates = bool(aggregates(node))
        bare = [column.name for column in outside if column.qualifier != SIBLING]
        if (has_aggregates or siblings) and bare:
            beside = "an aggregate" if has_aggregates else "another feature"
            raise ExpressionError(
                f"column {bare[0]!r} stands bare beside {beside}",
                why="it has a value per row, the other one a value per entity",
                try_=f"aggregate it, such as max({bare[0]}), or make it a feature of its own and name that here",
                offset=_offset_of(feature.sql, bare[0]),
            )
        if self.kind is not SourceKind.EVENTS and feature.window is not None:
            self._report(feature, "window", _window_of_states(feature.name, self.kind))
        elif has_aggregates and feature.window is None and self.kind is SourceKind.EVENTS:
            self._report(
                feature,
                "sql",
                InputError(
                    f"feature {feature.name!r} aggregates rows but declares no window",
                    why="an aggregate is over the events of a stretch of time",
                    try_="add `window: 7d` (or another length), or `window: lifetime` for all of them",
                ),
            )
        elif not has_aggregates and feature.window is not None:
            self._report(
                feature,
                "window",
                InputError(
                    f"feature {feature.name!r} declares a window but aggregates no rows",
                    why="without an aggregate it is the latest row's value, or made of other features",
                    try_="remove `window:` (an age limit is `ttl:`), or aggregate",
                ),
            )
        if feature.ttl is not None and (has_aggregates or siblings):
            self._report(
                feature,
                "ttl",
                InputError(
                    f"feature {feature.name!r} declares a ttl but is not a latest row's value",
                    why="an aggregate's age is its window",
                    try_="remove `ttl:`",
                ),
            )

    def _lower(self, part: Node, feature: Feature) -> Node:
        match part:
            case Aggregate():
                # Without a window the mistake is reported already; none keeps the rest going.
                window = self._window(feature)
                slot = self._slot(lower_aggregate(part), window, part.type, part.nullable)
                return Column(type=slot.type, nullable=slot.nullable, name=slot.name)
            case Column(qualifier=qualifier) if qualifier == SIBLING:
                sibling = self._done[part.name]
                assert sibling is not None
                return sibling.expression
            case _:
                return part

    def _window(self, feature: Feature) -> Window | None:
        match feature.window:
            case int(length):
                return Elapsed(length)
            case Calendar() as calendar:
                return replace(calendar, timezone=self.view.refresh.timezone)
            case window:
                return window

    def _slot(self, what: Lowered, window: Window | None, kind: DataType, nullable: bool) -> Slot:
        key = (what, window)
        if key not in self._slots:
            self._slots[key] = Slot(
                name=f"a{len(self._slots)}",
                function=what.function,
                argument=what.argument,
                by=what.by,
                filter=what.filter,
                window=window,
                type=kind,
                nullable=nullable,
                parameter=what.parameter,
            )
        return self._slots[key]

    def _default(self, feature: Feature, kind: DataType) -> object:
        if feature.default is None:
            return None
        try:
            return typed_default(feature.default, kind)
        except FeaturekitError as error:
            self._report(feature, "default", error)
            return None

    def _report(self, feature: Feature, part: str, error: FeaturekitError) -> None:
        self.report(("feature_views", self.view.name, "features", feature.name, part), error)


def _window_of_states(feature: str, kind: SourceKind) -> InputError:
    what = "the things that are there" if kind is SourceKind.CHANGES else "the rows of one snapshot"
    return InputError(
        f"feature {feature!r} declares a window over {kind}",
        why=f"such rows say how things are: an aggregate is over {what}, however old its row is",
        try_="remove `window:`; what happened in a stretch of time is counted over a source of events",
    )


def _without_aggregates(node: Node) -> Node:
    if not isinstance(node, Aggregate):
        return node
    return Aggregate(type=node.type, nullable=node.nullable, function=node.function, args=())


def _offset_of(sql: str, name: str) -> int | None:
    at = sql.find(name)
    return at if at >= 0 else None

"""On-demand views -> expressions over request values and features, as one service names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from featurekit.compile_features import AlreadyToldError
from featurekit.compiled import CompiledFeature, CompiledView, OnDemandOutput
from featurekit.defaults import typed_default
from featurekit.definitions.on_demand import OnDemandFeature, OnDemandFeatureView
from featurekit.definitions.problem import Place
from featurekit.definitions.repository import Repository
from featurekit.errors import ExpressionError, FeaturekitError, InputError
from featurekit.expr.nodes import Column, Node, transform
from featurekit.expr.parse import parse_expression
from featurekit.rows import check_storable

Report = Callable[[Place, FeaturekitError], None]


@dataclass(slots=True)
class _OnDemandScope:
    """Request columns and siblings by bare name, features by `alias.feature`."""

    view: OnDemandFeatureView
    aliases: Mapping[str, str]  # alias -> view name
    views: Mapping[str, CompiledView]
    known: Repository
    left_out: frozenset[Place]
    compiler: _OnDemandCompiler

    def resolve(self, qualifier: str | None, name: str) -> Column | None:
        if qualifier is None:
            if found := self.view.request_schema.get(name):
                return Column(type=found.type, nullable=True, name=name)
            return self.compiler.sibling(name)
        view = self.views.get(self.aliases.get(qualifier, qualifier))
        if view is None:
            return self._no_view(qualifier)
        if qualifier not in self.aliases:
            used = [alias for alias, target in self.aliases.items() if target == qualifier]
            if used:
                raise ExpressionError(
                    f"{qualifier!r} is used under {' and '.join(repr(alias) for alias in used)} in this service",
                    why="a reference to the view itself does not say which",
                    try_=f"write {used[0]}.{name}",
                )
        feature = view.feature(name)
        if feature is None:
            if ("feature_views", view.name, "features", name) in self.left_out:
                raise AlreadyToldError(f"feature {qualifier}.{name} has a mistake of its own")
            raise ExpressionError(
                f"view {qualifier!r} has no feature {name!r}",
                try_=f"one of {', '.join(other.name for other in view.features)}",
            )
        return feature_column(qualifier, feature)

    def _no_view(self, qualifier: str) -> Column | None:
        names = ("feature_views", "on_demand_feature_views")
        if qualifier in self.known.feature_views or any((kind, qualifier) in self.left_out for kind in names):
            raise AlreadyToldError(f"view {qualifier!r} has a mistake of its own")
        if qualifier in self.known.on_demand_feature_views:
            raise ExpressionError(
                f"{qualifier!r} is an on-demand view",
                why="on-demand features are computed from stored features and the request, not from each other",
                try_="write the expression out here, or move both features into one view",
            )
        if qualifier in self.compiler.all_aliases:
            raise ExpressionError(
                f"{qualifier!r} is an alias of a service that does not use this view",
                try_="use the alias in each service that includes this on-demand view",
            )
        return None

    def candidates(self) -> tuple[str, ...]:
        names = [*self.view.request, *(feature.name for feature in self.view.features)]
        qualified = [
            f"{alias}.{feature.name}"
            for alias, target in self.aliases.items()
            if target in self.views
            for feature in self.views[target].features
        ]
        return (*names, *qualified)


def feature_column(alias: str, feature: CompiledFeature) -> Column:
    """Return a view's feature as an input of on-demand expressions: after its default."""
    return Column(type=feature.type, nullable=feature.output_nullable, name=feature.name, qualifier=alias)


@dataclass(slots=True)
class _OnDemandCompiler:
    view: OnDemandFeatureView
    report: Report
    all_aliases: frozenset[str]
    _done: dict[str, OnDemandOutput | None] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)
    scope: _OnDemandScope | None = None

    def compile(self, feature: OnDemandFeature) -> OnDemandOutput | None:
        if feature.name not in self._done:
            self._open.append(feature.name)
            try:
                self._done[feature.name] = self._compile(feature)
            except FeaturekitError as error:
                self.report(("on_demand_feature_views", self.view.name, "features", feature.name, "sql"), error)
                self._done[feature.name] = None
            finally:
                self._open.pop()
        return self._done[feature.name]

    def sibling(self, name: str) -> Column | None:
        feature = next((other for other in self.view.features if other.name == name), None)
        if feature is None:
            return None
        if name in self._open:
            path = " -> ".join([*self._open[self._open.index(name) :], name])
            raise InputError(f"features refer to each other in a circle: {path}", try_="write out one of them")
        compiled = self.compile(feature)
        if compiled is None:
            raise AlreadyToldError(f"feature {name!r} has a mistake of its own")
        if compiled.default is not None:
            raise ExpressionError(
                f"feature {name!r} has a default and can't be used by a sibling",
                why="the default is applied to the answer, after all expressions",
                try_=f"write the default into {name!r} with coalesce",
            )
        return Column(type=compiled.type, nullable=compiled.nullable, name=name, qualifier=self.view.name)

    def _compile(self, feature: OnDemandFeature) -> OnDemandOutput:
        assert self.scope is not None
        node = parse_expression(feature.sql, self.scope, aggregates_allowed=False)
        check_storable(feature.name, node.type)
        node = transform(node, self._inline)
        path = ("on_demand_feature_views", self.view.name, "features", feature.name)
        default: Any = None
        if feature.default is not None:
            try:
                default = typed_default(feature.default, node.type)
            except FeaturekitError as error:
                self.report((*path, "default"), error)
        if feature.expect:
            self.report(
                (*path, "expect"),
                InputError(
                    f"`expect` can't be enforced for on-demand feature {feature.name!r}",
                    why="it is computed when it is asked for: no refresh holds it that could be kept from being served",
                    try_="expect it of the stored features it is computed from",
                ),
            )
        return OnDemandOutput(
            view=self.view.name,
            name=feature.name,
            type=node.type,
            nullable=node.nullable,
            expression=node,
            default=default,
        )

    def _inline(self, part: Node) -> Node:
        if isinstance(part, Column) and part.qualifier == self.view.name:
            sibling = self._done[part.name]
            assert sibling is not None
            return sibling.expression
        return part


def compile_on_demand(
    view: OnDemandFeatureView,
    aliases: Mapping[str, str],
    views: Mapping[str, CompiledView],
    report: Report,
    *,
    known: Repository,
    left_out: frozenset[Place] = frozenset(),
    only: frozenset[str] | None = None,
) -> dict[str, OnDemandOutput]:
    """Return the view's features by name (only those asked for), compiled where `aliases` name the service's views."""
    # An alias of any service is accepted when the view is checked on its own: each service decides what it means.
    all_aliases = {
        part.alias: part.view for service in known.feature_services.values() for part in service.features if part.alias
    }
    compiler = _OnDemandCompiler(view, report, frozenset(all_aliases))
    if only is None:
        aliases = {**{alias: target for alias, target in all_aliases.items() if target in views}, **aliases}
    compiler.scope = _OnDemandScope(view, aliases, views, known, left_out, compiler)
    found = {}
    for feature in view.features:
        if only is not None and feature.name not in only:
            continue
        if compiled := compiler.compile(feature):
            found[feature.name] = compiled
    return found

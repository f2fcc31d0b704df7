"""On-demand views and services -> what a request needs and gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from featurekit.compile_features import AlreadyToldError
from featurekit.compiled import (
    CompiledFeature,
    CompiledService,
    CompiledView,
    OnDemandOutput,
    ServiceOutput,
    ServiceView,
)
from featurekit.defaults import typed_default
from featurekit.definitions.on_demand import OnDemandFeature, OnDemandFeatureView
from featurekit.definitions.problem import Place
from featurekit.definitions.repository import Repository
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.errors import ExpressionError, FeaturekitError, InputError, TypeMismatchError
from featurekit.expr.nodes import Column, Node, columns, transform
from featurekit.expr.parse import parse_expression
from featurekit.fingerprint import service_fingerprint
from featurekit.types import INTEGER_BITS, DataType, Field, Schema, is_integer

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


def compile_service(
    service: FeatureService, repository: Repository, views: Mapping[str, CompiledView], report: Report
) -> CompiledService | None:
    """Return the service compiled, or None where something it uses has a mistake (reported there or here)."""
    path = ("feature_services", service.name)
    stored = [part for part in service.features if part.view in repository.feature_views]
    aliases = {part.name: part.view for part in stored}
    if any(part.view not in views for part in stored):
        return None
    on_demand: dict[str, dict[str, OnDemandOutput]] = {}
    for name in dict.fromkeys(part.view for part in service.features if part.view not in repository.feature_views):
        definition = repository.on_demand_feature_views.get(name)
        if definition is None:
            return None  # the loader has said so
        wanted = _wanted(service, definition)
        on_demand[name] = compile_on_demand(definition, aliases, views, report, known=repository, only=wanted)
        if on_demand[name].keys() != wanted:
            return None
    parts = _service_views(stored, on_demand, views)
    keys = _request_keys(parts, (*path, "features"), report)
    definitions = tuple(repository.on_demand_feature_views[name] for name in on_demand)
    request = _request(definitions, keys, on_demand, report) if keys is not None else None
    if keys is None or request is None:
        return None
    if _differ_in_case((*keys.names, *request.names), (*path, "features"), report):
        return None
    outputs = tuple(output for part in service.features for output in _outputs(part, views, on_demand))
    computed = tuple(feature for features in on_demand.values() for feature in features.values())
    fingerprint = service_fingerprint(
        service=service,
        views=parts,
        on_demand_views=definitions,
        on_demand=tuple((f"{item.view}.{item.name}", item.expression, item.default) for item in computed),
        request=request,
        outputs=outputs,
    )
    return CompiledService(
        service=service,
        views=parts,
        on_demand_views=definitions,
        on_demand=computed,
        keys=keys,
        request=request,
        outputs=outputs,
        fingerprint=fingerprint,
    )


def _differ_in_case(names: Iterable[str], path: Place, report: Report) -> bool:
    """Report two keys or request values whose names differ in case only; return whether there are any."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            report(
                path,
                InputError(
                    f"the request values {other} and {name} differ in case only",
                    why="Spark does not tell them apart, so no training set could have both",
                    try_="rename one of them",
                ),
            )
            return True
    return False


def _wanted(service: FeatureService, view: OnDemandFeatureView) -> frozenset[str]:
    entries = [part for part in service.features if part.view == view.name]
    if any(part.feature is None for part in entries):
        return frozenset(feature.name for feature in view.features)
    return frozenset(part.feature for part in entries if part.feature is not None)


def _service_views(
    stored: list[ServiceFeatures],
    on_demand: Mapping[str, Mapping[str, OnDemandOutput]],
    views: Mapping[str, CompiledView],
) -> tuple[ServiceView, ...]:
    keys: dict[str, dict[str, str]] = {}
    targets: dict[str, str] = {}
    for part in stored:
        targets.setdefault(part.name, part.view)
        keys.setdefault(part.name, {}).update(part.keys)
    # A view that only on-demand expressions use is read under its own name and keys.
    for features in on_demand.values():
        for feature in features.values():
            for column in columns(feature.expression):
                if column.qualifier is not None:
                    targets.setdefault(column.qualifier, column.qualifier)
    return tuple(
        ServiceView(
            alias=alias,
            view=views[target],
            request_keys=tuple(keys.get(alias, {}).get(key.name, key.name) for key in views[target].keys),
        )
        for alias, target in targets.items()
    )


def _request_keys(parts: tuple[ServiceView, ...], path: Place, report: Report) -> Schema | None:
    found: dict[str, DataType] = {}
    for part in parts:
        for key, name in zip(part.view.keys, part.request_keys, strict=True):
            known = found.get(name)
            if known is None or known == key.type:
                found[name] = key.type
            elif is_integer(known) and is_integer(key.type):  # one value is one key, whatever its width
                found[name] = max(known, key.type, key=lambda kind: INTEGER_BITS[kind])
            else:
                report(
                    path,
                    TypeMismatchError(
                        f"the request key {name!r} is {known} for one view and {key.type} for {part.alias!r}",
                        try_=f"give one of them another name with `keys: {{{key.name}: OTHER}}`",
                    ),
                )
                return None
    return Schema(tuple(Field(name, kind, nullable=False) for name, kind in found.items()))


def _request(
    definitions: tuple[OnDemandFeatureView, ...],
    keys: Schema,
    on_demand: Mapping[str, Mapping[str, OnDemandOutput]],
    report: Report,
) -> Schema | None:
    found: dict[str, Field] = {}
    for view in definitions:
        used = {
            column.name
            for feature in on_demand[view.name].values()
            for column in columns(feature.expression)
            if column.qualifier is None
        }
        for column in view.request_schema.fields:
            if column.name not in used:
                continue
            known = found.get(column.name) or keys.get(column.name)
            if known is not None and known.type != column.type:
                report(
                    ("on_demand_feature_views", view.name, "request", column.name),
                    TypeMismatchError(
                        f"the request value {column.name!r} is {column.type} here and {known.type} elsewhere",
                        why="a request has one value of that name",
                        try_="give both the same type, or other names",
                    ),
                )
                return None
            if column.name not in keys:
                found[column.name] = column
    return Schema(tuple(found.values()))


def _outputs(
    part: ServiceFeatures,
    views: Mapping[str, CompiledView],
    on_demand: Mapping[str, Mapping[str, OnDemandOutput]],
) -> tuple[ServiceOutput, ...]:
    features: tuple[CompiledFeature | OnDemandOutput, ...] = (
        views[part.view].features if part.view in views else tuple(on_demand[part.view].values())
    )
    return tuple(
        ServiceOutput(name=f"{part.name}.{feature.name}", type=feature.type, nullable=feature.output_nullable)
        for feature in features
        if part.feature is None or part.feature == feature.name
    )

"""Services -> what a request needs and gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from featurekit.compile_on_demand import Report, compile_on_demand
from featurekit.compiled import (
    CompiledFeature,
    CompiledService,
    CompiledView,
    OnDemandOutput,
    ServiceOutput,
    ServiceView,
)
from featurekit.definitions.on_demand import OnDemandFeatureView
from featurekit.definitions.problem import Place
from featurekit.definitions.repository import Repository
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.errors import InputError, TypeMismatchError
from featurekit.expr.nodes import columns
from featurekit.fingerprint import service_fingerprint
from featurekit.types import INTEGER_BITS, DataType, Field, Schema, is_integer


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

"""Definitions -> compiled views and services. Pure but for reading the sources' schemas; all mistakes at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from featurekit.compile_changes import compile_changes, compile_deleted
from featurekit.compile_features import AlreadyToldError, FeatureCompiler, RowScope
from featurekit.compile_on_demand import Report, compile_on_demand
from featurekit.compile_services import compile_service
from featurekit.compiled import CompiledRepository, CompiledService, CompiledView, KeyColumn
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import FeatureView
from featurekit.definitions.problem import Place
from featurekit.definitions.repo import LoadedRepo, raise_mistakes
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.definitions.source import Source
from featurekit.errors import DefinitionError, FeaturekitError, InputError, SourceError, TypeMismatchError
from featurekit.expr.nodes import Column, Node, columns
from featurekit.expr.parse import parse_expression
from featurekit.fingerprint import view_fingerprint
from featurekit.source_schema import SourceSchema, check_source, read_source_schema
from featurekit.types import INTEGER_BITS, Boolean, DataType, is_integer


@dataclass(slots=True)
class Mistakes:
    """Collects mistakes with their positions; the same mistake of two services is told once."""

    loaded: LoadedRepo
    found: dict[tuple[str | None, str], DefinitionError] = field(default_factory=dict)

    def add(self, path: Place, error: FeaturekitError) -> None:
        if isinstance(error, AlreadyToldError):
            return
        where = self.loaded.positions.at(*path, offset=getattr(error, "offset", None))
        if error.where:
            where = f"{where}  {error.where}"
        self.found.setdefault(
            (where, error.what), DefinitionError(error.what, where=where, why=error.why, try_=error.try_)
        )


def compile_repository(loaded: LoadedRepo, base: Path) -> CompiledRepository:
    """Return the repo's compiled views and services; source paths are relative to `base`.

    Raises DefinitionErrors with all mistakes of loading and compiling, in the order of their positions. Each view is
    a service of its own too, under its name, unless a declared service has that name.
    """
    mistakes = Mistakes(loaded)
    repository = loaded.repository
    schemas = {name: _source_schema(source, base, mistakes.add) for name, source in repository.sources.items()}
    views: dict[str, CompiledView] = {}
    for view in repository.feature_views.values():
        entity, source = repository.entities.get(view.entity), repository.sources.get(view.source)
        schema = schemas.get(view.source)
        if entity is None or source is None or schema is None:
            continue  # the source's own mistake has said why
        if compiled := compile_view(view, entity, source, schema, mistakes.add):
            views[view.name] = compiled
    for view in loaded.set_aside.values():
        if schema := schemas.get(view.source):
            _check_expressions(view, repository.sources[view.source], schema, mistakes.add)
    for on_demand in repository.on_demand_feature_views.values():
        compile_on_demand(
            on_demand, {name: name for name in views}, views, mistakes.add, known=repository, left_out=loaded.left_out
        )
    services: dict[str, CompiledService] = {}
    for service in repository.feature_services.values():
        if compiled_service := compile_service(service, repository, views, mistakes.add):
            services[service.name] = compiled_service
    raise_mistakes(loaded, tuple(mistakes.found.values()))
    own = {}
    for name in views.keys() - services.keys():
        alone = FeatureService(name=name, features=(ServiceFeatures(view=name),))
        if compiled_service := compile_service(alone, repository, views, mistakes.add):
            own[name] = compiled_service
    return CompiledRepository(repository=repository, views=views, services=services, view_services=own)


def _check_expressions(view: FeatureView, source: Source, schema: SourceSchema, report: Report) -> None:
    """Report the mistakes in the SQL of a view that can't be compiled for another reason."""
    scope = RowScope.of(source, schema)
    _where(view, scope, report)
    compiler = FeatureCompiler(view=view, scope=scope, report=report, kind=source.kind)
    for feature in view.features:
        compiler.compile(feature.name)


def compile_view(
    view: FeatureView, entity: Entity, source: Source, schema: SourceSchema, report: Report
) -> CompiledView | None:
    """Return the view compiled against its source's columns, or None after reporting why it can't be."""
    path = ("feature_views", view.name)
    scope = RowScope.of(source, schema)
    keys = _key_columns(view, entity, scope, report)
    where, where_ok = _where(view, scope, report)
    compiler = FeatureCompiler(view=view, scope=scope, report=report, kind=source.kind)
    features = [compiler.compile(feature.name) for feature in view.features]
    if keys is None or not where_ok or any(feature is None for feature in features):
        return None
    done = tuple(feature for feature in features if feature is not None)
    if not done:
        report((*path, "features"), InputError("the view has no features", try_="declare at least one"))
        return None
    slots = compiler.slots
    changes = compile_changes(source, scope, keys)
    nodes: list[Node] = [node for node in (where, changes.deleted) if node is not None]
    nodes += [part for slot in slots for part in (slot.argument, slot.by, slot.filter) if part is not None]
    used = tuple(sorted({column for node in nodes for column in columns(node)}, key=lambda column: column.name))
    fingerprint = view_fingerprint(
        view=view,
        entity=entity,
        source=source,
        keys=keys,
        where=where,
        columns=used,
        slots=slots,
        features=done,
        changes=changes,
    )
    return CompiledView(
        view=view,
        entity=entity,
        source=source,
        source_schema=schema,
        keys=keys,
        where=where,
        columns=used,
        slots=slots,
        features=done,
        fingerprint=fingerprint,
        row_key=changes.row_key,
        deleted=changes.deleted,
    )


def _source_schema(source: Source, base: Path, report: Report) -> SourceSchema | None:
    path = ("sources", source.name)
    try:
        schema = read_source_schema(source, base)
    except SourceError as error:
        report((*path, source.origin if source.origin in ("table", "sql") else "path"), error)
        return None
    problems = check_source(source, schema)
    for problem in problems:
        report(problem.path, DefinitionError(problem.what, why=problem.why, try_=problem.try_))
    if problems:
        return None
    try:
        compile_deleted(source, RowScope.of(source, schema))
    except FeaturekitError as error:
        report((*path, "deleted"), error)
        return None
    return schema


def _where(view: FeatureView, scope: RowScope, report: Report) -> tuple[Node | None, bool]:
    if view.where is None:
        return None, True
    path = ("feature_views", view.name, "where")
    try:
        node = parse_expression(view.where, scope, aggregates_allowed=False)
    except FeaturekitError as error:
        report(path, error)
        return None, False
    if node.type != Boolean():
        report(
            path,
            TypeMismatchError(
                f"`where` is {node.type}, not boolean", why="it says which rows count", try_="compare it with something"
            ),
        )
        return None, False
    return node, True


def _key_columns(view: FeatureView, entity: Entity, scope: RowScope, report: Report) -> tuple[KeyColumn, ...] | None:
    path = ("feature_views", view.name)
    found: list[KeyColumn] = []
    for key in entity.keys:
        name = view.keys.get(key.name, key.name)
        at = (*path, "keys", key.name) if key.name in view.keys else (*path, "entity")
        column = scope.resolve(None, name)
        if column is None:
            report(
                at,
                InputError(
                    f"source {view.source!r} has no column {name!r} for the join key {key.name!r}",
                    try_=f"name the column with `keys: {{{key.name}: COLUMN}}`; it has {', '.join(scope.candidates())}",
                ),
            )
        elif not _holds(key.type, column):
            report(
                at,
                TypeMismatchError(
                    f"the join key {key.name!r} is {key.type}, its column {name!r} is {column.type}",
                    why="a key must be the same value on both paths",
                    try_=f"declare the join key as {column.type}, or cast the column in a `sql:` source",
                ),
            )
        else:
            found.append(KeyColumn(name=key.name, type=key.type, source_column=name))
    return tuple(found) if len(found) == len(entity.join_keys) else None


def _holds(key: DataType, column: Column) -> bool:
    """Return whether every value of the column is a value of the key's type."""
    if is_integer(key) and is_integer(column.type):
        return INTEGER_BITS[column.type] <= INTEGER_BITS[key]
    return key == column.type

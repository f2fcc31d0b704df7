"""`list` and `status`: what is defined, what is registered, what runs."""

from __future__ import annotations

from typing import Any

import typer

from featurekit.cli.answer import Answer, Block, Line, Table, Tone, Toned, counted
from featurekit.cli.context import invocation
from featurekit.cli.overview import Freshness, Overview, model_document, overview
from featurekit.clock import format_instant
from featurekit.compiled import CompiledRepository
from featurekit.compiler import compile_repository
from featurekit.config import Settings
from featurekit.definitions.repo import load_repo
from featurekit.online import embedded
from featurekit.registry.registry import Registry
from featurekit.registry.state import RegistrationStatus
from featurekit.urls import shown_url


def list_(context: typer.Context) -> Answer:
    """List entities, sources, views, services and models.

    With what is registered of them, and how fresh the registered views are.
    """
    settings = invocation(context).settings()
    definitions = compile_repository(load_repo(settings.definitions, root=settings.root), settings.root)
    return listed(definitions, read_overview(settings, definitions) or _nothing(definitions))


def status(context: typer.Context) -> Answer:
    """Show the online store and what is served from it."""
    settings = invocation(context).settings()
    server = None if settings.redis_url else embedded.status(settings.state)
    found = read_overview(settings)
    if settings.redis_url:
        store: dict[str, Any] = {"kind": "redis", "url": shown_url(settings.redis_url)}
    elif server:
        store = {"kind": "embedded", "running": True, "url": server.url, "pid": server.pid, "port": server.port}
    else:
        store = {"kind": "embedded", "running": False}
    document = {
        "project": settings.project,
        "environment": settings.environment,
        "store": store,
        "registered": None if found is None else _registered(found),
    }
    rows = (
        ("project", f"{settings.project} ({settings.environment})"),
        ("online store", store.get("url") or Toned("embedded, not up: featurekit up", Tone.WARNING)),
        ("registry", "nothing is registered yet" if found is None else _counts(found)),
    )
    blocks: list[Block] = [Table(rows=rows)]
    if found is not None:
        blocks += _fresh(found)
    return Answer(document=document, blocks=tuple(blocks))


def read_overview(settings: Settings, definitions: CompiledRepository | None = None) -> Overview | None:
    """Return what the registry holds; None where none has been made yet, so that looking makes no file."""
    if settings.registry_url is None and not (settings.state / "registry.db").exists():
        return None
    registry = Registry(
        settings.registry, project=settings.project, environment=settings.environment, models=settings.models
    )
    return overview(
        registry.deployed(),
        registry.watermarks(),
        registry.models(),
        definitions=definitions,
        uses=registry.uses(),
        rolled_back=tuple(one.id for one in registry.registrations() if one.status is RegistrationStatus.ROLLED_BACK),
        now=settings.clock(),
    )


def _nothing(definitions: CompiledRepository) -> Overview:
    names = [f"view {name}" for name in definitions.views] + [f"service {name}" for name in definitions.services]
    return Overview(views=(), services={}, pending=(), models=(), state=dict.fromkeys(names, "new"))


def listed(definitions: CompiledRepository, found: Overview) -> Answer:
    """Return the definitions beside what is registered, as an answer."""
    repository = definitions.repository
    fresh = {view.view: view for view in found.views}
    entities = {name: {key.name: key.type.name for key in entity.keys} for name, entity in repository.entities.items()}
    document = {
        "entities": entities,
        "sources": {
            name: {"kind": source.kind.value, "origin": source.origin.value}
            for name, source in repository.sources.items()
        },
        "feature_views": {
            name: {
                "entity": view.entity.name,
                "source": view.source.name,
                "refresh": str(view.view.grid),
                "features": {feature.name: feature.type.name for feature in view.features},
                "state": found.state[f"view {name}"],
                "freshness": fresh[name].document() if name in fresh else None,
            }
            for name, view in definitions.views.items()
        },
        "on_demand_feature_views": list(repository.on_demand_feature_views),
        "feature_services": {
            name: {
                "keys": {field.name: field.type.name for field in service.keys.fields},
                "request": {field.name: field.type.name for field in service.request.fields},
                "outputs": [output.name for output in service.outputs],
                "state": found.state[f"service {name}"],
                "serving": found.services.get(name),
            }
            for name, service in definitions.services.items()
        },
        "models": [model_document(model) for model in found.models],
        "kept_versions": [one.document() for one in found.kept],
    }
    return Answer(document=document, blocks=tuple(_tables(definitions, found, entities, fresh)))


def _tables(
    definitions: CompiledRepository,
    found: Overview,
    entities: dict[str, dict[str, str]],
    fresh: dict[str, Freshness],
) -> list[Table]:
    keys = tuple((name, ", ".join(f"{key} {kind}" for key, kind in held.items())) for name, held in entities.items())
    sources = tuple(
        (
            name,
            f"{source.kind}, {source.origin}" if source.is_state else source.origin.value,
            source.shown_origin if source.sql is None else "",
        )
        for name, source in definitions.repository.sources.items()
    )
    views = tuple(
        (
            name,
            view.entity.name,
            str(len(view.features)),
            str(view.view.grid),
            _state(found.state[f"view {name}"]),
            _freshness(fresh.get(name)),
        )
        for name, view in definitions.views.items()
    )
    services = tuple(
        (name, str(len(service.outputs)), _state(found.state[f"service {name}"]), _serving(found.services.get(name)))
        for name, service in definitions.services.items()
    )
    models = tuple((model.name, f"v{model.version}", model.pinned_service) for model in found.models)
    tables = (
        Table(title="entities", columns=("entity", "join keys"), rows=keys),
        Table(title="sources", columns=("source", "kind", "from"), rows=sources),
        Table(
            title="feature views",
            columns=("view", "entity", "features", "refreshed", "registered", "freshness"),
            rows=views,
        ),
        Table(title="feature services", columns=("service", "features", "registered", "serving"), rows=services),
        Table(title="models", columns=("model", "version", "service"), rows=models),
        _kept(found),
    )
    return [table for table in tables if table.rows]


def _state(state: str) -> Toned:
    return Toned(state, Tone.GOOD if state.startswith("v") else Tone.WARNING)


def _freshness(view: Freshness | None) -> str | Toned:
    if view is None:
        return ""
    return Toned(view.told(), Tone.WARNING) if view.is_late else view.told()


def _serving(number: int | None) -> str:
    return "" if number is None else f"v{number}"


def _fresh(found: Overview) -> list[Block]:
    views = tuple((view.view, f"v{view.number}", view.told()) for view in found.views)
    services = tuple((name, f"v{number}", "serving") for name, number in found.services.items())
    blocks: list[Block] = [Table(rows=(*views, *services))] if views or services else []
    if found.kept:
        blocks.append(_kept(found))
    blocks += [
        Line(
            f"registration {number} is rolled back: featurekit rollback --registration {number} --forward", Tone.WARNING
        )
        for number in found.rolled_back
    ]
    for registration in found.pending:
        waiting = f"registration {registration.id} of {format_instant(registration.at)} waits: "
        blocks.append(Line(waiting + ", ".join(registration.services), Tone.WARNING))
    return blocks


def _kept(found: Overview) -> Table:
    rows = tuple(
        (f"{one.name}@{one.number}", "" if one.freshness is None else _freshness(one.freshness), "; ".join(one.by))
        for one in found.kept
    )
    return Table(title="kept versions", columns=("version", "freshness", "needed by"), rows=rows)


def _counts(found: Overview) -> str:
    counts = (counted(len(found.views), "view"), counted(len(found.services), "service"))
    return ", ".join((*counts, counted(len(found.models), "model version")))


def _registered(found: Overview) -> dict[str, Any]:
    return {
        "views": [view.document() for view in found.views],
        "services": dict(found.services),
        "pending": [
            {"registration": one.id, "at": format_instant(one.at), "services": list(one.services)}
            for one in found.pending
        ],
        "models": [model_document(model) for model in found.models],
        "kept_versions": [one.document() for one in found.kept],
        "rolled_back": list(found.rolled_back),
    }

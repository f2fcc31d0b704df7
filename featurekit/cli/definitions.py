"""`validate` and `schema`: the definitions themselves, before anything is registered."""

from __future__ import annotations

import json
from typing import Annotated, Final

import typer

from featurekit.cli.answer import Answer, Block, Line, Table, Tone, counted
from featurekit.cli.context import invocation
from featurekit.compiled import CompiledRepository, CompiledService
from featurekit.compiler import compile_repository
from featurekit.definitions.json_schema import repo_schema
from featurekit.definitions.repo import load_repo
from featurekit.definitions.repository import Repository
from featurekit.offline.manifest_schema import manifest_schema

_NOUNS: Final = {
    "entities": ("entity", "entities"),
    "sources": ("source",),
    "feature_views": ("feature view",),
    "on_demand_feature_views": ("on-demand feature view",),
    "feature_services": ("feature service",),
}


def validate(context: typer.Context) -> Answer:
    """Check all definitions and report every mistake.

    Reads the sources' columns too, and starts no Spark.
    """
    settings = invocation(context).settings()
    compiled = compile_repository(load_repo(settings.definitions, root=settings.root), settings.root)
    return validated(compiled)


def schema(
    context: typer.Context,
    manifest: Annotated[
        bool, typer.Option("--manifest", help="That of a training set's manifest instead, for whoever reads one.")
    ] = False,
) -> Answer:
    """Print the JSON Schema of definition files, for editors.

    In VS Code: featurekit schema > feature_defs/.schema.json, and name that file under yaml.schemas.
    """
    invocation(context)
    document = manifest_schema() if manifest else repo_schema()
    return Answer(document=document, blocks=(Line(json.dumps(document, indent=2, ensure_ascii=False)),))


def validated(compiled: CompiledRepository) -> Answer:
    """Return what the definitions hold, as an answer."""
    repository = compiled.repository
    counts = {
        "entities": len(repository.entities),
        "sources": len(repository.sources),
        "feature_views": len(repository.feature_views),
        "on_demand_feature_views": len(repository.on_demand_feature_views),
        "feature_services": len(repository.feature_services),
    }
    warnings = delay_warnings(repository)
    document = {
        "valid": True,
        "warnings": list(warnings),
        "counts": counts,
        "feature_views": {
            name: {"fingerprint": view.fingerprint.data, "features": {f.name: f.type.name for f in view.features}}
            for name, view in compiled.views.items()
        },
        "feature_services": {
            name: {
                "fingerprint": service.fingerprint.data,
                "keys": {field.name: field.type.name for field in service.keys.fields},
                "request": {field.name: field.type.name for field in service.request.fields},
                "outputs": {output.name: output.type.name for output in service.outputs},
            }
            for name, service in compiled.services.items()
        },
    }
    told = ", ".join(counted(count, *_NOUNS[section]) for section, count in counts.items() if count)
    blocks: list[Block] = [Line(f"valid: {told}" if told else "valid, and empty", Tone.GOOD)]
    blocks += [Line(f"warning: {warning}", Tone.WARNING) for warning in warnings]
    if compiled.services:
        rows = tuple(
            (name, counted(len(service.outputs), "feature"), _asked_for(service))
            for name, service in compiled.services.items()
        )
        blocks.append(Table(columns=("service", "answers", "asks for"), rows=rows))
    return Answer(document=document, blocks=tuple(blocks))


def delay_warnings(repository: Repository) -> tuple[str, ...]:
    """Return a warning for each view that leaves its refreshes no time to run."""
    return tuple(
        f"feature view {name} has no availability_delay: training will take values that serving can't have had yet"
        " while the run lasts; declare as long as a run takes, such as availability_delay: 30m"
        for name, view in repository.feature_views.items()
        if view.serves_at_once
    )


def _asked_for(service: CompiledService) -> str:
    return ", ".join((*service.keys.names, *service.request.names))

"""`model register`, `list`, `delete` and `predict`: models bound to feature services. No Spark is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from featurekit.cli.answer import Answer, Block, Line, Table, Tone
from featurekit.cli.context import invocation, no_command
from featurekit.cli.lookup import asked_rows, freshness, opened_client, shown_value, unavailable_views
from featurekit.cli.overview import model_document
from featurekit.cli.values import Rows
from featurekit.clock import format_instant, parse_instant
from featurekit.config import Settings
from featurekit.plan import LookupPlan
from featurekit.registry.registry import Registry
from featurekit.serving.model import ModelClient, Prediction
from featurekit.serving.register import register_model
from featurekit.serving.runtime import Device
from featurekit.status import Status

app = typer.Typer(add_completion=False, help="Register, list and delete models.", invoke_without_command=True)


@app.callback()
def model(context: typer.Context) -> None:
    """Register, list and delete models."""
    if context.invoked_subcommand is None:
        no_command(context)


@app.command("register")
def register(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The model's name; a known one gets a next version.")],
    onnx: Annotated[Path, typer.Option("--onnx", metavar="FILE", help="The model, as one ONNX file.")],
    service: Annotated[str, typer.Option("--service", metavar="SERVICE", help="The service whose features it takes.")],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="VIEW.FEATURE", help="A column of its input, in order; all features without."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", metavar="VIEW.FEATURE", help="A feature it does not take.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="NAME", help="Which of its outputs is the answer.")
    ] = None,
) -> Answer:
    """Bind a model to a feature service, as the service is registered now.

    The model is tried out before it is kept: its columns, their number, its types, rows of nulls.
    """
    settings = invocation(context).settings()
    record = register_model(
        opened_registry(settings),
        name=name,
        onnx=onnx,
        service=service,
        now=settings.clock(),
        columns=column,
        exclude=exclude or (),
        output=output,
    )
    line = f"model {record.name} v{record.version}: {len(record.columns)} columns of {record.service}, {record.dtype}"
    return Answer(document=model_document(record), blocks=(Line(line, Tone.GOOD),))


@app.command("list")
def list_(context: typer.Context) -> Answer:
    """List models and their versions, newest first."""
    settings = invocation(context).settings()
    records = opened_registry(settings).models()
    rows = tuple(
        (
            record.name,
            f"v{record.version}",
            record.pinned_service,
            str(len(record.columns)),
            record.dtype,
            format_instant(record.registered_at),
        )
        for record in records
    )
    table = Table(columns=("model", "version", "service", "columns", "dtype", "registered"), rows=rows)
    blocks: tuple[Block, ...] = (table,) if rows else (Line("no model is registered"),)
    return Answer(document={"models": [model_document(record) for record in records]}, blocks=blocks)


@app.command("delete")
def delete(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A registered model.")],
    version: Annotated[
        int | None, typer.Option("--version", metavar="NUMBER", help="One of its versions; without it all of them.")
    ] = None,
) -> Answer:
    """Delete a model, so that the version of its service is needed for it no more.

    Its number is given to no later version. A running server notices within some ten seconds.
    """
    settings = invocation(context).settings()
    registry = opened_registry(settings)
    records = [registry.model(name, version)] if version is not None else list(registry.models(name))
    for record in records or [registry.model(name)]:  # or it says what there is
        registry.delete_model(record, settings.clock())
    lines = tuple(Line(f"deleted {one.name} v{one.version}, of {one.pinned_service}", Tone.GOOD) for one in records)
    return Answer(document={"deleted": [model_document(record) for record in records]}, blocks=lines)


def predict(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A registered model; its newest version answers.")],
    values: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Entity keys and request values.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Rows in JSON instead: a list of objects.")
    ] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help="What would be answered at this time.")] = None,
    device: Annotated[
        Device, typer.Option("--device", help="auto: a GPU where there is one; gpu: a GPU or an error.")
    ] = Device.AUTO,
) -> Answer:
    """Look features up and run a model on them.

    Exits with 3, and no answer, where a feature that the model takes is UNAVAILABLE.
    """
    settings = invocation(context).settings()
    registry = opened_registry(settings)
    record = registry.model(name)
    with opened_client(settings) as client:
        plan = client.plan(record.pinned_service)
        rows = asked_rows(plan, values, file)
        models = ModelClient(client, registry, device=device)
        try:
            found = models.predict(name, rows.entities, rows.requests, at=parse_instant(at) if at else None)
        finally:
            models.close()
    return predicted(found, rows, plan)


def opened_registry(settings: Settings) -> Registry:
    """Return the registry of the settings."""
    return Registry(
        settings.registry, project=settings.project, environment=settings.environment, models=settings.models
    )


def predicted(found: Prediction, rows: Rows, plan: LookupPlan) -> Answer:
    """Return predictions as an answer."""
    answers: list[Any] = found.to_python()
    features = found.features
    unavailable = unavailable_views(features, plan)
    document = {
        "model": found.model,
        "version": found.version,
        "provider": found.provider,
        "service": features.service,
        "at": format_instant(features.at),
        "predictions": [
            {"keys": keys, "request": request, "answer": answer}
            for keys, request, answer in zip(rows.entities, rows.requests, answers, strict=True)
        ],
        "statuses": [
            {name: Status(code).name for name, code in zip(features.names, codes, strict=True)}
            for codes in features.statuses.tolist()
        ],
        "unavailable": [{"view": view, "why": why, "try": try_} for view, why, try_ in unavailable],
    }
    titles = tuple({**rows.entities[0], **rows.requests[0]})
    table = tuple(
        (*_shown({**keys, **request}), _answer(answer))
        for keys, request, answer in zip(rows.entities, rows.requests, answers, strict=True)
    )
    blocks: list[Block] = [
        Line(f"{found.model} v{found.version} on {found.provider}", Tone.GOOD),
        Table(columns=(*titles, "answer"), rows=table),
        freshness(features),
    ]
    for view, why, try_ in unavailable:  # the model takes none of it: else there were no answer
        line = f"{view} is UNAVAILABLE, in features that the model does not take: {why}"
        blocks += [Line(line, Tone.WARNING), Line(f"  try    {try_}")]
    return Answer(document=document, blocks=tuple(blocks))


def _shown(values: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(shown_value(value) for value in values.values())


def _answer(answer: Any) -> str:
    return " ".join(f"{part:.6g}" for part in answer) if isinstance(answer, list) else f"{answer:.6g}"

"""`serve`: lookups and predictions over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from featurekit.cli.answer import Answer, Line, Tone
from featurekit.cli.context import invocation
from featurekit.cli.lookup import opened_client
from featurekit.cli.model import opened_registry
from featurekit.online.embedded import online_url
from featurekit.online.redis import open_store
from featurekit.online.served_log import served_log
from featurekit.serving.app import create_app
from featurekit.serving.model import ModelClient
from featurekit.serving.runtime import Device
from featurekit.serving.server import LOOPBACK, HttpServer, listen


def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="0.0.0.0 for other machines too.")] = LOOPBACK,
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="0: any free one.")] = 8080,
    device: Annotated[
        Device, typer.Option("--device", help="Where models run. auto: a GPU where there is one.")
    ] = Device.AUTO,
) -> None:
    """Answer lookups and predictions over HTTP.

    POST /v1/lookup/SERVICE and /v1/predict/MODEL; GET /health/live and /health/ready. Runs until it is stopped by
    Ctrl-C or SIGTERM, and lets requests in flight end.
    """
    asked = invocation(context)
    settings = asked.settings()
    store = open_store(online_url(settings), timeout_ms=settings.redis_timeout_ms)
    log = served_log(settings)
    try:
        with opened_client(settings, log) as client:
            models = ModelClient(client, opened_registry(settings), device=device)
            server = HttpServer(create_app(client, store, models), listening=listen(host, port))
            line = Line(f"serving {settings.project} ({settings.environment}) on {server.url}", Tone.GOOD)
            asked.output.answer(Answer(document={"url": server.url}, blocks=(line,)))
            server.run()
    finally:
        if log is not None:
            log.close()
        store.close()

"""`serve`: lookups and predictions over HTTP."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Final

import typer

from featurekit.cli.answer import Answer, Line, Tone
from featurekit.cli.context import invocation
from featurekit.cli.model import opened_registry
from featurekit.clock import SECOND, parse_duration
from featurekit.config import Settings, checked_setting
from featurekit.errors import SettingsError
from featurekit.monitoring.metrics import ServerMetrics
from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.cache import Cache
from featurekit.online.client import FeatureClient
from featurekit.online.embedded import online_url
from featurekit.online.lookup_client import client_options
from featurekit.online.redis import open_store
from featurekit.online.served_log import served_log
from featurekit.online.store import OnlineStore
from featurekit.serving.app import create_app
from featurekit.serving.auth import ApiKeys, is_this_machine, parse_api_keys
from featurekit.serving.model import ModelClient
from featurekit.serving.runtime import Device
from featurekit.serving.server import LOOPBACK, HttpServer, listen, url_of
from featurekit.serving.workers import as_worker, run_workers

_DRAIN: Final = "3s"
_COMMAND: Final = (sys.executable, "-m", "featurekit.cli.app", *sys.argv[1:])


def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="0.0.0.0 for other machines too.")] = LOOPBACK,
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="0: any free one.")] = 8080,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, max=64, help="Processes that answer.")] = 1,
    device: Annotated[
        Device, typer.Option("--device", help="Where models run. auto: a GPU where there is one.")
    ] = Device.AUTO,
    drain: Annotated[
        str,
        typer.Option("--drain", metavar="TIME", help="How long it still answers after SIGTERM, not ready any more."),
    ] = _DRAIN,
    cache: Annotated[
        str | None,
        typer.Option("--cache", metavar="TIME", help="Answer from what was read up to so long ago, such as 5s."),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port", metavar="PORT", min=1, max=65535, help="Metrics on ports of their own, one a worker."
        ),
    ] = None,
    is_open: Annotated[
        bool, typer.Option("--open", help="Let other machines in without an API key: something else keeps them out.")
    ] = False,
) -> None:
    """Answer lookups and predictions over HTTP.

    POST /v1/lookup/SERVICE and /v1/predict/MODEL; GET /docs says more. Who may ask is said by the setting
    serve.api_keys. Runs until it is stopped by Ctrl-C or SIGTERM, and lets requests in flight end.
    """
    asked = invocation(context)
    settings = asked.settings()
    if cache is not None:
        settings = replace(settings, redis_cache=checked_setting("redis_cache", cache, "--cache"))
    keys = parse_api_keys(settings.serve_api_keys)
    _check_let_in(host, keys, is_open)
    drain_s = parse_duration(drain) / SECOND
    store_url = online_url(settings)
    worker = as_worker(os.environ)
    with listen(host, port) if worker is None else worker.listening as listening:
        if worker is None:
            url = url_of(listening)
            line = Line(f"serving {settings.project} ({settings.environment}) on {url}", Tone.GOOD)
            asked.output.answer(Answer(document={"url": url}, blocks=(line,)))
            if workers > 1:
                raise typer.Exit(run_workers(workers, _COMMAND, listening, os.environ))
        with _clients(settings, store_url) as (store, client, quick):
            counts = ServerMetrics([client, quick])
            if metrics_port is not None:
                counts.listen(LOOPBACK, metrics_port + (worker.number if worker else 0))
            app = create_app(
                client,
                store,
                ModelClient(client, opened_registry(settings), device=device),
                quick=quick,
                keys=keys,
                is_for_this_machine=not keys and not is_open,
                metrics=counts if workers == 1 else None,  # one worker's alone would be taken for all
            )
            HttpServer(app, listening=listening, drain_s=drain_s).run()


@contextmanager
def _clients(settings: Settings, store_url: str) -> Iterator[tuple[OnlineStore, FeatureClient, AsyncFeatureClient]]:
    """Give the store and the clients that answer, in threads and in the event loop, with which the last is closed."""
    log = served_log(settings)
    # One breaker for both: it is of the store.
    options = client_options(settings, log)
    if settings.redis_cache is not None:
        options["cache"] = Cache(max_staleness=timedelta(microseconds=settings.redis_cache))
    project, environment, timeout_ms = settings.project, settings.environment, settings.redis_timeout_ms
    store = open_store(store_url, timeout_ms=timeout_ms)
    try:
        yield (
            store,
            FeatureClient(store=store, project=project, environment=environment, timeout_ms=timeout_ms, **options),
            AsyncFeatureClient(store_url, project=project, environment=environment, timeout_ms=timeout_ms, **options),
        )
    finally:
        store.close()
        if log is not None:
            log.close()


def _check_let_in(host: str, keys: ApiKeys, is_open: bool) -> None:
    if keys or is_open or is_this_machine(host):
        return
    raise SettingsError(
        f"the server would answer everybody who reaches {host}",
        where="serve.api_keys",
        why="it asks for no API key",
        try_="FEATUREKIT_SERVE_API_KEYS_FILE=FILE with lines of NAME=KEY; or --open, where something else keeps"
        " others out",
    )

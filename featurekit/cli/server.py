"""`up` and `down`: the embedded online store of this project."""

from __future__ import annotations

import typer

from featurekit.cli.answer import Answer, Line, Tone
from featurekit.cli.context import invocation
from featurekit.config import Settings
from featurekit.errors import SettingsError
from featurekit.online import embedded
from featurekit.online.embedded import EmbeddedServer


def up(context: typer.Context) -> Answer:
    """Start the embedded online store.

    It keeps running when this command has ended, listens on this machine only, and keeps its data on disk.
    """
    settings = _with_embedded_store(invocation(context).settings())
    was_running = embedded.status(settings.state) is not None
    server = embedded.start(settings.state)
    text = f"the online store {'was already' if was_running else 'is'} up: {server.url}"
    return Answer(document={**_document(server), "started": not was_running}, blocks=(Line(text, Tone.GOOD),))


def down(context: typer.Context) -> Answer:
    """Stop the embedded online store; its data stay."""
    settings = _with_embedded_store(invocation(context).settings())
    was_running = embedded.stop(settings.state)
    text = "the online store is down; its data are on disk" if was_running else "the online store was not up"
    return Answer(document={"running": False, "stopped": was_running}, blocks=(Line(text),))


def _with_embedded_store(settings: Settings) -> Settings:
    if settings.redis_url:
        raise SettingsError(
            "the online store is a Redis of your own, which featurekit neither starts nor stops",
            why="a Redis URL is set, by featurekit.toml, FEATUREKIT_REDIS_URL or --redis-url",
            try_="remove the URL to use the embedded store",
        )
    return settings


def _document(server: EmbeddedServer) -> dict[str, object]:
    return {"running": True, "url": server.url, "pid": server.pid, "port": server.port}

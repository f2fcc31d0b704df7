"""A server that runs as long as a block, for tests that ask it over real HTTP."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import httpx

from featurekit.serving.server import HttpServer


@contextlib.contextmanager
def served(server: HttpServer) -> Iterator[httpx.Client]:
    """A client of a server that runs as long as the block."""
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with httpx.Client(base_url=server.url, timeout=30) as client:
            yield client
    finally:
        server.stop()
        thread.join(30)
        assert not thread.is_alive()

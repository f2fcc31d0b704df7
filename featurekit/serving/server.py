"""The HTTP server: uvicorn on a port of its own, with bounded connections, that drains before it stops."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from types import FrameType
from typing import Final

import uvicorn
from starlette.applications import Starlette

from featurekit.errors import SettingsError
from featurekit.serving.connections import BoundedConnection

LOOPBACK: Final = "127.0.0.1"
GRACE_S: Final = 10
MAX_CONNECTIONS: Final = 1000
BACKLOG: Final = 2048
TICKS_PER_LOOK: Final = 10  # a tick is 0.1 s
_SAME_STOP_S: Final = 0.5
_CLOSE: Final = (b"connection", b"close")


def listen(host: str = LOOPBACK, port: int = 0) -> socket.socket:
    """Return a socket that listens, on any free port where `port` is 0; SettingsError where it can't."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        raise SettingsError(
            f"the server can't listen on {host}:{port}",
            why=os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error),
            try_="another host or port; port 0 is any free one",
        ) from error


def url_of(listening: socket.socket) -> str:
    """Return the URL that a listening socket answers by."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if listening.family == socket.AF_INET6 else f"http://{host}:{port}"


class HttpServer:
    """A server that has its port: nothing is answered before `run`, which returns when the server has stopped.

    On SIGTERM (or `stop`) it *drains*: for `drain_s` it still answers whatever comes, but readiness says no and each
    answer closes its connection, so that balancers and clients move on. Then, and on SIGINT or a second signal at once,
    it takes no new connection, lets requests in flight end for `grace_s`, and is gone.
    """

    def __init__(
        self, app: Starlette, *, listening: socket.socket | None = None, drain_s: float = 0, grace_s: int = GRACE_S
    ) -> None:
        self._socket = listen() if listening is None else listening
        self.url = url_of(self._socket)
        self._server = _Server(app, drain_s=drain_s, grace_s=grace_s)

    def run(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """Let `run` return once the server has drained; safe to call from another thread."""
        self._server.drain()


class _Server(uvicorn.Server):
    """uvicorn's server, which looks at its connections from time to time and knows of draining."""

    def __init__(self, app: Starlette, *, drain_s: float, grace_s: int) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=BoundedConnection,
                ws="none",
                lifespan="on",
                access_log=False,
                log_config=None,  # where logs go is the program's to say
                server_header=False,
                proxy_headers=False,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_graceful_shutdown=grace_s,
            )
        )
        self._app = app
        self._ticks_left = round(drain_s * 10)
        self._drains_since = 0.0
        self.is_draining = False

    def _is_the_same_stop(self) -> bool:
        # Who stops a whole group of processes reaches a worker twice: so does its parent.
        return time.monotonic() - self._drains_since < _SAME_STOP_S

    def drain(self) -> None:
        if not self.is_draining:
            self._drains_since = time.monotonic()
        self._app.state.is_draining = True
        self.is_draining = True
        self._part()

    def _part(self) -> None:
        """Let the next answer of every connection be its last."""
        others = [header for header in self.server_state.default_headers if header != _CLOSE]
        self.server_state.default_headers = [*others, _CLOSE]
        for each in self._connections():
            each.leave()

    def _connections(self) -> list[BoundedConnection]:
        # A copy in one step: `drain` may come from another thread.
        return [each for each in list(self.server_state.connections) if isinstance(each, BoundedConnection)]

    def handle_exit(self, sig: int, _: FrameType | None) -> None:
        # Not uvicorn's own, which ends the process by the signal once it has stopped.
        if sig == signal.SIGTERM and (not self.is_draining or self._is_the_same_stop()):
            self.drain()
        else:
            self.force_exit = self.should_exit and sig == signal.SIGINT
            self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        is_over = await super().on_tick(counter)
        if counter % TICKS_PER_LOOK == 0:
            now = asyncio.get_running_loop().time()
            for each in self._connections():
                each.give_up(now)
        if not self.is_draining:
            return is_over
        self._part()  # once more: uvicorn makes its headers anew every second
        self._ticks_left -= 1
        return is_over or self._ticks_left < 0

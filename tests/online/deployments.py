"""Real servers in every way that featurekit is deployed: on loopback and free ports, ended by their own process.

    with standalone(folder, "valkey", "appendonly yes") as server:
        server.kill()
        server.start()

A server's data stay in its folder from one start to the next. `KINDS` says which servers this machine has.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import redis

from featurekit.online import embedded

HOST: Final = "127.0.0.1"
KINDS: Final[Mapping[str, str | None]] = {
    "valkey": str(embedded.server_binary()),  # Valkey 9; knows no TLS
    "redis": shutil.which("redis-server"),  # Debian's Redis 7
}
_START_LIMIT_S: Final = 30.0
# Below the ports that the kernel gives to clients, so that none of those takes a server's while it is down.
_PORTS: Final = itertools.cycle(range(12_000, 32_000))
for _ in range(os.getpid() * 37 % 20_000):  # tests that run beside each other begin at different places
    next(_PORTS)


@dataclass
class Server:
    """One server process, and where it is; `password` is the default user's, for those who ask here."""

    folder: Path
    kind: str
    lines: tuple[str, ...] = ()
    password: str | None = None
    is_sentinel: bool = False
    port: int = field(default_factory=lambda: free_port())
    connection: Mapping[str, Any] = field(default_factory=dict)  # what redis-py must be told beside the port
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def socket(self) -> Path:
        return self.folder / "socket"

    def start(self) -> None:
        """Start the server and wait until it answers, with its data read back."""
        self.spawn()
        until(self.is_ready, f"the server on port {self.port} ({self.folder}) to answer")

    def spawn(self) -> None:
        """Start the server without waiting for it."""
        assert self.process is None, "it runs already"
        binary = KINDS[self.kind]
        assert binary is not None, f"there is no {self.kind} server on this machine"
        self.folder.mkdir(parents=True, exist_ok=True)
        configured = self.folder / "server.conf"
        if not configured.exists():  # a Sentinel keeps what it learned in it
            configured.write_text("\n".join(self._lines()) + "\n")
        words = [binary, configured.name, *(["--sentinel"] if self.is_sentinel else [])]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _lines(self) -> Iterator[str]:
        yield f"bind {HOST}"
        if not any(line.startswith("port ") for line in self.lines):
            yield f"port {self.port}"
        if not self.is_sentinel:
            yield "unixsocket socket"  # relative: no path is too long
            yield 'save ""'
            yield "maxmemory-policy noeviction"
            yield "repl-diskless-sync-delay 0"
        yield from self.lines

    def client(self, **options: Any) -> redis.Redis:
        """Return a redis-py client of exactly this server."""
        told = {"password": self.password, "socket_timeout": 5, **self.connection, **options}
        return redis.Redis(host=HOST, port=self.port, **told)

    def ask(self, *words: str | bytes | int) -> Any:
        """Return the server's answer to one command, as redis-py gives it."""
        with self.client() as client:
            return client.execute_command(*words)

    def is_ready(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            said = (self.folder / "log").read_text(errors="replace")[-2000:]
            raise RuntimeError(f"the server on port {self.port} ended: {said}")
        try:
            return bool(self.ask("PING"))
        except redis.RedisError:
            return False

    def kill(self) -> None:
        """End the server at once, as a crash does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the server as an operator does; what its configuration keeps is on disk then."""
        self._end(signal.SIGTERM)

    def pause(self) -> None:
        """Let the server neither answer nor close anything, as a machine that hangs."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def _end(self, by: signal.Signals) -> None:
        if self.process is None:
            return
        self.process.send_signal(by)
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


def free_port() -> int:
    """Return a port of loopback that nobody listens on, and that was not given out before."""
    for port in _PORTS:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, port))
            return port
    raise AssertionError


def until(is_so: Callable[[], bool], what: str, *, limit_s: float = _START_LIMIT_S) -> float:
    """Return after how many seconds it was so; TimeoutError where that takes too long."""
    begun = time.monotonic()
    while not is_so():
        if time.monotonic() - begun > limit_s:
            raise TimeoutError(f"waited {limit_s:.0f} s for {what}")
        time.sleep(0.01)
    return time.monotonic() - begun


@contextlib.contextmanager
def running(*servers: Server) -> Iterator[None]:
    """Start the servers, and end them with the block."""
    try:
        for server in servers:
            server.spawn()
        for server in servers:
            until(server.is_ready, f"the server on port {server.port} to answer")
        yield
    finally:
        for server in servers:
            server.kill()


@contextlib.contextmanager
def standalone(folder: Path, kind: str, *lines: str) -> Iterator[Server]:
    """Give one server, on a port and on a Unix socket; `lines` are of its configuration."""
    server = Server(folder, kind, lines)
    with running(server):
        yield server

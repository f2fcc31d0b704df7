"""The few Redis commands that starting and stopping a server takes, over a plain socket.

Everything else goes through `online.redis`, which owns the client library.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

Reply = str | int | None | list["Reply"]


class ErrorReplyError(ConnectionError):
    """The server answered with an error; the message is the server's."""


class Connection:
    """One connection to a server; every method raises OSError where the server does not answer as it should."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._replies = stream.makefile("rb")

    def close(self) -> None:
        self._replies.close()
        self._stream.close()

    def ask(self, *words: str) -> Reply:
        """Return the server's reply to one command."""
        self._stream.sendall(encode_command(*words))
        return self._read()

    def is_ready(self) -> bool:
        """Return whether commands are served: not while data are being read back after a start."""
        try:
            return self.ask("PING") == "PONG"
        except ErrorReplyError:
            return False

    def process_id(self) -> int:
        info = self.ask("INFO", "server")
        if isinstance(info, str):
            for line in info.splitlines():
                name, _, value = line.partition(":")
                if name == "process_id":
                    return int(value)
        raise ConnectionError("the server does not tell its process id")

    def working_folder(self) -> str:
        match self.ask("CONFIG", "GET", "dir"):
            case ["dir", str(folder)]:
                return folder
            case _:
                raise ConnectionError("the server does not tell its folder")

    def _read(self) -> Reply:
        line = self._replies.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2].decode(errors="replace")
        match kind:
            case b"+":
                return rest
            case b"-":
                raise ErrorReplyError(rest)
            case b":":
                return int(rest)
            case b"$":
                return self._read_text(int(rest))
            case b"*":
                return [self._read() for _ in range(int(rest))]
            case _:
                raise ConnectionError(f"not a Redis reply: {line[:40]!r}")

    def _read_text(self, length: int) -> str | None:
        if length < 0:
            return None
        body = self._replies.read(length + 2)
        if len(body) != length + 2:
            raise ConnectionError("the server closed the connection")
        return body[:-2].decode(errors="replace")


def encode_command(*words: str) -> bytes:
    """Return one command as the bytes that go over the wire.

    >>> encode_command("PING")
    b'*1\\r\\n$4\\r\\nPING\\r\\n'
    """
    parts = [f"*{len(words)}\r\n".encode()]
    for word in words:
        body = word.encode()
        parts.append(b"$%d\r\n%b\r\n" % (len(body), body))
    return b"".join(parts)


@contextlib.contextmanager
def connect(host: str, port: int, *, answer_within_s: float) -> Iterator[Connection]:
    """Give a connection that waits at most `answer_within_s` for each step; OSError where nobody listens."""
    with socket.create_connection((host, port), timeout=answer_within_s) as stream:
        connection = Connection(stream)
        try:
            yield connection
        finally:
            connection.close()

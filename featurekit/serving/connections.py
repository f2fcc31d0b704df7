"""HTTP connections whose patience has an end: uvicorn's own, which waits and keeps without one.

A head (request line and headers) is bounded in bytes: 431. A request that has not come whole within `RECEIVE_S`, be it
that bytes drip or that none come, ends its connection: 408. So does a client that does not take its answer for as long.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

MAX_HEAD_BYTES: Final = 32 * 1024
RECEIVE_S: Final = 20.0
_TOO_LARGE: Final = b'{"error":"RequestTooLargeError","what":"the request\'s headers are larger than %d bytes"}'
_TOO_SLOW: Final = b'{"error":"RequestTooSlowError","what":"the request did not come whole within %g s"}'


class BoundedConnection(HttpToolsProtocol):
    """One connection; `waits_since` is when it began to wait for its client, None while the server has the word."""

    receive_s = RECEIVE_S  # a server of its own may say otherwise, by a subclass

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.waits_since: float | None = self.loop.time()
        self.blocked_since: float | None = None
        self._in_head = True
        self._head_bytes = 0
        self._fed_bytes = 0
        self._before: RequestResponseCycle | None = (
            None  # whose answer comes first, of requests sent one behind another
        )

    def data_received(self, data: bytes) -> None:
        if self.waits_since is None and (self.cycle is None or self.cycle.response_complete):
            # Another request, though the parser sees none in blank lines before it; uvicorn waits no more by now.
            self.waits_since = self.loop.time()
        # The parser keeps a header until it is whole, however long that takes: what it was fed is counted here.
        if self._in_head:
            self._fed_bytes += len(data)
            if self._fed_bytes > MAX_HEAD_BYTES + len(data):
                self._refuse(431, _TOO_LARGE % MAX_HEAD_BYTES)
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._before = self.cycle
        self.waits_since = self.loop.time()
        self._in_head = True
        self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._head_bytes += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._fed_bytes = 0
        if self._head_bytes > MAX_HEAD_BYTES:
            self.app = _refuse_head
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.waits_since = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self.blocked_since = self.loop.time()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.blocked_since = None

    def give_up(self, now: float) -> None:
        """End the connection where its client has been waited for too long."""
        if self.blocked_since is not None and now - self.blocked_since > self.receive_s:
            self.transport.abort()
        elif self.waits_since is None:
            return
        elif self._before is not None and not self._before.response_complete:
            self.waits_since = now  # a refusal now would be taken for that answer, and until it is out nothing is read
        elif now - self.waits_since > self.receive_s:
            self._refuse(408, _TOO_SLOW % self.receive_s)

    def leave(self) -> None:
        """Let the request in flight be the last of its connection."""
        if self.cycle is not None and not self.cycle.response_started:
            self.cycle.keep_alive = False

    def _refuse(self, status: int, body: bytes) -> None:
        """Answer in place of the application, which may be in the middle of a request's body, and hang up."""
        is_amid_answer = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if not self.transport.is_closing() and not is_amid_answer:
            self.transport.write(
                STATUS_LINE[status]
                + b"content-type: application/json\r\nconnection: close\r\n"
                + b"content-length: %d\r\n\r\n" % len(body)
                + body
            )
        self.transport.close()


async def _refuse_head(_: Any, __: Any, send: Any) -> None:
    body = _TOO_LARGE % MAX_HEAD_BYTES
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 431, "headers": headers})
    await send({"type": "http.response.body", "body": body})

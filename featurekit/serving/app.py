"""Lookups and predictions over HTTP: Starlette on uvicorn, on loopback unless told otherwise.

    GET  /health/live             the process answers
    GET  /health/ready            the online store answers too
    POST /v1/lookup/{service}     features
    POST /v1/predict/{model}      a model's answer

What a request asks for is worked out in a thread, from the body's bytes to the answer's: the event loop only carries
bytes. A batcher would stand where `_Api.predict` runs its model.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, NamedTuple, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from featurekit.errors import (
    FeaturekitError,
    InputError,
    KeyTypeError,
    NotRegisteredError,
    RequestTooLargeError,
    SettingsError,
)
from featurekit.online.client import FeatureClient
from featurekit.online.store import ReadableStore
from featurekit.serving.model import ModelClient, Prediction
from featurekit.serving.protocol import (
    Question,
    Readers,
    decode_question,
    encode,
    encode_error,
    encode_features,
    encode_prediction,
    http_status,
    read_rows,
    readers_of,
)

LOOPBACK: Final = "127.0.0.1"
MAX_BODY_BYTES: Final = 1 << 20
MAX_VALUES: Final = 200_000  # some 20 MB of answer; a body of MAX_BODY_BYTES could ask for fifty times that
THREADS: Final = 8
GRACE_S: Final = 10
_LOG: Final = logging.getLogger("featurekit.serving")
_ANY_KEY: Final = b"fk"
Answer = TypeVar("Answer")


def create_app(
    client: FeatureClient,
    store: ReadableStore,
    models: ModelClient | None = None,
    *,
    max_body_bytes: int = MAX_BODY_BYTES,
    max_values: int = MAX_VALUES,
    threads: int = THREADS,
) -> Starlette:
    """Return the application; `store` is asked whether it answers, `models` None serves lookups alone.

    A request that asks for more than `max_values` values (entities × the service's outputs) is refused with 413.
    The clients stay the caller's to close.
    """
    api = _Api(client, store, models, max_values)
    pool = ThreadPoolExecutor(threads, thread_name_prefix="featurekit-serving")

    async def in_thread(answer: Callable[..., bytes], *arguments: object) -> Response:
        try:
            return _json(await asyncio.get_running_loop().run_in_executor(pool, answer, *arguments))
        except FeaturekitError as error:
            return _json(encode_error(error), http_status(error))
        except Exception as error:  # noqa: BLE001  a bug in one request must not end the connection of others
            _LOG.error("a request failed", exc_info=error)
            return _json(_told_of_bug(error), 500)

    async def live(_: Request) -> Response:
        return _json(encode({"status": "live"}))

    async def ready(_: Request) -> Response:
        return await in_thread(api.ready)

    async def lookup(request: Request) -> Response:
        return await in_thread(api.lookup, request.path_params["service"], await _body(request, max_body_bytes))

    async def predict(request: Request) -> Response:
        return await in_thread(api.predict, request.path_params["model"], await _body(request, max_body_bytes))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        pool.shutdown(wait=False, cancel_futures=True)

    return Starlette(
        routes=[
            Route("/health/live", live, methods=["GET"]),
            Route("/health/ready", ready, methods=["GET"]),
            Route("/v1/lookup/{service}", lookup, methods=["POST"]),
            Route("/v1/predict/{model}", predict, methods=["POST"]),
        ],
        exception_handlers={HTTPException: _on_http_error, ClientDisconnect: _on_disconnect},
        lifespan=lifespan,
    )


class HttpServer:
    """A server that has its port: nothing is answered before `run`, which returns when the server has stopped.

    It stops on SIGTERM, SIGINT or `stop`: takes no new connection, and lets requests in flight end for `grace_s`.
    Port 0 is any free one; `url` says which. Raises SettingsError where it can't listen there.
    """

    def __init__(self, app: Starlette, *, host: str = LOOPBACK, port: int = 0, grace_s: int = GRACE_S) -> None:
        self._socket = _listen(host, port)
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self._socket.getsockname()[1]}"
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                lifespan="on",
                access_log=False,
                log_config=None,  # where logs go is the program's to say
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=grace_s,
            )
        )

    def run(self) -> None:
        try:
            with _stopping(self.stop):
                self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """Let `run` return; safe to call from another thread."""
        self._server.should_exit = True


class _Types(NamedTuple):
    """How a service's values are read from JSON, how many it answers, and the version of it that this is for."""

    fingerprint: str
    readers: Readers
    outputs: int


class _Api:
    """What the routes answer, without HTTP."""

    def __init__(
        self, client: FeatureClient, store: ReadableStore, models: ModelClient | None, max_values: int
    ) -> None:
        self._client = client
        self._store = store
        self._models = models
        self._max_values = max_values
        self._known: dict[str, _Types] = {}

    def ready(self) -> bytes:
        self._store.read([_ANY_KEY])
        return encode({"status": "ready"})

    def lookup(self, service: str, body: bytes) -> bytes:
        question = decode_question(body)
        features = self._asked(
            service,
            question,
            lambda entities, request: self._client.lookup(
                service, entities, request, at=question.instant, request_id=question.request_id
            ),
        )
        return encode_features(features)

    def predict(self, model: str, body: bytes) -> bytes:
        models = self._models
        if models is None:
            raise NotRegisteredError(f"there is no model {model!r}", why="this server serves lookups alone")
        question = decode_question(body)
        service = models.load(model).record.service

        def ask(entities: Any, request: Any) -> Prediction:
            return models.predict(model, entities, request, at=question.instant, request_id=question.request_id)

        try:
            prediction = self._asked(service, question, ask)
        except (KeyTypeError, NotRegisteredError):
            newest = models.newest_service(model)
            if newest == service:
                raise
            prediction = self._asked(newest, question, ask)  # the same JSON, read as the other service's types
        return encode_prediction(prediction)

    def _asked(self, service: str, question: Question, ask: Callable[[Any, Any], Answer]) -> Answer:
        """Return what `ask` makes of the question's entities and request, read as the service's types say."""
        known = self._known.get(service)
        if known is None:
            known = self._read_types(service)
        while True:
            self._check_size(question, known)
            try:
                return ask(read_rows(question.entities, known.readers), read_rows(question.request, known.readers))
            except KeyTypeError:
                # Read as the service was: readers may have moved to a version with other types since.
                before, known = known, self._read_types(service)
                if known.fingerprint == before.fingerprint:
                    raise

    def _check_size(self, question: Question, known: _Types) -> None:
        if question.rows > 1 and question.rows * known.outputs > self._max_values:
            raise RequestTooLargeError(
                f"the answer would hold {question.rows * known.outputs:,} values: {question.rows:,} rows of"
                f" {known.outputs} features; at most {self._max_values:,} are given at once",
                where="entities" if isinstance(question.entities, list) else "request",
                try_=f"ask in parts of at most {self._max_values // known.outputs or 1:,} rows",
            )

    def _read_types(self, service: str) -> _Types:
        plan = self._client.plan(service)
        found = self._known[service] = _Types(plan.fingerprint, readers_of(plan), len(plan.outputs))
        return found


async def _body(request: Request, limit: int) -> bytes:
    """Return the request's body; 413 as soon as it is known to be larger than `limit`."""
    declared = request.headers.get("content-length", "")
    body = bytearray()
    if not (declared.isdecimal() and int(declared) > limit):
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                break
        else:
            return bytes(body)
    # The rest of the body is not read, so nothing else can come over this connection.
    raise HTTPException(413, f"the request's body is larger than {limit} bytes", {"connection": "close"})


def _json(content: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(content, status, dict(headers or {}), media_type="application/json")


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    advice = {
        404: "POST /v1/lookup/SERVICE, POST /v1/predict/MODEL, GET /health/live, GET /health/ready",
        405: f"another method: {(error.headers or {}).get('Allow', 'GET or POST')}",
        413: "ask about fewer entities at once",
    }
    told = InputError(str(error.detail), where=request.url.path, try_=advice.get(error.status_code))
    return _json(encode_error(told), error.status_code, error.headers)


async def _on_disconnect(_: Request, __: Exception) -> Response:
    return Response(status_code=400)  # nobody reads it


def _told_of_bug(error: Exception) -> bytes:
    # What it says itself is for the log alone: it may quote values.
    told = FeaturekitError(
        "the server failed on this request", why="a bug of featurekit", try_="look at the server's log"
    )
    return encode({**told.parts(), "error": type(error).__name__})


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise SettingsError(
            f"the server can't listen on {host}:{port}",
            why=os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error),
            try_="another host or port; port 0 is any free one",
        ) from error


@contextmanager
def _stopping(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGTERM and SIGINT instead of ending the process: uvicorn sends itself what it has caught."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

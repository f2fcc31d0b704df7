"""Lookups and predictions over HTTP: a Starlette application.

    GET  /health/live             the process answers
    GET  /health/ready            the online store answers too, and the server is not about to stop
    POST /v1/lookup/{service}     features, as JSON or an Arrow stream
    POST /v1/predict/{model}      a model's answer
    GET  /openapi.json, /docs     what can be asked, for programs and for people
    GET  /metrics                 what was asked, for Prometheus

A lookup of few values is answered in the event loop: it takes a moment, and holds no thread while the store answers,
however far away that is. All else is worked out in a thread, from the body's bytes to the answer's. A batcher would
stand where `Api.predict` runs its model.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Final, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from featurekit.errors import FeaturekitError, InputError, OnlineStoreTimeoutError, OutsideError
from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.client import FeatureClient
from featurekit.online.store import ReadableStore
from featurekit.serving import docs_page
from featurekit.serving.api import MAX_VALUES, Api, Asked, TimeLeft
from featurekit.serving.arrow_stream import MEDIA_TYPE
from featurekit.serving.auth import ApiKeys, is_asked_as_this_machine
from featurekit.serving.model import ModelClient
from featurekit.serving.openapi import TIMEOUT_HEADER
from featurekit.serving.protocol import encode, encode_error, http_status

MAX_BODY_BYTES: Final = 1 << 20
MAX_TIMEOUT_MS: Final = 60_000
THREADS: Final = 8
_CLIENT_LEFT: Final = 499  # nobody reads it; metrics tell it from a mistake
_MISDIRECTED: Final = 421
_LOG: Final = logging.getLogger("featurekit.serving")
_ARROW: Final = MEDIA_TYPE.encode()
_TIMEOUT: Final = TIMEOUT_HEADER.lower().encode()
_ADVICE: Final = {
    404: "POST /v1/lookup/SERVICE, POST /v1/predict/MODEL, GET /health/live, GET /health/ready, GET /docs",
    _MISDIRECTED: "ask by localhost or 127.0.0.1; or give the server API keys (serve.api_keys), or --open",
    413: "ask about fewer entities at once",
}


class Metrics(Protocol):
    """What counts requests, and shows the counts."""

    def observe(self, *, route: str, status: int, key: str, seconds: float) -> None:
        """Count one request; `key` is the name of the API key it showed, empty where there are none."""

    def exposition(self) -> tuple[bytes, str]:
        """Return all counts, and the media type they are written in."""


Headers = Mapping[bytes, bytes]
Answering = Callable[[Request, Headers, float], Awaitable[Response]]


def create_app(
    client: FeatureClient,
    store: ReadableStore,
    models: ModelClient | None = None,
    *,
    quick: AsyncFeatureClient | None = None,
    keys: ApiKeys | None = None,
    metrics: Metrics | None = None,
    is_for_this_machine: bool = False,
    max_body_bytes: int = MAX_BODY_BYTES,
    max_values: int = MAX_VALUES,
    threads: int = THREADS,
) -> Starlette:
    """Return the application; `store` is asked whether it answers, `models` None serves lookups alone.

    `quick` answers in the event loop what takes a moment; it is closed with the application, the other clients stay the
    caller's to close. With `keys`, all but the health and /docs want one of them. One that `is_for_this_machine` takes
    no request under another name, as a page in a browser here may have come to call it: 421. A request that asks
    for more than `max_values` values (entities × the service's outputs) is refused with 413.
    """
    api = Api(client, store, models, quick=quick, max_values=max_values)
    pool = ThreadPoolExecutor(threads, thread_name_prefix="featurekit-serving")
    let_in = keys or ApiKeys()

    async def in_thread(answer: Callable[..., bytes], *arguments: object) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(pool, answer, *arguments)

    async def live(_: Request, __: Headers, ___: float) -> Response:
        return _json(encode({"status": "live"}))

    async def ready(request: Request, _: Headers, __: float) -> Response:
        if request.app.state.is_draining:
            raise OutsideError("the server is about to stop", why="it was told to", try_="ask another one")
        return _json(await in_thread(api.ready))

    async def lookup(request: Request, headers: Headers, began: float) -> Response:
        asked = await _asked(request, headers, began, max_body_bytes)
        service = request.path_params["service"]
        content = await api.lookup_at_once(service, asked) or await in_thread(api.lookup, service, asked)
        return Response(content, media_type=MEDIA_TYPE) if asked.wants_arrow else _json(content)

    async def predict(request: Request, headers: Headers, began: float) -> Response:
        asked = await _asked(request, headers, began, max_body_bytes)
        return _json(await in_thread(api.predict, request.path_params["model"], asked))

    async def openapi(_: Request, __: Headers, ___: float) -> Response:
        return _json(await in_thread(lambda: api.openapi(with_keys=bool(let_in))))

    async def docs(_: Request, __: Headers, ___: float) -> Response:
        return Response(docs_page.PAGE, headers={"content-security-policy": docs_page.POLICY}, media_type="text/html")

    async def show_metrics(_: Request, __: Headers, ___: float) -> Response:
        assert metrics is not None
        content, media_type = metrics.exposition()
        return Response(content, headers={"content-type": media_type})

    def route(path: str, answering: Answering, method: str, *, is_open: bool = False) -> Route:
        async def answer(request: Request) -> Response:
            began = time.monotonic()
            headers: Headers = dict(request.scope["headers"])
            key = ""
            try:
                if is_for_this_machine and not is_asked_as_this_machine(headers):
                    raise HTTPException(_MISDIRECTED, "this server answers for its own machine alone")
                if not is_open:
                    key = let_in.name_of(headers)
                response = await answering(request, headers, began)
            except Exception as error:  # noqa: BLE001  a bug in one request must not end the connection of others
                response = _told(error, request)
            if metrics is not None:
                seconds = time.monotonic() - began
                metrics.observe(route=path, status=response.status_code, key=key, seconds=seconds)
            return response

        return Route(path, answer, methods=[method])

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        if quick is not None:
            await quick.close()
        pool.shutdown(wait=False, cancel_futures=True)

    routes = [
        route("/health/live", live, "GET", is_open=True),
        route("/health/ready", ready, "GET", is_open=True),
        route("/v1/lookup/{service}", lookup, "POST"),
        route("/v1/predict/{model}", predict, "POST"),
        route("/openapi.json", openapi, "GET"),
        route("/docs", docs, "GET", is_open=True),
    ]
    if metrics is not None:
        routes.append(route("/metrics", show_metrics, "GET"))
    app = Starlette(routes=routes, exception_handlers={HTTPException: _on_http_error}, lifespan=lifespan)
    app.state.is_draining = False
    return app


async def _asked(request: Request, headers: Headers, began: float, max_body_bytes: int) -> Asked:
    """Return what a request asks for; its deadline counts from when it began."""
    query = request.query_params
    return Asked(
        time_left=_time_left(headers.get(_TIMEOUT), began),
        body=await _body(request, headers, max_body_bytes),
        is_arrow=headers.get(b"content-type", b"").partition(b";")[0].strip().lower() == _ARROW,
        wants_arrow=_ARROW in headers.get(b"accept", b"").lower(),
        at=query.get("at"),
        request_id=query.get("request_id"),
    )


def _time_left(header: bytes | None, began: float) -> TimeLeft:
    if header is None:
        return lambda: None
    if not (header.isdigit() and 0 < (timeout_ms := int(header[:9])) <= MAX_TIMEOUT_MS):
        raise InputError(
            "the request's deadline is none",
            where=f"the header {TIMEOUT_HEADER}",
            try_=f"whole milliseconds, from 1 to {MAX_TIMEOUT_MS}",
        )

    def left() -> float:
        spent_ms = (time.monotonic() - began) * 1000
        if spent_ms >= timeout_ms:
            raise OnlineStoreTimeoutError(
                f"the request's {timeout_ms} ms were over before the store was asked",
                where=f"the header {TIMEOUT_HEADER}",
                why="it waited for others",
                try_="fewer requests at once, another worker, or more time",
            )
        return timeout_ms - spent_ms

    return left


async def _body(request: Request, headers: Headers, limit: int) -> bytes:
    """Return the request's body; 413 as soon as it is known to be larger than `limit`."""
    declared = headers.get(b"content-length", b"")
    if not (declared.isdigit() and int(declared) > limit):
        chunks: list[bytes] = []
        size = 0
        async for chunk in request.stream():
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                break
        else:
            return b"".join(chunks)
    # The rest of the body is not read, so nothing else can come over this connection.
    raise HTTPException(413, f"the request's body is larger than {limit} bytes", {"connection": "close"})


def _json(content: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(content, status, dict(headers or {}), media_type="application/json")


def _told(error: Exception, request: Request) -> Response:
    """Return an error as the caller is told of it."""
    match error:
        case FeaturekitError():
            status = http_status(error)
            return _json(encode_error(error), status, {"www-authenticate": "Bearer"} if status == 401 else None)
        case HTTPException(status_code=status, headers=headers):
            advice = _ADVICE.get(status) or f"another method: {(headers or {}).get('Allow', 'GET or POST')}"
            told = InputError(str(error.detail), where=request.url.path, try_=advice)
            return _json(encode_error(told), status, headers)
        case ClientDisconnect():
            return Response(status_code=_CLIENT_LEFT)
        case _:
            _LOG.error("a request failed", exc_info=error)
            return _json(_told_of_bug(error), 500)


async def _on_http_error(request: Request, error: Exception) -> Response:
    return _told(error, request)


def _told_of_bug(error: Exception) -> bytes:
    # What it says itself is for the log alone: it may quote values.
    told = FeaturekitError(
        "the server failed on this request", why="a bug of featurekit", try_="look at the server's log"
    )
    return encode({**told.parts(), "error": type(error).__name__})

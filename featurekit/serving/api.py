"""What the routes answer, without HTTP: a question's bytes to an answer's, worked out in a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

from featurekit.clock import Instant, parse_instant
from featurekit.errors import BreakerOpenError, KeyTypeError, NotRegisteredError, RequestTooLargeError
from featurekit.online.async_client import AsyncFeatureClient
from featurekit.online.client import FeatureClient
from featurekit.online.result import Features
from featurekit.online.store import ReadableStore
from featurekit.serving.arrow_stream import decode_arrow, encode_arrow
from featurekit.serving.model import ModelClient, Prediction
from featurekit.serving.openapi import openapi
from featurekit.serving.protocol import (
    Readers,
    decode_question,
    encode,
    encode_features,
    encode_prediction,
    header_of,
    read_rows,
    readers_of,
)

MAX_VALUES: Final = 200_000  # some 20 MB of answer; a body of MAX_BODY_BYTES could ask for fifty times that
_ANY_KEY: Final = b"fk"
_QUICK_BYTES: Final = 4096
_QUICK_VALUES: Final = 500  # a millisecond or so: as long as others may have to wait for the event loop
Answer = TypeVar("Answer")
TimeLeft = Callable[[], float | None]
"""How many milliseconds a request has left, None where its caller set no deadline; raises where there are none."""


class Asked(NamedTuple):
    """A request as it came: `is_arrow` of its body, `at` and `request_id` of its address; `wants_arrow` back."""

    body: bytes
    time_left: TimeLeft
    is_arrow: bool = False
    wants_arrow: bool = False
    at: str | None = None
    request_id: str | None = None


class _Question(NamedTuple):
    """Who and what is asked about, from JSON or Arrow; `read` makes of it what a lookup takes."""

    read: Callable[[Readers], tuple[Any, Any]]
    rows: int
    is_many: bool
    where: str
    at: Instant | None
    request_id: str | None


class _Types(NamedTuple):
    """How a service's values are read from JSON, how many it answers, and the version of it that this is for."""

    fingerprint: str
    readers: Readers
    outputs: int


class Api:
    """Answers from a client and, where there are any, models; safe to share by threads."""

    def __init__(
        self,
        client: FeatureClient,
        store: ReadableStore,
        models: ModelClient | None = None,
        *,
        quick: AsyncFeatureClient | None = None,
        max_values: int = MAX_VALUES,
    ) -> None:
        self._client = client
        self._quick = quick
        self._store = store
        self._models = models
        self._max_values = max_values
        self._known: dict[str, _Types] = {}

    def ready(self) -> bytes:
        """Return that lookups would be answered; raises the reason why they would not."""
        if self._client.breaker.state == "open":
            raise BreakerOpenError(
                "the online store is not asked: it has failed again and again", why="it is left alone for a moment"
            )
        self._store.read([_ANY_KEY])
        return encode({"status": "ready"})

    def openapi(self, *, with_keys: bool) -> bytes:
        """Return the page that says what can be asked now, as OpenAPI."""
        plans = [self._client.plan(service) for service in self._client.services()]
        return encode(openapi(plans, with_models=self._models is not None, with_keys=with_keys))

    def lookup(self, service: str, asked: Asked) -> bytes:
        question = self._question(asked)

        def ask(entities: Any, request: Any) -> Any:
            left = asked.time_left()
            return self._client.lookup(
                service, entities, request, at=question.at, timeout_ms=left, request_id=question.request_id
            )

        return _encoded(self._asked(service, question, ask), asked)

    async def lookup_at_once(self, service: str, asked: Asked) -> bytes | None:
        """Return a small question's answer, worked out in the event loop; None where that may take more than a moment.

        Then it is a thread's: a large question, a service not seen before, values that may be of its types before.
        """
        known = self._known.get(service)
        if self._quick is None or known is None or len(asked.body) > _QUICK_BYTES:
            return None
        question = self._question(asked)
        if question.rows * known.outputs > _QUICK_VALUES:
            return None
        try:
            entities, request = question.read(known.readers)
            features = await self._quick.lookup(
                service,
                entities,
                request,
                at=question.at,
                timeout_ms=asked.time_left(),
                request_id=question.request_id,
            )
        except KeyTypeError:
            if (await self._quick.plan(service)).fingerprint == known.fingerprint:
                raise
            return None
        return _encoded(features, asked)

    def predict(self, model: str, asked: Asked) -> bytes:
        models = self._models
        if models is None:
            raise NotRegisteredError(f"there is no model {model!r}", why="this server serves lookups alone")
        question = self._question(asked)
        service = models.load(model).record.pinned_service

        def ask(entities: Any, request: Any) -> Prediction:
            left = asked.time_left()
            return models.predict(
                model, entities, request, at=question.at, timeout_ms=left, request_id=question.request_id
            )

        try:
            prediction = self._asked(service, question, ask)
        except (KeyTypeError, NotRegisteredError):
            newest = models.newest_service(model)
            if newest == service:
                raise
            prediction = self._asked(newest, question, ask)  # the same question, read as the other service's types
        return encode_prediction(prediction)

    def _question(self, asked: Asked) -> _Question:
        if asked.is_arrow:
            table = decode_arrow(asked.body, max_rows=self._max_values)
            return _Question(
                read=lambda _: (table, None),
                rows=table.num_rows,
                is_many=True,
                where="body",
                at=None if asked.at is None else parse_instant(asked.at),
                request_id=asked.request_id,
            )
        told = decode_question(asked.body)
        return _Question(
            read=lambda readers: (read_rows(told.entities, readers), read_rows(told.request, readers)),
            rows=told.rows,
            is_many=told.rows > 1,
            where="entities" if isinstance(told.entities, list) else "request",
            at=told.instant,
            request_id=told.request_id,
        )

    def _asked(self, service: str, question: _Question, ask: Callable[[Any, Any], Answer]) -> Answer:
        """Return what `ask` makes of the question's entities and request, read as the service's types say."""
        known = self._known.get(service)
        if known is None:
            known = self._read_types(service)
        while True:
            self._check_size(question, known)
            try:
                return ask(*question.read(known.readers))
            except KeyTypeError:
                # Read as the service was: readers may have moved to a version with other types since.
                before, known = known, self._read_types(service)
                if known.fingerprint == before.fingerprint:
                    raise

    def _check_size(self, question: _Question, known: _Types) -> None:
        if question.is_many and question.rows * known.outputs > self._max_values:
            raise RequestTooLargeError(
                f"the answer would hold {question.rows * known.outputs:,} values: {question.rows:,} rows of"
                f" {known.outputs} features; at most {self._max_values:,} are given at once",
                where=question.where,
                try_=f"ask in parts of at most {self._max_values // known.outputs or 1:,} rows",
            )

    def _read_types(self, service: str) -> _Types:
        plan = self._client.plan(service)
        found = self._known[service] = _Types(plan.fingerprint, readers_of(plan), len(plan.outputs))
        return found


def _encoded(features: Features, asked: Asked) -> bytes:
    return encode_arrow(features, header_of(features)) if asked.wants_arrow else encode_features(features)

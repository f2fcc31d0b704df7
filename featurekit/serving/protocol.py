"""The HTTP bodies, between bytes and values: what a request says, and an answer in the shape of the question.

    {"entities": {"carrier": "UA"}, "request": {"distance": 1400}, "at": "2013-11-15T03:00Z", "request_id": "a1"}

`entities` is one object or a list of them; so is `request`, which may be left away, as may `at` and `request_id`. An
answer's `values`, `statuses` and `reasons` are one object or a list of them, as `entities` was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from featurekit.clock import Instant, format_instant, parse_instant
from featurekit.errors import (
    FeaturekitError,
    InputError,
    KeyTypeError,
    ModelError,
    NotRegisteredError,
    OnlineStoreTimeoutError,
    OutsideError,
    RequestTooLargeError,
    UnauthorizedError,
)
from featurekit.online.reason import Reason
from featurekit.online.result import Features
from featurekit.plan import LookupPlan
from featurekit.serving.json_values import FromJson, from_json, shown, to_json
from featurekit.serving.model import Prediction
from featurekit.status import Status
from featurekit.types import Decimal, Field, is_nested

Rows = dict[str, Any] | list[dict[str, Any]]


class Reader(NamedTuple):
    """How a value is read from JSON, and whether it may be an array or an object there."""

    read: FromJson
    has_parts: bool


Readers = Mapping[str, Reader]

_STATUSES: Final = {int(status): status.name for status in Status}
_REASONS: Final = {int(reason): reason.name for reason in Reason}


class Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request's body."""

    entities: Rows
    request: Rows | None = None
    at: str | None = None
    request_id: str | None = None

    @property
    def instant(self) -> Instant | None:
        """The time that is asked about; TimeError where it is none."""
        return None if self.at is None else parse_instant(self.at)

    @property
    def rows(self) -> int:
        """How many rows are asked for: one entity may come with many rows of request values."""
        return max((len(part) for part in (self.entities, self.request) if isinstance(part, list)), default=1)


_QUESTION: Final = msgspec.json.Decoder(Question)
_ENCODER: Final = msgspec.json.Encoder(enc_hook=str)  # str: a NumPy time, where the year is beyond 9999


def decode_question(body: bytes) -> Question:
    """Return a request's body as a value; InputError where it is no question."""
    try:
        return _QUESTION.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            "the request's body can't be read",
            where="body",
            why=str(error),
            try_='{"entities": {…} or [{…}], "request": {…}, "at": "2013-11-15T03:00Z"}',
        ) from error


def readers_of(plan: LookupPlan) -> Readers:
    """Return how each value of a service's requests is read from JSON, by name."""
    types = {key.request: key.type for key in plan.keys} | {field.name: field.type for field in plan.request.fields}
    return {name: Reader(from_json(name, kind), is_nested(kind)) for name, kind in types.items()}


def read_rows(rows: Rows | None, readers: Readers) -> Any:
    """Return entities or request values as a lookup takes them; names nobody knows are left for it to refuse."""
    if rows is None:
        return None
    if isinstance(rows, dict):
        return _read_row(rows, readers)
    return [_read_row(row, readers) for row in rows]


def encode_features(features: Features) -> bytes:
    """Return the answer to a lookup."""
    return _ENCODER.encode({**header_of(features), "values": _shown_values(features), **_shown_statuses(features)})


def encode_prediction(prediction: Prediction) -> bytes:
    """Return the answer to a prediction; `statuses` are those of the features it was made from."""
    features = prediction.features
    return _ENCODER.encode(
        {
            "model": prediction.model,
            "version": prediction.version,
            "provider": prediction.provider,
            **header_of(features),
            "predictions": _finite(prediction.to_python()),
            **_shown_statuses(features),
        }
    )


def encode_error(error: FeaturekitError) -> bytes:
    """Return an error with its parts: error, what, where, why, try."""
    return _ENCODER.encode(error.parts())


def http_status(error: FeaturekitError) -> int:
    """Return the HTTP status that says whose turn it is.

    >>> http_status(InputError("")), http_status(NotRegisteredError("")), http_status(OutsideError(""))
    (400, 404, 503)
    >>> http_status(RequestTooLargeError(""))
    413
    """
    match error:
        case UnauthorizedError():
            return 401
        case NotRegisteredError():
            return 404
        case RequestTooLargeError():
            return 413
        case ModelError():
            return 409  # nothing is wrong with the request: the model and the service no longer fit
        case InputError():
            return 400
        case OnlineStoreTimeoutError():
            return 504
        case OutsideError():
            return 503  # asking again may help
        case _:
            return 500


def encode(document: Mapping[str, Any]) -> bytes:
    return _ENCODER.encode(document)


def _read_row(row: dict[str, Any], readers: Readers) -> dict[str, Any]:
    for name, value in row.items():
        # A lookup would take a list for a column of values, and answer for as many rows.
        if isinstance(value, list | dict) and not (name in readers and readers[name].has_parts):
            raise KeyTypeError(
                f"{name} is {'an object' if isinstance(value, dict) else 'an array'}",
                where=name,
                why="each name has one value",
                try_="for many entities, pass a list of objects",
            )
    return {name: readers[name].read(value) if name in readers else value for name, value in row.items()}


def header_of(features: Features) -> dict[str, Any]:
    """Return what an answer says beside its values and their statuses."""
    named = {} if features.request_id is None else {"request_id": features.request_id}
    return {
        "service": features.service,
        **named,
        "at": format_instant(features.at),
        "as_of": {view: None if at is None else format_instant(at) for view, at in features.as_of.items()},
    }


class _Shape:
    """What is the same in all answers of a service: how its values are shown, and the statuses of a whole row."""

    def __init__(self, outputs: tuple[Field, ...]) -> None:
        self.outputs = outputs
        # Other values are what JSON has: what floats there are that it has no number for is looked at row by row.
        self.converters = [
            (output.name, shown(output.type))
            for output in outputs
            if is_nested(output.type) or isinstance(output.type, Decimal)
        ]
        self.all_present = msgspec.Raw(_ENCODER.encode({output.name: Status.PRESENT.name for output in outputs}))

    def show(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row's values as the encoder takes them; `row` itself is changed."""
        for name, convert in self.converters:
            row[name] = convert(row[name])
        for name in [name for name, value in row.items() if value.__class__ is float and value - value != 0.0]:
            row[name] = to_json(row[name])
        return row


_SHAPES: Final[dict[int, _Shape]] = {}  # by the identity of a plan's outputs, which the shape keeps
_MAX_SHAPES: Final = 256


def _shape_of(features: Features) -> _Shape:
    found = _SHAPES.get(id(features.outputs))
    if found is None:
        if len(_SHAPES) >= _MAX_SHAPES:
            _SHAPES.clear()
        found = _SHAPES[id(features.outputs)] = _Shape(features.outputs)
    return found


def _shown_values(features: Features) -> Any:
    show = _shape_of(features).show
    found = features.to_dict()
    return show(found) if features.is_single else [show(row) for row in found]


def _shown_statuses(features: Features) -> dict[str, Any]:
    codes, reasons = features.statuses, features.reasons
    rows = range(len(features))
    if not codes.any() and not reasons.any():
        all_present = _shape_of(features).all_present
        statuses: list[Any] = [all_present for _ in rows]
        told: list[dict[str, str]] = [{} for _ in rows]
    else:
        names = features.names
        statuses = [{name: _STATUSES[code] for name, code in zip(names, row, strict=True)} for row in codes.tolist()]
        told = [
            {name: _REASONS[code] for name, code in zip(names, row, strict=True) if code} for row in reasons.tolist()
        ]
    if features.is_single:
        return {"statuses": statuses[0], "reasons": told[0]}
    return {"statuses": statuses, "reasons": told}


def _finite(answer: Any) -> Any:
    return [_finite(each) for each in answer] if isinstance(answer, list) else to_json(answer)

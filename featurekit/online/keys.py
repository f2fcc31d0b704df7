"""Key texts: where everything lies in the online store (docs/formats.md is the specification).

    row       fk:<project>:<environment>:{<entity key>}:<view>@<fingerprint>:<as-of>[~<restatement>]
    in place  fk:<project>:<environment>:{<entity key>}:<view>@<fingerprint>:live[~<number>]
    head      fk:<project>:<environment>:head:<view>@<fingerprint>
    marker    fk:<project>:<environment>:space:<view>@<fingerprint>:<as-of>[~<restatement>]
    pointer   fk:<project>:<environment>:service:{<project>:<environment>}:<service>
    names     fk:<project>:<environment>:services
    plan      fk:<project>:<environment>:plan:<service>@<fingerprint>.<hash of the plan>

The braces are a hash tag: in a cluster, all rows of one entity lie in one slot, and all pointers of an environment do,
so that they can be set all at once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal as DecimalValue
from typing import Any, Final

import numpy as np

from featurekit.clock import Instant, to_datetime
from featurekit.errors import SettingsError
from featurekit.types import (
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Null,
    String,
    Timestamp,
    TimestampNtz,
)

KeyTexts = Sequence[bytes | None]
Encoder = Callable[[Sequence[Any]], list[bytes]]

LIVE: Final = "live"  # in place of an as-of
VIEW_DIGITS: Final = 8
PLAN_DIGITS: Final = 16
BODY_DIGITS: Final = 8
SERVICE_VERSION: Final = "@"  # between a service's name and a number, where readers are pinned to a version
SEPARATOR: Final = b","
EMPTY: Final = b"%_"  # a key of one empty string; "{}" would be no hash tag at all
ESCAPED: Final = rb"[\x00-\x1f\x7f%,{}]"
_ESCAPED: Final = re.compile(ESCAPED)
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Namespace:
    """A project in one environment: the prefix of all its keys."""

    project: str
    environment: str

    def __post_init__(self) -> None:
        for label, name in (("project", self.project), ("environment", self.environment)):
            if not _NAME.fullmatch(name):
                raise SettingsError(
                    f"{name!r} can't be the name of a {label}",
                    why="it is part of every key in the online store",
                    try_="letters, digits, '_', '-' and '.'",
                )

    @property
    def prefix(self) -> bytes:
        return f"fk:{self.project}:{self.environment}:".encode()

    def row_prefix(self) -> bytes:
        """Return what stands before the entity key in every row's key."""
        return self.prefix + b"{"

    def head(self, view: str, fingerprint: str) -> bytes:
        return self.prefix + f"head:{version_text(view, fingerprint)}".encode()

    def pointer(self, service: str) -> bytes:
        return self.prefix + f"service:{{{self.project}:{self.environment}}}:{service}".encode()

    @property
    def names(self) -> bytes:
        """The key of the names of all published services."""
        return self.prefix + b"services"

    @property
    def erased(self) -> bytes:
        """The key whose value changes whenever an entity was erased: who keeps rows forgets them then."""
        return self.prefix + b"erased"

    @property
    def plans(self) -> bytes:
        """How the keys of all plans begin."""
        return self.prefix + b"plan:"

    def plan(self, service: str, pointer: bytes) -> bytes:
        """Return the key of the plan that the service's pointer, or that of one of its pinned versions, leads to."""
        fingerprint, _, body = pointer.partition(b".")
        name, _, _ = service.partition(SERVICE_VERSION)
        return self.plans + f"{name}@".encode() + fingerprint[:PLAN_DIGITS] + b"." + body


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySpace:
    """The keys that one refresh of one view version writes; a restatement of the same as-of has its own.

    `live` is of a view that is written in place: the number of the one space that all its refreshes write.
    """

    namespace: Namespace
    view: str
    fingerprint: str
    as_of: Instant
    restatement: int = 0
    live: int | None = None

    def at(self, as_of: Instant, restatement: int = 0, live: int | None = None) -> KeySpace:
        """Return the key space of another refresh of the same view version."""
        return replace(self, as_of=as_of, restatement=restatement, live=live)

    def __str__(self) -> str:
        own, number = (as_of_text(self.as_of), self.restatement) if self.live is None else (LIVE, self.live)
        again = f"~{number}" if number else ""
        return f"{version_text(self.view, self.fingerprint)}:{own}{again}"

    @property
    def head(self) -> bytes:
        return self.namespace.head(self.view, self.fingerprint)

    @property
    def marker(self) -> bytes:
        return self.namespace.prefix + f"space:{self}".encode()

    @property
    def row_suffix(self) -> bytes:
        """What stands after the entity key in the keys of this space's rows."""
        return f"}}:{self}".encode()

    def row(self, entity_key: bytes) -> bytes:
        return self.namespace.row_prefix() + entity_key + self.row_suffix

    @property
    def row_pattern(self) -> bytes:
        """The glob pattern that matches the row keys of this view version, whatever their space, and no others."""
        # Entity keys hold no bare brace, and names hold nothing that a glob pattern reads otherwise.
        return self.namespace.row_prefix() + f"*}}:{version_text(self.view, self.fingerprint)}:*".encode()


def pointer_text(fingerprint: str, body: bytes) -> bytes:
    """Return the pointer to a plan: its service's fingerprint, and a hash of its bytes.

    A plan also says what is no part of the fingerprint, such as what to answer when the store is away: where only that
    changes, the pointer changes too, and readers move to the new body.
    """
    return f"{fingerprint}.{_digits(body)}".encode()


def leads_to(pointer: bytes, body: bytes) -> bool:
    """Return whether these are the bytes of the plan that a pointer names."""
    return pointer.endswith(f".{_digits(body)}".encode())


def _digits(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:BODY_DIGITS]


def pinned_name(service: str, number: int) -> str:
    """Return what readers call one version of a service, whichever serves."""
    return f"{service}{SERVICE_VERSION}{number}"


def is_in_place(space: str) -> bool:
    """Return whether a key space, by its text, is one that all refreshes of a view in place write."""
    return space.partition(":")[2].partition("~")[0] == LIVE


def version_text(view: str, fingerprint: str) -> str:
    return f"{view}@{fingerprint[:VIEW_DIGITS]}"


def as_of_text(as_of: Instant) -> str:
    """Return an instant as compact UTC text, with minutes, seconds and microseconds only where they are needed.

    >>> as_of_text(1384473600000000), as_of_text(1384475400000000), as_of_text(1384475415000001)
    ('20131115T00', '20131115T0030', '20131115T003015000001')
    """
    moment = to_datetime(as_of)
    text = f"{moment.year:04}{moment.month:02}{moment.day:02}T{moment.hour:02}"
    if moment.minute or moment.second or moment.microsecond:
        text += f"{moment.minute:02}"
    if moment.second or moment.microsecond:
        text += f"{moment.second:02}"
    if moment.microsecond:
        text += f"{moment.microsecond:06}"
    return text


def entity_key_encoder(types: Sequence[DataType]) -> Callable[[Sequence[Sequence[Any]]], KeyTexts]:
    """Return a function from columns of join-key values to entity key texts; None where any part is NULL.

    The values are held as `types` says, one column per join key. Equal tuples give equal texts and different tuples
    different ones, where every NaN equals every other and -0.0 equals 0.0.

    >>> entity_key_encoder((String(), Int64()))([["JFK", "a,b", None], [1, 2, 3]])
    [b'JFK,1', b'a%2Cb,2', None]
    """
    encoders = tuple(_nullable(text_encoder(kind)) for kind in types)
    if len(encoders) == 1:
        (only,) = encoders
        return lambda columns: only(columns[0])

    def encode(columns: Sequence[Sequence[Any]]) -> KeyTexts:
        texts = [encoder(column) for encoder, column in zip(encoders, columns, strict=True)]
        return [None if None in parts else SEPARATOR.join(parts) for parts in zip(*texts, strict=True)]

    return encode


def text_encoder(kind: DataType) -> Encoder:
    """Return a function from values of a type, none of them NULL, to their key texts."""
    match kind:
        case Int8() | Int16() | Int32() | Int64():
            return lambda values: [b"%d" % value for value in values]
        case String():
            return _encode_strings
        case Binary():
            return lambda values: [value.hex().encode() or EMPTY for value in values]
        case Boolean():
            return lambda values: [b"true" if value else b"false" for value in values]
        case Float32() | Float64():
            # Adding zero makes 0.0 of -0.0; Python's repr is the shortest text that reads back as the same double.
            return lambda values: [repr(value + 0.0).encode() for value in values]
        case Decimal():
            return lambda values: [decimal_text(value).encode() for value in values]
        case Date():
            return lambda values: _moments(values, "D", "")
        case Timestamp():
            return lambda values: _moments(values, "us", "Z")
        case TimestampNtz():
            return lambda values: _moments(values, "us", "")
        case Null():
            return lambda values: [b"" for _ in values]  # never called with a value: void has none
        case _:
            raise AssertionError(f"{kind!r} has no key text")


def escape(text: bytes) -> bytes:
    """Return UTF-8 text as part of an entity key: separators, braces and control characters as %XX.

    >>> escape("50% {é}".encode()) == "50%25 %7Bé%7D".encode(), escape(b"")
    (True, b'%_')
    """
    return _ESCAPED.sub(_escape_one, text) or EMPTY


def _escape_one(match: re.Match[bytes]) -> bytes:
    return b"%%%02X" % match[0][0]


def decimal_text(value: DecimalValue) -> str:
    """Return a decimal with all the digits of its scale, never in scientific notation; zero has no sign."""
    return format(value or abs(value), "f")


def _encode_strings(values: Sequence[str]) -> list[bytes]:
    texts = [value.encode() for value in values]
    # One search over all: in nearly every request there is nothing to escape.
    if b"" in texts or _ESCAPED.search(b"".join(texts)):
        return [escape(text) for text in texts]
    return texts


def _moments(values: Sequence[int], unit: str, zone: str) -> list[bytes]:
    # NumPy's calendar has no end where Python's stops at the years 1 and 9999.
    moments = np.array(values, dtype=f"datetime64[{unit}]")
    return [f"{text}{zone}".encode() for text in np.datetime_as_string(moments).tolist()]


def _nullable(encode: Encoder) -> Callable[[Sequence[Any]], KeyTexts]:
    def nullable(values: Sequence[Any]) -> KeyTexts:
        if None not in values:
            return encode(values)
        texts = iter(encode([value for value in values if value is not None]))
        return [None if value is None else next(texts) for value in values]

    return nullable

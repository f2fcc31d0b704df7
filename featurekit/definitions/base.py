"""What every definition shares: frozen, no unknown fields, names that are safe everywhere, durations and types as text."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, WithJsonSchema

from featurekit.clock import format_duration, parse_duration
from featurekit.errors import FeaturekitError
from featurekit.types import Boolean, DataType, Date, String, Timestamp, is_numeric, parse_type

RESERVED_NAMES = frozenset({"as_of", "event_timestamp", "created_timestamp", "found", "status", "request_id", "request"})
RESERVED_PREFIX = "__"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


def _checked_name(value: Any) -> Any:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(f"{value!r} is not a name: letters, digits and _, not starting with a digit, at most 63 long")
    if value.lower() in RESERVED_NAMES or value.startswith(RESERVED_PREFIX):
        raise ValueError(f"{value!r} is a reserved name")
    return value


def _duration(value: Any) -> Any:
    # A bool is an int to Python, and YAML reads `1:30` as 90 (base 60): only text and Python-made microseconds pass.
    if isinstance(value, str):
        try:
            return parse_duration(value)
        except FeaturekitError as error:
            raise ValueError(f"{error.what}; {error.try_}") from error
    return value


def _type(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return parse_type(value)
        except FeaturekitError as error:
            raise ValueError(f"{error.what}; {error.try_}") from error
    return value


Name = Annotated[str, BeforeValidator(_checked_name), WithJsonSchema({"type": "string", "pattern": f"^{_NAME.pattern}$"})]
Micros = Annotated[
    int,
    BeforeValidator(_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^([0-9]+(us|ms|s|m|h|d|w))+$", "examples": ["7d", "1h30m"]}),
]
"""A duration in microseconds, written as text such as `7d` or `1h30m`."""
ColumnType = Annotated[
    DataType,
    BeforeValidator(_type),
    PlainSerializer(lambda kind: kind.name, return_type=str),
    WithJsonSchema({"type": "string", "examples": ["string", "bigint", "double", "timestamp", "decimal(10,2)"]}),
]


class Definition(BaseModel):
    """A frozen value that people write; unknown fields are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)


def is_key_type(kind: DataType) -> bool:
    """Return whether a join key may have this type: one whose values have one readable form."""
    return is_numeric(kind) or isinstance(kind, Boolean | String | Date | Timestamp)

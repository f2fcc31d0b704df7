"""JSON Schemas of values as the server reads and writes them: `json_values` says how, and this says so to others."""

from __future__ import annotations

from typing import Any, Final

from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Map,
    Null,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
    integer_range,
)

JsonSchema = dict[str, Any]

_NOT_FINITE: Final = ["NaN", "Infinity", "-Infinity"]


def value_schema(kind: DataType, *, is_asked: bool) -> JsonSchema:
    """Return the schema of values of a type, null among them: as a question may hold them, or as an answer does.

    >>> value_schema(Boolean(), is_asked=False)
    {'type': ['boolean', 'null']}
    """
    match kind:
        case Boolean():
            return {"type": ["boolean", "null"]}
        case String():
            return {"type": ["string", "null"]}
        case Null():
            return {"type": "null"}
        case Float32() | Float64():
            name = "float" if isinstance(kind, Float32) else "double"
            return {"anyOf": [{"type": ["number", "null"], "format": name}, {"enum": _NOT_FINITE}]}
        case Decimal():
            digits: JsonSchema = {"type": ["string", "null"], "pattern": r"^-?[0-9]+(\.[0-9]+)?$"}
            return {**digits, "type": ["string", "integer", "null"]} if is_asked else digits
        case Date():
            return {"type": ["string", "null"], "format": "date"}
        case Timestamp():
            return {"type": ["string", "null"], "format": "date-time"}
        case TimestampNtz():
            return {"type": ["string", "null"], "description": "ISO 8601 without a zone"}
        case Binary():
            return {"type": ["string", "null"], "contentEncoding": "base64"}
        case Array():
            return {"type": ["array", "null"], "items": value_schema(kind.element, is_asked=is_asked)}
        case Struct():
            fields = {name: value_schema(inner, is_asked=is_asked) for name, inner in kind.fields}
            return {
                "type": ["object", "null"],
                "properties": fields,
                "required": list(fields),
                "additionalProperties": False,
            }
        case Map():
            return _map_schema(kind, is_asked=is_asked)
        case _:
            least, most = integer_range(kind)
            return {"type": ["integer", "null"], "minimum": least, "maximum": most}


def _map_schema(kind: Map, *, is_asked: bool) -> JsonSchema:
    item = value_schema(kind.value, is_asked=is_asked)
    by_name: JsonSchema = {"type": ["object", "null"], "additionalProperties": item}
    pair = {
        "type": "array",
        "prefixItems": [value_schema(kind.key, is_asked=is_asked), item],
        "minItems": 2,
        "maxItems": 2,
    }
    pairs: JsonSchema = {"type": ["array", "null"], "items": pair}
    if not isinstance(kind.key, String):
        return pairs
    return {"anyOf": [by_name, pairs]} if is_asked else by_name

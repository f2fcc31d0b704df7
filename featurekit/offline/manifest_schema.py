"""The JSON Schema of a training set's manifest, for whoever reads it without featurekit."""

from __future__ import annotations

from typing import Any, Final

from featurekit.offline.manifest import FORMAT, AsOfMode

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_DIGEST: Final[dict[str, Any]] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_TEXT: Final[dict[str, Any]] = {"type": "string"}
_COUNT: Final[dict[str, Any]] = {"type": "integer", "minimum": 0}
_SHARE: Final[dict[str, Any]] = {"type": "number", "minimum": 0, "maximum": 1}
# NaN and the infinities are text: JSON has no such numbers.
_NUMBER: Final[dict[str, Any]] = {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}


def manifest_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of `_manifest.json`."""
    file = _object(
        {"path": _TEXT, "size": _or_null(_COUNT), "modified": _or_null({"type": "integer"})}, optional={"rows": _COUNT}
    )
    feature = _object(
        {
            "name": _TEXT,
            "type": _TEXT,
            "null_share": _SHARE,
            "expired_share": _or_null(_SHARE),
            **{part: _or_null(_NUMBER) for part in ("min", "max", "mean", "stddev")},
            "distinct": _or_null(_COUNT),
            "quantiles": _or_null(_map(_NUMBER)),
            "top": _list({"type": "array", "prefixItems": [_TEXT, _COUNT], "minItems": 2, "maxItems": 2}),
        }
    )
    labels = _object(
        {
            "path": _TEXT,
            "timestamp": _TEXT,
            "timezone": _or_null(_TEXT),
            "format": _or_null(_TEXT),
            "columns": _map(_TEXT),
            "null_tokens": _list(_TEXT),
            "sha256": _or_null(_DIGEST),
            "files": _list({"$ref": "#/$defs/file"}),
        }
    )
    sections = ("entities", "sources", "feature_views", "on_demand_feature_views", "feature_services")
    files = _list({"$ref": "#/$defs/file"})
    version = {"type": "integer"}
    source = _object({"source": _TEXT, "origin": _TEXT, "files": files}, optional={"version": version})
    as_served = dict.fromkeys(("unavailable", "other_definition", "recomputed", "indeterminate"), _COUNT)
    document = _object(
        {
            "format": {"const": FORMAT},
            "id": _DIGEST,
            "service": _TEXT,
            "as_of": {"enum": [mode.value for mode in AsOfMode]},
            "leaks": {"type": "boolean"},
            "rows": _COUNT,
            "content": _DIGEST,
            "columns": _list(_object({"name": _TEXT, "type": _TEXT})),
            "fingerprints": _object({"service": _DIGEST, "views": _map(_DIGEST)}),
            "definitions": _object({section: _map({"type": "object"}) for section in sections}),
            "versions": _map(_TEXT),
            "labels": labels,
            "sources": _list(source),
            "join": _map(_TEXT),
            "views": _list(_object({"alias": _TEXT, "view": _TEXT, "unseen": _COUNT}, optional=as_served)),
            "features": _list(feature),
        }
    )
    return {"$schema": DIALECT, "title": "featurekit training set", **document, "$defs": {"file": file}}


def _object(properties: dict[str, Any], *, optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
        "additionalProperties": False,
    }


def _map(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}

"""The JSON Schema of a file in feature_defs/, for editors: what may be written where, and what it means.

It is made from the models, so it can't fall behind them; what it can't say (names that must exist, a window against a
ttl) `load_repo` checks.
"""

from __future__ import annotations

from typing import Any, Final

from featurekit.definitions.base import NAME_PATTERN, RESERVED_NAMES, RESERVED_PREFIX, Definition
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import Feature, FeatureView
from featurekit.definitions.on_demand import OnDemandFeature, OnDemandFeatureView
from featurekit.definitions.service import FeatureService
from featurekit.definitions.shapes import ENTRY_PATTERN
from featurekit.definitions.source import Source

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_NAME: Final[dict[str, Any]] = {
    "type": "string",
    "pattern": f"^(?!{RESERVED_PREFIX}){NAME_PATTERN}$",
    "not": {"enum": sorted(RESERVED_NAMES)},
}
_SECTIONS: Final[tuple[tuple[str, type[Definition], str], ...]] = (
    ("entities", Entity, "What features are about, by name."),
    ("sources", Source, "Where rows come from, when each happened, and when it could be known."),
    ("feature_views", FeatureView, "Features of one entity from one source, computed on one grid."),
    ("on_demand_feature_views", OnDemandFeatureView, "Features computed at request time."),
    ("feature_services", FeatureService, "The features that a model is trained on and served with."),
)


def repo_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one YAML file of definitions."""
    models: tuple[type[Definition], ...] = (*(model for _, model, _ in _SECTIONS), Feature, OnDemandFeature)
    definitions: dict[str, Any] = {}
    for model in models:
        definitions[model.__name__] = _written(model, definitions)
    del definitions["ServiceFeatures"]  # it is written as text, or as the mapping below
    _as_written(definitions)
    return {
        "$schema": DIALECT,
        "title": "featurekit definitions",
        "type": "object",
        "additionalProperties": False,
        "minProperties": 1,
        "properties": {name: _by_name(f"#/$defs/{model.__name__}", text) for name, model, text in _SECTIONS},
        "$defs": definitions,
    }


def _as_written(definitions: dict[str, Any]) -> None:
    """Put in place what is written in another shape than the models have, and what holds between fields."""
    view = definitions["FeatureView"]["properties"]
    view["features"] = _by_name("#/$defs/Feature", "Each feature by its name.")
    view["refresh"] = {"anyOf": [view["refresh"], definitions["Refresh"]["properties"]["every"]]}
    view["history"]["anyOf"].append({"type": "boolean"})
    on_demand = definitions["OnDemandFeatureView"]["properties"]
    on_demand["features"] = _by_name("#/$defs/OnDemandFeature", "Each feature by its name.")
    definitions["FeatureService"]["properties"]["features"] = _service_features()
    definitions["Source"]["oneOf"] = [{"required": [field]} for field in ("path", "table", "sql")]
    definitions["Feature"]["not"] = {"required": ["window", "ttl"]}
    definitions["Expectation"]["minProperties"] = 1


def _written(model: type[Definition], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the model's schema as it is written: its name is the key above it. Models inside go to `definitions`."""
    schema: dict[str, Any] = _tidy(model.model_json_schema(ref_template="#/$defs/{model}"))
    for name, inner in schema.pop("$defs", {}).items():
        definitions.setdefault(name, inner)
    schema["properties"].pop("name")
    schema["required"] = [field for field in schema.get("required", []) if field != "name"]
    return schema


def _tidy(schema: Any) -> Any:
    """Return a schema without pydantic's titles and null defaults, and with its rules for keys as closed ones."""
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {
        key: _tidy(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and value is None)
    }
    if "patternProperties" in tidy:
        [(pattern, values)] = tidy.pop("patternProperties").items()
        tidy |= {"propertyNames": {"pattern": pattern}, "additionalProperties": values}
    return tidy


def _by_name(reference: str, description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "propertyNames": _NAME,
        "additionalProperties": {"$ref": reference},
        "minProperties": 1,
    }


def _service_features() -> dict[str, Any]:
    text = {"type": "string", "pattern": f"^{ENTRY_PATTERN}$", "examples": ["load", "load.n_1d", "load as dest_load"]}
    fields = {
        "view": text,
        "feature": _NAME,
        "alias": _NAME,
        "as": _NAME,
        "keys": {
            "type": "object",
            "description": "Join keys by their names in the request.",
            "additionalProperties": _NAME,
        },
    }
    entry = {"type": "object", "properties": fields, "required": ["view"], "additionalProperties": False}
    return {"type": "array", "minItems": 1, "items": {"anyOf": [text, entry]}}

"""The page that says what a server answers, made from the services that are registered now: OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from featurekit.online.reason import Reason
from featurekit.plan import LookupPlan
from featurekit.serving.arrow_stream import MEDIA_TYPE
from featurekit.serving.json_schemas import JsonSchema, value_schema
from featurekit.status import Status

TIMEOUT_HEADER: Final = "Featurekit-Timeout-Ms"
_INSTANT: Final[JsonSchema] = {
    "type": "string",
    "description": "ISO 8601 with a zone",
    "examples": ["2013-11-15T03:00Z"],
}
_REQUEST_ID: Final[JsonSchema] = {"type": "string", "description": "what the request is called in the served log"}
_ERRORS: Final = {
    "400": "the question is wrong",
    "401": "no API key, or none that is known",
    "404": "nobody registered this service or model",
    "408": "the request did not come whole in time",
    "409": "the model was made for other definitions than those that are served",
    "413": "the question or its answer is too large",
    "431": "the request's headers are too large",
    "500": "a bug of the server",
    "503": "the online store does not answer, or the server is about to stop; asking again may help",
    "504": "the deadline came first",
}
_ERROR_SCHEMA: Final[JsonSchema] = {
    "type": "object",
    "properties": {
        "error": {"type": "string"},
        "what": {"type": "string"},
        **{part: {"type": ["string", "null"]} for part in ("where", "why", "try")},
    },
    "required": ["error", "what"],
}


def openapi(plans: Sequence[LookupPlan], *, with_models: bool, with_keys: bool) -> JsonSchema:
    """Return the document; `with_keys` says that requests show an API key."""
    paths: dict[str, Any] = {
        "/health/live": _get("Whether the process answers", {"200": _json_answer("it does", {"type": "object"})}),
        "/health/ready": _get(
            "Whether lookups would be answered",
            {"200": _json_answer("they would", {"type": "object"}), "503": _error("503")},
        ),
    }
    schemas: dict[str, JsonSchema] = {"Error": _ERROR_SCHEMA}
    for plan in plans:
        schemas |= _service_schemas(plan)
        paths[f"/v1/lookup/{plan.service}"] = _lookup(plan)
    if with_models:
        paths["/v1/predict/{model}"] = _predict()
    if with_keys:
        for path, methods in paths.items():
            if not path.startswith("/health/"):
                methods["post"]["security"] = [{"bearer": []}, {"header": []}]
    components: JsonSchema = {"schemas": schemas}
    if with_keys:
        components["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "header": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "featurekit",
            "version": "1",
            "description": "Features as a model would get them, and predictions made of them.",
        },
        "paths": paths,
        "components": components,
    }


def _lookup(plan: LookupPlan) -> JsonSchema:
    content = {
        "application/json": {"schema": _ref(f"{plan.service}.Question")},
        MEDIA_TYPE: {"schema": {"description": "one IPC stream: a column per entity key and request value"}},
    }
    answer = {
        "description": "the features, in the shape of the question",
        "content": {
            "application/json": {"schema": _ref(f"{plan.service}.Answer")},
            MEDIA_TYPE: {"schema": {"description": "one IPC stream: a column per output, then __status and __reason"}},
        },
    }
    return {
        "post": {
            "summary": f"Look up {plan.service}",
            "operationId": f"lookup_{plan.service}",
            "parameters": [
                _timeout(),
                _query("at", _INSTANT, "of an Arrow question: the time that is asked about"),
                _query("request_id", _REQUEST_ID, "of an Arrow question: its name"),
            ],
            "requestBody": {"required": True, "content": content},
            "responses": {"200": answer, **_errors("409")},
        }
    }


def _predict() -> JsonSchema:
    question: JsonSchema = {
        "type": "object",
        "properties": {
            **_shapes("entities", {"type": "object"}),
            **_shapes("request", {"type": "object"}),
            **_asides(),
        },
        "required": ["entities"],
        "additionalProperties": False,
    }
    return {
        "post": {
            "summary": "Look up the features that a model takes, and run it",
            "operationId": "predict",
            "parameters": [
                {"name": "model", "in": "path", "required": True, "schema": {"type": "string"}},
                _timeout(),
            ],
            "requestBody": {"required": True, "content": {"application/json": {"schema": question}}},
            "responses": {"200": _json_answer("predictions, and the statuses of what they are of", {}), **_errors()},
        }
    }


def _service_schemas(plan: LookupPlan) -> dict[str, JsonSchema]:
    keys = {key.request: value_schema(key.type, is_asked=True) for key in plan.keys}
    request = {field.name: value_schema(field.type, is_asked=True) for field in plan.request.fields}
    values = {output.name: value_schema(output.type, is_asked=False) for output in plan.outputs}
    statuses: JsonSchema = {"enum": [status.name for status in Status]}
    reasons: JsonSchema = {"enum": [reason.name for reason in Reason if reason]}
    entity: JsonSchema = {
        "type": "object",
        "properties": {**keys, **request},
        "required": list(keys),
        "additionalProperties": False,
    }
    asked: JsonSchema = {"type": "object", "properties": request, "additionalProperties": False}
    answer: JsonSchema = {
        "type": "object",
        "properties": {
            "service": {"const": plan.service},
            "at": _INSTANT,
            "request_id": _REQUEST_ID,
            "as_of": _every({view.alias: {**_INSTANT, "type": ["string", "null"]} for view in plan.views}),
            **_shapes("values", _every(values)),
            **_shapes("statuses", _every(dict.fromkeys(values, statuses))),
            **_shapes("reasons", {"type": "object", "additionalProperties": reasons}),
        },
        "required": ["service", "at", "as_of", "values", "statuses", "reasons"],
        "additionalProperties": False,
    }
    question: JsonSchema = {
        "type": "object",
        "properties": {**_shapes("entities", entity), **_shapes("request", asked), **_asides()},
        "required": ["entities"],
        "additionalProperties": False,
    }
    return {f"{plan.service}.Question": question, f"{plan.service}.Answer": answer}


def _every(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _shapes(name: str, one: JsonSchema) -> dict[str, JsonSchema]:
    """Return a property that is one object, or a list of them."""
    return {name: {"oneOf": [one, {"type": "array", "items": one}]}}


def _asides() -> dict[str, JsonSchema]:
    return {"at": {**_INSTANT, "type": ["string", "null"]}, "request_id": {**_REQUEST_ID, "type": ["string", "null"]}}


def _timeout() -> JsonSchema:
    told = "how long the caller waits: what is left of it bounds the lookup"
    schema = {"type": "integer", "minimum": 1}
    return {"name": TIMEOUT_HEADER, "in": "header", "required": False, "description": told, "schema": schema}


def _query(name: str, schema: JsonSchema, told: str) -> JsonSchema:
    return {"name": name, "in": "query", "required": False, "description": told, "schema": schema}


def _get(summary: str, responses: JsonSchema) -> JsonSchema:
    return {"get": {"summary": summary, "responses": responses}}


def _json_answer(told: str, schema: JsonSchema) -> JsonSchema:
    return {"description": told, "content": {"application/json": {"schema": schema}}}


def _errors(*without: str) -> JsonSchema:
    return {status: _error(status) for status in _ERRORS if status not in without}


def _error(status: str) -> JsonSchema:
    return _json_answer(_ERRORS[status], _ref("Error"))


def _ref(name: str) -> JsonSchema:
    return {"$ref": f"#/components/schemas/{name}"}

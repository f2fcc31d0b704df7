"""What pydantic found wrong, as problems in our words and under the paths that people wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from featurekit.definitions.base import WRITTEN, Definition
from featurekit.definitions.problem import Place, Problem, did_you_mean

Model = TypeVar("Model", bound=Definition)

# What a value should have been, by pydantic's error type.
_WANTED: Final = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "dict_type": "a mapping {name: value}",
    "model_type": "a mapping {name: value}",
    "tuple_type": "a list [ ]",
    "dataclass_exact_type": "the name of a type",
    "date_type": "a date, such as 2013-11-04",
}


def build(model: type[Model], value: Any, *, subject: str) -> tuple[Model | None, tuple[Problem, ...]]:
    """Return the model made from written values, or None and why not; `subject` begins each message."""
    try:
        return model.model_validate(value, context=WRITTEN), ()
    except ValidationError as error:
        found = error.errors(include_url=False)
    # A value that fits no member of a union is told once, not once a member: the members' names end the path.
    told: dict[Place, list[ErrorDetails]] = {}
    for details in found:
        told.setdefault(_without_members(details["loc"]), []).append(details)
    problems = [problem for loc, errors in told.items() for problem in _problem(model, loc, errors)]
    return None, tuple(problem.about(subject) for problem in problems)


def _without_members(loc: Place) -> Place:
    while loc and loc[-1] in ("bool", "int", "float", "str", "constrained-int", "constrained-float"):
        loc = loc[:-1]
    return loc


def _problem(model: type[Definition], loc: Place, errors: list[ErrorDetails]) -> Iterator[Problem]:
    error = errors[0]
    kind = error["type"]
    name = str(loc[-1]) if loc else "it"
    if kind == "definition":
        # pydantic puts [key] behind a mapping's key that is wrong itself.
        is_key = loc[-1:] == ("[key]",)
        for problem in error["ctx"]["problems"]:
            yield replace(problem.under(loc[:-1]), at_name=True) if is_key else problem.under(loc)
    elif kind == "missing" and isinstance(loc[-1], int):
        yield Problem(path=loc[:-1], what=f"{loc[-2]} has {loc[-1]} entries", why="it takes two", try_="[low, high]")
    elif kind == "missing":
        why = "nothing can be assumed for it"
        yield Problem(path=loc[:-1], what=f"{name} is missing", why=why, try_=f"add {name}: …")
    elif kind == "extra_forbidden":
        fields = [field for field in fields_at(model, loc[:-1]) if field != "name"]
        why = "a field that nothing reads would be ignored without a word"
        yield Problem(
            path=loc, what=f"{name} is not a field here", why=why, try_=did_you_mean(name, fields), at_name=True
        )
    elif len(errors) > 1:
        members = {str(each["loc"][-1]).removeprefix("constrained-") for each in errors}
        wanted = "a number" if members <= {"int", "float"} else "a number, text, or true or false"
        yield _wrong_kind(loc, name, wanted, error["input"])
    elif kind in _WANTED:
        yield _wrong_kind(loc, name, _WANTED[kind], error["input"])
    elif kind in ("too_short", "string_pattern_mismatch") and not str(error["input"]).strip("{}()[] \t\n"):
        yield Problem(path=loc, what=f"{name} is empty", why="then it says nothing", try_=f"write it, or remove {name}")
    elif kind == "too_long":
        what = f"{name} has {error['ctx']['actual_length']} entries"
        yield Problem(path=loc, what=what, why="it takes two", try_="[low, high]")
    else:
        yield Problem(path=loc, what=f"{name}: {error['msg'][:1].lower()}{error['msg'][1:]}")


def _wrong_kind(loc: Place, name: str, wanted: str, value: Any) -> Problem:
    label = f"entry {name}" if name.isdigit() else name
    what = f"{label} must be {wanted}, not {_kind_of(value)}"
    if wanted == "text" and isinstance(value, bool | int | float | None):
        kind = "null" if value is None else "true or false" if isinstance(value, bool) else "a number"
        return Problem(
            path=loc, what=what, why=f"unquoted, YAML reads it as {kind}", try_=f'quote it: "{shown(value)}"'
        )
    return Problem(path=loc, what=what, why=f"{label} is {wanted} in every definition", try_=f"{label}: {wanted}")


def _kind_of(value: Any) -> str:
    match value:
        case bool() | None:
            return shown(value)
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value[:40]!r}"
        case list() | tuple():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return type(value).__name__


def shown(value: Any) -> str:
    """Return a value as it was written in YAML."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case _:
            return str(value)


def fields_at(model: type[BaseModel], path: Place) -> list[str]:
    """Return the field names of the model that stands at `path` inside `model`."""
    for part in path:
        inner = _models_in(model.model_fields[str(part)].annotation) if str(part) in model.model_fields else []
        if not inner:
            break
        model = inner[0]
    return list(model.model_fields)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_in(part)]

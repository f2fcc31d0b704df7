"""`on_unavailable` as people write it: a word, or how old a last known row may be."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo, WithJsonSchema

from featurekit.clock import format_duration, parse_duration
from featurekit.definitions.base import DURATION_SCHEMA, WRITTEN, problem_here, refuse
from featurekit.errors import FeaturekitError
from featurekit.on_unavailable import Instead, OnUnavailable

_WORDS: Final = (Instead.ERROR.value, Instead.NULL.value, Instead.DEFAULT.value)
_AGED: Final = Instead.LAST_KNOWN.value
_WHY: Final = "it is what lookups answer where the store can't"
_TRY: Final = f"{', '.join(_WORDS)} or {{{_AGED}: 1h}}"


def _policy(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, OnUnavailable):
        return value
    if value is None:
        # In a file a bare null is the choice of that name; who makes none leaves the field away.
        return OnUnavailable(Instead.NULL) if info.context == WRITTEN else None
    if isinstance(value, str) and value in _WORDS:
        return OnUnavailable(Instead(value))
    if isinstance(value, dict) and value.keys() == {_AGED}:
        return OnUnavailable(Instead.LAST_KNOWN, _age(value[_AGED]))
    what = "last_known has no age limit" if value == _AGED else f"{value!r} is nothing that can stand in"
    refuse([problem_here(what, why=_WHY, try_=_TRY)])
    return value


def _age(text: Any) -> int:
    path = (_AGED,)
    try:
        age = parse_duration(text) if isinstance(text, str) else 0
    except FeaturekitError as error:
        refuse([problem_here(error.what, why=error.why, try_=error.try_, path=path)])
    if not age:
        why = "it says how long ago the store confirmed a row at most: text with a unit, longer than nothing"
        refuse([problem_here(f"{text!r} is not an age", why=why, try_="for example 1h or 30m", path=path)])
    return age


def _shown(policy: OnUnavailable | None) -> str | dict[str, str] | None:
    if policy is None:
        return None
    is_aged = policy.instead is Instead.LAST_KNOWN
    return {_AGED: format_duration(policy.max_age)} if is_aged else policy.instead.value


_SCHEMA: Final[dict[str, Any]] = {
    "description": "What lookups answer where the store can't.",
    "anyOf": [
        {"enum": [*_WORDS, None]},
        {
            "type": "object",
            "description": "The rows that the client was answered with last, if so long ago at most.",
            "properties": {_AGED: DURATION_SCHEMA},
            "required": [_AGED],
            "additionalProperties": False,
        },
    ],
}
WrittenPolicy = Annotated[
    OnUnavailable | None, BeforeValidator(_policy), PlainSerializer(_shown), WithJsonSchema(_SCHEMA)
]

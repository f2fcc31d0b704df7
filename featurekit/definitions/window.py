"""Windows as people write them: a duration, `lifetime`, or a mapping of rows or of a stretch of the calendar."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo, WithJsonSchema

from featurekit.definitions.base import DURATION_SCHEMA, WRITTEN, problem_here, refuse
from featurekit.errors import FeaturekitError
from featurekit.windows import (
    EXAMPLES,
    FIELDS,
    KINDS,
    MOST_ROWS,
    Calendar,
    Elapsed,
    LastRows,
    Lifetime,
    format_window,
    parse_window,
)


def _window(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and info.context != WRITTEN:
        if value <= 0:
            refuse([problem_here(f"a window of {value} microseconds", why="it must be longer than nothing")])
        value = Elapsed(value)  # from Python, in microseconds as all durations are
    if isinstance(value, Elapsed | Calendar | LastRows | Lifetime):
        if isinstance(value, Calendar) and value.timezone is not None:
            refuse([problem_here("the window has a zone of its own", why="its dates are those of the view's refresh")])
        value = format_window(value)
    if isinstance(value, int) and not isinstance(value, bool):
        refuse(
            [problem_here(f"{value} is not a duration", why="a duration has a unit", try_=f'for example "{value}d"')]
        )
    if not isinstance(value, str | dict):
        shown = str(value).lower() if isinstance(value, bool) else repr(value)
        refuse([problem_here(f"{shown} is not a window", why=KINDS, try_=EXAMPLES)])
    try:
        window = parse_window(value)
    except FeaturekitError as error:
        path = () if error.where is None else (error.where,)
        at_name = error.where is not None and error.where not in FIELDS
        refuse([problem_here(error.what, why=error.why, try_=error.try_, path=path, at_name=at_name)])
    return window.length if isinstance(window, Elapsed) else window


def _shown(window: int | Calendar | LastRows | Lifetime) -> str | dict[str, Any]:
    return format_window(Elapsed(window) if isinstance(window, int) else window)


_SCHEMA: Final[dict[str, Any]] = {
    "anyOf": [
        DURATION_SCHEMA,
        {"const": "lifetime", "description": "All rows."},
        {
            "type": "object",
            "description": "The last rows, of those of the last `within` where that is given.",
            "properties": {
                "rows": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS},
                "within": DURATION_SCHEMA,
            },
            "required": ["rows"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "description": "Whole days, weeks or months of the calendar in the refresh's zone, the current one so far.",
            "properties": {
                "calendar": {"type": "string", "pattern": "^[0-9]{1,6}(d|w|mo)$", "examples": ["7d", "3mo"]}
            },
            "required": ["calendar"],
            "additionalProperties": False,
        },
    ]
}
WrittenWindow = Annotated[
    int | Calendar | LastRows | Lifetime, BeforeValidator(_window), PlainSerializer(_shown), WithJsonSchema(_SCHEMA)
]
"""A window: a number of microseconds of elapsed time, or what else a window can be; a calendar gets its zone later."""

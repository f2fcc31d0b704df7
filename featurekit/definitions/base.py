"""What every definition shares: frozen, no unknown fields, names safe everywhere, durations and types as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from featurekit.clock import format_duration, parse_duration
from featurekit.definitions.problem import Place, Problem, did_you_mean
from featurekit.errors import FeaturekitError
from featurekit.types import TYPE_NAMES, Boolean, DataType, Date, String, Timestamp, is_numeric, parse_type

RESERVED_NAMES = frozenset(
    {"as_of", "event_timestamp", "created_timestamp", "found", "status", "request_id", "request"}
)
RESERVED_PREFIX = "__"
NAME_PATTERN: Final = "[A-Za-z_][A-Za-z0-9_]{0,62}"
_NAME = re.compile(NAME_PATTERN)
_UNITS_TRY: Final = "whole numbers with units, such as 30m, 1h30m or 7d (units: us ms s m h d w)"

ONE_CASE: Final = "Spark does not tell upper and lower case in names apart"

WRITTEN: Final = {"written": True}
"""The validation context for what was read from a file: there a number is not a duration, whatever its unit may be."""


def refuse(problems: Iterable[Problem]) -> None:
    """Raise the problems, if there are any, as one pydantic error that carries them with their paths."""
    found = tuple(problems)
    if found:
        text = "; ".join(problem.what for problem in found).replace("{", "(").replace("}", ")")
        raise PydanticCustomError("definition", text, {"problems": found})


def problem_here(
    what: str, *, why: str | None = None, try_: str | None = None, path: Place = (), at_name: bool = False
) -> Problem:
    return Problem(path=path, what=what, why=why, try_=try_, at_name=at_name)


def _checked_name(value: Any) -> Any:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        why = "a name is letters, digits and _, does not start with a digit, and is at most 63 long"
        refuse([problem_here(f"{value!r} is not a name", why=why, try_="for example mean_delay_7d")])
    if value.lower() in RESERVED_NAMES or value.startswith(RESERVED_PREFIX):
        why = "featurekit gives columns of this name (or any that begins with __) a meaning of its own"
        refuse(
            [
                problem_here(
                    f"{value!r} is a reserved name", why=why, try_=f"another name, such as my_{value.strip('_')}"
                )
            ]
        )
    return value


def _duration(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, str):
        try:
            return parse_duration(value)
        except FeaturekitError as error:
            refuse([problem_here(error.what, why=error.why, try_=error.try_)])
    if info.context == WRITTEN:
        unit = f'for example "{value}d"' if isinstance(value, int) and not isinstance(value, bool) else _UNITS_TRY
        refuse([problem_here(f"{value!r} is not a duration", why="a duration has a unit", try_=unit)])
    return value


def _positive(value: int) -> int:
    if value <= 0:
        refuse([problem_here("the duration is zero", why="it must be longer than nothing", try_=_UNITS_TRY)])
    return value


def _not_negative(value: int) -> int:
    if value < 0:
        refuse([problem_here(f"a duration of {value} microseconds", why="it must not be negative")])
    return value


def as_tuple(value: Any) -> Any:
    """Return a list as a tuple, so that definitions stay frozen; anything else unchanged, for pydantic to judge."""
    return tuple(value) if isinstance(value, list) else value


def _type(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return parse_type(value)
        except FeaturekitError as error:
            meant = did_you_mean(value, TYPE_NAMES)
            try_ = meant if meant and meant.startswith("did") else error.try_
            refuse([problem_here(error.what, why="types are Spark's", try_=try_)])
    return value


DURATION_SCHEMA: Final[dict[str, Any]] = {
    "type": "string",
    "pattern": "^([0-9]+(us|ms|s|m|h|d|w))+$",
    "examples": ["7d", "1h30m"],
}
_TYPE_PATTERN: Final = rf"^({'|'.join(TYPE_NAMES[:-1])}|decimal\([0-9]+ *(, *[0-9]+ *)?\))$"
_SHOWN_DURATION = PlainSerializer(format_duration, return_type=str)

Name = Annotated[
    str, BeforeValidator(_checked_name), WithJsonSchema({"type": "string", "pattern": f"^{NAME_PATTERN}$"})
]
Text = Annotated[str, StringConstraints(strip_whitespace=False, pattern=r"\S")]
"""Text with something in it: SQL, a path, a column's name."""
Micros = Annotated[
    int, BeforeValidator(_duration), AfterValidator(_not_negative), _SHOWN_DURATION, WithJsonSchema(DURATION_SCHEMA)
]
"""A duration in microseconds, written as text such as `7d` or `1h30m`."""
PositiveMicros = Annotated[Micros, AfterValidator(_positive)]
ColumnType = Annotated[
    DataType,
    BeforeValidator(_type),
    PlainSerializer(lambda kind: kind.name, return_type=str),
    WithJsonSchema({"type": "string", "pattern": _TYPE_PATTERN, "examples": ["string", "bigint", "decimal(10,2)"]}),
]


class Definition(BaseModel):
    """A frozen value that people write; unknown fields are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)

    def problems(self) -> Iterable[Problem]:
        """Return what is wrong between fields that are each right; paths are relative to this definition."""
        return ()

    @model_validator(mode="after")
    def _has_no_problems(self) -> Self:
        refuse(self.problems())
        return self


def is_key_type(kind: DataType) -> bool:
    """Return whether a join key may have this type: one whose values have one readable form."""
    return is_numeric(kind) or isinstance(kind, Boolean | String | Date | Timestamp)


def same_but_for_case(names: Iterable[str]) -> list[tuple[int, str]]:
    """Return the names that repeat an earlier one but for case, as (position, earlier name).

    >>> same_but_for_case(["a", "b", "A"])
    [(2, 'a')]
    """
    first: dict[str, str] = {}
    found = []
    for at, name in enumerate(names):
        if name.lower() in first:
            found.append((at, first[name.lower()]))
        first.setdefault(name.lower(), name)
    return found


def names_of_one_case(names: list[str], noun: str, path: Place) -> Iterator[Problem]:
    """Yield a problem for each name that differs from an earlier one in case only; each stands at (*path, name)."""
    for at, earlier in same_but_for_case(names):
        what = f"the {noun} {earlier} and {names[at]} differ in case only"
        yield problem_here(
            what, why=ONE_CASE, try_="another name for one of them", path=(*path, names[at]), at_name=True
        )

"""Expectations: what must hold for a feature's values before a refresh is published; and defaults, as written."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import BeforeValidator
from pydantic import Field as Attribute

from featurekit.definitions.base import Definition, as_tuple, problem_here
from featurekit.definitions.problem import Problem
from featurekit.types import (
    Boolean,
    DataType,
    Decimal,
    Float32,
    String,
    integer_range,
    is_float,
    is_integer,
    is_numeric,
)

Default = bool | int | float | str
"""A default as written; the compiler gives it the feature's type, exactly, or refuses it."""
Bound = int | float
_OF_VALUES: Final = frozenset({"between", "in_set", "matches", "length"})


class Expectation(Definition):
    """What must hold for a feature's values in a refresh before it is published.

    `mostly` is the share of the values that are there for which `between`, `in_set`, `matches` and `length` must hold.
    """

    between: Annotated[tuple[Bound, Bound] | None, BeforeValidator(as_tuple)] = None
    not_null: bool | None = None
    in_set: Annotated[tuple[Default, ...] | None, BeforeValidator(as_tuple)] = Attribute(default=None, min_length=1)
    max_null_share: Bound | None = None
    matches: str | None = None
    length: Annotated[tuple[int, int] | None, BeforeValidator(as_tuple)] = None
    mostly: Bound | None = None

    def problems(self) -> Iterator[Problem]:
        yield from _empty_promises(self)
        yield from _wrong_texts(self)


class RowExpectation(Definition):
    """What must hold for the rows of a view's refresh before it is published: without it a lost source looks empty."""

    min_rows: int = Attribute(gt=0)


def _empty_promises(expectation: Expectation) -> Iterator[Problem]:
    expected = expectation.model_dump(exclude_none=True)
    if not expected:
        why = "an expectation that expects nothing would look like a check and be none"
        try_ = "between, in_set, matches, length, not_null or max_null_share; or remove it"
        yield problem_here("it expects nothing", why=why, try_=try_)
    if expectation.mostly is not None:
        if not 0 < expectation.mostly <= 1:
            what, why = f"mostly is {expectation.mostly}", "it is the share that has to be right, above 0 and up to 1"
            yield problem_here(what, why=why, try_="0.99: one in a hundred may be wrong", path=("mostly",))
        if not expected.keys() & _OF_VALUES:
            why = "it says for how many values the others must hold, and there are none"
            yield problem_here("mostly expects nothing", why=why, try_="between, in_set, matches or length beside it")
    if expectation.not_null is False:
        why = "nulls are allowed unless something forbids them"
        yield problem_here("not_null: false expects nothing", why=why, try_="remove it", path=("not_null",))
    if expectation.between is not None:
        low, high = expectation.between
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            why = "the first bound is the lowest value allowed, the second the highest"
            what = f"no value is between {low} and {high}"
            yield problem_here(what, why=why, try_=f"between: [{high}, {low}]", path=("between",))
    if expectation.max_null_share is not None and not 0 <= expectation.max_null_share <= 1:
        what = f"max_null_share is {expectation.max_null_share}"
        why = "a share is between 0 and 1"
        yield problem_here(what, why=why, try_="0.05 for five in a hundred", path=("max_null_share",))
    if expectation.not_null and expectation.max_null_share is not None:
        why = "not_null forbids every null, max_null_share allows some"
        yield problem_here("not_null and max_null_share", why=why, try_="keep one of the two", path=("max_null_share",))


def whole(pattern: str) -> str:
    """Return the pattern for the whole of a text."""
    return rf"\A(?:{pattern})\Z"


def _wrong_texts(expectation: Expectation) -> Iterator[Problem]:
    if expectation.matches is not None:
        try:
            re.compile(expectation.matches)
            re.compile(whole(expectation.matches))  # where flags are not at the start of all
        except (re.error, RecursionError) as error:
            what = f"matches is no regular expression: {error}"
            why = "it is one of Python's, and has to match the whole text"
            yield problem_here(what, why=why, try_="matches: '[A-Z]{2}[0-9]+'", path=("matches",))
    if expectation.length is not None:
        low, high = expectation.length
        if not 0 <= low <= high:
            why = "the first is the smallest number of characters allowed, the second the largest"
            yield problem_here(
                f"no text has from {low} to {high} characters",
                why=why,
                try_=f"length: [{high}, {low}]",
                path=("length",),
            )


def check_expectation(expectation: Expectation, kind: DataType) -> str | None:
    """Return why the expectation can't be checked on values of this type, None where it can.

    >>> from featurekit.types import String
    >>> check_expectation(Expectation(between=(0, 1)), String())
    'between needs a number, and the feature is string'
    """
    if expectation.between is not None and not is_numeric(kind):
        return f"between needs a number, and the feature is {kind}"
    for name in ("matches", "length"):
        if getattr(expectation, name) is not None and not isinstance(kind, String):
            return f"{name} needs a text, and the feature is {kind}"
    for value in expectation.in_set or ():
        if not _is_of(value, kind):
            return f"in_set has {value!r}, which is not a {kind} value"
    return None


def _is_of(value: bool | int | float | str, kind: DataType) -> bool:
    """Return whether the value, as written, is one of the type's values exactly."""
    match value:
        case bool():
            return isinstance(kind, Boolean)
        case int() if is_integer(kind):
            low, high = integer_range(kind)
            return low <= value <= high
        case int() if isinstance(kind, Decimal):
            return bool(abs(value) < 10 ** (kind.precision - kind.scale))
        case int() | float():
            return _is_float(value, kind)
        case str():
            return isinstance(kind, String)


def _is_float(value: int | float, kind: DataType) -> bool:
    """Return whether the number is a float of the type: 0.1 is no float32, so no float feature ever equals it."""
    if not is_float(kind):
        return False
    try:
        held = float(value)
        return value == (struct.unpack("f", struct.pack("f", held))[0] if isinstance(kind, Float32) else held)
    except OverflowError:
        return False

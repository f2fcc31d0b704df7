"""Feature views: features of one entity from one source, refreshed on one grid."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, field_validator
from pydantic import Field as Attribute

from featurekit.clock import DAY, format_duration, zone
from featurekit.definitions.base import (
    ONE_CASE,
    Definition,
    Micros,
    Name,
    PositiveMicros,
    Text,
    as_tuple,
    problem_here,
    refuse,
    same_but_for_case,
)
from featurekit.definitions.expectation import Default, Expectation, RowExpectation
from featurekit.definitions.problem import Problem
from featurekit.definitions.thresholds import Thresholds
from featurekit.definitions.window import WrittenWindow
from featurekit.errors import FeaturekitError
from featurekit.grid import Grid

__all__ = ["Default", "Expectation", "Feature", "FeatureView", "Refresh"]


class Feature(Definition):
    """One feature: an aggregate over `window`, or the latest row's value (not older than `ttl`)."""

    name: Name
    sql: Text
    window: WrittenWindow | None = None
    ttl: PositiveMicros | None = None
    default: Default | None = None
    expect: Expectation | None = None
    owner: str | None = None
    description: str | None = None

    def problems(self) -> Iterator[Problem]:
        if self.window is not None and self.ttl is not None:
            what = "it has a window and a ttl"
            why = "a window belongs to an aggregate, a ttl to the latest row's value; a feature is one of the two"
            yield problem_here(what, why=why, try_="keep the one that is meant", path=("ttl",))


class Refresh(Definition):
    """How often a view is computed: every `every` from the epoch in UTC, or by whole local days of a zone."""

    every: PositiveMicros
    timezone: str | None = None
    anchor: Annotated[date | None, BeforeValidator(lambda value: _date(value))] = None

    def problems(self) -> Iterator[Problem]:
        return _grid_problems(self)


def _date(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            why = "a grid's anchor is a local date"
            refuse([problem_here(f"{value!r} is not a date", why=why, try_="year-month-day, such as 2013-11-04")])
    return value


def _grid_problems(refresh: Refresh) -> Iterator[Problem]:
    if refresh.timezone is None:
        if refresh.anchor is not None:
            why = "without a timezone the grid is anchored at 1970-01-01 UTC; an anchor names a local date"
            yield problem_here("an anchor without a timezone", why=why, try_="add a timezone", path=("anchor",))
        return
    try:
        zone(refresh.timezone)
    except FeaturekitError as error:
        yield problem_here(error.what, why=error.why, try_=error.try_, path=("timezone",))
    if refresh.every % DAY:
        yield problem_here(
            f"{format_duration(refresh.every)} is not whole days",
            why="in a declared zone a refresh is at the start of a local day, and local days are 23 to 25 hours long",
            try_="whole days such as 1d, or no timezone",
            path=("every",),
        )
    elif refresh.every > DAY and refresh.anchor is None:
        why = "a grid of several local days needs one date that is on it"
        try_ = "for example anchor: 2013-11-04, the Monday of weekly refreshes"
        yield problem_here(f"every {format_duration(refresh.every)} in a zone without an anchor", why=why, try_=try_)


class KeptHistory(Definition):
    """How long the rows of a view's refreshes are kept after their write, at least; `0s`: they are not.

    Without `keep` it is what the settings say. `history: false` is short for `0s`.
    """

    keep: Micros | None = None


def _history(value: Any) -> Any:
    if isinstance(value, bool):
        return {} if value else {"keep": "0s"}
    return value


class FeatureView(Definition):
    """Features of one entity from one source; `keys` maps join keys to source columns where the names differ.

    `write: in_place` is for a view too large to stand twice in the store: each refresh overwrites the one before.
    """

    name: Name
    entity: Text
    source: Text
    keys: dict[str, Text] = Attribute(default_factory=dict)
    where: Text | None = None
    refresh: Refresh
    availability_delay: Micros = 0
    allowed_lateness: Micros = 0
    history: Annotated[KeptHistory | None, BeforeValidator(_history)] = None
    write: Literal["in_place"] | None = None
    features: Annotated[tuple[Feature, ...], BeforeValidator(as_tuple)] = Attribute(min_length=1)
    thresholds: Thresholds | None = None
    expect: RowExpectation | None = None
    owner: str | None = None
    description: str | None = None

    @property
    def serves_at_once(self) -> bool:
        """Whether training takes a refresh's values from its grid instant on, when no run can have been done yet."""
        return self.availability_delay == 0

    @property
    def grid(self) -> Grid:
        return Grid(self.refresh.every, self.availability_delay, self.refresh.timezone, self.refresh.anchor)

    def history_keep(self, otherwise: int) -> int:
        """Return for how long the rows of refreshes are kept; 0: they are not. `otherwise` where the view is silent."""
        return otherwise if self.history is None or self.history.keep is None else self.history.keep

    def feature(self, name: str) -> Feature | None:
        return next((feature for feature in self.features if feature.name == name), None)

    @field_validator("refresh", mode="before")
    @classmethod
    def _short_refresh(cls, value: Any) -> Any:
        return value if isinstance(value, dict | Refresh) else {"every": value}

    def problems(self) -> Iterator[Problem]:
        yield from repeated_features([feature.name for feature in self.features])
        if self.allowed_lateness and self.allowed_lateness >= self.availability_delay:
            late, delay = format_duration(self.allowed_lateness), format_duration(self.availability_delay)
            how = "as long as" if late == delay else "longer than"
            what = f"allowed_lateness ({late}) is {how} availability_delay ({delay})"
            why = "a refresh waits for late rows, then runs, and must be done when serving sees it"
            try_ = f"availability_delay: {late} and the time a run takes"
            yield problem_here(what, why=why, try_=try_, path=("allowed_lateness",))


def repeated_features(names: list[str]) -> Iterator[Problem]:
    for at, earlier in same_but_for_case(names):
        what = f"{earlier} and {names[at]} differ in case only"
        why = ONE_CASE
        if earlier == names[at]:
            what, why = f"the feature {earlier} is there twice", "a name in a view is one feature"
        yield problem_here(what, why=why, try_="another name for one of them", path=("features", at))

"""Feature views: features of one entity from one source, refreshed on one grid."""

from __future__ import annotations

from datetime import date
from typing import Any

from pydantic import Field as Attribute

from featurekit.definitions.base import Definition, Micros, Name
from featurekit.grid import Grid

Default = bool | int | float | str
"""A default as written; the compiler gives it the feature's type, exactly, or refuses it."""


class Expectation(Definition):
    """What must hold for a feature's values in a refresh before it is published."""

    between: tuple[float | int, float | int] | None = Attribute(default=None, strict=False)
    not_null: bool | None = None
    in_set: tuple[Default, ...] | None = Attribute(default=None, strict=False)
    max_null_share: float | None = Attribute(default=None, ge=0, le=1, strict=False)


class Feature(Definition):
    """One feature: an aggregate over `window`, or the latest row's value (not older than `ttl`)."""

    name: Name
    sql: str
    window: Micros | None = None
    ttl: Micros | None = None
    default: Default | None = None
    expect: Expectation | None = None
    owner: str | None = None
    description: str | None = None


class Refresh(Definition):
    """How often a view is computed: every `every` from the epoch in UTC, or by whole local days of a zone."""

    every: Micros
    timezone: str | None = None
    anchor: date | None = None


class FeatureView(Definition):
    """Features of one entity from one source; `keys` maps join keys to source columns where the names differ."""

    name: Name
    entity: str
    source: str
    keys: dict[str, str] = {}
    where: str | None = None
    refresh: Refresh
    availability_delay: Micros = 0
    allowed_lateness: Micros = 0
    features: tuple[Feature, ...]
    owner: str | None = None
    description: str | None = None

    @property
    def grid(self) -> Grid:
        return Grid(self.refresh.every, self.availability_delay, self.refresh.timezone, self.refresh.anchor)

    def feature(self, name: str) -> Feature | None:
        return next((feature for feature in self.features if feature.name == name), None)


def refresh_of(value: Any) -> Any:
    """Return the mapping that a short `refresh: 1d` stands for; anything else unchanged."""
    return {"every": value} if isinstance(value, str) else value

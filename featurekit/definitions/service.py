"""Feature services: the features a model is trained on and served with, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ValidationInfo
from pydantic import Field as Attribute

from featurekit.definitions.base import (
    ONE_CASE,
    WRITTEN,
    Definition,
    Name,
    PositiveMicros,
    Text,
    as_tuple,
    problem_here,
    refuse,
)
from featurekit.definitions.problem import Problem
from featurekit.on_unavailable import Instead, OnUnavailable


class ServiceFeatures(Definition):
    """A whole view (`feature` None) or one feature of it; under `alias` and other request keys where given.

    `keys` maps the view's join keys to the names they have in the request: `{airport: dest}`.
    """

    view: Text
    feature: str | None = None
    alias: Name | None = None
    keys: dict[str, Name] = Attribute(default_factory=dict)

    @property
    def name(self) -> str:
        return self.alias or self.view


class LastKnown(Definition):
    """Answer with the rows that the client was last answered with, if the store confirmed them so long ago at most."""

    last_known: PositiveMicros


def _on_unavailable(value: Any, info: ValidationInfo) -> Any:
    if value is None and info.context == WRITTEN:
        # In a file a bare null is the choice of that name; who makes none leaves the field away.
        return Instead.NULL.value
    if value is None or isinstance(value, LastKnown) or value in _WITHOUT_AGE:
        return value
    if not isinstance(value, dict) or value.keys() != {"last_known"}:
        what = "last_known has no age limit" if value == Instead.LAST_KNOWN.value else f"{value!r} is no answer"
        try_ = f"{', '.join(_WITHOUT_AGE)} or {{last_known: 1h}}"
        refuse([problem_here(what, why="it says what lookups answer where the store can't", try_=try_)])
    return value


_WITHOUT_AGE: Final = (Instead.ERROR.value, Instead.NULL.value, Instead.DEFAULT.value)
WithoutAge = Literal["error", "null", "default"]


class FeatureService(Definition):
    """`on_unavailable` is what lookups answer where the store can't; it is no part of what the values mean."""

    name: Name
    features: Annotated[tuple[ServiceFeatures, ...], BeforeValidator(as_tuple)] = Attribute(min_length=1)
    on_unavailable: Annotated[WithoutAge | LastKnown | None, BeforeValidator(_on_unavailable)] = None
    owner: str | None = None
    description: str | None = None

    @property
    def unavailable(self) -> OnUnavailable | None:
        """What stands in for a view that is unavailable; None where nothing was declared."""
        match self.on_unavailable:
            case None:
                return None
            case LastKnown(last_known=max_age):
                return OnUnavailable(Instead.LAST_KNOWN, max_age)
            case chosen:
                return OnUnavailable(Instead(chosen))

    def problems(self) -> Iterator[Problem]:
        return _clashes(self.features)


def _clashes(entries: tuple[ServiceFeatures, ...]) -> Iterator[Problem]:
    for at, entry in enumerate(entries):
        for earlier in entries[:at]:
            if clash := _clash(entry, earlier):
                what, why, try_ = clash
                yield problem_here(what, why=why, try_=try_, path=("features", at))
                break


def _clash(entry: ServiceFeatures, earlier: ServiceFeatures) -> tuple[str, str | None, str] | None:
    if entry.name.lower() != earlier.name.lower():
        return None
    alias = f"an alias: {{view: {entry.view}, alias: …, keys: {{…}}}}"
    if entry.name != earlier.name:
        return (
            f"{earlier.name} and {entry.name} differ in case only",
            ONE_CASE,
            alias,
        )
    if entry.view != earlier.view:
        return (
            f"{entry.name} names both {earlier.view} and {entry.view}",
            "a name in a service is one view",
            "another alias",
        )
    if entry.keys != earlier.keys:
        return f"{entry.name} is there twice with different keys", "a name in a service is one lookup", alias
    if entry.feature is None or earlier.feature is None:
        return f"{entry.name} is there twice", "its features would be there twice", f"remove one, or give one {alias}"
    if entry.feature.lower() == earlier.feature.lower():
        return (
            f"{entry.name}.{entry.feature} is there twice",
            "its values would be there twice",
            f"remove one, or give one {alias}",
        )
    return None

"""What `benchmarks.bench_online` asks for, as featurekit's side and Feast's know it: by the standard library alone."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

ENTITIES: Final = 20_000
SEED: Final = 7
PROJECT: Final = "lab"
POOL: Final = 64  # requests that are drawn beforehand, and then asked in turn

# Of five features two are doubles, two whole numbers and one a text: what the scripts of peers/feast measure.
_MIXED: Final = ("double", "double", "bigint", "bigint", "string")
VIEWS: Final[Mapping[str, tuple[str, ...]]] = {
    "wide": tuple(_MIXED[i % 5] for i in range(50)),
    "narrow": tuple(_MIXED[i % 5] for i in range(10)),
    "numbers": ("double",) * 50,
}
# Services by name: the views whose features they give. `numbers` is what a model takes as it is.
SERVICES: Final[Mapping[str, tuple[str, ...]]] = {
    "wide": ("wide",),
    "narrow": ("narrow",),
    "numbers": ("numbers",),
    "three": ("wide", "narrow", "numbers"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """So many entities of a service in one request; `calls` in each turn, `feast_calls` of Feast's."""

    name: str
    service: str
    entities: int
    calls: int
    feast_calls: int

    @property
    def requests(self) -> list[list[int]]:
        """The requests, each a list of entities: the same ones in every process."""
        draw = random.Random(f"{SEED} {self.name}")
        return [[draw.randrange(ENTITIES) for _ in range(self.entities)] for _ in range(POOL)]


def _shape(name: str, service: str, entities: int, calls: int, feast_calls: int) -> Shape:
    return Shape(name=name, service=service, entities=entities, calls=calls, feast_calls=feast_calls)


SHAPES: Final[Sequence[Shape]] = (
    _shape("1x10", "narrow", 1, 400, 100),
    _shape("1x50", "wide", 1, 400, 60),
    _shape("1x50_numbers", "numbers", 1, 400, 60),
    _shape("100x50", "wide", 100, 120, 4),
    _shape("100x50_numbers", "numbers", 100, 120, 4),
    _shape("1000x10", "narrow", 1000, 40, 2),
    _shape("1000x50", "wide", 1000, 20, 1),
    _shape("three_100", "three", 100, 60, 2),
)


def feature_names(view: str) -> list[str]:
    """Return the names of a view's features, as w00 of `wide`."""
    return [f"{view[0]}{i:02}" if view != "numbers" else f"x{i:02}" for i in range(len(VIEWS[view]))]


def output_names(service: str) -> list[str]:
    """Return the service's outputs, in order, as `wide.w00`."""
    return [f"{view}.{name}" for view in SERVICES[service] for name in feature_names(view)]

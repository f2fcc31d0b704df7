"""Offline rows: the columns of what `materialize` makes, which is what the online writer encodes.

One row per entity: its join keys under their names, each feature under its name and before any default,
`__last_event` (timestamp, the newest visible event), and for each latest feature `__status_NAME` (tinyint: a stored
`Status`; NULL or PRESENT follow from the value where it is below MISSING).
"""

from __future__ import annotations

from typing import Final

from featurekit.compiled import CompiledView
from featurekit.errors import UnsupportedFunctionError
from featurekit.types import DataType, Field, Int8, Null, Schema, Timestamp, parts

LAST_EVENT: Final = "__last_event"
STATUS_PREFIX: Final = "__status_"


DEEPEST: Final = 8
"""How many arrays, maps and structs a feature's own type may have within each other."""


def depth(kind: DataType) -> int:
    """Return how deep a type is nested.

    >>> from featurekit.types import parse_type
    >>> depth(parse_type("int")), depth(parse_type("array<struct<a:int,b:map<string,int>>>"))
    (0, 3)
    """
    inner = parts(kind)
    return 1 + max(map(depth, inner)) if inner else 0


def check_storable(feature: str, kind: DataType) -> None:
    """Raise where a feature's type is nested deeper than a row holds, or is no type of its own."""
    if isinstance(kind, Null):
        raise UnsupportedFunctionError(
            f"feature {feature!r} is NULL and nothing else",
            why="NULL has no type of its own: neither a row nor a training set can hold a column of it",
            try_="say which type it has: CAST(NULL AS DOUBLE)",
        )
    if (found := depth(kind)) > DEEPEST:
        raise UnsupportedFunctionError(
            f"feature {feature!r} is nested {found} deep",
            why=f"it is a {kind}, and a row holds at most {DEEPEST} arrays, maps and structs within each other",
            try_="take a part of it, or flatten it",
        )


def key_fields(view: CompiledView) -> tuple[Field, ...]:
    """Return the columns that name a row's entity."""
    return tuple(Field(key.name, key.type, nullable=False) for key in view.keys)


def offline_schema(view: CompiledView) -> Schema:
    """Return the columns of a view's offline rows, in order."""
    return Schema(
        (
            *key_fields(view),
            Field(LAST_EVENT, Timestamp(), nullable=False),
            *(Field(feature.name, feature.type, feature.nullable or feature.is_latest) for feature in view.features),
            *(Field(STATUS_PREFIX + feature.name, Int8(), False) for feature in view.features if feature.is_latest),
        )
    )

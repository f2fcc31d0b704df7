"""Offline rows: the columns of what `materialize` makes, which is what the online writer encodes.

One row per entity: its join keys under their names, each feature under its name and before any default,
`__last_event` (timestamp, the newest visible event), and for each latest feature `__status_NAME` (tinyint: a stored
`Status`; NULL or PRESENT follow from the value where it is below MISSING).
"""

from __future__ import annotations

from typing import Final

from featurekit.compiled import CompiledView
from featurekit.types import Field, Int8, Schema, Timestamp

LAST_EVENT: Final = "__last_event"
STATUS_PREFIX: Final = "__status_"


def offline_schema(view: CompiledView) -> Schema:
    """Return the columns of a view's offline rows, in order."""
    return Schema(
        (
            *(Field(key.name, key.type, nullable=False) for key in view.keys),
            Field(LAST_EVENT, Timestamp(), nullable=False),
            *(Field(feature.name, feature.type, feature.nullable or feature.is_latest) for feature in view.features),
            *(Field(STATUS_PREFIX + feature.name, Int8(), False) for feature in view.features if feature.is_latest),
        )
    )

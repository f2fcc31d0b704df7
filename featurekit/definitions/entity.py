"""Entities: what features are about, and the keys that name one."""

from __future__ import annotations

from pydantic import Field as Attribute

from featurekit.definitions.base import ColumnType, Definition, Name
from featurekit.types import Field


class Entity(Definition):
    """An entity and its join keys, in order; an entity of several keys is one thing named by all of them."""

    name: Name
    join_keys: dict[Name, ColumnType] = Attribute(min_length=1)
    owner: str | None = None
    description: str | None = None

    @property
    def keys(self) -> tuple[Field, ...]:
        return tuple(Field(name, kind, nullable=False) for name, kind in self.join_keys.items())

"""Entities: what features are about, and the keys that name one."""

from __future__ import annotations

from typing import Self

from pydantic import Field as Attribute
from pydantic import model_validator

from featurekit.definitions.base import (
    ColumnType,
    Definition,
    Name,
    is_key_type,
    problem_here,
    refuse,
    same_but_for_case,
)
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

    @model_validator(mode="after")
    def _keys_can_name_one_thing(self) -> Self:
        why = "the values of a key type have one readable form"
        found = [
            problem_here(f"{kind} can't be the type of a join key", why=why, path=("join_keys", name))
            for name, kind in self.join_keys.items()
            if not is_key_type(kind)
        ]
        names = list(self.join_keys)
        found += [
            problem_here(
                f"the join keys {earlier} and {names[at]} differ in case only",
                why="Spark does not tell upper and lower case in column names apart",
                path=("join_keys", names[at]),
            )
            for at, earlier in same_but_for_case(names)
        ]
        refuse(found)
        return self

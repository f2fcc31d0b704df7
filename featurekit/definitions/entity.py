"""Entities: what features are about, and the keys that name one."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field as Attribute

from featurekit.definitions.base import ColumnType, Definition, Name, is_key_type, names_of_one_case, problem_here
from featurekit.definitions.problem import Problem
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

    def problems(self) -> Iterator[Problem]:
        for name, kind in self.join_keys.items():
            if not is_key_type(kind):
                what = f"{kind} can't be the type of a join key"
                why = "the values of a key's type have one readable form"
                yield problem_here(what, why=why, try_="a number, string, boolean or date", path=("join_keys", name))
        yield from names_of_one_case(list(self.join_keys), "join keys", ("join_keys",))

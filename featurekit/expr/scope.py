"""What names mean in an expression: the columns, features and request values it may read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from featurekit.expr.nodes import Column
from featurekit.types import Schema


class Scope(Protocol):
    """Resolves a written name to a typed column; names are case sensitive, as they are in Redis and in Parquet."""

    def resolve(self, qualifier: str | None, name: str) -> Column | None:
        """Return the column that `qualifier.name` (or a bare `name`) means, None where it means nothing."""

    def candidates(self) -> tuple[str, ...]:
        """Return every name that resolves, as it is written, for did-you-mean."""


@dataclass(frozen=True, slots=True)
class ColumnScope:
    """A scope over a fixed set of columns.

    >>> from featurekit.types import Float64
    >>> scope = ColumnScope.of([Column(name="delay", type=Float64(), nullable=True)])
    >>> scope.resolve(None, "delay").type.name
    'double'
    """

    columns: tuple[Column, ...]
    _by_path: dict[tuple[str | None, str], Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_path", {(column.qualifier, column.name): column for column in self.columns})

    @classmethod
    def of(cls, columns: Iterable[Column]) -> ColumnScope:
        return cls(tuple(columns))

    @classmethod
    def of_schema(cls, schema: Schema, qualifier: str | None = None) -> ColumnScope:
        return cls.of(
            Column(name=field.name, qualifier=qualifier, type=field.type, nullable=field.nullable)
            for field in schema.fields
        )

    def resolve(self, qualifier: str | None, name: str) -> Column | None:
        return self._by_path.get((qualifier, name))

    def candidates(self) -> tuple[str, ...]:
        return tuple(column.path for column in self.columns)

"""What names mean in an expression: the columns, features and request values it may read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from featurekit.expr.nodes import Column


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

    def resolve(self, qualifier: str | None, name: str) -> Column | None:
        return self._by_path.get((qualifier, name))

    def candidates(self) -> tuple[str, ...]:
        return tuple(column.path for column in self.columns)


def closest(name: str, known: Sequence[str]) -> str | None:
    """Return a hint at the known names that an unknown one may have been meant for; None where none is close."""
    by_case = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(name.lower(), by_case, n=3, cutoff=0.6)
    return "did you mean " + " or ".join(by_case[match] for match in found) + "?" if found else None


def some(known: Sequence[str]) -> str:
    """Return a hint at what could be written at all."""
    return f"one of {', '.join(known[:12])}{', …' if len(known) > 12 else ''}" if known else "no name can be used here"

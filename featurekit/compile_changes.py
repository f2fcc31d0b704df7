"""What makes a source of changes one: which columns name a thing, and when a row says that it is gone."""

from __future__ import annotations

from dataclasses import dataclass

from featurekit.compile_features import RowScope
from featurekit.compiled import KeyColumn
from featurekit.definitions.source import Source, SourceKind
from featurekit.errors import TypeMismatchError
from featurekit.expr.nodes import Column, Node
from featurekit.expr.parse import parse_expression
from featurekit.types import Boolean


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The parts of a compiled view that only changes have; of other sources all are empty."""

    row_key: tuple[Column, ...] = ()
    deleted: Node | None = None
    valid_to: Column | None = None


def compile_changes(source: Source, scope: RowScope, keys: tuple[KeyColumn, ...]) -> Changes:
    """Return what a view with these keys takes from a source whose columns are right; see `compile_deleted`."""
    if source.kind is not SourceKind.CHANGES:
        return Changes()
    names = source.row_key or tuple(dict.fromkeys(key.source_column for key in keys))
    return Changes(
        row_key=tuple(_column(scope, name) for name in names),
        deleted=compile_deleted(source, scope),
        valid_to=None if source.valid_to is None else _column(scope, source.valid_to),
    )


def compile_deleted(source: Source, scope: RowScope) -> Node | None:
    """Return the condition that a thing is gone, typed; FeaturekitError where it is none."""
    if source.deleted is None:
        return None
    node = parse_expression(source.deleted, scope, aggregates_allowed=False)
    if node.type != Boolean():
        raise TypeMismatchError(
            f"`deleted` is {node.type}, not boolean",
            why="it is true for a row that says that a thing is gone",
            try_="compare it with something, such as op = 'delete'",
        )
    return node


def _column(scope: RowScope, name: str) -> Column:
    column = scope.resolve(None, name)
    assert column is not None, f"check_source lets no unknown column through: {name}"
    return column

"""Queries as small trees, rendered as Spark SQL here and nowhere else.

An expression is finished SQL text (from `targets.spark.render` or from the functions below, which quote); a query is
steps of `Select`, each reading earlier ones, printed as one WITH.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from featurekit.clock import MILLISECOND, Instant, to_datetime
from featurekit.targets.spark import quote_identifier, render_string
from featurekit.types import Array, DataType, Float32, Float64, Map, Struct, holds

Sql = str
_LONG: Final = (-(1 << 63), (1 << 63) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """A LEFT JOIN: `source` under the name `alias`."""

    source: str
    alias: str
    on: tuple[Sql, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Select:
    """One step; `columns` are (name, expression), `source` a step or a view, `note` what a reader should know.

    A step with `union` reads both: its own rows, then those of the other step, by position.
    """

    columns: tuple[tuple[str, Sql], ...]
    source: str
    alias: str | None = None
    joins: tuple[Join, ...] = ()
    where: tuple[Sql, ...] = ()
    group_by: tuple[Sql, ...] = ()
    union: Select | None = None
    distribute_by: tuple[Sql, ...] = ()
    sort_by: tuple[Sql, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Named steps; the last one is the result."""

    steps: tuple[tuple[str, Select], ...]

    def then(self, name: str, step: Select) -> Query:
        return replace(self, steps=(*self.steps, (name, step)))

    @property
    def last(self) -> str:
        return self.steps[-1][0]


def render_query(query: Query) -> str:
    """Return a query as text for Spark and for people."""
    *earlier, (_, result) = query.steps
    named = [f"{quote_identifier(name)} AS (\n{_indent(_select(step))}\n)" for name, step in earlier]
    with_ = f"WITH {', '.join(named)}\n" if named else ""
    return with_ + _select(result)


def _select(step: Select) -> str:
    width = max(len(expression) for _, expression in step.columns) if len(step.columns) < 60 else 0
    width = min(width, 56)
    columns = ",\n".join(f"  {_column(label, expression, width)}" for label, expression in step.columns)
    lines = [f"-- {line}" for line in step.note.splitlines()]
    lines += ["SELECT", columns, f"FROM {quote_identifier(step.source)}{_alias(step)}"]
    for join in step.joins:
        on = " AND ".join(join.on)
        lines.append(f"LEFT JOIN {quote_identifier(join.source)} AS {quote_identifier(join.alias)} ON {on}")
    if step.where:
        lines.append("WHERE " + "\n  AND ".join(step.where))
    if step.group_by:
        lines.append("GROUP BY " + ", ".join(step.group_by))
    if step.union is not None:
        lines += ["UNION ALL", _select(step.union)]
    if step.distribute_by:
        lines.append("DISTRIBUTE BY " + ", ".join(step.distribute_by))
    if step.sort_by:
        lines.append("SORT BY " + ", ".join(step.sort_by))
    return "\n".join(lines)


def _column(label: str, expression: Sql, width: int) -> str:
    if expression in ("*", quote_identifier(label)):
        return expression
    return f"{expression:<{width}} AS {quote_identifier(label)}"


def _alias(step: Select) -> str:
    return f" AS {quote_identifier(step.alias)}" if step.alias else ""


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def name(*parts: str) -> Sql:
    """Return a quoted name, qualified by the parts before the last."""
    return ".".join(map(quote_identifier, parts))


def call(function: str, *args: Sql) -> Sql:
    return f"{function}({', '.join(args)})"


def long(value: int) -> Sql:
    return f"{value}L" if value >= 0 else f"({value}L)"


def double(value: float) -> Sql:
    return f"{value!r}D" if value >= 0 else f"({value!r}D)"


def instant(at: Instant) -> Sql:
    """Return an instant as a timestamp literal; beyond the years 1 to 9999 as microseconds, held to what Spark has.

    >>> instant(1_384_480_800_000_000)
    "TIMESTAMP '2013-11-15 02:00:00Z'"
    """
    try:
        return f"TIMESTAMP '{to_datetime(at).replace(tzinfo=None).isoformat(sep=' ')}Z'"
    except OverflowError:
        return f"timestamp_micros({long(min(max(at, _LONG[0] + 1), _LONG[1]))})"


def before(time: Sql, at: Instant) -> Sql:
    """Return the condition that a timestamp lies before an instant.

    Spark cuts the instant to milliseconds where it hands the condition down to a Parquet column of milliseconds; then
    the rows of that millisecond would be lost. Such a condition is therefore none that Spark hands down.

    >>> before("`at`", 1_384_480_800_000_000)
    "`at` < TIMESTAMP '2013-11-15 02:00:00Z'"
    """
    whole = at % MILLISECOND == 0
    return f"{time if whole else call('greatest', time, 'CAST(NULL AS TIMESTAMP)')} < {instant(at)}"


def case(*branches: tuple[Sql, Sql], otherwise: Sql = "NULL") -> Sql:
    return "CASE " + " ".join(f"WHEN {when} THEN {then}" for when, then in branches) + f" ELSE {otherwise} END"


def cast(value: Sql, kind: DataType) -> Sql:
    return f"CAST({value} AS {kind.sql})"


def try_cast(value: Sql, kind: DataType) -> Sql:
    return f"try_cast({value} AS {kind.sql})"


def filtered(aggregate: Sql, conditions: Iterable[Sql]) -> Sql:
    """Return an aggregate over the rows for which all conditions are true."""
    text = " AND ".join(conditions)
    return f"{aggregate} FILTER (WHERE {text})" if text else aggregate


def over(function: Sql, *, partition_by: Iterable[Sql], order_by: Iterable[Sql], rows: Sql = "") -> Sql:
    """Return a function of a row's neighbours; `rows` is a frame, such as `ROWS BETWEEN …`."""
    frame = f" {rows}" if rows else ""
    return f"{function} OVER (PARTITION BY {', '.join(partition_by)} ORDER BY {', '.join(order_by)}{frame})"


_PART: Final = "`$$part`"  # a lambda's variable; an inner one hides the outer, which is not meant there
_KEY: Final = "`$$key`"
Leaf = Callable[[Sql, DataType], Sql]
_FLOATS: Final = (Float32, Float64)


def canonical(value: Sql, kind: DataType) -> Sql:
    """Return the value with one NaN and without -0.0 where it is a float (DESIGN V3) or has some, else as it is."""

    def without_minus_zero(part: Sql, inner: DataType) -> Sql:
        # -0.0 + 0.0 is 0.0, and no other value changes.
        return one_nan(f"{part} + {'0.0D' if inner == Float64() else '0.0F'}", inner)

    return _rebuilt(value, kind, without_minus_zero, _FLOATS)


def one_nan(value: Sql, kind: DataType) -> Sql:
    """Return the value with one NaN where it is a float or has some: engines make NaNs of different bits."""
    return _rebuilt(value, kind, lambda part, inner: call("nanvl", part, cast("'NaN'", inner)), _FLOATS)


def entries(value: Sql, kind: DataType) -> Sql:
    """Return the value with the array of its entries in place of each map: Spark hashes no map."""

    def of_map(part: Sql, inner: DataType) -> Sql:
        assert isinstance(inner, Map)
        pairs = call("map_entries", part)
        if not holds(inner.value, Map):
            return pairs
        key, item = f"{_PART}.`key`", entries(f"{_PART}.`value`", inner.value)
        return call("transform", pairs, f"{_PART} -> {call('struct', key, item)}")

    return _rebuilt(value, kind, of_map, (Map,))


def _rebuilt(value: Sql, kind: DataType, leaf: Leaf, leaves: tuple[type[DataType], ...]) -> Sql:
    """Return the value with `leaf` of each part that is of one of the types, and all else as it is."""
    if isinstance(kind, leaves):
        return leaf(value, kind)
    match kind:
        case Array() if holds(kind.element, *leaves):
            return call("transform", value, f"{_PART} -> {_rebuilt(_PART, kind.element, leaf, leaves)}")
        case Map() if holds(kind.value, *leaves):
            # Not the keys: however a map is made, its keys have one form.
            return call("transform_values", value, f"({_KEY}, {_PART}) -> {_rebuilt(_PART, kind.value, leaf, leaves)}")
        case Struct() if holds(kind, *leaves):
            fields = [
                (render_string(field), _rebuilt(f"{_PART}.{name(field)}", inner, leaf, leaves))
                for field, inner in kind.fields
            ]
            made = call("named_struct", *(part for pair in fields for part in pair))
            whole = case((f"{_PART} IS NOT NULL", made))
            return call("get", call("transform", call("array", value), f"{_PART} -> {whole}"), "0")
        case _:
            return value


def subquery(query: Sql) -> Sql:
    """Return a query of someone else as one that reads it: in parentheses Spark takes a query and no command.

    On lines of its own, so that a comment at its end stays one; a semicolon at the very end is how many write a query.
    """
    text = query.rstrip("; \t\r\n")
    return f"SELECT * FROM (\n{text}\n)"

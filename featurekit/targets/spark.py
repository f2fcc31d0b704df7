"""IR to Spark SQL text: never raises, with ANSI on or off; the same bits under both; names and literals quoted here.

The session's zone has to be UTC (`offline.session` pins it): fields of a timestamp are those of the session's clock.
Literals don't depend on any setting: not on escaped string literals, variable substitution, or the timestamp type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal as PyDecimal
from typing import Any, Final

from featurekit.clock import to_date
from featurekit.expr.coerce import literal_decimal
from featurekit.expr.functions import FUNCTIONS
from featurekit.expr.nodes import Aggregate, Call, Case, Cast, Column, Lambda, Literal, Node, Variable
from featurekit.expr.spark_forms import kept, let
from featurekit.targets.spark_casts import cast_sql
from featurekit.types import (
    Array,
    Binary,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Map,
    Null,
    Struct,
    Timestamp,
    TimestampNtz,
)

# What a column is called in the query: one name, or the parts of a qualified one. The renderer quotes them.
Names = Callable[[Column], str | tuple[str, ...]]

_INTEGER_SUFFIX: Final[dict[DataType, str]] = {Int8(): "Y", Int16(): "S", Int32(): "", Int64(): "L"}
_SAFE_TEXT: Final = frozenset(map(chr, range(0x20, 0x7F))) - set("'\\${}")

# The length from which an argument is not written twice.
LONG: Final = 300


def render(node: Node, names: Names) -> str:
    """Return the Spark SQL of an expression; `names` says what its columns are called in the query around it."""
    match node:
        case Literal():
            return render_literal(node)
        case Column():
            name = names(node)
            return quote_identifier(name) if isinstance(name, str) else ".".join(map(quote_identifier, name))
        case Call():
            return _call(node, tuple(render(arg, names) for arg in node.args))
        case Cast():
            value = render(node.value, names)
            text = cast_sql(node.value.type, node.type, value)
            # Spark's optimizer takes int to float to double for int to double, which does not round to float32. It
            # also finds the two casts where a field, an element or a branch is between them.
            rounds = node.type == Float32() and node.value.type in (Int32(), Int64())
            return kept(node, text) if rounds else text
        case Variable():
            return _variable(node)
        case Lambda(variables=variables, body=body):
            listed = ", ".join(map(_variable, variables))
            # In parentheses Spark takes two variables or more.
            return f"{listed if len(variables) == 1 else f'({listed})'} -> {render(body, names)}"
        case Case():
            branches = " ".join(
                f"WHEN {render(when, names)} THEN {render(then, names)}" for when, then in node.branches
            )
            return f"(CASE {branches} ELSE {render(node.otherwise, names)} END)"
        case Aggregate():
            raise AssertionError("aggregates are lowered to columns before an expression is rendered")
        case _:
            raise AssertionError(f"{type(node).__name__} is not a node")


def _call(node: Call, args: tuple[str, ...]) -> str:
    """Return a function's SQL; a long argument that it names more than once is computed first, under a name.

    Guards name their arguments two to five times: without that, the text of 30 divisions in each other would not end.
    """
    form = FUNCTIONS[node.function].spark
    text = form.format(*args) if isinstance(form, str) else form(node, args)
    long = [
        place for place, (arg, sql) in enumerate(zip(node.args, args, strict=True))
        if len(sql) > LONG and not isinstance(arg, Literal | Lambda) and text.count(sql) > args.count(sql)
    ]  # fmt: skip
    if not long:
        return text
    named = tuple(f"`$$long{place}`" if place in long else sql for place, sql in enumerate(args))
    text = form.format(*named) if isinstance(form, str) else form(node, named)
    for place in long:
        text = let(named[place], args[place], text)
    return text


def _variable(node: Variable) -> str:
    # A lambda's variable hides a column of its name; no column of ours is called like this.
    return quote_identifier(f"$${node.level}")


def quote_identifier(name: str) -> str:
    """Return a name in backticks, as Spark reads any name.

    >>> quote_identifier("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def render_literal(node: Literal) -> str:
    """Return a constant as Spark SQL that reads back as the same bits and the same type."""
    value = node.value
    if value is None:
        return "NULL" if isinstance(node.type, Null) else f"CAST(NULL AS {node.type.sql})"
    match node.type:
        case Float64() | Float32():
            return _float(value, "D" if node.type == Float64() else "F", node.type.name.upper())
        case Decimal():
            return _decimal(value, node.type)
        case Date():
            return _date(value)
        case Timestamp():
            return f"timestamp_micros({value}L)"
        case TimestampNtz():
            return f"CAST(timestamp_micros({value}L) AS TIMESTAMP_NTZ)"
        case Binary():
            return f"X'{value.hex()}'"
        case Array() | Map() | Struct():
            return _nested(value, node.type)
        case kind if kind in _INTEGER_SUFFIX:
            return _signed(f"{value}{_INTEGER_SUFFIX[kind]}")
        case _:
            return str(value).upper() if isinstance(value, bool) else render_string(value)


def _nested(value: tuple[Any, ...], kind: Array | Map | Struct) -> str:
    """Return the call that makes an array, a map or a struct; empty ones need their type said."""
    match kind:
        case Array():
            text = f"array({', '.join(_part(part, kind.element) for part in value)})"
        case Map():
            pairs = (f"{_part(key, kind.key)}, {_part(part, kind.value)}" for key, part in value)
            text = f"map({', '.join(pairs)})"
        case Struct():
            fields = zip(kind.fields, value, strict=True)
            named = (f"{render_string(name)}, {_part(part, inner)}" for (name, inner), part in fields)
            return f"named_struct({', '.join(named)})"
    return text if value else f"CAST({text} AS {kind.sql})"


def _part(value: Any, kind: DataType) -> str:
    return render_literal(Literal(value=value, type=kind, nullable=value is None))


def render_string(text: str) -> str:
    """Return a string literal; one with quotes, escapes, `${` or non-ASCII letters as the bytes it is made of.

    >>> render_string("carrier"), render_string("it's")
    ("'carrier'", "CAST(X'69742773' AS STRING)")
    """
    # How a backslash or two quotes read depends on Spark settings; hex does not.
    if _SAFE_TEXT.issuperset(text):
        return f"'{text}'"
    return f"CAST(X'{text.encode().hex()}' AS STRING)"


def _signed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text  # so that `- -1` never becomes a comment


def _float(value: float, suffix: str, name: str) -> str:
    if math.isnan(value):
        return f"CAST('NaN' AS {name})"
    if math.isinf(value):
        return f"CAST('{'-' if value < 0 else ''}Infinity' AS {name})"
    # repr is the shortest text that reads back as the double; a float32 held in it reads back as itself, too.
    return _signed(f"{value!r}{suffix}")


def _decimal(value: PyDecimal, kind: Decimal) -> str:
    if literal_decimal(value) == kind:
        return _signed(f"{value:f}BD")
    return f"CAST({_signed(f'{value:f}BD')} AS {kind.name.upper()})"


def _date(days: int) -> str:
    try:
        return f"DATE '{to_date(days).isoformat()}'"
    except OverflowError:
        return f"date_from_unix_date({days})"

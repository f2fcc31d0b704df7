"""The Spark spellings that depend on types: guards for functions that have no try_ form.

Arguments arrive as SQL text that stands on its own (a name, a literal, a call, or something in parentheses).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from featurekit.clock import MILLISECOND
from featurekit.expr.nodes import Call, Cast, Column, Literal, Node, Variable
from featurekit.types import (
    DataType,
    Decimal,
    Float32,
    Float64,
    Int64,
    Timestamp,
    TimestampNtz,
    holds,
    is_float,
    is_integer,
)

# From a call and its arguments' SQL to the call's.
Form = Callable[[Call, tuple[str, ...]], str]


def listed(name: str) -> Form:
    """Return the form of a function that takes any number of arguments."""
    return lambda _, args: f"{name}({', '.join(args)})"


def commutative(name: str, function: str) -> Form:
    """try_add and try_multiply, so written that Spark keeps the grouping.

    Spark's optimizer takes (a + b) + c and a + (b + c) for one expression and computes only one of the two. Rounding
    and overflow differ between them. An operand that is itself a sum is therefore wrapped.
    """

    def form(call: Call, args: tuple[str, ...]) -> str:
        grouped = [
            kept(arg, text) if _is_call(arg, function) else text for arg, text in zip(call.args, args, strict=True)
        ]
        return f"{name}({', '.join(grouped)})"

    return form


def letter_case(name: str) -> Form:
    """lower and upper; Spark's optimizer takes lower(upper(x)) for lower(x), but upper('ß') is SS."""

    def form(call: Call, args: tuple[str, ...]) -> str:
        arg = call.args[0]
        return f"{name}({kept(arg, args[0]) if _is_call(arg, 'lower', 'upper') else args[0]})"

    return form


def kept(node: Node, text: str) -> str:
    """Return a form of `text` with its value and type that the optimizer's rewrites don't see through."""
    return f"greatest({text}, CAST(NULL AS {node.type.sql}))"


def let(name: str, value: str, body: str) -> str:
    """Return the SQL of `body`, in which `name` stands for a value that is computed once."""
    return f"get(transform(array({value}), {name} -> {body}), 0)"


def named(node: Node, text: str, name: str, body: Callable[[str], str]) -> str:
    """Return a body over an argument, which is bound to a name unless its text is one already."""
    return body(text) if isinstance(node, Column | Literal | Variable) else let(name, text, body(name))


def _is_call(node: Node, *functions: str) -> bool:
    return isinstance(node, Call) and node.function in functions


def extreme(name: str, of_array: str) -> Form:
    """greatest and least; of floats by an array, whose order counts.

    Of 0.0 and -0.0 the first stays; Spark's optimizer takes greatest(a, b) and greatest(b, a) for one expression.
    """

    def form(call: Call, args: tuple[str, ...]) -> str:
        joined = ", ".join(args)
        floats = holds(call.type, Float32, Float64)
        return f"{of_array}(array({joined}))" if floats else f"{name}({joined})"

    return form


def whole_division(call: Call, args: tuple[str, ...]) -> str:
    """Guard zero, and the one quotient that does not fit: -2^63 div -1."""
    left, right = args
    divisor = call.args[1]
    if isinstance(divisor, Literal) and divisor.value not in (None, 0, -1):
        return f"({left} div {right})"
    smallest = "(-9223372036854775808L)"
    return f"(CASE WHEN {right} = 0L OR ({right} = -1L AND {left} = {smallest}) THEN NULL ELSE {left} div {right} END)"


def negate(call: Call, args: tuple[str, ...]) -> str:
    if not is_integer(call.type):
        return f"(- {args[0]})"  # 0 - x would turn 0.0 into 0.0, not -0.0
    return f"try_subtract(CAST(0 AS {call.type.name.upper()}), {args[0]})"


def absolute(call: Call, args: tuple[str, ...]) -> str:
    """abs in a wider type, then narrowed: the argument is written once, so nesting does not blow the text up."""
    if not is_integer(call.type):
        return f"abs({args[0]})"
    wide = "DECIMAL(20,0)" if call.type == Int64() else "BIGINT"
    return f"try_cast(abs(CAST({args[0]} AS {wide})) AS {call.type.name.upper()})"


def rounded(name: str) -> Form:
    """round and bround; integers in a wider type, then narrowed."""

    def form(call: Call, args: tuple[str, ...]) -> str:
        value = args[0]
        digits = args[1] if len(args) == 2 else "0"
        if is_float(call.type) and len(call.args) == 2 and _is_negative(call.args[1]):
            return named(call.args[0], value, "`$$x`", lambda x: _rounded_to_tens(name, x, digits, call.type.sql))
        if not is_integer(call.type):
            return f"{name}({value}, {digits})"
        wide = "DECIMAL(20,0)" if call.type == Int64() else "BIGINT"
        return f"try_cast({name}(CAST({value} AS {wide}), {digits}) AS {call.type.name.upper()})"

    return form


def _is_negative(node: Node) -> bool:
    return isinstance(node, Literal) and node.value is not None and node.value < 0


def _rounded_to_tens(name: str, value: str, digits: str, kind: str) -> str:
    """Round a double's text while Java 17 and later ones print the same, beyond that its exact value as a bigint."""
    whole = f"CAST(CAST({name}(CAST(CAST({value} AS BIGINT) AS DECIMAL(20,0)), {digits}) AS DOUBLE) AS {kind})"
    is_plain = f"abs({value}) < {SAME_TEXT_BELOW!r}D OR isnan({value}) OR abs({value}) = CAST('Infinity' AS DOUBLE)"
    return (
        f"(CASE WHEN {is_plain} THEN {name}({value}, {digits}) WHEN {value} BETWEEN {_LONG_DOUBLES} THEN {whole} END)"
    )


SAME_TEXT_BELOW: Final = 1e15
"""Java 17 prints some larger doubles with a digit too many, and round works on the text."""

# The doubles whose floor and ceil are bigints: -2^63 to the largest one below 2^63.
_LONG_DOUBLES: Final = "-9223372036854775808D AND 9223372036854774784D"


def to_whole(name: str) -> Form:
    """floor and ceil: a double beyond bigint is NULL (Spark saturates or raises, depending on ANSI), NaN is 0."""

    def form(call: Call, args: tuple[str, ...]) -> str:
        value = args[0]
        kind = call.args[0].type
        if isinstance(kind, Float32 | Float64):
            return f"(CASE WHEN {value} BETWEEN {_LONG_DOUBLES} OR isnan({value}) THEN {name}({value}) END)"
        return f"{name}({value})" if isinstance(kind, Decimal) else value

    return form


def member(call: Call, args: tuple[str, ...]) -> str:
    """x IN (…). Adding zero turns -0.0 into 0.0: long lists become a hash set, which tells the two apart."""
    value, *others = args
    if is_float(call.args[0].type):
        value, *others = [_with_zero(arg, call.args[0].type) for arg in args]
    elif _is_hidden(call):
        value = kept(call.args[0], value)
    return f"({value} IN ({', '.join(others)}))"


def compared(symbol: str) -> Form:
    """Return the form of a comparison, so written that Spark hands none down to a Parquet file that would lose rows.

    A file's statistics pass over NaN, and its dictionaries tell -0.0 from 0.0; instants are cut to milliseconds where a
    file has those. And `x = 0.0 AND f(x)` would become f(0.0) where x is -0.0.
    """
    template = f"({{0}} {symbol} {{1}})"

    def form(call: Call, args: tuple[str, ...]) -> str:
        if _is_hidden(call):
            args = tuple(_hidden(arg, text) for arg, text in zip(call.args, args, strict=True))
        return template.format(*args)

    return form


def differ(call: Call, args: tuple[str, ...]) -> str:
    return f"(NOT {compared('=')(call, args)})"


def _is_hidden(call: Call) -> bool:
    kind = call.args[0].type
    if isinstance(kind, Timestamp | TimestampNtz):
        return any(isinstance(arg, Literal) and (arg.value or 0) % MILLISECOND for arg in call.args)
    return holds(kind, Float32, Float64)


def _hidden(node: Node, text: str) -> str:
    if isinstance(node, Literal) or (isinstance(node, Cast) and is_integer(node.value.type)):
        return text
    return _with_zero(text, node.type) if is_float(node.type) else kept(node, text)


def _with_zero(text: str, kind: DataType) -> str:
    return f"({text} + {'CAST(0 AS FLOAT)' if kind == Float32() else '0.0D'})"

"""Spark SQL of the mathematical functions that Spark itself does not compute alike on every JDK and machine.

They are written as arithmetic, operation for operation what `targets/kernels/redefined` does. An argument that is used
more than once is bound to a name first, so that nested calls don't blow the text up.
"""

from __future__ import annotations

from typing import Final

from featurekit.expr.coerce import wider_decimal
from featurekit.expr.nodes import Call
from featurekit.expr.spark_forms import Form, let, named
from featurekit.expr.trigonometry import (
    COS,
    CYCLE_LIMIT,
    INVERSE_HALF_PI,
    SIN,
    SIN_TINY,
    TURNS,
)
from featurekit.types import INTEGER_BITS, Decimal


def double(value: float) -> str:
    """Return a finite constant as SQL."""
    return f"({value!r}D)" if value < 0 else f"{value!r}D"


def pmod(call: Call, args: tuple[str, ...]) -> str:
    """Zero is guarded; decimals go through a type that holds every remainder, Spark's own type does not."""
    left, right = call.args[0].type, call.args[1].type
    if not isinstance(left, Decimal) or not isinstance(right, Decimal):
        return f"pmod({args[0]}, nullif({args[1]}, CAST(0 AS {right.name.upper()})))"
    wide = wider_decimal(left, right).name.upper()
    text = f"pmod(CAST({args[0]} AS {wide}), nullif(CAST({args[1]} AS {wide}), CAST(0 AS {wide})))"
    return f"try_cast({text} AS {call.type.name.upper()})"


def bit_get(call: Call, args: tuple[str, ...]) -> str:
    last = INTEGER_BITS[call.args[0].type] - 1

    def guarded(place: str) -> str:
        return f"(CASE WHEN {place} BETWEEN 0 AND {last} THEN bit_get({args[0]}, {place}) END)"

    return named(call.args[1], args[1], "`$$place`", guarded)


def _angle(body: str, *, odd: bool = False) -> Form:
    """Return the form of a function of an angle; `body` says what it is, of the names that are bound here.

    They are: q, the number of quarter turns; y and l, the rest in two doubles; z, the rest squared. An `odd` function
    is its own argument near zero; that of -0.0 is -0.0.
    """
    first, second, third, fourth = map(double, TURNS)

    def turned(v: str) -> str:
        rest = f"(({v} - `$$q` * {first}) - `$$q` * {second})"
        lost = f"((({rest} - `$$a`) - `$$q` * {third}) - `$$q` * {fourth})"
        text = let("`$$z`", "(`$$y` * `$$y`)", body)
        text = let("`$$l`", f"((`$$a` - `$$y`) + {lost})", text)
        text = let("`$$y`", f"(`$$a` + {lost})", text)
        text = let("`$$a`", f"({rest} - `$$q` * {third})", text)
        return let("`$$q`", f"CAST(floor({v} * {double(INVERSE_HALF_PI)} + 0.5D) AS DOUBLE)", text)

    def reduced(v: str) -> str:
        limit = double(CYCLE_LIMIT)
        near = f"WHEN abs({v}) < {double(SIN_TINY)} THEN {v} " if odd else ""
        return f"(CASE {near}WHEN {v} BETWEEN -{limit} AND {limit} THEN {turned(v)} WHEN isnan({v}) THEN {v} END)"

    return lambda call, args: named(call.args[0], args[0], "`$$v`", reduced)


def polynomial(variable: str, coefficients: tuple[float, ...]) -> str:
    """Return the SQL of a polynomial by Horner's scheme, the constant first."""
    *others, last = coefficients
    text = double(last)
    for coefficient in reversed(others):
        text = f"({double(coefficient)} + {variable} * {text})"
    return text


_S1, *_SIN_REST = SIN
_SINE: Final = (
    "(`$$y` - ((`$$z` * (0.5D * `$$l` - (`$$z` * `$$y`) * "
    f"{polynomial('`$$z`', tuple(_SIN_REST))}) - `$$l`) - (`$$z` * `$$y`) * {double(_S1)}))"
)
# 1 - z/2, what that lost, and the rest of the series.
_COSINE: Final = (
    "((1.0D - 0.5D * `$$z`) + (((1.0D - (1.0D - 0.5D * `$$z`)) - 0.5D * `$$z`) + "
    f"(`$$z` * (`$$z` * {polynomial('`$$z`', COS)}) - `$$y` * `$$l`)))"
)
_IS_ODD: Final = "pmod(`$$q`, 2.0D) = 1.0D"
_SIN_TEXT: Final = (
    f"((CASE WHEN {_IS_ODD} THEN {_COSINE} ELSE {_SINE} END) * "
    "(CASE WHEN pmod(`$$q`, 4.0D) < 2.0D THEN 1.0D ELSE (-1.0D) END))"
)
_COS_TEXT: Final = (
    f"((CASE WHEN {_IS_ODD} THEN {_SINE} ELSE {_COSINE} END) * "
    "(CASE WHEN pmod(`$$q` + 1.0D, 4.0D) < 2.0D THEN 1.0D ELSE (-1.0D) END))"
)
sin: Final = _angle(_SIN_TEXT, odd=True)
cos: Final = _angle(_COS_TEXT)
tan: Final = _angle(
    f"(CASE WHEN {_IS_ODD} THEN try_divide((- {_COSINE}), {_SINE}) ELSE try_divide({_SINE}, {_COSINE}) END)",
    odd=True,
)
cot: Final = _angle(
    f"(CASE WHEN {_IS_ODD} THEN try_divide((- {_SINE}), {_COSINE}) ELSE try_divide({_COSINE}, {_SINE}) END)"
)
sec: Final = _angle(f"try_divide(1.0D, {_COS_TEXT})")
csc: Final = _angle(f"try_divide(1.0D, {_SIN_TEXT})")


def tanh(_: Call, args: tuple[str, ...]) -> str:
    """fdlibm's hyperbolic tangent, by Spark's expm1."""
    small = "(CASE WHEN abs(`$$v`) < 2.7755575615628914E-17D THEN `$$v` * (1.0D + `$$v`) ELSE {0} END)"
    large = (
        "signum(`$$v`) * (CASE WHEN abs(`$$v`) >= 22.0D THEN 1.0D WHEN abs(`$$v`) >= 1.0D "
        "THEN 1.0D - 2.0D / (expm1(2.0D * abs(`$$v`)) + 2.0D) ELSE "
        + let("`$$t`", "expm1((-2.0D) * abs(`$$v`))", "(- `$$t`) / (`$$t` + 2.0D)")
        + " END)"
    )
    return let("`$$v`", args[0], f"(CASE WHEN isnan(`$$v`) THEN `$$v` ELSE {small.format(large)} END)")


def cbrt(_: Call, args: tuple[str, ...]) -> str:
    """A power, and one step of Newton's method."""
    root = let("`$$t`", f"pow(abs(`$$v`), {double(1 / 3)})", "(`$$t` - (`$$t` - abs(`$$v`) / (`$$t` * `$$t`)) / 3.0D)")
    infinite = "abs(`$$v`) = CAST('Infinity' AS DOUBLE)"
    unchanged = f"`$$v` = 0.0D OR isnan(`$$v`) OR {infinite}"
    case = f"(CASE WHEN {unchanged} THEN `$$v` ELSE signum(`$$v`) * {root} END)"
    return let("`$$v`", args[0], case)

"""Spark SQL of buckets, distances and similarity, operation for operation what `targets/kernels/buckets` does."""

from __future__ import annotations

from typing import Final

from featurekit.expr.maths_forms import double, polynomial
from featurekit.expr.nodes import Call, Column, Literal, Variable
from featurekit.expr.spark_forms import let, named
from featurekit.expr.sphere import ANGLE, DIAMETER, HALF_TURN, QUARTER_TURN, SINE
from featurekit.types import Array, Float32


def bucketize(call: Call, args: tuple[str, ...]) -> str:
    value, *bounds = args

    def cases(name: str) -> str:
        below = " ".join(f"WHEN {name} < {bound} THEN {place}" for place, bound in enumerate(bounds))
        return f"(CASE WHEN {name} IS NULL THEN CAST(NULL AS INT) {below} ELSE {len(bounds)} END)"

    return named(call.args[0], value, "`$$x`", cases)


def _sine(degrees: str) -> str:
    """Return the sine of degrees from 0 to 90."""
    body = f"(`$$s` + (`$$s` * `$$z`) * {polynomial('`$$z`', SINE)})"
    return let("`$$s`", f"({degrees} * {double(ANGLE)})", let("`$$z`", "(`$$s` * `$$s`)", body))


def _squared(text: str) -> str:
    return let("`$$t`", text, "(`$$t` * `$$t`)")


_PLACES: Final = ("`$$lat1`", "`$$lon1`", "`$$lat2`", "`$$lon2`")


def haversine(call: Call, args: tuple[str, ...]) -> str:
    names = [
        text if isinstance(arg, Column | Literal | Variable) else name
        for arg, text, name in zip(call.args, args, _PLACES, strict=True)
    ]
    lat1, lon1, lat2, lon2 = names
    quarter, half = double(QUARTER_TURN), double(HALF_TURN)
    across = f"(abs({lon1} - {lon2}) * 0.5D)"
    height = _squared(_sine(f"(abs({lat1} - {lat2}) * 0.5D)"))
    width = _squared(_sine(let("`$$d`", across, f"(CASE WHEN `$$d` > {quarter} THEN {half} - `$$d` ELSE `$$d` END)")))
    cosines = " * ".join(_sine(f"({quarter} - abs({lat}))") for lat in (lat1, lat2))
    distance = f"({double(DIAMETER)} * asin(sqrt(least(1.0D, {height} + ({cosines}) * {width}))))"
    inside = " AND ".join(
        f"abs({name}) <= {limit}" for name, limit in zip(names, (quarter, half, quarter, half), strict=True)
    )
    text = f"(CASE WHEN {inside} THEN {distance} END)"
    for name, arg, own in zip(names, args, _PLACES, strict=True):
        text = let(own, arg, text) if name == own else text
    return text


def _elements(call: Call, args: tuple[str, ...], body: str) -> str:
    """Return the array that `body` makes of the elements of one array, or of two as far as the longer one goes."""
    if len(args) == 1:
        return f"transform({args[0]}, `$$a` -> {body.format(_double(call, 0, '`$$a`'))})"
    pair = (_double(call, 0, "`$$a`"), _double(call, 1, "`$$b`"))
    return f"zip_with({args[0]}, {args[1]}, (`$$a`, `$$b`) -> {body.format(*pair)})"


def _double(call: Call, place: int, name: str) -> str:
    return f"CAST({name} AS DOUBLE)" if call.args[place].type == Array(Float32()) else name


def _sum(elements: str) -> str:
    # A missing element makes the product, and so the sum, NULL.
    return f"aggregate({elements}, 0.0D, (`$$sum`, `$$x`) -> `$$sum` + `$$x`)"


def dot_product(call: Call, args: tuple[str, ...]) -> str:
    return _sum(_elements(call, args, "{0} * {1}"))


def l2_norm(call: Call, args: tuple[str, ...]) -> str:
    return f"sqrt({_sum(_elements(call, args, '{0} * {0}'))})"


def l2_distance(call: Call, args: tuple[str, ...]) -> str:
    return f"sqrt({_sum(_elements(call, args, '({0} - {1}) * ({0} - {1})'))})"


def cosine_similarity(call: Call, args: tuple[str, ...]) -> str:
    """One pass over both arrays: the three sums are the fields of a struct."""
    pairs = _elements(call, args, "named_struct('a', {0}, 'b', {1})")
    zero = "named_struct('ab', 0.0D, 'aa', 0.0D, 'bb', 0.0D)"
    x, total = "`$$x`", "`$$sum`"
    sums = ", ".join(
        f"'{one}{other}', {total}.{one}{other} + {x}.{one} * {x}.{other}" for one, other in ("ab", "aa", "bb")
    )
    norms = f"sqrt({total}.aa) * sqrt({total}.bb)"
    return (
        f"aggregate({pairs}, {zero}, ({total}, {x}) -> named_struct({sums}), "
        f"{total} -> try_divide({total}.ab, {norms}))"
    )

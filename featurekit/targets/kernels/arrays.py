"""Arrays: tuples in, tuples out. What compares goes by `order`, so that NaN and -0.0 are found as Spark finds them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, Final

from featurekit.expr.nodes import Call
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always, literal_value
from featurekit.targets.kernels.order import equality_key, normal_form, order_key
from featurekit.types import Array, DataType, Map, is_float

Values = tuple[Any, ...]


def _element(call: Call) -> DataType:
    kind = call.args[0].type
    assert isinstance(kind, Array)
    return kind.element


def _array(call: Call) -> Kernel:
    return Inline(f"({''.join(f'{{{index}}}, ' for index in range(len(call.args)))})")


def _element_at(values: Values, index: int) -> Any:
    if index > 0:
        return values[index - 1] if index <= len(values) else None
    return values[index] if -len(values) <= index < 0 else None


def map_value(call: Call) -> Kernel:
    """Return the kernel of a map's value under a key: the first entry that has it."""
    kind = call.args[0].type
    assert isinstance(kind, Map)
    key_of = equality_key(kind.key)
    if key_of is None:
        return lambda entries, wanted: next((value for key, value in entries if key == wanted), None)

    def kernel(entries: tuple[tuple[Any, Any], ...], wanted: Any) -> Any:
        wanted = key_of(wanted)
        return next((value for key, value in entries if key_of(key) == wanted), None)

    return kernel


def _get_item(call: Call) -> Kernel:
    if isinstance(call.args[0].type, Map):
        return map_value(call)
    return Inline("({0}[{1}] if 0 <= {1} < len({0}) else None)")


def _at(call: Call) -> Kernel:
    return map_value(call) if isinstance(call.args[0].type, Map) else _element_at


def _contains(call: Call) -> Kernel:
    key = equality_key(_element(call))
    if key is None:
        return Inline("({1} in {0} or (None if None in {0} else False))")

    def kernel(values: Values, wanted: Any) -> bool | None:
        return key(wanted) in map(key, values) or (None if None in values else False)

    return kernel


def _position(call: Call) -> Kernel:
    key = equality_key(_element(call))
    if key is None:
        return Inline("({0}.index({1}) + 1 if {1} in {0} else 0)")

    def kernel(values: Values, wanted: Any) -> int:
        wanted = key(wanted)
        return next((place for place, value in enumerate(values, 1) if key(value) == wanted), 0)

    return kernel


def _extreme(call: Call) -> Kernel:
    choose = min if call.function == "array_min" else max  # both keep the first of equals
    kind = _element(call)
    if is_float(kind):
        return _smallest_float if choose is min else _largest_float
    key = order_key(kind)
    return lambda values: choose((value for value in values if value is not None), key=key, default=None)


def _smallest_float(values: Values) -> float | None:
    numbers = [value for value in values if value is not None]
    return min([value for value in numbers if value == value], default=math.nan) if numbers else None


def _largest_float(values: Values) -> float | None:
    numbers = [value for value in values if value is not None]
    return math.nan if any(map(operator.ne, numbers, numbers)) else max(numbers, default=None)


def _sorted_floats(values: list[float], *, ascending: bool) -> list[float]:
    """Return the floats in order, NaN as the largest; faster than by a key."""
    numbers = sorted([value for value in values if value == value], reverse=not ascending)
    nans = [math.nan] * (len(values) - len(numbers))
    return numbers + nans if ascending else nans + numbers


def _sorted(*, nulls_first: bool) -> Factory:
    def factory(call: Call) -> Kernel:
        kind = _element(call)
        key = order_key(kind)
        ascending = literal_value(call, 1) if len(call.args) == 2 else True
        if ascending is None:
            return lambda _: None

        def kernel(values: Values) -> Values:
            found = [value for value in values if value is not None]
            if is_float(kind):
                found = _sorted_floats(found, ascending=ascending)
            else:
                found.sort(key=key, reverse=not ascending)
            nulls = [None] * (len(values) - len(found))
            return (*nulls, *found) if nulls_first and ascending else (*found, *nulls)

        return kernel

    return factory


def _as_a_set(combine: Callable[..., Iterable[Any]]) -> Factory:
    """Return the factory of distinct, union, intersect and except: -0.0 becomes 0.0, of equals the first stays.

    `combine` takes each array's distinct elements, as the keys of a dict.
    """

    def factory(call: Call) -> Kernel:
        form = normal_form(_element(call))
        if form is None:
            return lambda *arrays: tuple(combine(*map(dict.fromkeys, arrays)))
        return lambda *arrays: tuple(combine(*[dict.fromkeys(map(form, values)) for values in arrays]))

    return factory


def _remove(call: Call) -> Kernel:
    key = equality_key(_element(call))
    if key is None:
        return lambda values, unwanted: tuple([value for value in values if value != unwanted])

    def kernel(values: Values, unwanted: Any) -> Values:
        unwanted = key(unwanted)
        return tuple([value for value in values if key(value) != unwanted])

    return kernel


def _insert(call: Call) -> Kernel:
    """Insert at a position, 1 the first, -1 after the last; NULL fills the gap to one outside."""
    position: int | None = literal_value(call, 1)

    def kernel(values: Values | None, new: Any) -> Values | None:
        if values is None or position is None:
            return None
        if position > 0:
            filled = values + (None,) * (position - 1 - len(values))
            return (*filled[: position - 1], new, *filled[position - 1 :])
        at = len(values) + position + 1
        return (*values[:at], new, *values[at:]) if at >= 0 else (new, *(None,) * -at, *values)

    return kernel


def _slice(values: Values, start: int, length: int) -> Values | None:
    if start == 0 or length < 0:
        return None
    first = start - 1 if start > 0 else len(values) + start
    return values[first : first + length] if first >= 0 else ()


def _join(call: Call) -> Kernel:
    if len(call.args) == 2:
        return Inline("{1}.join([{t} for {t} in {0} if {t} is not None])")
    return Inline("{1}.join([{2} if {t} is None else {t} for {t} in {0}])")


def _overlap(call: Call) -> Kernel:
    key = equality_key(_element(call))

    def kernel(left: Values, right: Values) -> bool | None:
        one, other = (set(left), set(right)) if key is None else (set(map(key, left)), set(map(key, right)))
        common = one & other
        if len(common) > (None in common):
            return True
        return None if left and right and (None in one or None in other) else False

    return kernel


def _flatten(values: tuple[Values | None, ...]) -> Values | None:
    return None if None in values else tuple([part for value in values if value is not None for part in value])


def _repeat(call: Call) -> Kernel:
    count: int | None = literal_value(call, 1)
    return Inline("None") if count is None else Inline("({0},) * {count}", {"count": count})


def _sequence(call: Call) -> Kernel:
    bounds = [literal_value(call, index) for index in range(len(call.args))]
    if None in bounds:
        return Inline("None")
    start, stop = bounds[:2]
    step = bounds[2] if len(bounds) == 3 else 1 if start <= stop else -1
    found = (start,) if start == stop else tuple(range(start, stop + (1 if step > 0 else -1), step))
    return Inline("{found}", {"found": found})


KERNELS: Final[dict[str, Factory]] = {
    "array": _array,
    "get_item": _get_item,
    "element_at": _at,
    "size": always(Inline("len({0})")),
    "array_contains": _contains,
    "array_position": _position,
    "array_min": _extreme,
    "array_max": _extreme,
    "sort_array": _sorted(nulls_first=True),
    "array_sort": _sorted(nulls_first=False),
    "array_distinct": _as_a_set(lambda one: one),
    "array_union": _as_a_set(lambda one, other: {**one, **other}),
    "array_intersect": _as_a_set(lambda one, other: [value for value in one if value in other]),
    "array_except": _as_a_set(lambda one, other: [value for value in one if value not in other]),
    "array_remove": _remove,
    "array_append": always(Inline("(None if {0} is None else (*{0}, {1}))")),
    "array_prepend": always(Inline("(None if {0} is None else ({1}, *{0}))")),
    "array_insert": _insert,
    "array_compact": always(Inline("(*[{t} for {t} in {0} if {t} is not None],)")),
    "array_repeat": _repeat,
    "array_join": _join,
    "arrays_overlap": _overlap,
    "flatten": always(_flatten),
    "slice": always(_slice),
    "sequence": _sequence,
}

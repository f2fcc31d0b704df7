"""Functions of functions: each calls the generated function of its lambda for the elements, NULL (None) among them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any, Final

from featurekit.expr.nodes import Call, Lambda
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always
from featurekit.targets.kernels.maps import with_keys

Values = tuple[Any, ...]
Entries = tuple[tuple[Any, Any], ...]


def _takes_index(call: Call) -> bool:
    function = call.args[1]
    assert isinstance(function, Lambda)
    return len(function.variables) == 2


def _transform(call: Call) -> Kernel:
    if _takes_index(call):
        return lambda values, function: tuple([function(value, index) for index, value in enumerate(values)])
    return Inline("(*[{1}({t}) for {t} in {0}],)")


def _filter(call: Call) -> Kernel:
    if _takes_index(call):
        return lambda values, keep: tuple([value for index, value in enumerate(values) if keep(value, index)])
    return Inline("(*[{t} for {t} in {0} if {1}({t})],)")


def _exists(values: Values, test: Callable[[Any], bool | None]) -> bool | None:
    answer: bool | None = False
    for value in values:
        found = test(value)
        if found:
            return True
        if found is None:
            answer = None
    return answer


def _for_all(values: Values, test: Callable[[Any], bool | None]) -> bool | None:
    answer: bool | None = True
    for value in values:
        found = test(value)
        if found is False:
            return False
        if found is None:
            answer = None
    return answer


def _aggregate(call: Call) -> Kernel:
    if len(call.args) == 3:
        return _fold

    def kernel(values: Values | None, start: Any, merge: Callable[..., Any], finish: Callable[[Any], Any]) -> Any:
        return None if values is None else finish(_fold(values, start, merge))

    return kernel


def _fold(values: Values | None, start: Any, merge: Callable[[Any, Any], Any]) -> Any:
    """Merge the elements into the start, from the first to the last: the order that Spark's sums have."""
    if values is None:
        return None
    for value in values:
        start = merge(start, value)
    return start


def _zip_with(left: Values, right: Values, function: Callable[[Any, Any], Any]) -> Values:
    if len(left) == len(right):
        return tuple(map(function, left, right))
    return tuple([function(one, other) for one, other in zip_longest(left, right)])


def _map_filter(entries: Entries, keep: Callable[[Any, Any], bool | None]) -> Entries:
    return tuple([entry for entry in entries if keep(*entry)])


def _transform_values(entries: Entries, function: Callable[[Any, Any], Any]) -> Entries:
    return tuple([(key, function(key, value)) for key, value in entries])


def _transform_keys(call: Call) -> Kernel:
    build = with_keys(call.type)

    def kernel(entries: Entries, function: Callable[[Any, Any], Any]) -> Entries | None:
        return build([(function(key, value), value) for key, value in entries])

    return kernel


KERNELS: Final[dict[str, Factory]] = {
    "transform": _transform,
    "filter": _filter,
    "exists": always(_exists),
    "forall": always(_for_all),
    "aggregate": _aggregate,
    "zip_with": always(_zip_with),
    "map_filter": always(_map_filter),
    "transform_keys": _transform_keys,
    "transform_values": always(_transform_values),
}

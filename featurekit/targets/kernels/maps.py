"""Maps: tuples of (key, value) pairs. A function that would make a NULL key, or one key twice, makes NULL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from featurekit.expr.nodes import Call
from featurekit.expr.regex_subset import plain_text
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always, literal_value
from featurekit.targets.kernels.order import equality_key, normal_form
from featurekit.types import DataType, Map

Entries = tuple[tuple[Any, Any], ...]


def with_keys(kind: DataType) -> Callable[[Sequence[tuple[Any, Any]]], Entries | None]:
    """Return the function that makes a map of this type from pairs; None where one has no key, or two have the same."""
    assert isinstance(kind, Map)
    form = normal_form(kind.key)

    def build(pairs: Sequence[tuple[Any, Any]]) -> Entries | None:
        if form is not None:
            pairs = [(form(key), value) for key, value in pairs]
        keys = {key for key, _ in pairs}
        return None if None in keys or len(keys) != len(pairs) else tuple(pairs)

    return build


def _map(call: Call) -> Kernel:
    build = with_keys(call.type)
    return lambda *parts: build(list(zip(parts[::2], parts[1::2], strict=True)))


def _from_arrays(call: Call) -> Kernel:
    build = with_keys(call.type)

    def kernel(keys: tuple[Any, ...], values: tuple[Any, ...]) -> Entries | None:
        return build(list(zip(keys, values, strict=True))) if len(keys) == len(values) else None

    return kernel


def _from_entries(call: Call) -> Kernel:
    build = with_keys(call.type)
    return lambda entries: None if None in entries else build(entries)


def _concat(call: Call) -> Kernel:
    build = with_keys(call.type)
    return lambda *maps: build([entry for entries in maps for entry in entries])


def _contains_key(call: Call) -> Kernel:
    kind = call.args[0].type
    assert isinstance(kind, Map)
    key_of = equality_key(kind.key)
    if key_of is None:
        return lambda entries, wanted: any(key == wanted for key, _ in entries)

    def kernel(entries: Entries, wanted: Any) -> bool:
        wanted = key_of(wanted)
        return any(key_of(key) == wanted for key, _ in entries)

    return kernel


def _from_text(call: Call) -> Kernel:
    build = with_keys(call.type)
    between, within = (
        plain_text(literal_value(call, index)) if len(call.args) > index else usual
        for index, usual in ((1, ","), (2, ":"))
    )
    assert between is not None
    assert within is not None

    def entry(text: str) -> tuple[str, str | None]:
        key, found, value = text.partition(within)
        return key, value if found else None

    return lambda text: build([entry(part) for part in text.split(between)])


KERNELS: Final[dict[str, Factory]] = {
    "map": _map,
    "map_keys": always(Inline("(*[{t}[0] for {t} in {0}],)")),
    "map_values": always(Inline("(*[{t}[1] for {t} in {0}],)")),
    "map_entries": always(Inline("{0}")),
    "map_from_arrays": _from_arrays,
    "map_from_entries": _from_entries,
    "map_concat": _concat,
    "map_contains_key": _contains_key,
    "str_to_map": _from_text,
}

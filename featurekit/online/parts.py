"""Request values that have parts: what callers pass for an array, a map or a struct, as `types` says it is held."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from featurekit.errors import KeyTypeError
from featurekit.types import Array, DataType, Map, Struct

Accept = Callable[[Sequence[Any]], list[Any]]
_TEXTS = str | bytes | bytearray | memoryview


def array_depth(kind: DataType) -> int:
    """Return how many arrays lie within each other around what a value is made of."""
    return 1 + array_depth(kind.element) if isinstance(kind, Array) else 0


def parts_acceptor(
    name: str, kind: Array | Map | Struct, acceptor: Callable[[str, DataType], Accept]
) -> Callable[[Any], Any]:
    """Return a function from a passed value to the held one; `acceptor` makes those for the parts.

    An array is a sequence, a map a mapping (or a sequence of pairs), a struct a mapping of all of its fields.
    """
    match kind:
        case Array():
            accept = acceptor(f"{name}[]", kind.element)
            return lambda value: tuple(accept(_sequence(name, kind, value)))
        case Map():
            return _map_acceptor(name, kind, acceptor)
        case Struct():
            accepts = [(field, acceptor(f"{name}.{field}", inner)) for field, inner in kind.fields]

            def accept_struct(value: Any) -> tuple[Any, ...]:
                if not isinstance(value, Mapping) or value.keys() != {field for field, _ in accepts}:
                    raise _refusal(name, kind, value, "pass a mapping with just these fields, None where one is NULL")
                return tuple([accept([value[field]])[0] for field, accept in accepts])

            return accept_struct


def _map_acceptor(name: str, kind: Map, acceptor: Callable[[str, DataType], Accept]) -> Callable[[Any], Any]:
    accept_keys, accept_values = acceptor(f"{name}'s keys", kind.key), acceptor(f"{name}'s values", kind.value)

    def accept_map(value: Any) -> tuple[tuple[Any, Any], ...]:
        pairs = list(value.items()) if isinstance(value, Mapping) else _sequence(name, kind, value)
        if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
            raise _refusal(name, kind, value, "pass a mapping")
        keys = accept_keys([key for key, _ in pairs])
        if None in keys or len(set(keys)) != len(keys):
            raise _refusal(name, kind, value, "give each key once, and none that is None")
        return tuple(zip(keys, accept_values([part for _, part in pairs]), strict=True))

    return accept_map


def _sequence(name: str, kind: DataType, value: Any) -> Sequence[Any]:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, Sequence) or isinstance(value, _TEXTS):
        raise _refusal(name, kind, value, "pass a list")
    return value


def _refusal(name: str, kind: DataType, value: Any, try_: str) -> KeyTypeError:
    shown = repr(value)
    article = "an" if isinstance(kind, Array) else "a"
    return KeyTypeError(
        f"{name} is {shown if len(shown) <= 60 else shown[:57] + '...'}; it must be {article} {kind}",
        where=name,
        try_=try_,
    )

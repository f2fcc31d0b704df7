"""The Spark SQL of arrays, maps and structs where a plain call would raise, or give bits that its plan decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from featurekit.expr.nodes import Call, Literal, Node
from featurekit.expr.spark_forms import kept, let
from featurekit.types import Array, DataType, Map, Struct, is_float

# No lambda's variable and no column is called like this; an inner one hides the outer, which is not meant there.
_BOUND: Final = "`$$bound`"


def bound(text: str, body: Callable[[str], str]) -> str:
    """Return SQL that computes `text` once, under the name that `body` is given."""
    return let(_BOUND, text, body(_BOUND))


def size(call: Call, args: tuple[str, ...]) -> str:
    """The size of NULL is NULL; plain size(NULL) is -1 with ANSI off."""
    return f"array_size(map_keys({args[0]}))" if isinstance(call.args[0].type, Map) else f"array_size({args[0]})"


def item(call: Call, args: tuple[str, ...]) -> str:
    return f"{'element_at' if isinstance(call.args[0].type, Map) else 'get'}({args[0]}, {args[1]})"


def element_at(call: Call, args: tuple[str, ...]) -> str:
    container, index = args
    if not isinstance(call.args[0].type, Map) and not _is_known(call.args[1], lambda value: value != 0):
        index = f"nullif({index}, 0)"  # 0 raises, ANSI or not
    return f"try_element_at({container}, {index})"


def _is_known(node: Node, test: Callable[[int], bool]) -> bool:
    return isinstance(node, Literal) and node.value is not None and test(node.value)


def sliced(call: Call, args: tuple[str, ...]) -> str:
    values, start, length = args
    if not _is_known(call.args[1], lambda value: value != 0):
        start = f"nullif({start}, 0)"
    if not _is_known(call.args[2], lambda value: value >= 0):
        length = f"nullif(greatest({length}, -1), -1)"
    return f"slice({values}, {start}, {length})"


def sorted_array(call: Call, args: tuple[str, ...]) -> str:
    """sort_array keeps 0.0 and -0.0 as they come, unless Spark knows that no float is NULL: then -0.0 goes first."""
    values, *rest = args
    kind = call.type
    if isinstance(kind, Array) and is_float(kind.element):
        values = kept(call.args[0], values)
    return f"sort_array({', '.join((values, *rest))})"


def field(call: Call, args: tuple[str, ...]) -> str:
    name = call.args[1]
    assert isinstance(name, Literal)
    return f"({args[0]}).`{name.value}`"  # in parentheses: never a column of a table that has the struct's name


# Maps: what would make a NULL key, or one key twice, is NULL


def map_of(call: Call, args: tuple[str, ...]) -> str:
    args = tuple(_one_zero(call.type, arg) if place % 2 == 0 else arg for place, arg in enumerate(args))
    plain = f"map({', '.join(args)})"
    keys = [key for key in call.args[::2] if isinstance(key, Literal) and key.value is not None]
    if len(call.args) <= 2 * len(keys) and len(dict.fromkeys(map(repr, keys))) == len(keys) and not _floats(call.type):
        return plain
    if len(args) == 2:
        return f"(CASE WHEN {args[0]} IS NOT NULL THEN {plain} END)"
    return _from_keys_and_values(f"array({', '.join(args[::2])})", f"array({', '.join(args[1::2])})")


def _floats(kind: DataType) -> bool:
    return isinstance(kind, Map) and is_float(kind.key)


def _one_zero(kind: DataType, key: str) -> str:
    """Return a float key with -0.0 as 0.0: some of Spark's functions keep its sign, some don't."""
    return f"({key} + CAST(0 AS {kind.key.sql}))" if isinstance(kind, Map) and is_float(kind.key) else key


def _with_one_zero(kind: DataType, keys: str) -> str:
    changed = _one_zero(kind, "`$$key`")
    return keys if changed == "`$$key`" else f"transform({keys}, `$$key` -> {changed})"


def from_arrays(call: Call, args: tuple[str, ...]) -> str:
    return _from_keys_and_values(_with_one_zero(call.type, args[0]), args[1])


def _from_keys_and_values(keys: str, values: str) -> str:
    def body(pair: str) -> str:
        made = f"map_from_arrays({pair}.k, {pair}.v)"
        sizes = f"array_size({pair}.k) = array_size({pair}.v)"
        return f"CASE WHEN {sizes} AND {_distinct(f'{pair}.k')} THEN {made} END"

    return bound(f"named_struct('k', {keys}, 'v', {values})", body)


def _distinct(keys: str) -> str:
    return f"array_size(array_distinct(array_compact({keys}))) = array_size({keys})"


def from_entries(call: Call, args: tuple[str, ...]) -> str:
    kind = call.args[0].type
    assert isinstance(kind, Array)
    assert isinstance(kind.element, Struct)
    key = kind.element.fields[0][0]
    return _checked_entries(args[0], f"`{key}`")


def _checked_entries(entries: str, key: str) -> str:
    return bound(entries, lambda name: f"CASE WHEN {_distinct(f'{name}.{key}')} THEN map_from_entries({name}) END")


def concatenated(_: Call, args: tuple[str, ...]) -> str:
    return _checked_entries(f"concat({', '.join(f'map_entries({arg})' for arg in args)})", "`key`")


def keys_transformed(call: Call, args: tuple[str, ...]) -> str:
    source, function = args
    return bound(
        source,
        lambda entries: _from_keys_and_values(
            _with_one_zero(call.type, f"zip_with(map_keys({entries}), map_values({entries}), {function})"),
            f"map_values({entries})",
        ),
    )


def contains_key(_: Call, args: tuple[str, ...]) -> str:
    return f"array_contains(map_keys({args[0]}), {args[1]})"


def split_into_map(_: Call, args: tuple[str, ...]) -> str:
    """str_to_map raises where a key comes twice."""
    between, within = (*args[1:], "','", "':'")[:2] if len(args) != 2 else (args[1], "':'")

    def body(text: str) -> str:
        keys = f"transform(split({text}, {between}, -1), `$$part` -> get(split(`$$part`, {within}, 2), 0))"
        distinct = f"array_size(array_distinct({keys})) = array_size(split({text}, {between}, -1))"
        return f"CASE WHEN {distinct} THEN str_to_map({text}, {between}, {within}) END"

    return bound(args[0], body)

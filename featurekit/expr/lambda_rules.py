"""Type rules of functions of arrays and maps that take a lambda, by Spark's; see `signatures`."""

from __future__ import annotations

from featurekit.expr.coerce import common_type
from featurekit.expr.nested_rules import array_at, map_at, map_type
from featurekit.expr.nodes import Lambda, Node
from featurekit.expr.signatures import Signature, mismatch
from featurekit.types import Array, Boolean, DataType, Int32, Int64, Map, Null

# What a lambda's variables are, by the arguments before it


def binds_element(before: tuple[Node, ...]) -> tuple[DataType, ...]:
    return (array_at(before).element,)


def binds_element_and_index(before: tuple[Node, ...]) -> tuple[DataType, ...]:
    return array_at(before).element, Int32()


def binds_state_and_element(before: tuple[Node, ...]) -> tuple[DataType, ...]:
    return before[1].type, array_at(before).element


def binds_state(before: tuple[Node, ...]) -> tuple[DataType, ...]:
    return (before[1].type,)


def binds_both_elements(before: tuple[Node, ...]) -> tuple[DataType, ...]:
    return array_at(before).element, array_at(before, 1).element


def binds_entry(before: tuple[Node, ...]) -> tuple[DataType, ...]:
    return map_at(before).key, map_at(before).value


# What the functions are


def _lambda(args: tuple[Node, ...], index: int, *counts: int) -> Lambda:
    function = args[index]
    if not isinstance(function, Lambda):
        raise mismatch(args, "it takes a lambda there", "x -> x + 1, or (x, y) -> x + y")
    if len(function.variables) not in counts:
        wanted = " or ".join(map(str, counts))
        raise mismatch(args, f"its lambda has {wanted} variable{'s' if wanted != '1' else ''}")
    return function


def _given(args: tuple[Node, ...], function: Lambda) -> DataType:
    if isinstance(function.type, Null):
        raise mismatch(args, "its lambda is always NULL, of no type", "CAST(NULL AS …) says which")
    return function.type


def _condition(args: tuple[Node, ...], function: Lambda) -> Boolean:
    if not isinstance(function.type, Boolean | Null):
        raise mismatch(args, "its lambda is a condition", "x -> x > 0")
    return Boolean()


def transformed(args: tuple[Node, ...]) -> Signature:
    kind = _given(args, _lambda(args, 1, 1, 2))
    return Signature((array_at(args), kind), Array(kind))


def filtered(args: tuple[Node, ...]) -> Signature:
    return Signature((array_at(args), _condition(args, _lambda(args, 1, 1, 2))), array_at(args))


def tested(args: tuple[Node, ...]) -> Signature:
    return Signature((array_at(args), _condition(args, _lambda(args, 1, 1))), Boolean())


def aggregated(args: tuple[Node, ...]) -> Signature:
    state = args[1].type
    merge = _lambda(args, 2, 2)
    if isinstance(state, Null) or common_type([state, merge.type]) != state:
        raise mismatch(
            args,
            f"the start is {state.name}, what the first lambda makes of it {merge.type.name}; they have to be one type",
            f"a start of that type, such as CAST(0 AS {_wider(state, merge.type).sql})",
        )
    if len(args) == 3:
        return Signature((array_at(args), state, state), state)
    result = _given(args, _lambda(args, 3, 1))
    return Signature((array_at(args), state, state, result), result)


def _wider(state: DataType, merged: DataType) -> DataType:
    return common_type([state, merged]) or Int64()


def zipped(args: tuple[Node, ...]) -> Signature:
    kind = _given(args, _lambda(args, 2, 2))
    return Signature((array_at(args), array_at(args, 1), kind), Array(kind))


def map_filtered(args: tuple[Node, ...]) -> Signature:
    return Signature((map_at(args), _condition(args, _lambda(args, 1, 2))), map_at(args))


def keys_transformed(args: tuple[Node, ...]) -> Signature:
    kind = _given(args, _lambda(args, 1, 2))
    return Signature((map_at(args), kind), map_type(args, kind, map_at(args).value))


def values_transformed(args: tuple[Node, ...]) -> Signature:
    kind = _given(args, _lambda(args, 1, 2))
    return Signature((map_at(args), kind), Map(map_at(args).key, kind))

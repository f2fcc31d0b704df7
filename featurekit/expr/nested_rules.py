"""Type rules of arrays, maps and structs, by Spark's; see `signatures`, and `lambda_rules` for those with a lambda.

An array's element and a value given beside it are widened to their common type, as are two arrays; a key is only ever
widened to the map's, never the map's keys to another type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from featurekit.expr.coerce import common_type, floats_meet_integers, tightest_type
from featurekit.expr.nodes import Column, Literal, Node, Variable
from featurekit.expr.regex_subset import plain_text
from featurekit.expr.scope import closest, some
from featurekit.expr.signatures import Rule, Signature, comparable, expect, literal_int, literal_text, mismatch
from featurekit.types import (
    Array,
    Boolean,
    DataType,
    Float32,
    Float64,
    Int32,
    Map,
    Null,
    String,
    Struct,
    holds,
    integer_range,
    is_float,
)

MAX_LENGTH: Final = 10_000
_NO_COMMON_TYPE: Final = "these types have no common type without guessing"


# What an argument is


def array_at(args: tuple[Node, ...], index: int = 0) -> Array:
    """Return the type of an argument that has to be an array."""
    kind = args[index].type
    if not isinstance(kind, Array):
        raise mismatch(args, "it takes an array there", "array(…) makes one, map_values(m) takes one from a map")
    return kind


def map_at(args: tuple[Node, ...], index: int = 0) -> Map:
    """Return the type of an argument that has to be a map."""
    kind = args[index].type
    if not isinstance(kind, Map):
        raise mismatch(args, "it takes a map there", "map('key', value, …) makes one")
    return kind


def _common(args: tuple[Node, ...], kinds: Sequence[DataType]) -> DataType:
    shared = common_type(kinds)
    if shared is None:
        raise mismatch(args, _NO_COMMON_TYPE, "cast them to one type")
    return shared


def _tight(args: tuple[Node, ...], left: DataType, right: DataType, *, decimals_grow: bool = False) -> DataType:
    """Return the common type where Spark finds the same one, without a decimal that grows or a float that narrows."""
    shared = _common(args, [left, right])
    if floats_meet_integers(left, right):
        raise mismatch(args, "Spark rounds the integer to a float here", "cast the float to double first")
    if not decimals_grow and tightest_type(left, right) is None:
        raise mismatch(args, "Spark looks for no common type of decimals here", "cast both to one type")
    return shared


# Arrays


def array_of(args: tuple[Node, ...]) -> Signature:
    shared = _common(args, [arg.type for arg in args])
    return Signature((shared,) * len(args), Array(shared))


def arrays(*, compared: bool = False, result: DataType | None = None) -> Rule:
    """Arrays of one common type."""

    def rule(args: tuple[Node, ...]) -> Signature:
        shared = _common(args, [array_at(args, index) for index in range(len(args))])
        if compared:
            comparable(args, _tight(args, args[0].type, args[-1].type))
        return Signature((shared,) * len(args), result or shared)

    return rule


def or_arrays(otherwise: Rule) -> Rule:
    """Arrays, or else what the rule is for."""
    of_arrays = arrays()

    def rule(args: tuple[Node, ...]) -> Signature:
        return (of_arrays if any(isinstance(arg.type, Array) for arg in args) else otherwise)(args)

    return rule


def extreme_of(args: tuple[Node, ...]) -> Signature:
    kind = array_at(args)
    comparable(args, kind)
    return Signature((kind,), kind.element)


def with_value(
    *, at: int = 1, compared: bool = False, decimals_grow: bool = False, result: DataType | None = None
) -> Rule:
    """An array and, at a position, a value that is like its elements; the rest are literals."""

    def rule(args: tuple[Node, ...]) -> Signature:
        shared = _tight(args, array_at(args).element, args[at].type, decimals_grow=decimals_grow)
        if compared:
            comparable(args, shared)
        kinds: list[DataType] = [arg.type for arg in args]
        kinds[0], kinds[at] = Array(shared), shared
        return Signature(tuple(kinds), result or Array(shared))

    return rule


_inserted: Final = with_value(at=2)


def inserted(args: tuple[Node, ...]) -> Signature:
    _literal_in(args, 1, "the position", -MAX_LENGTH, MAX_LENGTH)
    if literal_int(args, 1, "the position") == 0:
        raise mismatch(args, "positions begin at 1, or at -1 from the end", "array_prepend(a, x) puts it first")
    return _inserted(args)


def repeated(args: tuple[Node, ...]) -> Signature:
    _literal_in(args, 1, "the count", *integer_range(Int32()))
    if literal_int(args, 1, "the count") > MAX_LENGTH:
        raise mismatch(args, f"the count can be at most {MAX_LENGTH:,}")
    return Signature((args[0].type, Int32()), Array(args[0].type))


def _literal_in(args: tuple[Node, ...], index: int, what: str, low: int, high: int) -> None:
    value = literal_int(args, index, what)
    if not low <= value <= high:
        raise mismatch(args, f"{what} is {value}; it can be {low:,} to {high:,}")


def same_array(args: tuple[Node, ...]) -> Signature:
    return Signature((array_at(args),), array_at(args))


def ordered(args: tuple[Node, ...]) -> Signature:
    kind = array_at(args)
    comparable(args, kind)
    if len(args) == 1:
        return Signature((kind,), kind)
    direction = args[1]
    if not isinstance(direction, Literal) or not isinstance(direction.value, bool):
        raise mismatch(args, "the direction decides how the function is compiled", "true (ascending) or false")
    return Signature((kind, Boolean()), kind)


def flattened(args: tuple[Node, ...]) -> Signature:
    inner = array_at(args).element
    if not isinstance(inner, Array):
        raise mismatch(args, "it takes an array of arrays")
    return Signature((array_at(args),), inner)


def sliced(args: tuple[Node, ...]) -> Signature:
    for index in (1, 2):
        expect(args, index, Int32())
    return Signature((array_at(args), Int32(), Int32()), array_at(args))


def joined(args: tuple[Node, ...]) -> Signature:
    element = array_at(args).element
    if not isinstance(element, String | Null):
        raise mismatch(args, "it joins strings", "transform(a, x -> CAST(x AS STRING)) first")
    for index in range(1, len(args)):
        expect(args, index, String())
    return Signature((Array(String()), *(String() for _ in args[1:])), String())


def sequence(args: tuple[Node, ...]) -> Signature:
    names = ("the first number", "the last number", "the step")[: len(args)]
    start, stop, *steps = (literal_int(args, index, name) for index, name in enumerate(names))
    step = steps[0] if steps else 1 if start <= stop else -1
    if start != stop and (step == 0 or (stop - start) * step < 0):
        raise mismatch(args, f"steps of {step} don't lead from {start} to {stop}")
    if start != stop and abs(stop - start) // abs(step) >= MAX_LENGTH:
        raise mismatch(args, f"a sequence has at most {MAX_LENGTH:,} elements")
    shared = _common(args, [arg.type for arg in args])
    return Signature((shared,) * len(args), Array(shared))


# Size and access


def sized(args: tuple[Node, ...]) -> Signature:
    kind = args[0].type
    if not isinstance(kind, Array | Map):
        raise mismatch(args, "it takes an array or a map", "length(x) is for text")
    return Signature((kind,), Int32())


def item(*, widest_index: DataType) -> Rule:
    """An array and an index, or a map and a key."""

    def rule(args: tuple[Node, ...]) -> Signature:
        kind = args[0].type
        if isinstance(kind, Map):
            return Signature((kind, _key(args, kind)), kind.value)
        if isinstance(kind, Struct):
            raise mismatch(args, "a struct's fields have names", "s.field")
        expect(args, 1, widest_index)
        return Signature((array_at(args), Int32()), array_at(args).element)

    return rule


def _key(args: tuple[Node, ...], kind: Map) -> DataType:
    if common_type([kind.key, args[1].type]) != kind.key:
        raise mismatch(args, f"the map's keys are {kind.key.name}", f"CAST(… AS {kind.key.sql})")
    return kind.key


# Maps


def map_of(args: tuple[Node, ...]) -> Signature:
    if len(args) % 2:
        raise mismatch(args, "keys and values come in pairs", "map('a', 1, 'b', 2)")
    key = _common(args, [arg.type for arg in args[::2]])
    value = _common(args, [arg.type for arg in args[1::2]])
    return Signature((key, value) * (len(args) // 2), map_type(args, key, value))


def map_type(args: tuple[Node, ...], key: DataType, value: DataType) -> Map:
    """Return the type of a map; some types can't be a key's."""
    if holds(key, Map):
        raise mismatch(args, "a key can't be a map, or hold one")
    if not is_float(key) and holds(key, Float32, Float64):
        raise mismatch(args, "inside of a key, Spark keeps 0.0 and -0.0 apart at times", "a key without floats in it")
    return Map(key, value)


def map_part(part: Callable[[Map], DataType]) -> Rule:
    def rule(args: tuple[Node, ...]) -> Signature:
        return Signature((map_at(args),), part(map_at(args)))

    return rule


def entries_of(kind: Map) -> Array:
    return Array(Struct((("key", kind.key), ("value", kind.value))))


def from_arrays(args: tuple[Node, ...]) -> Signature:
    keys, values = array_at(args), array_at(args, 1)
    return Signature((keys, values), map_type(args, keys.element, values.element))


def from_entries(args: tuple[Node, ...]) -> Signature:
    kind = array_at(args)
    if not isinstance(kind.element, Struct) or len(kind.element.fields) != 2:
        raise mismatch(args, "it takes an array of structs of a key and a value", "map_entries(m) makes such an array")
    (_, key), (_, value) = kind.element.fields
    return Signature((kind,), map_type(args, key, value))


def maps(args: tuple[Node, ...]) -> Signature:
    shared = _common(args, [map_at(args, index) for index in range(len(args))])
    return Signature((shared,) * len(args), shared)


def has_key(args: tuple[Node, ...]) -> Signature:
    return Signature((map_at(args), _key(args, map_at(args))), Boolean())


def split_into_map(args: tuple[Node, ...]) -> Signature:
    expect(args, 0, String())
    for index, what in ((1, "the text between pairs"), (2, "the text between key and value")):
        if len(args) > index and not plain_text(literal_text(args, index, what)):
            raise mismatch(
                args, f"{what} is a pattern in Spark, and only one that is plain text is taken", "',', '[|]'"
            )
    return Signature((String(),) * len(args), Map(String(), String()))


# Structs


def named_struct(args: tuple[Node, ...]) -> Signature:
    if len(args) % 2:
        raise mismatch(args, "names and values come in pairs", "named_struct('a', 1, 'b', 2)")
    names = [literal_text(args, index, "a field's name") for index in range(0, len(args), 2)]
    kind = Struct(tuple(zip(names, (arg.type for arg in args[1::2]), strict=True)))
    return Signature(tuple(arg.type for arg in args), kind)


def field_of(args: tuple[Node, ...]) -> Signature:
    """A field of a struct, or of each struct of an array."""
    kind = args[0].type
    struct = kind.element if isinstance(kind, Array) else kind
    if not isinstance(struct, Struct):
        advice = "m['key'] is for maps, a[0] for arrays"
        if isinstance(kind, String):
            advice = "json_string(x, '$.name') where the text is JSON; view.feature names a feature"
        raise mismatch(args, "only a struct has fields", advice)
    name = literal_text(args, 1, "the field's name")
    found = struct.get(name)
    if found is None:
        fields = tuple(field for field, _ in struct.fields)
        raise mismatch(args, "its fields have other names", closest(name, fields) or some(fields))
    return Signature((kind, String()), Array(found) if isinstance(kind, Array) else found)


def field_name(node: Node, place: int) -> str:
    """Return what Spark's struct(…) calls a field: by its column, variable or field; else by its place."""
    match node:
        case Column(name=name) | Variable(name=name):
            return name
        case Node() if (args := getattr(node, "args", ())) and getattr(node, "function", "") == "get_field":
            name = args[1].value
            assert isinstance(name, str)
            return name
        case _:
            return f"col{place}"

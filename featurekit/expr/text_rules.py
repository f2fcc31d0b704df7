"""Type rules of functions that take text, or bytes in its place; the two are never turned into each other."""

from __future__ import annotations

from typing import Final

from featurekit.expr.nodes import Node
from featurekit.expr.signatures import Rule, Signature, expect, literal_text, mismatch
from featurekit.types import Array, Binary, DataType, Int64, Null, String, is_integer

# The charsets whose encoders have a form for every text, by Spark's names.
CHARSETS: Final = ("utf-8", "utf-16", "utf-16be", "utf-16le")
BINARY_FORMATS: Final = ("hex", "utf-8", "utf8", "base64")


def either(*wanted: DataType | None, result: DataType | None = None) -> Rule:
    """Text or bytes where `wanted` has None, all of them one or the other; that is also the result unless one is given.

    A last `wanted` takes all further arguments.
    """

    def rule(args: tuple[Node, ...]) -> Signature:
        places = [wanted[min(index, len(wanted) - 1)] for index in range(len(args))]
        free = {type(arg.type) for arg, place in zip(args, places, strict=True) if place is None}
        if Binary in free and free & {String, Null}:  # a bare NULL makes text of all, in Spark
            raise mismatch(args, "text and bytes don't mix", "encode(text, 'UTF-8'), decode(x, 'UTF-8'), a typed NULL")
        kind = Binary() if free == {Binary} else String()
        kinds = tuple(kind if place is None else place for place in places)
        for index, place in enumerate(kinds):
            expect(args, index, place)
        return Signature(kinds, kind if result is None else result)

    return rule


def text(*rest: DataType, result: DataType | None = None) -> Rule:
    """A string and then arguments of `rest` (those that are not given are left away); a string unless `result` says."""
    return either(String(), *rest, result=result)


def exactly(*wanted: DataType, result: DataType) -> Rule:
    """Arguments of just these types, an integer where a wider one is wanted."""
    return either(*wanted, result=result)


def hexadecimal(args: tuple[Node, ...]) -> Signature:
    kind = args[0].type
    if isinstance(kind, Binary):
        return Signature((kind,), String())
    return exactly(Int64() if is_integer(kind) else String(), result=String())(args)


def joined(args: tuple[Node, ...]) -> Signature:
    """concat_ws: a separator, then texts and arrays of texts."""
    kinds: list[DataType] = []
    for index, arg in enumerate(args):
        if index and arg.type == Array(String()):
            kinds.append(arg.type)
        else:
            expect(args, index, String())
            kinds.append(String())
    return Signature(tuple(kinds), String())


def coded(source: DataType, target: DataType, charsets: tuple[str, ...]) -> Rule:
    """encode, decode: a value and the name of a charset."""

    def rule(args: tuple[Node, ...]) -> Signature:
        _one_of(args, "the charset", charsets)
        return exactly(source, String(), result=target)(args)

    return rule


def to_binary(args: tuple[Node, ...]) -> Signature:
    if len(args) == 2:
        _one_of(args, "the format", BINARY_FORMATS)
    return exactly(String(), String(), result=Binary())(args)


def _one_of(args: tuple[Node, ...], what: str, known: tuple[str, ...]) -> None:
    name = literal_text(args, 1, what)
    if name.lower() not in known:
        raise mismatch(args, f"{what} {name!r} has no form here for every value", f"one of {', '.join(known)}")

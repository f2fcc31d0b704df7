"""The IR as versioned JSON: what a lookup plan holds and a fingerprint hashes. Exact for every literal.

A node is a dict of one to a few keys; keys are never renamed within a version:

    {"lit": value, "type": "int"}                        null, doubles and binary as hex text, decimals as
                                                         text, arrays, maps and structs as lists of these
    {"col": "name", "of": "qualifier", "type": …, "null": true}
    {"call": "add", "args": […], "type": …, "null": …}
    {"cast": node, "type": …, "null": …}
    {"case": [[when, then], …], "else": node, "type": …, "null": …}
    {"var": "x", "level": 0, "type": …, "null": …}
    {"lambda": [variable, …], "body": node, "type": …, "null": …}
    {"agg": "sum", "args": […], "where": node, "type": …, "null": …}
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal as PyDecimal
from typing import Any, Final, assert_never

from featurekit.errors import CodecError, InputError
from featurekit.expr.nodes import Aggregate, Call, Case, Cast, Column, Lambda, Literal, Node, Variable
from featurekit.types import Array, Binary, DataType, Decimal, Float32, Float64, Map, Null, Struct, parse_type

VERSION: Final = 1


def to_json(node: Node) -> dict[str, Any]:
    """Return the tree as JSON values, with the version of this format."""
    return {"version": VERSION, "node": _encode(node)}


def from_json(document: dict[str, Any]) -> Node:
    """Return the tree that `to_json` wrote; CodecError for another version or a node this version doesn't know."""
    version = document.get("version")
    if version != VERSION:
        raise CodecError(
            f"the expression has version {version!r}, this featurekit reads {VERSION}",
            why="it was written by another featurekit",
            try_="upgrade the reader before the writer",
        )
    try:
        return _decode(document["node"])
    except (KeyError, TypeError, ValueError, ArithmeticError, InputError) as error:
        raise CodecError(f"not an expression: {error}", why="the JSON is damaged or from elsewhere") from error


def value_to_json(value: Any, kind: DataType) -> dict[str, Any] | None:
    """Return a value as the JSON of a literal, the one exact form of int64, NaN and decimals; None for NULL."""
    return None if value is None else to_json(Literal(type=kind, nullable=False, value=value))


def _encode(node: Node) -> dict[str, Any]:
    typed = {"type": node.type.name, "null": node.nullable}
    match node:
        case Literal():
            return {"lit": _value(node.value), "type": node.type.name}
        case Column():
            return {"col": node.name, **({"of": node.qualifier} if node.qualifier is not None else {}), **typed}
        case Call():
            return {"call": node.function, "args": [_encode(arg) for arg in node.args], **typed}
        case Cast():
            return {"cast": _encode(node.value), **typed}
        case Case():
            branches = [[_encode(when), _encode(then)] for when, then in node.branches]
            return {"case": branches, "else": _encode(node.otherwise), **typed}
        case Variable():
            return {"var": node.name, "level": node.level, **typed}
        case Lambda():
            return {"lambda": [_encode(part) for part in node.variables], "body": _encode(node.body), **typed}
        case Aggregate():
            where = {} if node.filter is None else {"where": _encode(node.filter)}
            return {"agg": node.function, "args": [_encode(arg) for arg in node.args], **where, **typed}
        case _:
            assert_never(node)  # type: ignore[arg-type]


def _value(value: Any) -> Any:
    match value:
        case float():
            return "nan" if math.isnan(value) else value.hex()
        case PyDecimal():
            return f"{value:f}"
        case bytes():
            return value.hex()
        case tuple():
            return [_value(part) for part in value]
        case _:
            return value


def _decode(data: dict[str, Any]) -> Node:
    kind = _type(data["type"])
    if "lit" in data:
        value = None if data["lit"] is None else _reader(kind)(data["lit"])
        return Literal(value=value, type=kind, nullable=value is None)
    nullable: bool = data["null"]
    if "col" in data:
        return Column(name=data["col"], qualifier=data.get("of"), type=kind, nullable=nullable)
    if "call" in data:
        args = tuple(_decode(arg) for arg in data["args"])
        return Call(function=_known(data["call"], aggregate=False), args=args, type=kind, nullable=nullable)
    if "cast" in data:
        return Cast(value=_decode(data["cast"]), type=kind, nullable=nullable)
    if "case" in data:
        branches = tuple((_decode(when), _decode(then)) for when, then in data["case"])
        return Case(branches=branches, otherwise=_decode(data["else"]), type=kind, nullable=nullable)
    if "var" in data:
        return Variable(name=data["var"], level=data["level"], type=kind, nullable=nullable)
    if "lambda" in data:
        variables = tuple(_decode(part) for part in data["lambda"])
        assert all(isinstance(part, Variable) for part in variables)
        return Lambda(variables=variables, body=_decode(data["body"]), type=kind, nullable=nullable)  # type: ignore[arg-type]
    if "agg" in data:
        args = tuple(_decode(arg) for arg in data["args"])
        where = _decode(data["where"]) if "where" in data else None
        name = _known(data["agg"], aggregate=True)
        return Aggregate(function=name, args=args, filter=where, type=kind, nullable=nullable)
    raise ValueError(f"unknown node {sorted(data)}")


def _type(name: str) -> DataType:
    return Null() if name == Null().name else parse_type(name)


def _known(name: str, *, aggregate: bool) -> str:
    # Here: most plans call no function, and their readers need no catalogue.
    from featurekit.expr.catalogue.row import Kind
    from featurekit.expr.functions import FUNCTIONS

    row = FUNCTIONS.get(name)
    if row is None or row.kind is Kind.SYNTAX or (row.kind is Kind.AGGREGATE) is not aggregate:
        raise ValueError(f"unknown function {name!r}")
    return name


def _reader(kind: DataType) -> Callable[[Any], Any]:
    """Return how a literal of this type is read back."""
    match kind:
        case Array():
            part = _nullable(_reader(kind.element))
            return lambda values: tuple(part(value) for value in values)
        case Map():
            key, item = _reader(kind.key), _nullable(_reader(kind.value))
            return lambda pairs: tuple((key(name), item(value)) for name, value in pairs)
        case Struct():
            readers = [_nullable(_reader(inner)) for _, inner in kind.fields]
            return lambda values: tuple(read(value) for read, value in zip(readers, values, strict=True))
        case Float32() | Float64():
            return float.fromhex
        case Decimal():
            return PyDecimal
        case Binary():
            return bytes.fromhex
        case _:
            return lambda value: value


def _nullable(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)

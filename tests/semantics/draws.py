"""Typed expressions and rows of edges, drawn from the catalogue by a seed.

An expression is drawn from its result down: a function that can give the wanted type, then its arguments by what its
parameters take, their edges among them. Nothing here knows a function by name, so a new row is drawn from the day it
is there.
"""

from __future__ import annotations

import math
import struct
from collections import defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal as PyDecimal
from random import Random
from typing import Any, Final, TypeVar

from featurekit.clock import DAY
from featurekit.errors import FeaturekitError
from featurekit.expr import infer
from featurekit.expr.catalogue.row import LAMBDA, Function, Kind, Param
from featurekit.expr.coerce import castable
from featurekit.expr.functions import FUNCTIONS
from featurekit.expr.nodes import Column, Lambda, Node, Variable, walk
from featurekit.targets.kernels.numeric import WIDE
from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Map,
    Null,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
    integer_range,
    is_integer,
    parts,
)
from tests.semantics import edges

ROWS: Final = tuple(
    row for row in sorted(FUNCTIONS.values(), key=lambda row: row.name) if row.rule and row.kind is not Kind.AGGREGATE
)
TYPES: Final = tuple(sorted({*edges.TYPES.values()}, key=lambda kind: kind.name))
MAX_NODES: Final = 60
_TRIES: Final = 100
_SAMPLES: Final = 25
_MOST_VARIABLES: Final = 4

Kinds = tuple[type[DataType], ...]
Built = TypeVar("Built", bound=Node)


class Draws:
    """Draws expressions over the edge columns; the same seed draws the same ones."""

    def __init__(self, seed: int, rows: Sequence[Function] = ROWS) -> None:
        self._random = Random(seed)
        self._rows = rows
        self._variables: list[Variable] = []
        self._by_kind: dict[type[DataType], list[Column]] = defaultdict(list)
        for column in edges.COLUMNS:
            self._by_kind[type(column.type)].append(column)
        self._producers: dict[type[DataType], list[Function]] = defaultdict(list)
        for row in rows:
            for _ in range(_SAMPLES):
                node = self._call(row, 0)
                if node is not None and row not in self._producers[type(node.type)]:
                    self._producers[type(node.type)].append(row)

    def of(self, row: Function, depth: int) -> Node | None:
        """Return an expression whose root is that function; None where none was found in some tries."""
        for attempt in range(_TRIES):
            # Deep arguments of the one type that fits are rare: the later tries take columns.
            node = self._call(row, depth if attempt < _TRIES // 2 else 0)
            if node is not None and _is_sound(node):
                return node
        return None

    def any(self, depth: int) -> Node | None:
        """Return an expression of any type: a function, a cast, or a choice."""
        kinds = (type(self._random.choice(TYPES)),)
        node = self._node(kinds, depth, None)
        return node if node is not None and _is_sound(node) else None

    def _node(self, kinds: Kinds, depth: int, like: DataType | None) -> Node | None:
        chance = self._random.random()
        if depth <= 0 or chance < 0.25:
            return self._leaf(kinds, like)
        if chance < 0.37:
            return self._cast(kinds, depth) or self._leaf(kinds, like)
        if chance < 0.45:
            return self._case(kinds, depth, like) or self._leaf(kinds, like)
        rows = [row for kind in kinds for row in self._producers.get(kind, ())]
        for _ in range(4 if rows else 0):
            node = self._call(self._random.choice(rows), depth - 1)
            if node is not None and isinstance(node.type, kinds):
                return node
        return self._leaf(kinds, like)

    def _leaf(self, kinds: Kinds, like: DataType | None) -> Node | None:
        bound = [variable for variable in self._variables if isinstance(variable.type, kinds)]
        if bound and self._random.random() < 0.7:
            return self._random.choice(bound)
        columns = [column for kind in kinds for column in self._by_kind.get(kind, ())]
        alike = [column for column in columns if column.type == like]
        if alike and self._random.random() < 0.8:
            columns = alike
        if not columns:
            return None
        column = self._random.choice(columns)
        if self._random.random() < 0.2:
            return infer.literal(self._random.choice(edges.DATA[column.name]), column.type)
        return column

    def _cast(self, kinds: Kinds, depth: int) -> Node | None:
        target = self._random.choice([kind for kind in TYPES if isinstance(kind, kinds)] or [None])
        if target is None:
            return None
        sources = tuple({type(kind) for kind in TYPES if castable(kind, target)})
        value = self._node(sources, depth - 1, None) if sources else None
        if value is None or not castable(value.type, target):
            return None
        return _tried(lambda: infer.cast(value, target))

    def _case(self, kinds: Kinds, depth: int, like: DataType | None) -> Node | None:
        when = self._node((Boolean,), depth - 1, None)
        then = self._node(kinds, depth - 1, like)
        if when is None or then is None:
            return None
        otherwise = self._node(kinds, depth - 1, then.type) if self._random.random() < 0.8 else None
        return _tried(lambda: infer.case([(when, then)], otherwise))

    def _call(self, row: Function, depth: int) -> Node | None:
        args: list[Node] = []
        for param in self._params(row):
            arg = self._argument(param, tuple(args), depth)
            if arg is None:
                return None
            args.append(arg)
        return _tried(lambda: infer.call(row.name, *args))

    def _params(self, row: Function) -> list[Param]:
        params: list[Param] = []
        for param in row.params:
            if param.optional and self._random.random() < 0.4:
                break
            params += [param] * (self._random.randint(1, 3) if param.repeated else 1)
        return params

    def _argument(self, param: Param, before: tuple[Node, ...], depth: int) -> Node | None:
        if param.takes is LAMBDA:
            return self._lambda(param, before, depth)
        if param.literal or (param.edges and self._random.random() < 0.5):
            if not param.edges:
                return None
            value = self._random.choice(param.edges)
            return value if isinstance(value, Node) else _tried(lambda: infer.literal(value))
        return self._node(param.takes.kinds, depth, self._alike(before))

    def _alike(self, before: tuple[Node, ...]) -> DataType | None:
        """Return a type that often fits beside the arguments before: that of one of them, or of its parts."""
        if not before:
            return None
        kind = self._random.choice(before).type
        return self._random.choice((kind, kind, *parts(kind)))

    def _lambda(self, param: Param, before: tuple[Node, ...], depth: int) -> Lambda | None:
        assert param.binds is not None
        if len(self._variables) >= _MOST_VARIABLES:
            return None  # a lambda draws a body of its own depth, so that nothing else ends lambdas in lambdas
        try:
            kinds = param.binds(before)
        except FeaturekitError:
            return None
        level = len(self._variables)
        self._variables += [infer.variable("x", kind, level + place) for place, kind in enumerate(kinds)]
        variables = tuple(self._variables[level:])
        try:
            # Most lambdas are conditions, or keep the type of their first variable (`aggregate` has to).
            wanted: Kinds = (Boolean,) if self._random.random() < 0.4 else (type(kinds[0]),)
            body = self._node(wanted, max(depth, 1), kinds[0])
        finally:
            del self._variables[level:]
        return None if body is None else infer.lambda_(variables, body)


def _tried(build: Callable[[], Built]) -> Built | None:
    try:
        return build()
    except FeaturekitError:
        return None


def _is_sound(node: Node) -> bool:
    # Arrow has no column of a type with void in it, such as map<void,int>.
    return sum(1 for _ in walk(node)) <= MAX_NODES and Null().name not in node.type.name


def rows(seed: int, count: int) -> dict[str, list[Any]]:
    """Return `count` rows of the edge columns: about half of the values are edges, the others random; held values."""
    random = Random(seed)
    found = {}
    for name, kind in edges.TYPES.items():
        known = edges.DATA[name]
        found[name] = [random.choice(known) if random.random() < 0.5 else _value(random, kind) for _ in range(count)]
    return found


_LETTERS: Final = "aAbBzZ019 _-./,%\\'\"\t\n\x00éßİıΣσς\u0301\u00a0\u0085\u2028😀𐐀中"


def _value(random: Random, kind: DataType) -> Any:
    if is_integer(kind):
        low, high = integer_range(kind)
        value = random.getrandbits(random.randint(1, high.bit_length())) * random.choice((1, -1))
        return max(low, min(high, value))
    match kind:
        case Boolean():
            return random.random() < 0.5
        case Float64():
            return _double(random)
        case Float32():
            double = math.ldexp(random.uniform(-1, 1), random.randint(-140, 120))
            return struct.unpack("<f", struct.pack("<f", double))[0]
        case Decimal(precision=precision, scale=scale):
            digits = random.getrandbits(random.randint(1, 126)) % 10**precision
            return PyDecimal(digits * random.choice((1, -1)) if digits else 0).scaleb(-scale, WIDE)
        case String():
            return "".join(random.choice(_LETTERS) for _ in range(random.choice((0, 1, 2, 3, 5, 8, 20))))
        case Binary():
            return random.randbytes(random.choice((0, 1, 3, 4, 9)))
        case Date():
            return random.choice((random.randint(-40_000, 40_000), random.randint(-719_162, 2_932_896)))
        case Timestamp() | TimestampNtz():
            return random.randint(-60_000, 60_000) * DAY + random.choice((0, 1, 999_999, random.randrange(DAY)))
        case Array(element=element):
            return tuple(_part(random, element) for _ in range(random.choice((0, 1, 2, 3, 5))))
        case Map(key=key, value=value_kind):
            keys = {_value(random, key) for _ in range(random.choice((0, 1, 2, 4)))}
            # A map can't tell 0.0 from -0.0, and has one NaN.
            keys = {part for part in keys if part == part and part != 0}
            return tuple((part, _part(random, value_kind)) for part in sorted(keys, key=repr))
        case Struct(fields=fields):
            return tuple(_part(random, field) for _, field in fields)
        case _:
            raise AssertionError(f"{kind.name} is not drawn")


def _part(random: Random, kind: DataType) -> Any:
    return None if random.random() < 0.15 else _value(random, kind)


def _double(random: Random) -> float:
    match random.randrange(4):
        case 0:
            return float(random.randint(-1000, 1000)) / random.choice((1, 2, 4, 10, 100))
        case 1:
            return random.uniform(-1, 1)
        case 2:
            return math.ldexp(random.uniform(-1, 1), random.randint(-1070, 1023))
        case _:
            return random.gauss(0, 1) * 10.0 ** random.randint(-6, 12)

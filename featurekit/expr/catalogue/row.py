"""What a catalogue row says, and the words it is said with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from featurekit.expr.nodes import Node
from featurekit.expr.signatures import Rule
from featurekit.expr.spark_forms import Form
from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Map,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
)


class Kind(StrEnum):
    OPERATOR = "operator"
    SCALAR = "function"
    SYNTAX = "syntax"
    AGGREGATE = "aggregate"


class Nulls(StrEnum):
    PROPAGATE = "NULL when an argument is NULL"
    NEVER = "never NULL"
    ANY = "decided by the function; may be NULL when an argument is"
    ALL = "NULL only when all arguments are NULL"


class Exactness(StrEnum):
    EXACT = "Spark's own bits"
    REDEFINED = "defined by featurekit, the same arithmetic on both paths"


class Takes(NamedTuple):
    """A family of types, by the word people use for it."""

    name: str
    kinds: tuple[type[DataType], ...]


INTEGER: Final = Takes("integer", (Int8, Int16, Int32, Int64))
INT: Final = Takes("int", (Int8, Int16, Int32))
FLOATING: Final = Takes("float or double", (Float32, Float64))
NUMBER: Final = Takes("number", (*INTEGER.kinds, Decimal, *FLOATING.kinds))
BOOLEAN: Final = Takes("boolean", (Boolean,))
STRING: Final = Takes("string", (String,))
BINARY: Final = Takes("binary", (Binary,))
BYTES: Final = Takes("string or binary", (String, Binary))
DATE: Final = Takes("date", (Date,))
TIME: Final = Takes("date or timestamp", (Date, Timestamp, TimestampNtz))
ATOMIC: Final = Takes("any type without parts", (*NUMBER.kinds, Boolean, String, Binary, *TIME.kinds))
ORDERED: Final = Takes("any type with an order", (*NUMBER.kinds, Boolean, String, Binary, *TIME.kinds))
ARRAY: Final = Takes("array", (Array,))
MAP: Final = Takes("map", (Map,))
COMPARED: Final = Takes("any type but map", (*ATOMIC.kinds, Array, Struct))
ANY: Final = Takes("any type", (*ATOMIC.kinds, Array, Map, Struct))
LAMBDA: Final = Takes("lambda", ())


class Param(NamedTuple):
    """One parameter.

    A `literal` one has to be a constant: kernels are built with it and don't receive it. An `optional` one may be left
    away (with those after it); a `repeated` one, always the last, stands for one or more. `edges` are constants worth
    trying there: tests and fuzzing draw them, and the docs show the first. A lambda's `binds` says the types of its
    variables by the arguments before it. In a `pattern` a backslash means something: it is never dropped silently.
    """

    name: str
    takes: Takes
    literal: bool = False
    optional: bool = False
    repeated: bool = False
    edges: tuple[Any, ...] = ()
    binds: Callable[[tuple[Node, ...]], tuple[DataType, ...]] | None = None
    pattern: bool = False


Render = str | Form
Raises = bool | Callable[[tuple[DataType, ...]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One row.

    `spellings` are the names it is called by in SQL, `operator` its symbol, `params` what it takes. `rule` gives the
    types that arguments are widened to, and the result's. `spark` is its Spark SQL: a template over `{0}` …, or a
    function of the call and the arguments' SQL. `raises` tells, by argument types, whether Spark can raise where we
    yield NULL (or the function has no value for some argument).
    """

    name: str
    kind: Kind
    doc: str
    params: tuple[Param, ...] = ()
    rule: Rule | None = None
    spark: Render = ""
    spellings: tuple[str, ...] = ()
    operator: str | None = None
    nulls: Nulls = Nulls.PROPAGATE
    raises: Raises = False
    exactness: Exactness = Exactness.EXACT

    @property
    def arity(self) -> tuple[int, int | None]:
        """How many arguments it takes, from and to (None: any number)."""
        low = sum(not param.optional for param in self.params)
        return low, None if any(param.repeated for param in self.params) else len(self.params)

    @property
    def literals(self) -> tuple[int, ...]:
        """The positions that must be literals."""
        return tuple(index for index, param in enumerate(self.params) if param.literal)

    def param(self, index: int) -> Param:
        """Return the parameter that the argument at a position is for."""
        return self.params[min(index, len(self.params) - 1)]

    def called(self, spelling: str) -> str:
        """Return a call with its parameters' names, those that may be left away in brackets."""
        text = ""
        for place, param in enumerate(self.params):
            name = f"{', ' if place else ''}{param.name}{', …' if param.repeated else ''}"
            text += f"[{name}]" if param.optional else name
        return f"{spelling}({text})"

    def may_raise(self, kinds: tuple[DataType, ...]) -> bool:
        """Return whether arguments of these types, all not NULL, can make the function yield NULL."""
        return self.raises if isinstance(self.raises, bool) else self.raises(kinds)


def operator(
    name: str, symbol: str, params: tuple[Param, ...], rule: Rule, spark: Render, doc: str, **rest: Any
) -> Function:
    return Function(
        name=name, operator=symbol, params=params, kind=Kind.OPERATOR, rule=rule, spark=spark, doc=doc, **rest
    )


def scalar(name: str, params: tuple[Param, ...], rule: Rule, spark: Render, doc: str, **rest: Any) -> Function:
    """Return the row of a function that is called by its name, or by `spellings`."""
    rest = {"spellings": (name,), **rest}
    return Function(name=name, params=params, kind=Kind.SCALAR, rule=rule, spark=spark, doc=doc, **rest)


def aggregate(name: str, params: tuple[Param, ...], rule: Rule, doc: str, **rest: Any) -> Function:
    rest = {"spellings": (name,), "nulls": Nulls.ANY, **rest}
    return Function(name=name, params=params, kind=Kind.AGGREGATE, rule=rule, doc=doc, **rest)


def syntax(name: str, params: tuple[Param, ...], doc: str, *spellings: str) -> Function:
    """Return the row of what has a syntax of its own, or stands for other rows (`expr.sugar`)."""
    return Function(name=name, params=params, kind=Kind.SYNTAX, doc=doc, spellings=spellings, nulls=Nulls.ANY)

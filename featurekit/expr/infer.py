"""Builds IR nodes with the types and nullability Spark would give them.

Every implicit widening becomes a visible Cast (literals are widened in place), so targets never coerce anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context
from decimal import Decimal as PyDecimal
from typing import Any, Final

from featurekit.errors import ExpressionError, TypeMismatchError
from featurekit.expr.catalogue.row import Function, Kind, Nulls
from featurekit.expr.coerce import (
    FRACTION_DIGITS_OF_DOUBLE,
    WHOLE_DIGITS_OF_DOUBLE,
    castable,
    common_type,
    literal_decimal,
    widens,
)
from featurekit.expr.functions import FUNCTIONS
from featurekit.expr.nodes import Aggregate, Call, Case, Cast, Lambda, Literal, Node, Variable
from featurekit.expr.signatures import Signature
from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int32,
    Int64,
    Map,
    Null,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
    integer_range,
    is_integer,
    is_numeric,
)

MICROS_PER_DAY: Final = 86_400_000_000
_WIDE: Final = Context(prec=100)


def literal(value: Any, kind: DataType | None = None) -> Literal:
    """Return a constant; without `kind` its type is the one Spark gives the same literal in SQL text.

    >>> literal(1).type.name, literal(3_000_000_000).type.name, literal("x").type.name
    ('int', 'bigint', 'string')
    """
    kind = _natural_type(value) if kind is None else kind
    if isinstance(kind, Decimal) and value is not None:
        value = _WIDE.quantize(PyDecimal(value), PyDecimal((0, (1,), -kind.scale)))
    return Literal(value=value, type=kind, nullable=value is None)


def _natural_type(value: Any) -> DataType:
    match value:
        case None:
            return Null()
        case bool():
            return Boolean()
        case int():
            return next((kind for kind in (Int32(), Int64()) if _fits(value, kind)), None) or literal_decimal(value)
        case PyDecimal():
            return literal_decimal(value)
        case float():
            return Float64()
        case str():
            return String()
        case bytes():
            return Binary()
        case _:
            raise TypeMismatchError(f"{value!r} can't be a literal", why="it is not a SQL value")


def _fits(value: int, kind: DataType) -> bool:
    low, high = integer_range(kind)
    return low <= value <= high


def call(name: str, *args: Node) -> Call:
    """Return a function or operator on its arguments, widened as Spark would; TypeMismatchError where it can't be.

    >>> from featurekit.expr.show import show
    >>> show(call("add", literal(1), literal(PyDecimal("0.5"))))
    'add(1:decimal(1,0), 0.5:decimal(1,1)):decimal(3,1)?'
    """
    function = FUNCTIONS[name]
    signature = _apply(function, args)
    widened = tuple(coerce(arg, kind) for arg, kind in zip(args, signature.args, strict=True))
    nullable = signature.fails or _nullable(function, widened)
    return Call(function=name, args=widened, type=signature.result, nullable=nullable)


def check_arity(function: Function, count: int) -> None:
    low, high = function.arity
    if count < low or (high is not None and count > high):
        wanted = f"{low}" if low == high else f"{low} or more" if high is None else f"{low} to {high}"
        plural = "" if wanted == "1" else "s"
        name = function.spellings[0] if function.spellings else label(function)
        raise ExpressionError(
            f"{name} takes {wanted} argument{plural}, not {count}", try_=f"{function.called(name)}: {function.doc}"
        )


def label(function: Function) -> str:
    """Return how people call the function: its symbol, else its first spelling."""
    return function.operator.upper() if function.operator else (*function.spellings, function.name)[0]


def _apply(function: Function, args: tuple[Node, ...]) -> Signature:
    check_arity(function, len(args))
    if function.rule is None:
        raise AssertionError(f"{function.name} has a syntax of its own; expr.sugar expands it")
    try:
        return function.rule(args)
    except TypeMismatchError as error:
        raise TypeMismatchError(f"{label(function)} {error.what}", why=error.why, try_=error.try_) from None


def bound_kinds(
    function: Function, binds: Callable[[tuple[Node, ...]], tuple[DataType, ...]], before: tuple[Node, ...]
) -> tuple[DataType, ...]:
    """Return the types that a lambda of the function gives its variables, by the arguments before it."""
    try:
        return binds(before)
    except TypeMismatchError as error:
        raise TypeMismatchError(f"{label(function)} {error.what}", why=error.why, try_=error.try_) from None


def _nullable(function: Function, args: tuple[Node, ...]) -> bool:
    if function.nulls is Nulls.NEVER:
        return False
    if function.nulls is Nulls.ALL:
        return all(arg.nullable for arg in args)
    values = [arg for arg in args if not isinstance(arg, Lambda)]
    return any(arg.nullable for arg in values) or function.may_raise(tuple(arg.type for arg in args))


def coerce(node: Node, kind: DataType) -> Node:
    """Return `node` in a type Spark widens it to by itself; literals change in place, other nodes get a Cast."""
    if node.type == kind:
        return node
    if isinstance(node, Lambda):
        body = coerce(node.body, kind)
        return Lambda(variables=node.variables, body=body, type=kind, nullable=body.nullable)
    if isinstance(node, Literal) and (value := _widened(node, kind)) is not _UNKNOWN:
        return literal(value, kind)
    return Cast(value=node, type=kind, nullable=node.nullable or not widens(node.type, kind))


_UNKNOWN: Final = object()


def _widened(node: Literal, kind: DataType) -> Any:
    """Return a literal's value in a wider type, `_UNKNOWN` where only a cast may decide it."""
    match node.value, kind:
        case None, _:
            return None
        case int(), Int64() | Int32() if is_integer(node.type) and _fits(node.value, kind):
            return node.value
        case int() | PyDecimal(), Float64() if not isinstance(node.value, bool) and node.type != Date():
            return float(node.value)
        case int() | PyDecimal(), Decimal() if widens(node.type, kind) or _digits_fit(node, kind):
            return node.value
        case int(), Timestamp() | TimestampNtz() if node.type == Date() and _fits(node.value * MICROS_PER_DAY, Int64()):
            return node.value * MICROS_PER_DAY
        case int(), Timestamp() if node.type == TimestampNtz():
            return node.value  # the session's clock is UTC's
        case _:
            return _UNKNOWN


def _digits_fit(node: Literal, kind: Decimal) -> bool:
    exact = literal_decimal(node.value)
    return exact.scale <= kind.scale and exact.precision - exact.scale <= kind.precision - kind.scale


def cast(node: Node, kind: DataType) -> Node:
    """Return CAST(node AS kind); TypeMismatchError where the cast has no meaning that both paths share."""
    if not castable(node.type, kind):
        raise _cast_refusal(node.type, kind)
    if node.type == kind:
        return node
    if isinstance(node, Literal) and node.value is None:
        return literal(None, kind)
    return Cast(value=node, type=kind, nullable=node.nullable or not widens(node.type, kind))


def _cast_refusal(source: DataType, kind: DataType) -> TypeMismatchError:
    why, try_ = _refused_cast(source, kind)
    return TypeMismatchError(f"CAST from {source.name} to {kind.name} is not supported", why=why, try_=try_)


_EXACT_DECIMALS: Final = (
    f"at most {WHOLE_DIGITS_OF_DOUBLE} digits before the point "
    f"and {FRACTION_DIGITS_OF_DOUBLE} after, such as decimal(17,2)"
)


def _refused_cast(source: DataType, kind: DataType) -> tuple[str, str]:
    """Return why there is no such cast, and what to write instead."""
    match source, kind:
        case ((Float32() | Float64()), Decimal()):
            return (
                "the last digits of some doubles are printed differently by different Java versions",
                _EXACT_DECIMALS,
            )
        case ((Float32() | Float64()), String()):
            return (
                "different Java versions print different digits of the same double",
                "CAST(CAST(x AS DECIMAL(17,2)) AS STRING), with as many digits as are meant",
            )
        case Decimal(), Timestamp():
            return (
                "Spark rounds so many digits before it cuts them to microseconds, or not",
                "a decimal such as (38,18)",
            )
        case ((Date() | TimestampNtz()), _) if is_numeric(kind):
            return "a date is no number", "datediff(x, DATE '1970-01-01'), or CAST(x AS TIMESTAMP) first for seconds"
        case ((Timestamp() | Date() | TimestampNtz()), Boolean()):
            return "a time is no truth value", "compare it, such as x > TIMESTAMP '2013-11-15T00:00:00Z'"
        case Boolean(), (Date() | Timestamp() | TimestampNtz()):
            return "a truth value is no time", "CASE WHEN x THEN … END"
        case _, (Date() | TimestampNtz()) if is_numeric(source):
            return (
                "which day a number means is not said",
                "CAST(CAST(x AS TIMESTAMP) AS …): x is then seconds since 1970",
            )
        case _, Binary():
            return (
                "the bytes of a number depend on who writes them",
                "CAST(x AS STRING) first, for the bytes of its text",
            )
        case Binary(), _:
            return "bytes are not text, unless they are said to be", "CAST(CAST(x AS STRING) AS …)"
        case Map(), Map():
            return "two keys could become one, or none", "cast the values only, or build the map anew"
        case ((Array() | Map() | Struct()), String()):
            return (
                "a part of it has no text that is the same everywhere",
                "transform the parts first, such as to decimals",
            )
        case _:
            return (
                "only casts that have the same bits in Spark and online are accepted",
                "convert the column in the source, or declare it with the type it has",
            )


def variable(name: str, kind: DataType, level: int) -> Variable:
    """Return a lambda's variable; elements of arrays and values of maps can always be NULL."""
    return Variable(name=name, level=level, type=kind, nullable=True)


def lambda_(variables: tuple[Variable, ...], body: Node) -> Lambda:
    return Lambda(variables=variables, body=body, type=body.type, nullable=body.nullable)


def case(branches: Sequence[tuple[Node, Node]], otherwise: Node | None = None) -> Case:
    """Return CASE WHEN … THEN … ELSE … END; without `otherwise` it is NULL where no condition is true."""
    last = literal(None) if otherwise is None else otherwise
    results = [*(then for _, then in branches), last]
    shared = common_type(result.type for result in results)
    if shared is None:
        kinds = (result.type.name for result in results if not isinstance(result.type, Null))
        raise TypeMismatchError(
            f"CASE has branches of types {', '.join(kinds)}",
            why="a column has one type, and these have none in common",
            try_="cast the branches to one type",
        )
    widened = tuple((_condition(when), coerce(then, shared)) for when, then in branches)
    default = coerce(last, shared)
    nullable = default.nullable or any(then.nullable for _, then in widened)
    return Case(branches=widened, otherwise=default, type=shared, nullable=nullable)


def _condition(node: Node) -> Node:
    if not isinstance(node.type, Boolean):
        raise TypeMismatchError(
            f"WHEN takes a condition, not {node.type.name}", why="it decides", try_="compare it, such as x <> 0"
        )
    return coerce(node, Boolean())


def aggregate(name: str, *args: Node, where: Node | None = None) -> Aggregate:
    """Return an aggregate of its arguments over the rows where `where` is true; count without arguments is count(*)."""
    function = FUNCTIONS[name]
    if function.kind is not Kind.AGGREGATE:
        raise AssertionError(f"{name} is not an aggregate")
    signature = _apply(function, args)
    widened = tuple(coerce(arg, kind) for arg, kind in zip(args, signature.args, strict=True))
    kept = None if where is None else _condition(where)
    nullable = function.nulls is not Nulls.NEVER
    return Aggregate(function=name, args=widened, filter=kept, type=signature.result, nullable=nullable)

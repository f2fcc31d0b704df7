"""The catalogue: one row per function, operator and aggregate. What a row does not say, no other module decides.

A row and its kernel (`targets/kernels`) are the whole meaning of a function. The parser accepts what has a row, `infer`
applies the row's type and null rules, `targets.spark` renders its template, tests and docs walk the rows. Rows of kind
SYNTAX have a syntax of their own (CAST, CASE) or stand for other rows (`nullif`); `expr.sugar` expands them.

The Spark templates never raise, with ANSI on or off, and give the same bits under both (DESIGN V2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from featurekit.clock import zone
from featurekit.errors import InputError
from featurekit.expr import signatures as rules
from featurekit.expr import spark_forms as forms
from featurekit.expr.coerce import decimal_product, decimal_quotient, decimal_remainder, decimal_sum
from featurekit.expr.nodes import Call
from featurekit.types import DataType, Date, Decimal, Int32, Int64, Timestamp, is_integer

CATALOGUE_VERSION: Final = 1


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


Render = str | Callable[[Call, tuple[str, ...]], str]
Raises = bool | Callable[[tuple[DataType, ...]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One row.

    `spellings` are the names it is called by in SQL, `operator` its symbol. It takes `arity[0]` to `arity[1]` arguments
    (None: any number). `literals` are the positions that must be literals; kernels are built with them and don't
    receive them. `raises` tells, by argument types, whether Spark can raise where we yield NULL.
    """

    name: str
    kind: Kind
    doc: str
    rule: rules.Rule | None = None
    spark: Render = ""
    arity: tuple[int, int | None] = (2, 2)
    spellings: tuple[str, ...] = ()
    operator: str | None = None
    nulls: Nulls = Nulls.PROPAGATE
    raises: Raises = False
    exactness: Exactness = Exactness.EXACT
    literals: tuple[int, ...] = ()

    def may_raise(self, kinds: tuple[DataType, ...]) -> bool:
        """Return whether arguments of these types, all not NULL, can make the function yield NULL."""
        return self.raises if isinstance(self.raises, bool) else self.raises(kinds)


def _overflows(kinds: tuple[DataType, ...]) -> bool:
    return any(is_integer(kind) or isinstance(kind, Decimal) for kind in kinds)


def _integers(kinds: tuple[DataType, ...]) -> bool:
    return is_integer(kinds[0])


def _fractions(kinds: tuple[DataType, ...]) -> bool:
    return not is_integer(kinds[0]) and not isinstance(kinds[0], Decimal)


def _is_zone(name: str) -> bool:
    try:
        zone(name)
    except InputError:
        return False
    # Both sides know the IANA names; Spark also takes 'PST' and '+01:00', which mean other things to other engines.
    return "/" in name or name == "UTC"


def _operator(name: str, symbol: str, rule: rules.Rule, spark: Render, doc: str, **rest: object) -> Function:
    return Function(name=name, operator=symbol, kind=Kind.OPERATOR, rule=rule, spark=spark, doc=doc, **rest)  # type: ignore[arg-type]


def _scalar(name: str, rule: rules.Rule, spark: Render, doc: str, **rest: object) -> Function:
    rest = {"spellings": (name,), "arity": (1, 1), **rest}
    return Function(name=name, kind=Kind.SCALAR, rule=rule, spark=spark, doc=doc, **rest)  # type: ignore[arg-type]


def _part(name: str, takes: DataType, doc: str, *spellings: str) -> Function:
    rule = rules.of_time(takes=takes, result=Int32())
    return _scalar(name, rule, f"{name}({{0}})", doc, spellings=(name, *spellings))


def _aggregate(
    name: str, rule: rules.Rule, doc: str, nulls: Nulls = Nulls.ANY, arity: tuple[int, int] = (1, 1)
) -> Function:
    return Function(name=name, kind=Kind.AGGREGATE, rule=rule, doc=doc, nulls=nulls, arity=arity, spellings=(name,))


def _syntax(name: str, doc: str, arity: tuple[int, int | None], *spellings: str) -> Function:
    return Function(name=name, kind=Kind.SYNTAX, doc=doc, arity=arity, spellings=spellings, nulls=Nulls.ANY)


UNITS: Final = (
    "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year",
)  # fmt: skip

_ROWS: Final = (
    # Arithmetic. Out of range, division by zero: NULL.
    _operator("add", "+", rules.arithmetic(decimal_sum), forms.commutative("try_add", "add"), "The sum.",
              raises=_overflows),
    _operator("subtract", "-", rules.arithmetic(decimal_sum), "try_subtract({0}, {1})", "The difference.",
              raises=_overflows),
    _operator("multiply", "*", rules.arithmetic(decimal_product), forms.commutative("try_multiply", "multiply"),
              "The product.",
              raises=_overflows),
    _operator("divide", "/", rules.arithmetic(decimal_quotient, division=True), "try_divide({0}, {1})",
              "The quotient, a double or a decimal; NULL when the divisor is zero, also for doubles.", raises=True),
    _operator("remainder", "%", rules.arithmetic(decimal_remainder), "try_mod({0}, {1})",
              "The remainder with the dividend's sign; NULL when the divisor is zero.", raises=True,
              spellings=("mod",)),
    _operator("div", "div", rules.whole_division, forms.whole_division,
              "The whole quotient of integers, towards zero; NULL when the divisor is zero.", raises=True),
    _operator("negate", "-", rules.same_number, forms.negate, "The number with the other sign.", arity=(1, 1),
              raises=_integers, spellings=("negative",)),
    _scalar("abs", rules.same_number, forms.absolute, "The number without its sign; NULL for the smallest integer.",
            raises=_integers),
    _scalar("round", rules.rounded, forms.rounded, "The number rounded to so many digits, halves away from zero.",
            arity=(1, 2), raises=_integers, literals=(1,)),
    _scalar("floor", rules.to_whole, forms.to_whole("floor"), "The largest whole number that is not larger.",
            raises=_fractions),
    _scalar("ceil", rules.to_whole, forms.to_whole("ceil"), "The smallest whole number that is not smaller.",
            spellings=("ceil", "ceiling"), raises=_fractions),
    _scalar("sqrt", rules.to_double, "sqrt({0})", "The square root; NaN for negative numbers."),
    # Comparison. NaN equals NaN and is larger than all; -0.0 equals 0.0; strings go by their UTF-8 bytes.
    _operator("eq", "=", rules.comparison, "({0} = {1})", "Whether both are equal."),
    _operator("ne", "<>", rules.comparison, "(NOT ({0} = {1}))", "Whether both differ."),
    _operator("lt", "<", rules.ordering, "({0} < {1})", "Whether the first is smaller."),
    _operator("le", "<=", rules.ordering, "({0} <= {1})", "Whether the first is not larger."),
    _operator("gt", ">", rules.ordering, "({0} > {1})", "Whether the first is larger."),
    _operator("ge", ">=", rules.ordering, "({0} >= {1})", "Whether the first is not smaller."),
    _operator("eq_null_safe", "<=>", rules.comparison, "({0} <=> {1})", "Equality where NULL equals NULL.",
              nulls=Nulls.NEVER),
    _operator("in", "in", rules.comparison, forms.member, "Whether the first is one of the others.", arity=(2, None),
              nulls=Nulls.ANY),
    # Logic of three values.
    _operator("and", "and", rules.logic, "({0} AND {1})", "True when both are, false when one is false.",
              nulls=Nulls.ANY),
    _operator("or", "or", rules.logic, "({0} OR {1})", "True when one is, false when both are false.", nulls=Nulls.ANY),
    _operator("not", "not", rules.logic, "(NOT {0})", "The other truth.", arity=(1, 1)),
    _operator("is_null", "is null", rules.any_to_boolean, "({0} IS NULL)", "Whether it is NULL; NaN is not.",
              arity=(1, 1), nulls=Nulls.NEVER, spellings=("isnull",)),
    _operator("is_not_null", "is not null", rules.any_to_boolean, "({0} IS NOT NULL)", "Whether it is not NULL.",
              arity=(1, 1), nulls=Nulls.NEVER, spellings=("isnotnull",)),
    # Choice.
    _scalar("coalesce", rules.one_of, forms.listed("coalesce"), "The first argument that is not NULL.", arity=(1, None),
            spellings=("coalesce", "ifnull", "nvl"), nulls=Nulls.ALL),
    _scalar("greatest", rules.extreme, forms.extreme("greatest", "array_max"),
            "The largest argument that is not NULL; NaN is largest.",
            arity=(2, None), nulls=Nulls.ALL),
    _scalar("least", rules.extreme, forms.extreme("least", "array_min"), "The smallest argument that is not NULL.",
            arity=(2, None),
            nulls=Nulls.ALL),
    # Text. Positions and lengths count code points; nothing is trimmed, folded or normalised unasked.
    _scalar("lower", rules.text(), forms.letter_case("lower"), "In lower case, by the Unicode tables of the JVM.",
            spellings=("lower", "lcase")),
    _scalar("upper", rules.text(), forms.letter_case("upper"), "In upper case, by the Unicode tables of the JVM.",
            spellings=("upper", "ucase")),
    _scalar("trim", rules.text(), "trim({0})", "Without the spaces (U+0020 only) at both ends."),
    _scalar("length", rules.text(result=Int32()), "length({0})", "The number of code points.",
            spellings=("length", "len", "char_length", "character_length")),
    _scalar("concat", rules.texts, forms.listed("concat"), "All strings in a row; NULL when one is.", arity=(1, None),
            operator="||"),
    _scalar("substring", rules.text(Int32(), Int32()), forms.listed("substring"),
            "From a position (1 is the first, negative counts from the end), so many code points.", arity=(2, 3),
            spellings=("substring", "substr")),
    # Time. Fields of a timestamp are those of its UTC clock; from_utc_timestamp shifts to another clock first.
    _part("hour", Timestamp(), "The hour, 0 to 23."),
    _part("minute", Timestamp(), "The minute, 0 to 59."),
    _part("second", Timestamp(), "The second, 0 to 59."),
    _part("year", Date(), "The year."),
    _part("quarter", Date(), "The quarter, 1 to 4."),
    _part("month", Date(), "The month, 1 to 12."),
    _part("day", Date(), "The day of the month, 1 to 31.", "dayofmonth"),
    _part("dayofweek", Date(), "The day of the week: 1 is Sunday, 7 is Saturday."),
    _part("weekday", Date(), "The day of the week: 0 is Monday, 6 is Sunday."),
    _part("dayofyear", Date(), "The day of the year, 1 to 366."),
    _part("weekofyear", Date(), "The ISO week, 1 to 53."),
    _scalar("datediff", rules.days_between, "datediff({0}, {1})", "Days from the second date to the first.",
            arity=(2, 2),
            spellings=("datediff", "date_diff")),
    _scalar("date_trunc", rules.truncated(UNITS), "date_trunc({0}, {1})", "The start of the unit, by the UTC clock.",
            arity=(2, 2), literals=(0,)),
    _scalar("unix_timestamp", rules.of_time(takes=Timestamp(), result=Int64()), "unix_timestamp({0})",
            "Seconds since 1970, cut towards zero."),
    _scalar("unix_seconds", rules.of_time(takes=Timestamp(), result=Int64()), "unix_seconds({0})",
            "Seconds since 1970, floored."),
    _scalar("unix_millis", rules.of_time(takes=Timestamp(), result=Int64()), "unix_millis({0})",
            "Milliseconds since 1970, floored."),
    _scalar("unix_micros", rules.of_time(takes=Timestamp(), result=Int64()), "unix_micros({0})",
            "Microseconds since 1970."),
    _scalar("from_utc_timestamp", rules.in_zone(_is_zone), "from_utc_timestamp({0}, {1})",
            "The timestamp whose UTC clock reads what a clock in the zone does.", arity=(2, 2), literals=(1,)),
    # Syntax of its own.
    _syntax("cast", "The value in another type; NULL where it has no form in it. `CAST(x AS type)`.", (1, 1)),
    _syntax("case", "The first branch whose condition is true. `CASE [x] WHEN … THEN … [ELSE …] END`.", (1, None)),
    _syntax("between", "Whether it is not smaller than the first and not larger than the second.", (3, 3)),
    _syntax("if", "The second argument when the first is true, else the third.", (3, 3), "if"),
    _syntax("nullif", "NULL when both are equal, else the first.", (2, 2), "nullif"),
    # Aggregates over the rows of one entity. Sums and averages are exact (DESIGN V2, V4).
    _aggregate("count", rules.counted, "The number of rows, or of rows where it is not NULL.", Nulls.NEVER, (0, 1)),
    _aggregate("sum", rules.total, "The exact sum, rounded once; NULL when it does not fit."),
    _aggregate("avg", rules.mean, "The exact sum divided by the count, once."),
    _aggregate("min", rules.smallest_or_largest, "The smallest value."),
    _aggregate("max", rules.smallest_or_largest, "The largest value; NaN is largest."),
)  # fmt: skip

FUNCTIONS: Final[dict[str, Function]] = {row.name: row for row in _ROWS}
BY_SPELLING: Final[dict[str, Function]] = {spelling: row for row in _ROWS for spelling in row.spellings}
BINARY: Final[dict[str, Function]] = {row.operator: row for row in _ROWS if row.operator and row.name != "negate"}

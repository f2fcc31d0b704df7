"""What is read, what is refused, and where an error points."""

from __future__ import annotations

import random

import pytest

from featurekit.errors import ExpressionError, TypeMismatchError, UnsupportedFunctionError
from featurekit.expr.nodes import Column, Node
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.expr.show import show
from featurekit.types import Boolean, Decimal, Float32, Float64, Int32, Int64, String, Timestamp

COLUMNS = {
    "i": Int32(),
    "l": Int64(),
    "f": Float32(),
    "d": Float64(),
    "p": Decimal(5, 2),
    "s": String(),
    "b": Boolean(),
    "t": Timestamp(),
    "show": Int32(),
    "dep_delay": Float64(),
    "a`b": Int32(),
}
SCOPE = ColumnScope.of(
    [
        *(Column(name=name, type=kind, nullable=True) for name, kind in COLUMNS.items()),
        Column(name="mean", qualifier="load", type=Float64(), nullable=True),
    ]
)


def parse(sql: str, *, aggregates_allowed: bool = True) -> Node:
    return parse_expression(sql, SCOPE, aggregates_allowed=aggregates_allowed)


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("1D", "1.0:double"),  # sqlglot's tree: a TRY_CAST
        ("1.5BD", "1.5:decimal(2,1)"),
        (".5", "0.5:decimal(1,1)"),
        ("-128Y", "-128:tinyint"),
        ("i::double", "cast(i:int?):double?"),
        ("try_cast(i AS DOUBLE)", "cast(i:int?):double?"),
        ("CAST(i AS DECIMAL( 10 , 2 ))", "cast(i:int?):decimal(10,2)?"),
        ("CAST(i AS DECIMAL)", "cast(i:int?):decimal(10,0)?"),
        ("CAST(i AS INT)", "i:int?"),
        ("unix_timestamp(t)", "unix_timestamp(t:timestamp?):bigint?"),  # sqlglot's tree gains a format
        ("count(*) FILTER (WHERE b)", "count(*; where b:boolean?):bigint"),
        ("COUNT( * )", "count(*):bigint"),
        ("b = b IS NULL", "is_null(eq(b:boolean?, b:boolean?):boolean?):boolean"),
        ("i < l = b", "eq(lt(cast(i:int?):bigint?, l:bigint?):boolean?, b:boolean?):boolean?"),
        ("b = i < l", None),  # Spark reads (b = i) < l, which does not type; sqlglot's tree would
        ("NOT b AND b", "and(not(b:boolean?):boolean?, b:boolean?):boolean?"),
        ("-i * 2", "multiply(negate(i:int?):int?, 2:int):int?"),
        ("i - -1", "subtract(i:int?, -1:int):int?"),
        ("i NOT BETWEEN 1 AND 2", "not(and(ge(i:int?, 1:int):boolean?, le(i:int?, 2:int):boolean?):boolean?):boolean?"),
        ("load.mean", "load.mean:double?"),
        ("`load`.`mean`", "load.mean:double?"),
        ("`a``b`", "a`b:int?"),
        ("show + 1", "add(show:int?, 1:int):int?"),  # a command to sqlglot
        ("i /* note */ + 1 -- rest", "add(i:int?, 1:int):int?"),
        ("'it''s' || s", "concat('it''s':string, s:string?):string?"),
        ("avg(CASE WHEN d > 15 THEN 1.0D ELSE 0.0D END)",
         "avg(case(when gt(d:double?, 15.0:double):boolean? then 1.0:double; else 0.0:double):double):double?"),
        ("sum(p) / count(i)",
         "divide(sum(p:decimal(5,2)?):decimal(15,2)?, cast(count(i:int?):bigint):decimal(20,0)):decimal(36,23)?"),
    ],
)  # fmt: skip
def test_text_is_read_as_spark_reads_it(sql: str, shown: str | None) -> None:
    if shown is None:
        with pytest.raises(TypeMismatchError):
            parse(sql)
    else:
        assert show(parse(sql)) == shown


@pytest.mark.parametrize(
    ("sql", "offset", "what"),
    [
        ("", 0, "the expression is empty"),
        ("  -- nothing", 0, "the expression is empty"),
        ("i +", 3, "ends too early"),
        ("(i", 2, ") is missing"),
        ("i)", 1, ") is unexpected"),
        ("i; l", 1, "a feature is one expression"),
        ("'open", 0, "can't be cut into tokens"),
        ("i + zz", 4, "unknown column zz"),
        ("'😀' || zz", 7, "unknown column zz"),
        ("load.meen", 0, "unknown column load.meen"),
        ("case when b then 1", 18, "END is missing"),
        ("i BETWEEN 1 OR 2", 12, "AND is missing"),
        ("'a' 'b'", 4, "two strings in a row"),
        ("i IS TRUE", 2, "IS is followed by NULL"),
        ("128Y", 0, "128Y does not fit tinyint"),
        ("1e999", 0, "does not fit double"),
        ("1Q", 0, None),
        ("abs(i, l)", 0, "abs takes 1 argument, not 2"),
        ("coalesce()", 0, "coalesce takes 1 or more arguments, not 0"),
        ("substring(s)", 0, "substring takes 2 to 3 arguments, not 1"),
        ("count()", 0, "count() needs an argument"),
        ("TIMESTAMP '2013-11-15 02:00:00'", 0, "has no zone"),
        ("DATE '2013-02-30'", 0, "does not exist"),
        ("count(*) + i", 11, "the column i stands beside the aggregate count"),
        ("sum(i) / max(l) + d", 18, "the column d stands beside the aggregate"),
        ("sum(i + max(l))", 8, "max() inside sum()"),
        ("sum(i) FILTER (WHERE count(*) > 1)", 21, "count() inside sum()"),
        ("where", 0, "where is unexpected"),
        ("(" * 60 + "i" + ")" * 60, 40, "nested more than 40 deep"),
        ("+".join(["i"] * 400), 0, "more than 150 operators deep"),
        ("+".join(["i"] * 3000), 0, "more than 150 operators deep"),
    ],
)
def test_mistake_is_named_where_it_stands(sql: str, offset: int, what: str | None) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(sql)
    assert what is None or what in caught.value.what
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("sql", "offset", "what", "try_"),
    [
        ("rand()", 0, "rand()", "store the random value"),
        ("1 + now()", 4, "now()", "request column"),
        ("current_timestamp", 0, "current_timestamp", "request column"),
        ("current_date()", 0, "current_date()", "request column"),
        ("percentile_approx(d, 0.95)", 0, "percentile_approx()", "share of rows"),
        ("any_value(d)", 0, "any_value()", "first(x), last(x)"),
        ("sum(i) OVER (PARTITION BY s)", 7, "a window (OVER)", "window: 7d"),
        ("row_number() OVER (ORDER BY i)", 0, "row_number()", "window: 7d"),
        ("i + (SELECT 1)", 5, "a subquery", "source"),
        ("i IN (SELECT 1)", 6, "a subquery", "source"),
        ("SELECT i", 0, "a subquery", "source"),
        ("*", 0, "*", "count(*)"),
        ("my_udf(i)", 0, "my_udf()", "catalogue"),
        ("db.my_udf(i)", 0, "db.my_udf()", "catalogue"),
        ("lenght(s)", 0, "lenght()", "did you mean length"),
        ("INTERVAL 1 DAY + t", 0, "an INTERVAL", "datediff"),
        ("t + INTERVAL 1 DAY * 2", 19, "* after an INTERVAL", "INTERVAL 1 DAY 2 HOURS"),
        ("to_char(i)", 0, "to_char()", None),
        ("i AS x", 2, "an alias", None),
        ("sum(DISTINCT i)", 4, "DISTINCT", "count(DISTINCT x)"),
        ("CAST(i AS BLOB)", 10, "CAST to BLOB", None),
        ("(i, l)", 0, "a list in parentheses", None),
        ("x -> x", 0, "a lambda here", "transform"),
        ("d ** 2", 2, "**", "pow(x, 2)"),
        ("i // 2", 2, "//", "DIV"),
        ("b && b", 2, "&&", "AND"),
        ("t AT TIME ZONE 'UTC'", 2, "AT TIME ZONE", "from_utc_timestamp"),
        ("s SIMILAR TO 'a'", 2, "SIMILAR TO", "regexp_like"),
        ("s:device", 1, ":", "json_string"),
        ("first(i ORDER BY t)", 8, "ORDER BY", "min_by"),
        ("count(*) FILTER b", 9, "FILTER here", "FILTER (WHERE"),
        ("sum(i) FILTER (b)", 7, "FILTER here", "FILTER (WHERE"),
        ("sigmoid(d)", 0, "sigmoid()", "exp(-x)"),
        ("date(s)", 0, "date()", "CAST(x AS DATE)"),
        ("str(i)", 0, "str()", "CAST(x AS STRING)"),
        ("sum_if(i, b)", 0, "sum_if()", "FILTER (WHERE"),
        ("p95(i)", 0, "p95()", "top_k(x, 10)"),
        ("i mod 7", 2, "mod between", "mod(a, b)"),
        ("s ~ 'a'", 2, "~ between", "regexp_like"),
        ("s COLLATE UTF8_LCASE = 'a'", 2, "COLLATE", "lower(x) = lower(y)"),
        ("i IS DISTINCT FROM 1", 2, "IS is followed", "a <=> b"),
        ("clip(i, 0, 1)", 0, "clip()", "least(greatest"),
        ("CAST(p AS decimal(50,2))", 10, "CAST to decimal(50,2)", None),
    ],
)
def test_refusal_says_why_and_the_accepted_way(sql: str, offset: int, what: str, try_: str | None) -> None:
    with pytest.raises(UnsupportedFunctionError) as caught:
        parse(sql)
    assert what in caught.value.what
    assert caught.value.why
    assert try_ is None or (caught.value.try_ is not None and try_ in caught.value.try_)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("sql", "offset", "what"),
    [
        ("i + s", 2, "+ can't take (int, string)"),
        ("s = 1", 2, "= can't take (string, int)"),
        ("b = 1", 2, "= can't take (boolean, int)"),
        ("t > '2013-11-15'", 2, "> can't take (timestamp, string)"),
        ("i AND b", 2, "AND can't take (int, boolean)"),
        ("NOT i", 0, "NOT can't take (int)"),
        ("CASE WHEN i THEN 1 END", 0, "WHEN takes a condition, not int"),
        ("CASE WHEN b THEN 1 ELSE 'x' END", 0, "CASE has branches of types int, string"),
        ("upper(i)", 0, "upper can't take (int)"),
        ("i || s", 2, "|| can't take (int, string)"),
        ("round(d, i)", 0, "round can't take (double, int)"),
        ("date_trunc(s, t)", 0, "date_trunc can't take (string, timestamp)"),
        ("date_trunc('fortnight', t)", 0, "date_trunc can't take"),
        ("from_utc_timestamp(t, 'PST')", 0, "from_utc_timestamp can't take"),
        ("d div 2", 2, "DIV can't take (double, int)"),
        ("CAST(d AS STRING)", 0, "CAST from double to string"),
        ("CAST(d AS DECIMAL(20,2))", 0, "CAST from double to decimal(20,2)"),
        ("-CAST(i AS DECIMAL(38,0))", 0, "- can't take (decimal(38,0))"),
        ("sum(s)", 0, "sum can't take (string)"),
        ("i IN (1, 'x')", 2, "IN can't take"),
    ],
)
def test_types_that_spark_would_guess_about_are_refused(sql: str, offset: int, what: str) -> None:
    with pytest.raises(TypeMismatchError) as caught:
        parse(sql)
    assert what in caught.value.what
    assert caught.value.why
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("sql", "offset", "lost"),
    [
        (r"regexp_replace(s, '\s+', ' ')", 18, r"\s is read as 's'"),
        (r"s RLIKE '^\d+$'", 8, r"\d is read as 'd'"),
        (r"s REGEXP 'a''\.b'", 12, r"\. is read as '.'"),
        (r"split(s, '\|')", 9, r"\| is read as '|'"),
        (r"regexp_like(s, ('\bcat'))", 16, r"\b is read as '\x08'"),
        (r"regexp_replace(s, '(a)', '\$1')", 25, r"\$ is read as '$'"),
        (r"str_to_map(s, '\.', ':')", 14, r"\. is read as '.'"),
    ],
)
def test_pattern_does_not_lose_a_backslash_silently(sql: str, offset: int, lost: str) -> None:
    """Spark reads the quotes' escapes first, so that `'\\s+'` finds the letter s."""
    with pytest.raises(ExpressionError) as caught:
        parse(sql)
    assert lost in caught.value.what
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    "sql",
    [r"s RLIKE r'\d'", r"s RLIKE '\\d\n\t\u0041'", r"regexp_replace(s, '\\.', '\\$1')", r"s LIKE '50\%'", r"s = '\d'"],
)
def test_backslash_that_stays_or_means_itself_is_taken(sql: str) -> None:
    parse(sql)


@pytest.mark.parametrize(
    ("sql", "what", "try_"),
    [
        ("lower(s, 1)", "lower takes 1 argument, not 2", "lower(text): "),
        ("substring(s)", "substring takes 2 to 3", "substring(text, position[, count]): "),
        ("isnull(i, 0)", "isnull takes 1 argument", "isnull(a): "),
        ("split(s, ',') = 'a'", "= can't take", "array_contains(a, x)"),
        ("'a' IN split(s, ',')", "( is missing after IN", "array_contains(a, x)"),
        ("lower(split(s, ','))", "lower can't take", "transform(a, x -> lower(x))"),
        ("lower(t)", "lower can't take", "date_format"),
        ("lower(b)", "lower can't take", "OR joins conditions"),
        ("split(s, ',') + 1", "+ can't take", "aggregate(a"),
        ("t + 1", "+ can't take", "t + INTERVAL 1 DAY"),
        ("s.name", None, "json_string"),
        ("named_struct('city', s).town", "has no field town", "one of city"),
        ("named_struct('city', s).City", "has no field City", "did you mean city?"),
        ("filter(split(s, ','), element -> elment = 'a')", "unknown column elment", "did you mean element"),
    ],
)
def test_advice_is_for_the_types_at_hand(sql: str, what: str | None, try_: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(sql)
    assert what is None or what in caught.value.what
    assert try_ in str(caught.value.try_)


def test_unknown_name_offers_the_closest_ones_whatever_their_case() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("avg(Dep_Dely)")
    assert caught.value.try_ == "did you mean dep_delay?"
    with pytest.raises(ExpressionError) as caught:
        parse_expression("x", ColumnScope.of([]), aggregates_allowed=True)
    assert caught.value.try_ == "no name can be used here"


def test_aggregate_is_refused_where_only_one_row_is_seen() -> None:
    with pytest.raises(UnsupportedFunctionError) as caught:
        parse("1 + sum(i)", aggregates_allowed=False)
    assert caught.value.offset == 4
    assert "feature view" in str(caught.value.try_)


def test_column_inside_an_aggregate_is_not_beside_it() -> None:
    assert show(parse("sum(i) FILTER (WHERE d > 0) / count(*)")).startswith("divide(")


PIECES = (
    "i", "1", "(", ")", "+", "-", "*", "/", "'x'", "case", "when", "then", "end", "and", "or", "not", "in", "between",
    ",", "::", "int", "cast", "as", "null", "is", "count", "sum", "filter", "where", "over", "[", "]", "->", "`i`", ".",
    "1D", ";", "--", "/*", '"', "'", "select", "interval", "date", "timestamp", "$", "@", "{", "}", "\\", "#", "😀",
    "div", "%", "<=>", "?", ":x", "x'41'", "r'a'", "!", "~",
)  # fmt: skip


def offset_of_mistake(sql: str) -> int | None:
    try:
        parse(sql)
    except ExpressionError as error:
        return error.offset
    return 0


def test_no_text_makes_the_parser_fail_in_another_way() -> None:
    draw = random.Random(20131115)
    for turn in range(4000):
        sql = (" " if turn % 2 else "").join(draw.choice(PIECES) for _ in range(draw.randint(1, 9)))
        offset = offset_of_mistake(sql)
        assert offset is not None
        assert 0 <= offset <= len(sql)

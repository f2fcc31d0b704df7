"""Asks Spark what every case of the fixture files is, and writes the answers beside them.

    python -m tests.semantics.record [file.sql …]

The oracle is Spark alone, on the text as it stands in the file: none of our parser, inference or renderer takes part.
Expectations follow DESIGN V2, operator by operator under ANSI: where Spark raises because a value is out of range, its
message names the piece of the text that raised, which is the innermost operator; that piece is replaced by a NULL of
its type and Spark is asked again. Any other error fails the recording.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from featurekit.errors import InputError
from featurekit.types import DataType, Null, parse_type
from tests.semantics import corpus, edges, own, values
from tests.semantics.corpus import Recorded
from tests.semantics.session import frame, start

_NULLED: Final = frozenset(
    (
        "ARITHMETIC_OVERFLOW",
        "BINARY_ARITHMETIC_OVERFLOW",
        "CANNOT_DECODE_URL",
        "CAST_INVALID_INPUT",
        "CAST_OVERFLOW",
        "CONVERSION_INVALID_INPUT",
        "CANNOT_PARSE_TIMESTAMP",
        "DATETIME_FIELD_OUT_OF_BOUNDS",
        "DATETIME_OVERFLOW",
        "DIVIDE_BY_ZERO",
        "DUPLICATED_MAP_KEY",
        "INVALID_ARRAY_INDEX",
        "INVALID_ARRAY_INDEX_IN_ELEMENT_AT",
        "INVALID_INDEX_OF_ZERO",
        "INVALID_PARAMETER_VALUE",  # of slice: a row's start or length
        "NULL_MAP_KEY",
        "INVALID_FRACTION_OF_SECOND",
        "INVALID_PARAMETER_VALUE",
        "INVALID_ARRAY_INDEX",
        "INVALID_INDEX_OF_ZERO",
        "INVALID_UTF8_STRING",
        "MALFORMED_CHARACTER_CODING",
        "NUMERIC_OUT_OF_SUPPORTED_RANGE",
        "NUMERIC_VALUE_OUT_OF_RANGE",
        "REMAINDER_BY_ZERO",
        "_LEGACY_ERROR_TEMP_2128",  # map_from_arrays: more keys than values
    )
)
# Rewrites that assume no operator fails, or that sums can be regrouped: with them Spark evaluates something else.
_EXCLUDED_RULES: Final = (
    "BooleanSimplification",
    "ConstantFolding",
    "NullPropagation",
    "ReorderAssociativeOperator",
    "SimplifyBinaryComparison",
    "SimplifyCaseConversionExpressions",
    "SimplifyCasts",
)
_VIEW: Final = "edges"
_COLUMN: Final = re.compile(r"\b(" + "|".join(edges.DATA) + r")\b")
_TRY: Final = {
    "+": "try_add", "-": "try_subtract", "*": "try_multiply", "/": "try_divide", "%": "try_mod",
}  # fmt: skip
_TRIABLE: Final = re.compile(r"(\S+) ([-+*/%]) (\S+)")
_MAX_REPLACED: Final = 20
_BATCH: Final = 40


class OracleError(Exception):
    """Spark could not say what a case is."""


class Oracle:
    """Spark, asked for types and values of SQL text over the edge table."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        table = pa.table({name: values.arrow_column(column, edges.TYPES[name]) for name, column in edges.DATA.items()})
        table = table.append_column("row_number", pa.array(range(edges.ROWS), pa.int32()))
        frame(spark, table).coalesce(1).createOrReplaceTempView(_VIEW)
        spark.catalog.cacheTable(_VIEW)
        spark.conf.set("spark.sql.ansi.enabled", "true")
        own.define(spark)
        spark.conf.set("spark.sql.subexpressionElimination.enabled", "false")
        rules = (f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in _EXCLUDED_RULES)
        spark.conf.set("spark.sql.optimizer.excludedRules", ",".join(rules))

    def type_of(self, expression: str) -> str:
        """Return the type Spark's analyser gives the expression."""
        return str(self.spark.sql(f"SELECT {expression} AS v FROM {_VIEW}").schema[0].dataType.simpleString())

    def answers(self, cases: Sequence[Recorded]) -> dict[int, Recorded]:
        """Return by line those cases that many a query can answer: the ones of which no row raises."""
        found: dict[int, Recorded] = {}
        for first in range(0, len(cases), _BATCH):
            batch = list(cases[first : first + _BATCH])
            while batch:
                try:
                    found |= {answer.line: answer for answer in self._together(batch)}
                    break
                except _spark_errors() as error:
                    batch = _without_the_one_that_raised(batch, error)
        return found

    def _together(self, cases: Sequence[Recorded]) -> list[Recorded]:
        sql = _select([case.expression for case in cases])
        query = self.spark.sql(f"{sql}, row_number FROM {_VIEW}")
        names = [str(field.dataType.simpleString()) for field in query.schema][:-1]
        answer = query.toArrow()
        assert answer["row_number"].to_pylist() == list(range(edges.ROWS))
        found = []
        for place, (case, name) in enumerate(zip(cases, names, strict=True)):
            kind = _parse(name)
            rows = edges.ROWS if _COLUMN.search(case.expression) else 1
            column = values.held_values(answer[f"v{place}"])[:rows]
            written = tuple(values.write(value, kind) for value in column)
            found.append(Recorded(case.file, case.line, case.expression, name, written))
        return found

    def answer(self, case: Recorded) -> Recorded:
        """Return the case with Spark's type and values."""
        name = self.type_of(case.expression)
        kind = _parse(name)
        found = self._values(case.expression)
        written = tuple(values.write(value, kind) for value in found)
        return Recorded(case.file, case.line, case.expression, name, written)

    def _values(self, expression: str) -> list[Any]:
        rows = range(edges.ROWS) if _COLUMN.search(expression) else range(1)
        return self._of_rows(expression, list(rows))

    def _of_rows(self, expression: str, rows: list[int]) -> list[Any]:
        """Return the values of some rows; where one of them raises, ask for each half."""
        if len(rows) == 1:
            return [self._of_row(expression, rows[0])]
        try:
            return self._ask(expression, rows)
        except _spark_errors() as error:
            if _condition(error) not in _NULLED:
                raise OracleError(f"{expression}: {error}") from error
        middle = len(rows) // 2
        return self._of_rows(expression, rows[:middle]) + self._of_rows(expression, rows[middle:])

    def _of_row(self, expression: str, row: int) -> Any:
        """Return the value of one row, with the innermost operators that raise replaced by NULL."""
        for _ in range(_MAX_REPLACED):
            try:
                return self._ask(expression, [row])[0]
            except _spark_errors() as error:
                if _condition(error) not in _NULLED:
                    raise OracleError(f"{expression}, row {row}: {error}") from error
                expression = self._without(expression, error)
        raise OracleError(f"{expression}: too many operators raise")

    def _ask(self, expression: str, rows: list[int]) -> list[Any]:
        # Over a cached table, so that Spark compiles the expression as it does on real data; a table of literals it
        # would evaluate in the optimizer. One partition keeps the order.
        chosen = ", ".join(map(str, rows))
        query = self.spark.sql(f"SELECT {expression} AS v, row_number FROM {_VIEW} WHERE row_number IN ({chosen})")
        answer = query.toArrow()
        assert answer["row_number"].to_pylist() == rows
        return values.held_values(answer["v"])

    def _without(self, expression: str, error: Any) -> str:
        """Return the expression with the piece that raised replaced by a NULL of its type."""
        contexts = [context for context in error.getQueryContext() if context.fragment()]
        piece = contexts[0].fragment() if contexts else expression
        start = contexts[0].startIndex() - len("SELECT ") if contexts else 0
        if expression[start : start + len(piece)] != piece:
            raise OracleError(f"{expression}: Spark points at {piece!r}, which is not there")
        nothing = _tried(piece) if _in_lambda(expression, start) else f"CAST(NULL AS {self.type_of(piece)})"
        return f"{expression[:start]}{nothing}{expression[start + len(piece) :]}"


def _in_lambda(expression: str, start: int) -> bool:
    """Return whether a lambda's body is open where the piece begins."""
    depth = 0
    for place in range(start - 1, 0, -1):
        depth += (expression[place] == ")") - (expression[place] == "(")
        if depth < 0:
            depth = 0  # a bracket around the piece
        if depth == 0 and expression[place - 1 : place + 1] == "->":
            return True
    return False


def _tried(piece: str) -> str:
    """Return a piece of a lambda in the form that is NULL for those elements only that raise."""
    if match := _TRIABLE.fullmatch(piece):
        return f"{_TRY[match[2]]}({match[1]}, {match[3]})"
    if piece.startswith("CAST("):
        return f"try_{piece}"
    raise OracleError(f"{piece} raises inside a lambda: write the case so that it does not")


def _select(expressions: Sequence[str]) -> str:
    return "SELECT " + ", ".join(f"{expression} AS v{place}" for place, expression in enumerate(expressions))


def _without_the_one_that_raised(cases: list[Recorded], error: Any) -> list[Recorded]:
    """Return the cases but for the one that Spark points at; none where it points at nothing."""
    contexts = [context for context in error.getQueryContext() if context.fragment()]
    if not contexts:
        return []
    at = contexts[0].startIndex()
    kept = [case for place, case in enumerate(cases)
            if not _start(cases, place) <= at < _start(cases, place) + len(case.expression)]  # fmt: skip
    return kept if len(kept) < len(cases) else []


def _start(cases: Sequence[Recorded], place: int) -> int:
    before = _select([case.expression for case in cases[:place]])
    return len(before) + (len(", ") if place else 0)


def _spark_errors() -> type[Exception]:
    from pyspark.errors import PySparkException  # not at the top: tests without Java read this module's neighbours

    return PySparkException


def _condition(error: Any) -> str:
    get = getattr(error, "getCondition", None)
    return str(get() if get else "").split(".")[0]


def _parse(name: str) -> DataType:
    try:
        return Null() if name == "void" else parse_type(name)
    except InputError as error:
        raise OracleError(f"{name} is not a type we have") from error


def _header(spark: Any) -> str:
    version = spark._jvm.java.lang.System.getProperty("java.specification.version")
    ansi, zone = (spark.conf.get(f"spark.sql.{key}") for key in ("ansi.enabled", "session.timeZone"))
    return (
        f"-- Recorded by `python -m tests.semantics.record` from Spark {spark.version}, JDK {version}, "
        f"ANSI {ansi}, session zone {zone}.\n"
        "-- Columns are those of tests/semantics/edges.py; their cases have one value for each of its rows."
    )


def _aligned(lines: Sequence[str | Recorded]) -> str:
    cases = [line for line in lines if isinstance(line, Recorded)]
    width = min(60, max((len(case.expression) for case in cases), default=0))
    kinds = max((len(case.type or "") for case in cases), default=0)
    text = []
    for line in lines:
        if isinstance(line, str):
            text.append(line)
        else:
            joined = corpus.ROW_SEPARATOR.join(line.values)
            text.append(f"{line.expression:<{width}}  {line.type or '':<{kinds}}  {joined}")
    return "\n".join(text) + "\n"


def _asked(case: Recorded) -> Recorded:
    return replace(case, expression=own.spelled(case.expression))


def record(paths: Sequence[Path], spark: Any) -> int:
    """Rewrite the files with Spark's answers; return how many cases there are."""
    oracle = Oracle(spark)
    count = 0
    failures: list[str] = []
    for path in paths:
        known = len(failures)
        read = corpus.read_file(path)
        quick = oracle.answers([_asked(line) for line in read if isinstance(line, Recorded)])
        lines: list[str | Recorded] = []
        for line in read:
            if isinstance(line, str):
                if not line.startswith(("-- Recorded by", "-- Columns are those")):
                    lines.append(line)
                continue
            try:
                answer = quick.get(line.line) or oracle.answer(_asked(line))
                lines.append(replace(answer, expression=line.expression))
                count += 1
            except (OracleError, _spark_errors()) as error:
                failures.append(f"{line.id}: {str(error).splitlines()[0]}")
        if len(failures) == known:
            path.write_text(f"{_header(spark)}\n{_aligned(lines)}", encoding="utf-8")
    if failures:
        raise OracleError("\n".join(failures))
    return count


def main() -> None:
    chosen = [Path(argument) for argument in sys.argv[1:]] or corpus.files()
    count = record(chosen, start())
    print(f"RESULT record cases={count} files={len(chosen)}")


if __name__ == "__main__":
    main()

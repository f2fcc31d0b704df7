"""What Spark raises, as our errors: one place, by error class and never by guess.

Spark's own classes are not imported here: an error is known by its condition (`PATH_NOT_FOUND`) and its text.
"""

from __future__ import annotations

import re
from typing import Final

from featurekit import errors
from featurekit.errors import BatchEngineError, FeaturekitError, SourceError
from featurekit.urls import shown_text

BAD_CELL: Final = "featurekit: bad cell"
_PARTS: Final = re.compile(r"^  (where|why|try) {1,4}(.*)$")
# The traceback's last line, as Python prints an exception of ours in an executor.
_OURS: Final = re.compile(r"^featurekit\.errors\.(\w+): \1: (.*)$", re.MULTILINE)
_CELL: Final = re.compile(re.escape(BAD_CELL) + r"\n(.*?)\n(.*?)\n(.*?)\n(.*?)(?: SQLSTATE|\n|$)", re.DOTALL)
_DAMAGED: Final = ("FAILED_READ_FILE", "CANNOT_READ_FILE_FOOTER", "CANNOT_READ_FOOTER", "PARQUET_")
_NOT_FOUND: Final = ("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", "FAILED_READ_FILE.FILE_NOT_EXIST")
_WRONG_QUERY: Final = ("UNRESOLVED_", "PARSE_SYNTAX_ERROR", "DATATYPE_MISMATCH", "MISSING_COLUMN", "SCHEMA_NOT_FOUND")
_FILE: Final = re.compile(r"(?:file|s3a?|hdfs|gs|abfss?):/[^\s,;'\"`\]]+")


def as_our_error(error: BaseException) -> FeaturekitError:
    """Return the error of ours that a foreign one means; BatchEngineError where it means nothing more precise."""
    text = _text(error)
    condition = _condition(error, text)
    if ours := _raised_in_executor(text):
        return ours
    if cell := _CELL.search(text):
        column, value, kind, file = cell.groups()
        return SourceError(
            f"column {column} holds {value}, which is no {kind}",
            where=_plain(file),
            why="a cell that can't be read would silently be a missing value",
            try_="correct the file, declare another type, or declare the text under null_tokens",
        )
    where = _file(text)
    if condition.startswith(_NOT_FOUND):
        return SourceError(
            "the source is not there", where=where, why=_first(text), try_="check the source's path, table or sql"
        )
    if row := re.search(r"Malformed CSV record: (.*?)(?: SQLSTATE|$)", text, re.MULTILINE):
        return SourceError(
            "a CSV row does not have the header's columns", where=where, why=row[1], try_="correct the row"
        )
    if "CSV header" in text:
        why = "each file has to have the columns of the first one, in their order"
        return SourceError("two CSV files of the source have different headers", where=where, why=why)
    if condition.startswith(_DAMAGED) or "is not a Parquet file" in text:
        return SourceError(
            "a source file can't be read to its end",
            where=where,
            why=_deepest(text),
            try_="write the file again; it was cut short or is damaged",
        )
    if condition.startswith(_WRONG_QUERY):
        return SourceError("Spark can't run the source's query", where=where, why=_first(text), try_="correct its sql:")
    return BatchEngineError(
        f"Spark failed: {_first(text)}", where=where, why=condition or None, try_="run it again; Spark's log says more"
    )


def _text(error: BaseException) -> str:
    return shown_text(str(error) or type(error).__name__)  # Spark quotes paths as they were given, keys and all


def _condition(error: BaseException, text: str) -> str:
    get = getattr(error, "getCondition", None)
    found = get() if callable(get) else None
    if found:
        return str(found)
    # A Java error that Py4J passed on carries its condition in brackets.
    match = re.search(r"\[([A-Z][A-Z_0-9.]{5,})\]", text)
    return match[1] if match else ""


def _raised_in_executor(text: str) -> FeaturekitError | None:
    matches = list(_OURS.finditer(text))
    if not matches:
        return None
    kind = getattr(errors, matches[-1][1], None)
    if not (isinstance(kind, type) and issubclass(kind, FeaturekitError)):
        return None
    parts: dict[str, str] = {}
    for line in text[matches[-1].end() :].lstrip("\n").splitlines():
        part = _PARTS.match(line)
        if part is None:
            break
        parts[part[1]] = part[2]
    found = kind.__new__(kind)
    FeaturekitError.__init__(
        found, matches[-1][2], where=parts.get("where"), why=parts.get("why"), try_=parts.get("try")
    )
    return found


def _first(text: str) -> str:
    """Return the first line that says something, without Spark's brackets and states."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), text)
    return re.sub(r"\s*SQLSTATE: \w+.*$", "", re.sub(r"^\[[A-Z_0-9.]+\]\s*", "", line))


def _deepest(text: str) -> str:
    """Return the innermost cause that Java names, where there is one: `Caused by: …` last."""
    causes = re.findall(r"^Caused by: (?:[\w.$]+: )?(.*)$", text, re.MULTILINE)
    return causes[-1] if causes else _first(text)


def _file(text: str) -> str | None:
    match = _FILE.search(text)
    return _plain(match[0].rstrip(".")) if match else None


def _plain(file: str) -> str:
    return re.sub(r"^file:/+", "/", file)

"""The fixture files: one case a line, `expression   type   value`, recorded from Spark.

A case over columns of the edge table has one value for each of its rows, joined by ` | `.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ROW_SEPARATOR = " | "
_FIELDS = re.compile(r"\s{2,}")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One line: an expression, and what Spark said about it (None where nobody asked yet)."""

    file: str
    line: int
    expression: str
    type: str | None
    values: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"{self.file}:{self.line} {self.expression}"


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.sql"))


def read_file(path: Path) -> list[str | Recorded]:
    """Return the file's lines: comments and blanks as they are, cases as Recorded."""
    found: list[str | Recorded] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("--"):
            found.append(line)
            continue
        # Runs of spaces part the fields, so an expression is written with single ones.
        fields = _FIELDS.split(line.strip(), maxsplit=2)
        kind = fields[1] if len(fields) == 3 else None
        values = tuple(fields[2].split(ROW_SEPARATOR)) if len(fields) == 3 else ()
        found.append(Recorded(path.name, number, fields[0], kind, values))
    return found


def cases() -> Iterator[Recorded]:
    """Yield every case of every file."""
    for path in files():
        yield from (line for line in read_file(path) if isinstance(line, Recorded))

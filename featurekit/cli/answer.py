"""What a command hands back: one JSON document, and the same for people as a few blocks of text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import PurePath
from typing import Any

from featurekit.errors import FeaturekitError


class Tone(StrEnum):
    """How a text is meant; a terminal shows it as a colour, and nothing depends on that colour."""

    PLAIN = "plain"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"
    FAINT = "faint"


@dataclass(frozen=True, slots=True)
class Toned:
    """A table cell with a tone."""

    text: str
    tone: Tone


Cell = str | Toned


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under column names; `columns` empty: aligned rows without a heading."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...]
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Text to be kept as it is: SQL, IR, YAML."""

    title: str
    text: str
    language: str = "text"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text."""

    text: str
    tone: Tone = Tone.PLAIN


Block = Table | Code | Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A command's result; `document` is what --json prints, `blocks` and then `errors` what people read."""

    document: Any
    blocks: tuple[Block, ...]
    exit_code: int = 0
    errors: tuple[FeaturekitError, ...] = ()


def to_json(value: Any) -> Any:
    """Return a value as JSON can hold it without loss: decimals and numbers that JSON lacks as text.

    >>> to_json({"price": Decimal("1.50"), "trend": Decimal("0E-12"), "ratio": float("nan"), "path": ("a", None)})
    {'price': '1.50', 'trend': '0.000000000000', 'ratio': 'NaN', 'path': ['a', None]}
    """
    match value:
        case None | bool() | str():
            return str(value) if isinstance(value, StrEnum) else value
        case Enum():
            return value.name
        case int():
            return int(value)
        case float():
            return value if math.isfinite(value) else _FLOATS.get(str(value), str(value))
        case Decimal():
            return f"{value:f}"  # never with an exponent
        case PurePath():
            return str(value)
        case bytes():
            return value.hex()
        case dict():
            return {str(key): to_json(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [to_json(item) for item in value]
        case _ if hasattr(value, "isoformat"):
            return value.isoformat()
        case _ if hasattr(value, "item"):  # a NumPy scalar
            return to_json(value.item())
        case _:
            return str(value)


_FLOATS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun, in the form that fits.

    >>> counted(1, "view"), counted(2_000, "entity", "entities")
    ('1 view', '2,000 entities')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"

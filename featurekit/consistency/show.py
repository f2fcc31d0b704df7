"""Cells as people read them in a report: a value never looks like the absence of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from featurekit.arrow_types import held_values
from featurekit.clock import Instant, format_instant, to_date
from featurekit.consistency.cells import Answers, Cells, FieldSpec
from featurekit.status import Status
from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Float32,
    Float64,
    Map,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
)

ROW_FIELDS = 4
LONGEST = 80
MOST_PARTS = 16


def show_cell(spec: FieldSpec, cells: Cells, position: int) -> str:
    """Return one cell: its value, or the status that stands for none; a default says that it is one."""
    (value,) = held_values(cells.values.take(pa.array([position])))
    return show_status(value, Status(int(cells.statuses[position])), spec.type)


def show_status(value: Any, status: Status, kind: DataType) -> str:
    """Return a held value with its status, which alone is shown where it stands for no value.

    >>> show_status("", Status.DEFAULTED, String()), show_status(None, Status.EXPIRED, String())
    ("'' (default)", 'EXPIRED')
    """
    match status:
        case Status.PRESENT:
            return show_value(value, kind)
        case Status.DEFAULTED:
            return f"{show_value(value, kind)} (default)"
        case Status.NULL | Status.MISSING | Status.EXPIRED | Status.UNAVAILABLE:
            return status.name


def show_row(fields: tuple[FieldSpec, ...], answers: Answers, position: int) -> str:
    """Return a row's first fields, or that there is none, or that there is no answer."""
    cells = [answers.fields[spec.name] for spec in fields]
    if cells and all(each.statuses[position] == Status.UNAVAILABLE for each in cells):
        return Status.UNAVAILABLE.name
    if not answers.found[position]:
        return "no row"
    return shown_fields([(spec.name, show_cell(spec, answers.fields[spec.name], position)) for spec in fields])


def shown_fields(fields: Sequence[tuple[str, str]]) -> str:
    """Return the first of some fields with what they hold."""
    shown = ", ".join(f"{name} = {value}" for name, value in fields[:ROW_FIELDS])
    return f"{shown}, …" if len(fields) > ROW_FIELDS else shown


def show_value(value: Any, kind: DataType) -> str:
    """Return a value, held as `types` says, in the shortest text that tells it from every other value of its type.

    >>> show_value("", String()), show_value(-0.0, Float64()), show_value(1384473600000000, Timestamp())
    ("''", '-0.0', '2013-11-15T00:00Z')
    """
    if value is None:
        return "NULL"
    match kind:
        case Boolean():
            return "true" if value else "false"
        case String():
            return _shortened(repr(value))
        case Binary():
            return _shortened(f"0x{value.hex()}")
        case Date():
            return _show_date(value)
        case Timestamp():
            return _show_instant(value)
        case TimestampNtz():
            return _show_instant(value).removesuffix("Z")
        case Float32():
            return _show_float(np.float32(value))  # 0.1, not the double it widens to
        case Float64():
            return _show_float(np.float64(value))
        case Array():
            return _shortened(
                f"[{', '.join(show_value(part, kind.element) for part in value[:MOST_PARTS])}{_rest(value)}]"
            )
        case Map():
            pairs = (f"{show_value(key, kind.key)}: {show_value(part, kind.value)}" for key, part in value[:MOST_PARTS])
            return _shortened(f"{{{', '.join(pairs)}{_rest(value)}}}")
        case Struct():
            fields = (
                f"{name}: {show_value(part, inner)}" for (name, inner), part in zip(kind.fields, value, strict=True)
            )
            return _shortened(f"({', '.join(fields)})")
        case _:
            return str(value)


def _rest(value: tuple[Any, ...]) -> str:
    return f", … {len(value):,} in all" if len(value) > MOST_PARTS else ""


def _show_float(value: np.floating[Any]) -> str:
    return "NaN" if np.isnan(value) else str(value)


def _show_date(days: int) -> str:
    # Spark's dates go beyond the years 1 to 9999 that Python knows.
    try:
        return to_date(days).isoformat()
    except OverflowError:
        return f"{days} days after 1970-01-01"


def _show_instant(instant: Instant) -> str:
    try:
        return format_instant(instant)
    except OverflowError:
        return f"{instant} µs after 1970-01-01T00:00Z"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

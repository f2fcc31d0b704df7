"""Event logs drawn from a seed, with everything in them that time and numbers can do to a feature."""

from __future__ import annotations

import random
import struct
from decimal import Decimal as PyDecimal
from typing import Any, Final

from featurekit.clock import DAY, HOUR, parse_instant
from featurekit.types import (
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int32,
    Int64,
    String,
    Timestamp,
)

START: Final = parse_instant("2013-10-25T00:00Z")
# The instants that are asked for: New York's change to winter time lies between the first two.
AS_OFS: Final = tuple(parse_instant(f"2013-11-{day:02d}T00:00Z") for day in (3, 4, 9, 20))
LATENESS: Final = 10 * 60_000_000
WINDOWS: Final = (HOUR, DAY, 7 * DAY)
COLUMNS: Final[dict[str, DataType]] = {
    "name": String(),
    "number": Int32(),
    "event": Timestamp(),
    "created": Timestamp(),
    "id": String(),
    "b": Boolean(),
    "d": Float64(),
    "day": Date(),
    "f": Float32(),
    "i": Int64(),
    "m": Decimal(12, 2),
    "s": Int32(),
    "t": String(),
    "ts": Timestamp(),
    "w": Decimal(38, 10),
    "x": Binary(),
}
NAMES: Final = ("a", "A", " a", "a ", "", "é", "é", "𝔘", "{x}", "x|y", "a\nb", "'; --", "NULL", "\\N", "ß")
_DOUBLES: Final = (
    0.0, -0.0, 1.0, -1.0, 0.1, 1e-20, 1e16, 2.0**40, 2.0**-13, 2.0**-60, 5e-324, 1e308, -1e308, 1.5e-310,
    float("nan"), float("inf"), float("-inf"), 2.0**63, -(2.0**70), 1 / 3,
)  # fmt: skip


def drawn_log(seed: int, rows: int = 500) -> list[dict[str, Any]]:
    """Return a log: few entities, many ties, late rows, corrections, rows on each boundary of each window."""
    chance = random.Random(seed)
    names, special = chance.sample(NAMES, 6), chance.random() < 0.7
    return [_row(chance, names, special) for _ in range(rows)]


def _row(chance: random.Random, names: list[str], special: bool) -> dict[str, Any]:
    event = _event(chance)
    return {
        "name": None if chance.random() < 0.03 else chance.choice(names),
        "number": None if chance.random() < 0.03 else chance.choice((1, 2, -(2**31))),
        "event": None if chance.random() < 0.03 else event,
        "created": None if chance.random() < 0.03 else _created(chance, event),
        "id": None if chance.random() < 0.1 else f"e{chance.randrange(150)}",
        **{name: None if chance.random() < 0.1 else drawn_value(chance, name, special) for name in "bdfimstw"},
        "day": chance.choice((None, 0, -1, 16_000)),
        "ts": chance.choice((None, -1, 0, event)),
        "x": chance.choice((None, b"", b"\x00", b"\x7f", b"\x80", b"\xff\x00")),
    }


def _event(chance: random.Random) -> int:
    if chance.random() < 0.4:
        edge = chance.choice(AS_OFS) - chance.choice((0, *WINDOWS, 2 * HOUR, 2 * DAY))
        return edge + chance.choice((-1, 0, 1))
    if chance.random() < 0.05:
        return parse_instant("1969-12-31T23:59Z") + chance.choice((-1, 0, 1))
    return START + chance.randrange(28) * DAY + chance.randrange(24) * HOUR


def _created(chance: random.Random, event: int) -> int:
    if chance.random() < 0.2:
        return chance.choice(AS_OFS) + LATENESS + chance.choice((-1, 0, 1))
    return event + chance.choice((0, 0, 1, 5 * 60_000_000, HOUR, 3 * DAY, -HOUR))


def drawn_value(chance: random.Random, name: str, special: bool = True) -> Any:
    """Return a value of the column of that name; of doubles also NaN, infinities and the like where `special`."""
    match name:
        case "b":
            return chance.random() < 0.5
        case "d":
            return chance.choice(_DOUBLES) if special and chance.random() < 0.5 else chance.uniform(-100, 100)
        case "f":
            value = chance.choice((0.0, -0.0, 1.111, 3e38, chance.uniform(-5, 5)))
            narrow: float = struct.unpack("<f", struct.pack("<f", value))[0]
            return narrow
        case "i":
            return chance.choice((0, 1, -1, 2**63 - 1, -(2**63), chance.randrange(-(10**6), 10**6)))
        case "s":
            return chance.choice((0, 2**31 - 1, -(2**31), chance.randrange(-5, 5)))
        case "m":
            return PyDecimal(chance.randrange(-(10**12) + 1, 10**12)).scaleb(-2)
        case "w":
            digits = chance.choice((38, 38, 12))
            return (
                PyDecimal(chance.randrange(-(10**digits) + 1, 10**digits)).scaleb(-10)
                if digits < 38
                else (PyDecimal(chance.choice((-1, 1)) * (10**38 - 1)).scaleb(-10))
            )
        case _:
            return chance.choice(("", " ", "a", "A", "é", "𝔘", "zz"))

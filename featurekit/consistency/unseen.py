"""Keys that nobody has, made from those of the sample: what a lookup answers for them is part of what is served.

They are close to real ones, as mistakes are: with a blank at the end, in the other case, decomposed, wrapped around at
32 bits. A store or a client that takes one for the other answers with somebody else's row.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal as DecimalValue
from itertools import islice
from typing import Any, Final

from featurekit.clock import DAY
from featurekit.key_sample import key_hash
from featurekit.online.keys import entity_key_encoder
from featurekit.types import (
    DataType,
    Date,
    Decimal,
    Field,
    Float32,
    Float64,
    String,
    Timestamp,
    integer_range,
    is_integer,
)

Key = tuple[bytes, tuple[Any, ...]]
_CENTURY: Final = 36_525
_WRAP: Final = 1 << 32
_TEXTS: Final[tuple[Callable[[str], str], ...]] = (
    lambda text: f"{text} ",
    lambda text: text.swapcase(),
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: f"{text}-unseen",
)


def unseen_keys(known: Sequence[Key], keys: Sequence[Field], *, most: int, seed: str) -> list[Key]:
    """Return keys that are none of the known ones, each with its values; the same for the same known keys and seed.

    Fewer than `most` where that few differ from all known ones: of keys that are booleans alone there are two.
    """
    encode = entity_key_encoder([key.type for key in keys])
    place = key_hash(seed)
    taken = {text for text, _ in known}

    def found() -> Iterator[Key]:
        for text, values in known:
            made = _varied(values, [key.type for key in keys], place(text))
            if made is None:
                continue
            (other,) = encode([[value] for value in made])
            if other is not None and other not in taken:
                taken.add(other)
                yield other, made

    return list(islice(found(), most))


def _varied(values: tuple[Any, ...], kinds: Sequence[DataType], chance: int) -> tuple[Any, ...] | None:
    """Return the values with one of them changed; None where none of them can be another value of its type."""
    for step in range(len(values)):
        at = (chance + step) % len(values)
        other = _other(values[at], kinds[at], chance // len(values))
        if other is not None and other != values[at]:
            return (*values[:at], other, *values[at + 1 :])
    return None


def _other(value: Any, kind: DataType, chance: int) -> Any:
    if is_integer(kind):
        return _other_integer(value, kind, chance)
    match kind:
        case String():
            made = (_TEXTS[(chance + step) % len(_TEXTS)](value) for step in range(len(_TEXTS)))
            return next(other for other in made if other != value)
        case Float32() | Float64():
            return None if value != value or abs(value) > 1e30 else float(value) * 2 + 1
        case Decimal():
            other = value + DecimalValue(1)
            return other if other.adjusted() < kind.precision - kind.scale else value - DecimalValue(1)
        case Date():
            return value + _CENTURY if value < 0 else value - _CENTURY
        case Timestamp():
            return value + _CENTURY * DAY if value < 0 else value - _CENTURY * DAY
        case _:
            return None


def _other_integer(value: int, kind: DataType, chance: int) -> int:
    low, high = integer_range(kind)
    for other in (value + _WRAP, value - _WRAP):
        if low <= other <= high:
            return other
    return low + chance % (high - low + 1)

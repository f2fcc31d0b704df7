"""Text by code points. Case follows the tables recorded from the JVM, not those of the Python that happens to run."""

from __future__ import annotations

from typing import Final

from featurekit.expr.nodes import Call
from featurekit.targets.kernels.case_tables import CASED, IGNORABLE, LOWER, UPPER
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always

_INT_LOW, _INT_HIGH = -(1 << 31), (1 << 31) - 1
_SIGMA: Final = "Σ"


def _lower(value: str) -> str:
    if value.isascii():
        return value.lower()
    if _SIGMA in value:
        return "".join(_lower_sigma(value, place) if letter == _SIGMA else LOWER.get(ord(letter), letter)
                       for place, letter in enumerate(value))  # fmt: skip
    return value.translate(LOWER)


def _lower_sigma(value: str, place: int) -> str:
    """Return ς where a word ends: a letter before, none after, looking past marks, quotes and the like."""
    before = next((point for point in map(ord, reversed(value[:place])) if point not in IGNORABLE), None)
    after = next((point for point in map(ord, value[place + 1 :]) if point not in IGNORABLE), None)
    return "ς" if before in CASED and after not in CASED else "σ"


def _upper(value: str) -> str:
    return value.upper() if value.isascii() else value.translate(UPPER)


def _concat(call: Call) -> Kernel:
    return Inline(" + ".join(f"{{{index}}}" for index in range(len(call.args))))


def _substring(call: Call) -> Kernel:
    return _substring_from if len(call.args) == 2 else _substring_of


def _substring_from(value: str, position: int) -> str:
    return _substring_of(value, position, _INT_HIGH)


def _substring_of(value: str, position: int, length: int) -> str:
    """Return `length` code points from `position`: 0 means 1, negative counts from the end and may lie before it."""
    start = position - 1 if position > 0 else len(value) + position if position < 0 else 0
    end = min(start + length, _INT_HIGH)
    return value[max(start, 0) : end] if end > max(start, 0) else ""


KERNELS: Final[dict[str, Factory]] = {
    "lower": always(_lower),
    "upper": always(_upper),
    "trim": always(Inline("{0}.strip(' ')")),
    "length": always(Inline("len({0})")),
    "concat": _concat,
    "substring": _substring,
}

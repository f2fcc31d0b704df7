"""Text by code points. Case follows the tables recorded from the JVM, not those of the Python that happens to run."""

from __future__ import annotations

from itertools import chain
from typing import Any, Final

from featurekit.expr.nodes import Call, Literal
from featurekit.expr.text_forms import MAX_MADE
from featurekit.targets.kernels import text_distance, text_search
from featurekit.targets.kernels.case_tables import CASED, IGNORABLE, LOWER, TITLE, UPPER
from featurekit.targets.kernels.kernel import MOST_NESTED, Factory, Inline, Kernel, always
from featurekit.types import Binary, DataType, String

_INT_HIGH: Final = (1 << 31) - 1
_SIGMA: Final = "Σ"


def lower(value: str) -> str:
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


def _initcap(value: str) -> str:
    letters = []
    first = True
    for place, letter in enumerate(value):
        if first:
            letters.append(TITLE.get(ord(letter), letter))
        else:
            letters.append(_lower_sigma(value, place) if letter == _SIGMA else LOWER.get(ord(letter), letter))
        first = letter == " "
    return "".join(letters)


def _concat(call: Call) -> Kernel:
    if len(call.args) > MOST_NESTED:
        return _concat_many(call.type)
    return Inline(" + ".join(f"{{{index}}}" for index in range(len(call.args))))


def _concat_many(kind: DataType) -> Kernel:
    match kind:
        case String():
            return lambda *texts: "".join(texts)
        case Binary():
            return lambda *parts: b"".join(parts)
        case _:
            return lambda *arrays: tuple(chain.from_iterable(arrays))


def _concat_ws(call: Call) -> Kernel:
    """concat_ws: texts and arrays of texts; what is NULL is left away."""
    arrays = frozenset(place for place, arg in enumerate(call.args[1:]) if arg.type != String())

    def kernel(separator: str | None, *values: Any) -> str | None:
        if separator is None:
            return None
        parts: list[str | None] = []
        for place, value in enumerate(values):
            if value is not None and place in arrays:
                parts += value
            else:
                parts.append(value)
        return separator.join(part for part in parts if part is not None)

    return kernel


def _substring(call: Call) -> Kernel:
    bounds = [arg.value for arg in call.args[1:] if isinstance(arg, Literal)]
    if len(bounds) == len(call.args) - 1 and all(bound is not None and bound > 0 for bound in bounds):
        start, end = bounds[0] - 1, sum(bounds) - 1 if len(bounds) == 2 else _INT_HIGH
        return Inline("{0}[{start}:{end}]", {"start": start, "end": min(end, _INT_HIGH)})
    empty: Any = b"" if call.type == Binary() else ""

    def kernel(value: Any, position: int, length: int = _INT_HIGH) -> Any:
        # 0 means 1; negative counts from the end, and may lie before the start
        start = position - 1 if position > 0 else len(value) + position if position < 0 else 0
        end = min(start + length, _INT_HIGH)
        return value[max(start, 0) : end] if end > max(start, 0) else empty

    return kernel


def _overlay(value: Any, replacement: Any, position: int, length: int = -1) -> Any:
    count = length if length >= 0 else len(replacement)
    behind = position + count
    start = behind - 1 if behind > 0 else max(len(value) + behind, 0) if behind < 0 else 0
    return value[: max(position - 1, 0)] + replacement + value[start:]


def _pad(call: Call) -> Kernel:
    """lpad, rpad: the padding is repeated, and cut, to fill; what is longer is cut at the end."""
    left = call.function == "lpad"
    usual: Any = b"\0" if call.type == Binary() else " "

    def kernel(value: Any, length: int, padding: Any = usual) -> Any:
        if length > MAX_MADE:
            return None
        missing = length - len(value)
        if missing <= 0 or not padding:
            return value[: max(length, 0)]
        filling = (padding * (missing // len(padding) + 1))[:missing]
        return filling + value if left else value + filling

    return kernel


def _repeat(value: str, count: int) -> str | None:
    return None if len(value.encode()) * count > MAX_MADE else value * count


def _octets(factor: str) -> Factory:
    def factory(call: Call) -> Kernel:
        return Inline(f"len({{0}}{'' if call.args[0].type == Binary() else '.encode()'}){factor}")

    return factory


KERNELS: Final[dict[str, Factory]] = {
    **text_search.KERNELS,
    **text_distance.KERNELS,
    "lower": always(Inline("({0}.lower() if {0}.isascii() else {lower}({0}))", {"lower": lower})),
    "upper": always(Inline("({0}.upper() if {0}.isascii() else {upper}({0}))", {"upper": _upper})),
    "initcap": always(_initcap),
    "trim": always(Inline("{0}.strip(' ')")),
    "ltrim": always(Inline("{0}.lstrip(' ')")),
    "rtrim": always(Inline("{0}.rstrip(' ')")),
    "btrim": lambda call: Inline("{0}.strip(' ')" if len(call.args) == 1 else "{0}.strip({1})"),
    "trim_leading": always(Inline("{0}.lstrip({1})")),
    "trim_trailing": always(Inline("{0}.rstrip({1})")),
    "length": always(Inline("len({0})")),
    "octet_length": _octets(""),
    "bit_length": _octets(" * 8"),
    "concat": _concat,
    "concat_ws": _concat_ws,
    "substring": _substring,
    "left": always(Inline("{0}[:{1} if {1} > 0 else 0]")),
    "right": always(Inline("{0}[len({0}) - {1}:] if 0 < {1} < len({0}) else {0}[:0] if {1} <= 0 else {0}")),
    "lpad": _pad,
    "rpad": _pad,
    "repeat": always(_repeat),
    "space": always(Inline(f"' ' * {{0}} if {{0}} <= {MAX_MADE} else None")),
    "reverse": always(Inline("{0}[::-1]")),
    "overlay": always(_overlay),
    "quote": always(Inline("{quote}({0})", {"quote": lambda value: "'" + value.replace("'", "\\'") + "'"})),
}

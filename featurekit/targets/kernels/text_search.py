"""Parts of texts: where they are, what stands before and behind them, what they are replaced by."""

from __future__ import annotations

from typing import Final

from featurekit.expr.nodes import Call, Literal
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, always


def _locate(part: str | None, text: str | None, position: int | None = 1) -> int | None:
    if position is None:
        return 0  # also of NULL, as in Spark
    if part is None or text is None:
        return None
    if position < 1:
        return 0
    return text.find(part, position - 1) + 1 if part else 1


def _substring_index(value: str, delimiter: str, count: int) -> str:
    """Return what stands before the delimiter of that number; delimiters may share letters, as in Spark."""
    if count == 0 or not delimiter:
        return ""
    if count > 0:
        place = -1
        while count > 0:
            place = value.find(delimiter, place + 1)
            if place < 0:
                return value
            count -= 1
        return value[:place]
    end = len(value)
    while count < 0:
        place = value.rfind(delimiter, 0, end)
        if place < 0:
            return value
        end = place - 1 + len(delimiter)
        count += 1
    return value[place + len(delimiter) :]


def _split_part(value: str, delimiter: str, number: int) -> str | None:
    if number == 0:
        return None
    parts = value.split(delimiter) if delimiter else [value]
    if number > 0:
        return parts[number - 1] if number <= len(parts) else ""
    return parts[number] if -number <= len(parts) else ""


def _find_in_set(word: str, texts: str) -> int:
    if "," in word:
        return 0
    parts = texts.split(",")
    return parts.index(word) + 1 if word in parts else 0


def _replace(call: Call) -> Kernel:
    if len(call.args) == 2:
        return Inline("{0}.replace({1}, '') if {1} else {0}")
    return Inline("{0}.replace({1}, {2}) if {1} else {0}")


def _translate(call: Call) -> Kernel:
    _, source, target = call.args
    if isinstance(source, Literal) and isinstance(target, Literal) and None not in (source.value, target.value):
        return Inline("{0}.translate({table})", {"table": _table(source.value, target.value)})
    return lambda value, letters, others: value.translate(_table(letters, others))


def _table(letters: str, others: str) -> dict[int, str]:
    """Return what each letter becomes; the first of equal ones counts."""
    table: dict[int, str] = {}
    for place, letter in enumerate(letters):
        table.setdefault(ord(letter), others[place : place + 1])
    return table


KERNELS: Final[dict[str, Factory]] = {
    "instr": always(Inline("{0}.find({1}) + 1")),
    "locate": always(_locate),
    "find_in_set": always(_find_in_set),
    "startswith": always(Inline("{0}.startswith({1})")),
    "endswith": always(Inline("{0}.endswith({1})")),
    "contains": always(Inline("{1} in {0}")),
    "substring_index": always(_substring_index),
    "split_part": always(_split_part),
    "replace": _replace,
    "translate": _translate,
}

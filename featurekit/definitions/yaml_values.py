"""What a node means: YAML 1.2's numbers, booleans and text, and a clear refusal of what people read differently.

YAML 1.1, which most loaders speak, turns `on` into true, `1:30` into 90, `0123` into 83 and `{sql: coalesce(a, 0)}`
into two fields. None of these is guessed at: each is a flaw that says to quote the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from featurekit.definitions.problem import Place
from featurekit.definitions.yaml_source import Flaw, Mapping, Node, Refused, Scalar, Sequence

REFUSED: Final = object()
"""Stands for a value that was already complained about."""

DATE_FIELDS: Final = frozenset({"anchor", "known_from"})
"""Fields that hold a date or a time: there, and only there, one may stand unquoted, and stays text."""

SQL_FIELDS: Final = frozenset({"sql", "where"})
"""Fields where a quote that is opened and not closed means that YAML took the rest for a comment."""

_INT: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
_MOST_DIGITS: Final = 40  # decimal(38) and a sign; Python itself refuses to read 4,301 digits

# What YAML 1.1 or another reader takes for something else than its text, with how it would be read.
_SUSPECTS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"(?i:yes|no|on|off)|True|TRUE|False|FALSE"), "many YAML readers take it for true or false"),
    (re.compile(r"~|Null|NULL"), "YAML takes it for null"),
    (re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"), "YAML 1.1 reads it as a number in base 60"),
    (re.compile(r"[-+]?0o?[0-9]+"), "YAML readers take a leading zero for an octal number, or not"),
    (re.compile(r"[-+]?0[xb][0-9a-fA-F_]+"), "YAML 1.1 reads it as a hexadecimal or binary number"),
    (re.compile(r"[-+]?[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?"), "YAML 1.1 drops the underscores and reads a number"),
    (re.compile(r"[-+]?0[0-9]+\.[0-9]*"), "a number has no leading zeros"),
    (re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"), "YAML takes it for a float that is not finite"),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*"), "YAML 1.1 turns it into a date object"),
    (re.compile(r"="), "YAML 1.1 gives it a meaning of its own"),
)


@dataclass(slots=True)
class Reading:
    """What came out of one node: flaws, the nodes by path, and the paths whose value is not to be trusted."""

    flaws: list[Flaw] = field(default_factory=list)
    spots: dict[Place, Spot] = field(default_factory=dict)
    spoiled: set[Place] = field(default_factory=set)

    def spoil(self, path: Place, flaw: Flaw) -> object:
        self.spoiled.add(path)
        self.flaws.append(flaw)
        return REFUSED


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a path stands: its node, and the key before it (None in a sequence)."""

    node: Node
    key: Scalar | None = None

    @property
    def index(self) -> int:
        """Return the scalar's start, and the key of what is more than a scalar, or nothing."""
        is_text = isinstance(self.node, Scalar) and not self.node.is_blank
        return self.node.start if is_text or self.key is None else self.key.start


def value_of(node: Node, path: Place, text: str, reading: Reading) -> Any:
    """Return the node's value as plain data, telling `reading` what is wrong and where everything stands."""
    match node:
        case Refused():
            reading.spoiled.add(path)
            return REFUSED
        case Scalar():
            return _scalar(node, path, text, reading)
        case Sequence():
            return [_child(item, (*path, at), None, text, reading) for at, item in enumerate(node.items)]
        case Mapping():
            return _mapping(node, path, text, reading)


def _child(node: Node, path: Place, key: Scalar | None, text: str, reading: Reading) -> Any:
    reading.spots[path] = Spot(node, key)
    return value_of(node, path, text, reading)


def _scalar(node: Scalar, path: Place, text: str, reading: Reading) -> Any:
    if node.is_blank:
        name = path[-1] if path else "the file"
        index = reading.spots[path].index if path in reading.spots else node.start
        flaw = Flaw(index, f"{name} has no value", "nothing is written after it", "write its value, or remove it")
        return reading.spoil(path, flaw)
    if node.style is not None:
        return node.text
    if path and path[-1] in SQL_FIELDS and (comment := _comment_in_quotes(node, text)):
        what = f"{path[-1]} ends before {_short(comment)}"
        quoted = f'{path[-1]}: "…"'
        flaw = Flaw(node.start, what, "YAML takes # and what follows for a comment", f"quote all of it: {quoted}")
        return reading.spoil(path, flaw)
    value = plain_value(node.text, dates=bool(path) and path[-1] in DATE_FIELDS)
    return reading.spoil(path, _suspicion(node, value)) if isinstance(value, Suspect) else value


def _comment_in_quotes(node: Scalar, text: str) -> str | None:
    """Return the comment after a plain scalar that opens a quote and leaves it open."""
    rest = text[node.end :].partition("\n")[0].strip()
    is_open = any(node.text.count(quote) % 2 and quote in rest for quote in ("'", '"'))
    return rest if rest.startswith("#") and is_open else None


def _suspicion(node: Scalar, suspect: Suspect) -> Flaw:
    return Flaw(node.start, f"{_short(node.text)} is not clear without quotes", suspect.why, suspect.try_)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A plain scalar that is refused."""

    why: str
    try_: str


def plain_value(text: str, *, dates: bool = False) -> str | int | float | bool | Suspect | None:
    """Return what an unquoted scalar means: a number, true, false, null or its text; Suspect where people disagree.

    >>> plain_value("12"), plain_value("0.5"), plain_value("true"), plain_value("count(*)")
    (12, 0.5, True, 'count(*)')
    >>> plain_value("1:30").why
    'YAML 1.1 reads it as a number in base 60'
    """
    if text in ("true", "false"):
        return text == "true"
    if text == "null":
        return None
    if _INT.fullmatch(text):
        return int(text) if len(text) <= _MOST_DIGITS else Suspect("it has more digits than any type", "quote it")
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else Suspect("it is larger than any float", "quote it")
    if dates and _SUSPECTS[-2][0].fullmatch(text):
        return text
    for pattern, why in _SUSPECTS:
        if pattern.fullmatch(text):
            return Suspect(why, f'quote it where text is meant: "{text}"; write a number or true/false plainly')
    return text


def _mapping(node: Mapping, path: Place, text: str, reading: Reading) -> dict[str, Any]:
    found: dict[str, Any] = {}
    lost = _cut_fields(node)
    for cut in _cuts(node, lost):
        reading.spoiled.add((*path, cut.field.text))
        reading.flaws.append(_cut_flaw(cut, text))
    for at, (key, child) in enumerate(node.items):
        if at in lost:
            continue
        if glued := _glued(key, child):
            flaw = Flaw(
                key.start, f"a space is missing in {_short(glued)}", "a name ends at a colon and a space", "add it"
            )
            field_name = glued.partition(":")[0]
            found[field_name] = reading.spoil((*path, field_name), flaw)
            continue
        name = _key(key, reading)
        if name is None:
            continue
        if name in found:
            first = reading.spots[(*path, name)].key
            line = text.count("\n", 0, first.start) + 1 if first else 0
            flaw = Flaw(
                key.start, f"{name} is written twice", f"it stands in line {line} already", "keep one of the two"
            )
            reading.flaws.append(flaw)
            reading.spoiled.add((*path, name))
            continue
        assert isinstance(key, Scalar)
        found[name] = _child(child, (*path, name), key, text, reading)
    return found


def _glued(key: Node, child: Node) -> str | None:
    """Return the key that is a name and its value, written as `sql:count(*)`."""
    bare = isinstance(key, Scalar) and isinstance(child, Scalar) and child.is_blank and child.start == key.end
    return key.text if bare and isinstance(key, Scalar) and re.match(r"\w+:\S", key.text) else None


def _key(key: Node, reading: Reading) -> str | None:
    if isinstance(key, Refused):
        return None
    if not isinstance(key, Scalar) or key.is_blank:
        reading.flaws.append(
            Flaw(key.start, "a name is missing before the colon", "a name is one piece of text", "write `name: value`")
        )
        return None
    if key.style is not None:
        return key.text
    if key.text == "<<":
        flaw = Flaw(
            key.start, "the merge key << is not supported", "YAML 1.2 dropped it", "write the fields themselves"
        )
        reading.flaws.append(flaw)
        return None
    value = plain_value(key.text)
    if isinstance(value, Suspect):
        reading.flaws.append(_suspicion(key, value))
        return None
    if not isinstance(value, str):
        why = "YAML reads it as a number, true, false or null"
        reading.flaws.append(Flaw(key.start, f"{_short(key.text)} is not a name", why, "begin it with a letter"))
        return None
    return value


@dataclass(frozen=True, slots=True)
class _Cut:
    """A field whose plain text was cut at a comma, and the pieces after it that became fields of their own."""

    field: Scalar
    value: Scalar
    pieces: tuple[Scalar, ...]


def _cut_fields(node: Mapping) -> frozenset[int]:
    """Return the positions of keys without a value in `{…}` that are the rest of a text that had a comma in it."""
    if not node.flow:
        return frozenset()
    lost: set[int] = set()
    for at, (key, child) in enumerate(node.items):
        bare = isinstance(key, Scalar) and isinstance(child, Scalar) and child.is_blank and child.start == key.end
        before = node.items[at - 1][1] if at else None
        cut = isinstance(before, Scalar) and before.style is None and not before.is_blank
        if bare and not _glued(key, child) and (cut or at - 1 in lost):
            lost.add(at)
    return frozenset(lost)


def _cuts(node: Mapping, lost: frozenset[int]) -> Iterator[_Cut]:
    for at, (key, child) in enumerate(node.items):
        if at in lost or at + 1 not in lost or not isinstance(key, Scalar) or not isinstance(child, Scalar):
            continue
        end = at + 1
        while end in lost:
            end += 1
        pieces = [piece for piece, _ in node.items[at + 1 : end] if isinstance(piece, Scalar)]
        yield _Cut(key, child, tuple(pieces))


def _cut_flaw(cut: _Cut, text: str) -> Flaw:
    whole = text[cut.value.start : cut.pieces[-1].end]
    quote = "'" if '"' in whole and "'" not in whole else '"'
    quoted = (
        f"{quote}{whole}{quote}"
        if quote == "'"
        else f'"{whole.replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34))}"'
    )
    pieces = " and ".join(_short(piece.text) for piece in cut.pieces)
    return Flaw(
        cut.value.start,
        f"{cut.field.text} ends at a comma: it reads {_short(cut.value.text)}, and {pieces} as a field of its own",
        "inside { } a comma begins the next field",
        f"quote the text: {cut.field.text}: {quoted}",
    )


def _short(text: str) -> str:
    return f"`{text}`" if len(text) <= 40 else f"`{text[:37]}…`"

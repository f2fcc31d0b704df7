"""A reader of the online store that was written from docs/formats.md alone: nothing of featurekit is imported here.

Values are as docs/vectors writes them. What it can't do is what the page lets a reader leave out: on-demand features.
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

Type = tuple[Any, ...]

# ---------------------------------------------------------------------------------------------------------- types


def parse_type(text: str) -> Type:
    """`array<int>` -> ("array", ("int",))"""
    if text.startswith("decimal("):
        precision, scale = text[8:-1].split(",")
        return ("decimal", int(precision), int(scale))
    word, bracket, rest = text.partition("<")
    if not bracket:
        return (word,)
    parts = list(_split(rest[:-1]))
    if word == "struct":
        fields = [part.partition(":") for part in parts]
        return ("struct", [(name, parse_type(kind)) for name, _, kind in fields])
    return (word, *map(parse_type, parts))


def _split(text: str) -> Iterator[str]:
    depth = start = 0
    for at, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


# ----------------------------------------------------------------------------------------------------------- keys


def entity_key(types: Sequence[Type], values: Sequence[Any]) -> bytes | None:
    if None in values:
        return None
    return b",".join(_key_text(kind, value) for kind, value in zip(types, values, strict=True))


def _key_text(kind: Type, value: Any) -> bytes:
    match kind[0]:
        case "string":
            escaped = b"".join(
                b"%%%02X" % byte if byte < 0x20 or byte == 0x7F or byte in b"%,{}" else bytes([byte])
                for byte in value.encode()
            )
            return escaped or b"%_"
        case "binary":
            return value.encode() or b"%_"
        case "boolean":
            return b"true" if value else b"false"
        case "float" | "double":
            form = ">f" if kind[0] == "float" else ">d"
            return repr(struct.unpack(form, bytes.fromhex(value))[0] + 0.0).encode()
        case "decimal":
            number = Decimal(value)
            return f"{number or abs(number):f}".encode()
        case "date":
            return _day(value).encode()
        case "timestamp":
            return f"{_moment(int(value))}Z".encode()
        case "timestamp_ntz":
            return _moment(int(value)).encode()
        case _:
            return str(value).encode()


def _day(days: int) -> str:
    # The calendar repeats itself every 400 years, which are 146,097 days: for years that `date` lacks.
    turns, days = divmod(days, 146_097)
    moment = date(1970, 1, 1) + timedelta(days)
    year = moment.year + 400 * turns
    return f"{year:04}-{moment:%m-%d}"  # -001: four characters, the sign among them


def _moment(micros: int) -> str:
    days, rest = divmod(micros, 86_400_000_000)
    seconds, micros = divmod(rest, 1_000_000)
    return f"{_day(days)}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micros:06}"


def as_of_text(micros: int) -> str:
    text = _moment(micros).replace("-", "").replace(":", "").replace(".", "")  # 20131115T003015000001
    for zeros in ("000000", "00", "00"):
        if not text.endswith(zeros):
            break
        text = text[: -len(zeros)]
    return text


# ----------------------------------------------------------------------------------------------------------- rows


class RefusedError(Exception):
    """Bytes that are no value; the message is the reason."""


STATUSES = ("PRESENT", "NULL", "MISSING", "EXPIRED")
VARIABLE = ("string", "binary", "array", "map", "struct")


def _slot(kind: Type) -> tuple[int, int, str]:
    """The block of a type, its width, and how `struct` reads it; block 0 for void."""
    match kind:
        case ("decimal", precision, _):
            return (1, 16, "") if precision > 18 else (3, 8, "q")
        case ("double",):
            return (2, 8, "d")
        case ("bigint" | "timestamp" | "timestamp_ntz",):
            return (3, 8, "q")
        case ("float",):
            return (4, 4, "f")
        case ("int" | "date",):
            return (5, 4, "i")
        case (name, *_) if name in VARIABLE:
            return (6, 4, "I")
        case ("smallint",):
            return (7, 2, "h")
        case ("tinyint",):
            return (8, 1, "b")
        case ("boolean",):
            return (9, 1, "B")
        case _:
            return (0, 0, "")


@dataclass
class Row:
    last_event: int
    statuses: list[str]
    values: list[Any]


def decode_row(row: bytes, types: Sequence[Type], fingerprint: str, as_of: int, wanted: set[int] | None = None) -> Row:
    """Decode one row; of strings and nested values only those of the `wanted` fields."""
    slots = [_slot(kind) for kind in types]
    status_at = 24 + sum(width for _, width, _ in slots)
    fixed = status_at + -(-len(types) // 4)
    if len(row) < 24:
        raise RefusedError("BROKEN_ROW")
    if row[0] > 1 or (row[0] == 1 and row[1]):
        raise RefusedError("NEWER_ROW")
    if row[0] != 1 or row[2:8] != bytes.fromhex(fingerprint[:12]):
        raise RefusedError("FOREIGN_ROW")
    offsets, at = {}, 24
    for block in range(1, 10):
        for i, (mine, width, _) in enumerate(slots):
            if mine == block:
                offsets[i] = at
                at += width
    if len(row) < fixed:
        raise RefusedError("BROKEN_ROW")
    pieces, start = {}, 0
    for i, (block, _, _) in enumerate(slots):
        if block == 6:
            (end,) = struct.unpack_from("<I", row, offsets[i])
            if not start <= end <= len(row) - fixed:
                raise RefusedError("BROKEN_ROW")
            pieces[i] = row[fixed + start : fixed + end]
            start = end
    if fixed + start != len(row):
        raise RefusedError("BROKEN_ROW")
    stored_as_of, last_event = struct.unpack_from("<qq", row, 8)
    if stored_as_of != as_of:
        raise RefusedError("STALE_ROW")
    statuses = [STATUSES[row[status_at + i // 4] >> 2 * (i % 4) & 3] for i in range(len(types))]
    values: list[Any] = []
    for i, kind in enumerate(types):
        if wanted is not None and i not in wanted:
            values.append(None)
            continue
        if kind[0] == "decimal":
            _fixed(kind, row[offsets[i] : offsets[i] + slots[i][1]])  # refuses too many digits, whatever the status
        if statuses[i] != "PRESENT":
            values.append(None)
        elif i in pieces:
            values.append(_variable(kind, pieces[i]))
        else:
            values.append(_fixed(kind, row[offsets[i] : offsets[i] + slots[i][1]]))
    return Row(last_event, statuses, values)


def _fixed(kind: Type, stored: bytes) -> Any:
    match kind[0]:
        case "decimal":
            digits = int.from_bytes(stored, "little", signed=True)
            _require(abs(digits) < 10 ** kind[1])
            text = f"{abs(digits):0{kind[2] + 1}}"
            shown = f"{text[: -kind[2]]}.{text[-kind[2] :]}" if kind[2] else text
            return f"-{shown}" if digits < 0 else shown
        case "float" | "double":
            return stored[::-1].hex()
        case "boolean":
            return stored != b"\0"
        case "bigint" | "timestamp" | "timestamp_ntz":
            return str(int.from_bytes(stored, "little", signed=True))
        case _:
            return int.from_bytes(stored, "little", signed=True)


def _variable(kind: Type, stored: bytes) -> Any:
    values: list[Any]
    match kind[0]:
        case "string":
            try:
                return stored.decode()
            except UnicodeDecodeError:
                raise RefusedError("BROKEN_ROW") from None
        case "binary":
            return stored.hex()
        case "array":
            values, end = _run(kind[1], stored, 4, _count(stored))
        case "map":
            keys, middle = _run(kind[1], stored, 4, _count(stored))
            parts, end = _run(kind[2], stored, middle, len(keys))
            _require(None not in keys)
            values = [list(pair) for pair in zip(keys, parts, strict=True)]
        case _:
            values, end = _struct([inner for _, inner in kind[1]], stored)
    _require(end == len(stored))
    return values


def _count(stored: bytes) -> int:
    _require(len(stored) >= 4)
    return int.from_bytes(stored[:4], "little")


def _run(kind: Type, stored: bytes, at: int, count: int) -> tuple[list[Any], int]:
    bits, at = _take(stored, at, -(-count // 8))
    nulls = _null_bits(bits, count)
    block, width, _ = _slot(kind)
    fixed, at = _take(stored, at, count * width)
    slots = [fixed[i * width : (i + 1) * width] for i in range(count)]
    if block != 6:
        return [_part(kind, slot, i in nulls) for i, slot in enumerate(slots)], at
    values, start = [], 0
    for i, slot in enumerate(slots):
        end = int.from_bytes(slot, "little")
        _require(start <= end <= len(stored) - at)
        values.append(_part(kind, stored[at + start : at + end], i in nulls))
        start = end
    return values, at + start


def _struct(kinds: Sequence[Type], stored: bytes) -> tuple[list[Any], int]:
    bits, at = _take(stored, 0, -(-len(kinds) // 8))
    nulls = _null_bits(bits, len(kinds))
    body = at + sum(_slot(kind)[1] for kind in kinds)
    values, start = [], 0
    for i, kind in enumerate(kinds):
        block, width, _ = _slot(kind)
        piece, at = _take(stored, at, width)
        if block == 6:
            end = int.from_bytes(piece, "little")
            _require(start <= end <= len(stored) - body)
            piece, start = stored[body + start : body + end], end
        values.append(_part(kind, piece, i in nulls))
    return values, body + start


def _part(kind: Type, piece: bytes, is_null: bool) -> Any:
    if is_null:
        _require(not any(piece) and (_slot(kind)[0] != 6 or not piece))
        return None
    _require(kind != ("void",))
    if kind == ("boolean",):
        _require(piece in (b"\0", b"\1"))
    return _variable(kind, piece) if _slot(kind)[0] == 6 else _fixed(kind, piece)


def _take(stored: bytes, at: int, size: int) -> tuple[bytes, int]:
    _require(at + size <= len(stored))
    return stored[at : at + size], at + size


def _null_bits(bits: bytes, count: int) -> set[int]:
    found = {i for i in range(8 * len(bits)) if bits[i // 8] >> i % 8 & 1}
    _require(not found or max(found) < count)
    return found


def _require(holds: bool) -> None:
    if not holds:
        raise RefusedError("BROKEN_ROW")


# ---------------------------------------------------------------------------------------------------------- heads


class Pick(NamedTuple):
    as_of: int
    restatement: int
    live: int | None  # the number of the space that is written in place
    is_overwritten: bool  # a later refresh is listed that was written into the same space


def pick(head: bytes | None, delay: int, at: int) -> Pick | None:
    """The refresh that answers a request at an instant."""
    document: dict[str, Any] = {"format": 1, "entries": []} if head is None else json.loads(head)
    if document["format"] not in (1, 2):
        raise ValueError("a head of a later format")
    found = None
    entries = document["entries"]
    for place, (as_of, again, visible_from, _, _, *live) in enumerate(entries, start=1):
        if visible_from <= at and (live or as_of + delay <= at):
            is_overwritten = bool(live) and any(later[5:] == live for later in entries[place:])
            found = Pick(as_of, again, live[0] if live else None, is_overwritten)
    return found


# --------------------------------------------------------------------------------------------------------- lookups


class Store(Protocol):
    def mget(self, keys: Sequence[bytes]) -> list[bytes | None]: ...


class Resp:
    """As much of Redis' protocol as a reader needs: MGET."""

    def __init__(self, address: tuple[str, int] | str) -> None:
        if isinstance(address, str):
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(address)
        else:
            self._socket = socket.create_connection(address)
        self._file = self._socket.makefile("rb")

    def mget(self, keys: Sequence[bytes]) -> list[bytes | None]:
        parts = [b"MGET", *keys]
        self._socket.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        count = self._file.readline()
        assert count == b"*%d\r\n" % len(keys), count
        return [self._bulk() for _ in keys]

    def _bulk(self) -> bytes | None:
        size = int(self._file.readline()[1:])
        return None if size < 0 else self._file.read(size + 2)[:-2]

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@dataclass
class Answer:
    """By output: its value, its status, and the reason of one that is not PRESENT; by view: the as-of that answered."""

    values: dict[str, Any]
    statuses: dict[str, str]
    reasons: dict[str, str]
    as_of: dict[str, int | None]


class NotRegisteredError(Exception):
    pass


class Reader:
    def __init__(self, store: Store, project: str, environment: str) -> None:
        self._store = store
        self._place = f"{project}:{environment}"
        self._prefix = f"fk:{self._place}:".encode()

    def lookup(self, service: str, entity: Mapping[str, Any], at: int) -> Answer:
        for _ in range(10):
            pointer, plan = self._plan(service)
            heads = [self._key(f"head:{view['view']}@{view['fingerprint'][:8]}") for view in plan["views"]]
            seen = self._store.mget(heads)
            picks = self._picks(plan, seen, at)
            spaces = [
                None if found is None else f"{view['view']}@{view['fingerprint'][:8]}:{space_text(found)}"
                for view, found in zip(plan["views"], picks, strict=True)
            ]
            keys = [_entity_key(view, entity) for view in plan["views"]]
            markers = [self._key(f"space:{space}") if space else None for space in spaces]
            rows = [
                None if space is None or key is None else self._prefix + b"{" + key + b"}:" + space.encode()
                for space, key in zip(spaces, keys, strict=True)
            ]
            wanted = [self._pointer(service), *heads, *(key for key in (*markers, *rows) if key)]
            found = dict(zip(wanted, self._store.mget(wanted), strict=True))
            if found[wanted[0]] != pointer or self._picks(plan, [found[head] for head in heads], at) != picks:
                continue
            return _answer(
                plan,
                picks,
                [marker is not None and found[marker] is not None for marker in markers],
                [None if row is None else found[row] for row in rows],
            )
        raise TimeoutError("the plan or the heads changed ten times")

    def _plan(self, service: str) -> tuple[bytes, dict[str, Any]]:
        (pointer,) = self._store.mget([self._pointer(service)])
        if pointer is None:
            raise NotRegisteredError(service)
        fingerprint, _, digits = pointer.decode().partition(".")
        name = service.partition("@")[0]
        (body,) = self._store.mget([self._key(f"plan:{name}@{fingerprint[:16]}.{digits}")])
        if body is None:
            raise LookupError("the store lost its data")
        if not hashlib.sha256(body).hexdigest().startswith(digits):
            raise ValueError("other bytes than the pointer names")
        plan: dict[str, Any] = json.loads(body)
        if plan["format"] != 1:
            raise ValueError("a plan of a later format")
        return pointer, plan

    def _picks(self, plan: dict[str, Any], heads: Sequence[bytes | None], at: int) -> list[Pick | None]:
        views = zip(plan["views"], heads, strict=True)
        return [pick(head, view["grid"]["availability_delay"], at) for view, head in views]

    def _pointer(self, service: str) -> bytes:
        return self._key(f"service:{{{self._place}}}:{service}")

    def _key(self, rest: str) -> bytes:
        return self._prefix + rest.encode()


def space_text(found: Pick) -> str:
    name, number = (as_of_text(found.as_of), found.restatement) if found.live is None else ("live", found.live)
    return name + (f"~{number}" if number else "")


def _entity_key(view: Mapping[str, Any], entity: Mapping[str, Any]) -> bytes | None:
    keys = view["keys"]
    return entity_key([parse_type(key["type"]) for key in keys], [entity[key["request"]] for key in keys])


def _answer(
    plan: Mapping[str, Any],
    picks: Sequence[Pick | None],
    are_there: Sequence[bool],
    rows: Sequence[bytes | None],
) -> Answer:
    cells: dict[str, tuple[Any, str, str | None]] = {}
    outputs = [output["name"] for output in plan["outputs"]]
    for view, found, is_there, row in zip(plan["views"], picks, are_there, rows, strict=True):
        names = [f"{view['alias']}.{field['name']}" for field in view["fields"]]
        wanted = {i for i, name in enumerate(names) if name in outputs}
        cells |= zip(names, _view_cells(view, found, is_there, row, wanted), strict=True)
    shown = [name for name in outputs if name in cells]  # the others are on demand
    return Answer(
        values={name: cells[name][0] for name in shown},
        statuses={name: cells[name][1] for name in shown},
        reasons={name: reason for name in shown if (reason := cells[name][2]) is not None},
        as_of={
            view["alias"]: found.as_of if found is not None and is_there else None
            for view, found, is_there in zip(plan["views"], picks, are_there, strict=True)
        },
    )


def _view_cells(
    view: Mapping[str, Any], found: Pick | None, is_there: bool, row: bytes | None, wanted: set[int]
) -> list[tuple[Any, str, str | None]]:
    fields = view["fields"]
    if found is None:
        return [(None, "UNAVAILABLE", "NO_REFRESH")] * len(fields)
    if not is_there:
        return [(None, "UNAVAILABLE", "KEY_SPACE_DROPPED")] * len(fields)
    types = [parse_type(field["type"]) for field in fields]
    as_of, ahead = found.as_of, None
    if found.live is not None and row is not None and _is_of(row, view["fingerprint"]):
        (written,) = struct.unpack_from("<q", row, 8)
        if written < as_of:
            row = None
        elif written > as_of:
            as_of, ahead = written, "AHEAD"
    if row is None:
        ahead = "AHEAD" if found.is_overwritten else None
        values = [_literal(field["empty"], kind) for field, kind in zip(fields, types, strict=True)]
        statuses = [
            "MISSING" if field["latest"] else ("NULL" if value is None else "PRESENT")
            for field, value in zip(fields, values, strict=True)
        ]
    else:
        try:
            decoded = decode_row(row, types, view["fingerprint"], as_of, wanted)
        except RefusedError as refused:
            return [(None, "UNAVAILABLE", str(refused))] * len(fields)
        values, statuses = decoded.values, decoded.statuses
    cells: list[tuple[Any, str, str | None]] = []
    for field, kind, value, status in zip(fields, types, values, statuses, strict=True):
        default = _literal(field["default"], kind)
        if status != "PRESENT" and default is not None:
            cells.append((default, "DEFAULTED", ahead or status))
        else:
            cells.append((value if status == "PRESENT" else None, status, ahead))
    return cells


def _is_of(row: bytes, fingerprint: str) -> bool:
    return len(row) >= 24 and row[:8] == b"\1\0" + bytes.fromhex(fingerprint[:12])


def _literal(written: Mapping[str, Any] | None, kind: Type) -> Any:
    """A value as a plan writes it."""
    if written is None:
        return None
    assert written["version"] == 1
    return _constant(written["node"]["lit"], kind)


def _constant(value: Any, kind: Type) -> Any:
    if value is None:
        return None
    match kind[0]:
        case "double" | "float":
            form = ">d" if kind[0] == "double" else ">f"
            return struct.pack(form, float.fromhex(value)).hex()
        case "bigint" | "timestamp" | "timestamp_ntz":
            return str(value)
        case "array":
            return [_constant(part, kind[1]) for part in value]
        case "map":
            return [[_constant(key, kind[1]), _constant(part, kind[2])] for key, part in value]
        case "struct":
            return [_constant(part, inner) for part, (_, inner) in zip(value, kind[1], strict=True)]
        case _:
            return value

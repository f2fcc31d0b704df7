"""The proof that nothing is kept of some entities: a walk of its own over all that there is, which finds what is left.

It shares no step with the erasure. Rows are found by decoded values and not by key texts or hashes; files by what lies
in the folders and not by what any manifest lists; and the bytes of each file are searched for the key as it is spelled.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from featurekit.arrow_types import for_arrow, to_arrow
from featurekit.erasing import Entities, Places, logged
from featurekit.online.keys import SEPARATOR
from featurekit.plan import LookupPlan
from featurekit.served_columns import input_column
from featurekit.types import DataType, Float32, Float64

TELLING_BYTES: Final = 6
"""From this length on a key's text is looked for in bytes of all kinds: a shorter one is found by chance."""
MOST_SPELLED: Final = 200
"""Of so many keys at most the bytes of files are searched for: each costs a search of its own."""
_RUNTIME: Final = "java"  # in the state folder, as it was unpacked


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something of the entities that is there: rows, or bytes that spell a key."""

    place: str
    where: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """How much the walk has looked at, and what it found.

    `findings` are rows of the entities; `mentions` are files whose bytes spell a key, in whatever sense; `unread` could
    not be looked into.
    """

    online_keys: int
    files: int
    rows: int
    findings: tuple[Finding, ...]
    mentions: tuple[str, ...]
    unread: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        return not self.findings and not self.unread


def look(asked: Entities, places: Places) -> Looked:
    """Walk over the online store, the history, the served log and the state folder; return what is there."""
    findings: list[Finding] = []
    unread: list[str] = []
    keys = 0
    columns = {view: {tuple(key.name for key in each) for each in all_} for view, all_ in places.views().items()}
    versions: dict[str, int] = {}
    for key in places.store.find(places.namespace.prefix):
        keys += 1
        if (version := _row_of(key, places.namespace.row_prefix(), asked, columns)) is not None:
            versions[version] = versions.get(version, 0) + 1
    findings += [Finding(place="online", where=version, rows=rows) for version, rows in sorted(versions.items())]
    files = rows = 0
    for place, path, names in _tables(asked, places, columns):
        files += 1
        try:
            read, found = _rows_in(path, names, asked)
        except (pa.ArrowException, OSError) as error:
            if path.exists():
                unread.append(f"{path}: {str(error).splitlines()[0]}")
            continue
        rows += read
        if found:
            findings.append(Finding(place=place, where=str(path), rows=found))
    unread += [
        f"{path}: the plan that answered is not in the registry" for path, plan in logged(places) if plan is None
    ]
    return Looked(
        online_keys=keys,
        files=files,
        rows=rows,
        findings=tuple(findings),
        mentions=tuple(sorted(str(path) for path in _mentioning(asked, places))),
        unread=tuple(unread),
    )


def _row_of(key: bytes, prefix: bytes, asked: Entities, columns: dict[str, set[tuple[str, ...]]]) -> str | None:
    """Return the view version of a row's key that is of one of the entities."""
    found = re.fullmatch(re.escape(prefix) + rb"([^{}]*)\}:(([A-Za-z0-9_]+)@[0-9a-f]+):.*", key, re.DOTALL)
    if found is None:
        return None
    parts = found[1].split(b",")
    for names in columns.get(found[3].decode(), ()):
        named = dict(zip(names, parts, strict=False)) if len(names) == len(parts) else {}
        if set(asked.scope) <= named.keys() and b",".join(named[name] for name in asked.scope) in asked.texts:
            return found[2].decode()
    return None


Names = tuple[tuple[str, ...], ...]
"""What a file calls the join keys of the entities' scope, in each role they have in it."""


def _tables(
    asked: Entities, places: Places, columns: dict[str, set[tuple[str, ...]]]
) -> Iterator[tuple[str, Path, Names]]:
    for path in sorted(places.history.root.rglob("*.parquet")):
        view = path.relative_to(places.history.root).parts[0]
        tiles = {
            tuple(f"$key{names.index(name)}" for name in asked.scope)
            for names in columns.get(view, ())
            if set(asked.scope) <= set(names)
        }
        yield "history", path, (asked.scope, *sorted(tiles))
    for path, plan in logged(places):
        if plan is not None:
            yield "served log", path, _logged_names(asked, plan)


def _logged_names(asked: Entities, plan: LookupPlan) -> Names:
    found = set()
    for view in plan.views:
        requests = {key.name: input_column(key.request) for key in view.keys}
        if set(asked.scope) <= requests.keys():
            found.add(tuple(requests[name] for name in asked.scope))
    return tuple(sorted(found))


def _rows_in(path: Path, names: Names, asked: Entities) -> tuple[int, int]:
    """Return how many rows a file has, and how many are of the entities, by value; statistics that show one count."""
    with pq.ParquetFile(path) as file:
        there = set(file.schema_arrow.names)
        roles = [role for role in names if set(role) <= there]
        found = 0
        for role in roles:
            kinds = [file.schema_arrow.field(name).type for name in role]
            stored = [values for row in asked.values if (values := _as_stored(row, asked, kinds)) is not None]
            if not stored:
                continue
            wanted = frozenset(map(_told, stored))
            first = pa.array([row[0] for row in stored], kinds[0])
            if pa.types.is_floating(kinds[0]):  # a log has what was asked for, and that may be the other zero
                first = pa.concat_arrays([first, pc.negate(first)])
            for batch in file.iter_batches(columns=list(role), use_threads=False):
                near = batch.filter(pc.is_in(batch.column(role[0]), value_set=first))
                rows = zip(*(near.column(name).to_pylist() for name in role), strict=True)
                found += sum(_told(row) in wanted for row in rows)
        return file.metadata.num_rows, found


def _told(row: Sequence[Any]) -> tuple[Any, ...]:
    """Return values as they compare: one NaN, one zero."""
    return tuple("NaN" if value != value else value + 0.0 if isinstance(value, float) else value for value in row)


def _as_stored(row: Sequence[Any], asked: Entities, kinds: Sequence[pa.DataType]) -> tuple[Any, ...] | None:
    """Return an entity's values as a file with columns of these types has them; None where it can't have them."""
    try:
        return tuple(
            _arrow(value, field.type).cast(kind)[0].as_py()
            for value, field, kind in zip(row, asked.fields, kinds, strict=True)
        )
    except pa.ArrowException:
        return None


def _arrow(value: Any, kind: DataType) -> pa.Array:
    arrow = to_arrow(kind)
    if pa.types.is_temporal(arrow):
        return pa.array([value], pa.int32() if arrow.bit_width == 32 else pa.int64()).view(arrow)
    if isinstance(kind, Float32 | Float64) and value is not None:
        value += 0.0
    return pa.array([for_arrow(value, kind)], arrow)


def _mentioning(asked: Entities, places: Places) -> Iterator[Path]:
    """Yield the files of ours whose bytes spell one of the keys; those of the first MOST_SPELLED."""
    texts = sorted(asked.texts)[:MOST_SPELLED]
    spelled = [b"{%b}" % text for text in texts]
    spelled += [text for text in texts if len(text) >= TELLING_BYTES and SEPARATOR not in text]
    for row in asked.values[:MOST_SPELLED]:
        spelled += [value.encode() for value in row if isinstance(value, str) and len(value) >= TELLING_BYTES]
    pattern = re.compile(b"|".join(map(re.escape, dict.fromkeys(spelled))))
    roots = {places.history.root, places.state, *([places.served_log] if places.served_log else [])}
    seen: set[Path] = set()
    for root in sorted(roots):
        for path in sorted(root.rglob("*")):
            if path.is_file() and not path.is_relative_to(places.state / _RUNTIME) and path not in seen:
                seen.add(path)
                if _spells(path, pattern):
                    yield path


def _spells(path: Path, pattern: re.Pattern[bytes]) -> bool:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return pattern.search(content) is not None
    except (ValueError, FileNotFoundError):  # empty, or gone meanwhile
        return False

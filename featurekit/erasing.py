"""Entities forgotten: refused from now on, then taken out of every place that keeps something of them.

    tombstones ─▶ the log's writers, runs that began before ─▶ online rows ─▶ clients' caches ─▶ history, drafts, tiles
        ─▶ served log ─▶ registry texts ─▶ the embedded server's own file

In this order: what is refused first can't come back behind what was erased. A run that was under way when an entity was
forgotten ends without publishing (`leasing`), and is waited for. Each step can be run again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from featurekit.clock import Instant, format_instant
from featurekit.errors import RefreshRunningError
from featurekit.leasing import leased
from featurekit.offline.history import History
from featurekit.offline.history_erasure import (
    Erased,
    Sought,
    drop_if_held,
    erase_refresh,
    refresh_folders,
    tiles_of,
)
from featurekit.offline.history_folder import DRAFT, BrokenRefresh, read_entry
from featurekit.online.embedded import rewrite_log
from featurekit.online.erased_rows import erase_rows, is_of_scope, tell_caches
from featurekit.online.forgotten import Forgotten, named_rows
from featurekit.online.keys import SEPARATOR, Namespace, entity_key_encoder
from featurekit.online.served_log_erasure import (
    await_writers,
    drop_leftover,
    erase_from_log,
    finders,
    log_paths,
    told_of,
    tombstones_file,
    write_tombstones,
)
from featurekit.online.store import OnlineStore
from featurekit.plan import LookupPlan
from featurekit.registry.registry import Registry
from featurekit.tombstones import Scope
from featurekit.types import Field, String, is_integer

WAIT_LIMIT_S: Final = 600.0
_POLL_S: Final = 0.2
_SHOWN: Final = 78
_REMOVED: Final = "(taken out: it held the key of an entity that was forgotten)"

Random = Callable[[int], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entities:
    """Entities by their join keys: `fields` in the order of the scope's names, `values` of them as `types` says.

    `texts` are their key texts.
    """

    entity: str
    fields: tuple[Field, ...]
    values: tuple[tuple[Any, ...], ...]
    texts: frozenset[bytes]

    @property
    def scope(self) -> Scope:
        return tuple(field.name for field in self.fields)


def entities(entity: str, keys: Sequence[Field], rows: Sequence[Mapping[str, Any]]) -> Entities:
    """Return entities whose join keys are given by name, held as `types` says."""
    fields = tuple(sorted(keys, key=lambda field: field.name))
    values = tuple(tuple(row[field.name] for field in fields) for row in rows)
    columns = list(zip(*values, strict=True))
    texts = entity_key_encoder([field.type for field in fields])(columns) if columns else ()
    # One whose key is NULL is no entity.
    return Entities(
        entity=entity, fields=fields, values=values, texts=frozenset(text for text in texts if text is not None)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """All that keeps something of an entity; the embedded server, where it is used, lies in the `state` folder."""

    registry: Registry
    store: OnlineStore
    namespace: Namespace
    history: History
    served_log: Path | None
    state: Path
    is_embedded: bool
    plans: tuple[LookupPlan, ...]
    holder: str

    def views(self) -> dict[str, tuple[tuple[Field, ...], ...]]:
        """Return the join keys of each view, as all of its versions had them."""
        found: dict[str, dict[tuple[Field, ...], None]] = {}
        for view in (view for plan in self.plans for view in plan.views):
            keys = tuple(Field(key.name, key.type, nullable=False) for key in view.keys)
            found.setdefault(view.view, {})[keys] = None
        return {view: tuple(keys) for view, keys in found.items()}

    def versions(self) -> tuple[tuple[str, str], ...]:
        """Return view and fingerprint of all view versions there ever were."""
        plans = ((view.view, view.fingerprint) for plan in self.plans for view in plan.views)
        return tuple(dict.fromkeys((*plans, *self.history.versions())))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceErased:
    """What was taken out of one place: rows, by where they were."""

    place: str
    where: str
    rows: int


def refuse(asked: Entities, places: Places, *, at: Instant, random: Random) -> int:
    """Refuse the entities from now on: no refresh, training set or log has them; return how many were not yet."""
    new = places.registry.forget(asked.scope, asked.texts, at=at, random=random)
    _tell_log(places)
    return new


def admit(asked: Entities, places: Places, *, at: Instant) -> int:
    """Refuse the entities no longer; return how many were. Rows come back by the next refreshes, which are full."""
    ended = places.registry.remember(asked.scope, asked.texts, at=at)
    _tell_log(places)
    return ended


def _tell_log(places: Places) -> None:
    if places.served_log is not None:
        namespace = places.namespace
        # Also where nothing was logged yet: what is forgotten must not be the first.
        file = tombstones_file(places.served_log, namespace.project, namespace.environment)
        write_tombstones(file, places.registry.tombstones())


def erase(asked: Entities, places: Places, *, random: Random, wait_s: float = WAIT_LIMIT_S) -> Iterator[PlaceErased]:
    """Take the entities out of every place, and yield what was found where; `refuse` them first.

    RefreshRunningError where a run that began before does not end within `wait_s`.
    """
    scope, texts = asked.scope, asked.texts
    await_runs(places, scope, wait_s=wait_s)
    is_of = is_of_scope(scope, texts, {view: [_names(keys) for keys in each] for view, each in places.views().items()})
    for version, rows in erase_rows(places.store, places.namespace, is_of).items():
        yield PlaceErased(place="online", where=version, rows=rows)
    # All clients', whatever they keep: also of entities that were forgotten by a run that died here.
    tell_caches(places.store, places.namespace, random(8).hex().encode())
    for erased in _from_history(asked, places, wait_s):
        yield PlaceErased(place="history", where=str(erased.where), rows=erased.rows)
    yield from _from_log(asked, places)
    if found := places.registry.texts_that(holder_of(asked), instead=_REMOVED):
        yield PlaceErased(place="registry", where=str(places.registry), rows=found)
    if places.is_embedded:
        rewrite_log(places.state)


def await_runs(places: Places, scope: Scope, *, wait_s: float) -> None:
    """Wait for runs that may not know yet what is forgotten: those that hold a lease now."""
    keys = places.views()
    concerned = [
        version
        for version in places.versions()
        if any(set(scope) <= set(_names(each)) for each in keys.get(version[0], ())) or version[0] not in keys
    ]
    running = {version: as_ofs for version in concerned if (as_ofs := places.registry.leased(*version))}
    deadline = time.monotonic() + wait_s
    while running:
        if time.monotonic() >= deadline:
            (view, _), as_ofs = next(iter(running.items()))
            raise RefreshRunningError(
                f"{view} as of {format_instant(min(as_ofs))} is being computed since before",
                where=str(places.registry),
                why="it will not publish what was forgotten meanwhile, but has it on disk until it ends",
                try_="wait for it, then run this again: what is refused already stays so",
            )
        time.sleep(_POLL_S)
        running = {
            version: left for version, as_ofs in running.items() if (left := as_ofs & places.registry.leased(*version))
        }


def _names(keys: Sequence[Field]) -> tuple[str, ...]:
    return tuple(key.name for key in keys)


def seek_of(asked: Entities, keys: Sequence[Field], columns: Sequence[str] = ()) -> Sought | None:
    """Return what finds the entities in a file whose join keys are these; None where there can be none of them."""
    found = named_rows(asked.scope, asked.texts, keys, columns)
    if not found:
        return None
    reach = {
        column.name: sorted({_stored(row[at]) for row in asked.values if row[at] is not None})
        for scoped in found.scopes
        for at, column in enumerate(scoped.columns)
        if column.type == asked.fields[at].type and (is_integer(column.type) or isinstance(column.type, String))
    }
    names = tuple(column.name for scoped in found.scopes for column in scoped.columns)
    return Sought(columns=names, mask=found.mask, reach={name: values for name, values in reach.items() if values})


def _stored(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def _from_history(asked: Entities, places: Places, wait_s: float) -> Iterator[Erased]:
    seek = partial(seek_of, asked)
    keys = places.views()
    for home in sorted(places.history.root.glob("*/*")):
        for folder in refresh_folders(home):
            with suppress(FileNotFoundError):  # dropped meanwhile, which is as well
                if (erased := _from_refresh(folder, home, seek, places, wait_s)) is not None:
                    yield erased
        for each in keys.get(home.parent.name, ()):
            columns = tuple(f"$key{at}" for at in range(len(each)))
            renamed = partial(_seek_tiles, asked, each, columns)
            if tiles_of(home).is_dir() and (erased := drop_if_held(tiles_of(home), renamed, each)) is not None:
                yield erased


def _seek_tiles(asked: Entities, keys: Sequence[Field], columns: Sequence[str], _: Sequence[Field]) -> Sought | None:
    return seek_of(asked, keys, columns)


def _from_refresh(
    folder: Path, home: Path, seek: Callable[[Sequence[Field]], Sought | None], places: Places, wait_s: float
) -> Erased | None:
    entry = read_entry(folder)
    if isinstance(entry, BrokenRefresh):
        versions = [each for each in places.versions() if each[0] == home.parent.name]
        running = {at for view, fingerprint in versions for at in places.registry.leased(view, fingerprint)}
        # A draft without its record is of a run that is at work, and knows by now; or of one that died.
        return None if folder.name.startswith(DRAFT) and running else drop_if_held(folder, seek)
    try:
        with leased(places.registry, entry.view, entry.fingerprint, (entry.as_of,), holder=places.holder):
            return erase_refresh(folder, seek) if folder.exists() else None
    except RefreshRunningError:
        await_runs(places, (), wait_s=wait_s)
        with leased(places.registry, entry.view, entry.fingerprint, (entry.as_of,), holder=places.holder, wait=True):
            return erase_refresh(folder, seek) if folder.exists() else None


def log_finders(asked: Entities, plan: LookupPlan) -> tuple[Forgotten, ...]:
    """Return what finds the entities in the log's rows of a plan."""
    return finders(plan, partial(named_rows, asked.scope, asked.texts))


def logged(places: Places) -> Iterator[tuple[Path, LookupPlan | None]]:
    """Yield the log's files of this project and environment, with the plan that answered; None where it is lost."""
    plans = {plan.fingerprint: plan for plan in places.plans}
    namespace = places.namespace
    for path in log_paths(places.served_log) if places.served_log is not None else ():
        told = told_of(path)
        if told is not None and (told["project"], told["environment"]) == (namespace.project, namespace.environment):
            yield path, plans.get(told["fingerprint"])


def _from_log(asked: Entities, places: Places) -> Iterator[PlaceErased]:
    if places.served_log is None or not places.served_log.is_dir():
        return
    for path in await_writers(places.served_log):
        drop_leftover(path)
    for path, plan in logged(places):
        found = () if plan is None else log_finders(asked, plan)
        if found and (erased := erase_from_log(path, found)) is not None:
            yield PlaceErased(place="served log", where=str(erased.where), rows=erased.rows)


def holder_of(asked: Entities) -> Callable[[str], bool]:
    """Return what tells texts that name one of the entities, each part of its key as a word of its own.

    A key is spelled as the store has it, or as people read its values.
    """
    encode = entity_key_encoder([field.type for field in asked.fields])
    keys = []
    for values in asked.values:
        (text,) = encode([[value] for value in values])
        if text is not None:
            parts = (part.decode(errors="replace") for part in text.split(SEPARATOR))
            keys.append([_spelled(part, value) for part, value in zip(parts, values, strict=True)])
    return lambda text: any(all(spelled.search(text) for spelled in parts) for parts in keys)


def _spelled(part: str, value: Any) -> re.Pattern[str]:
    """Return what finds one part of a key: a value of its type, and its text in the store."""
    # A report shows a string with its escapes, and of a long one the beginning.
    forms = {part, str(value), repr(value)[1:-1][:_SHOWN]} if isinstance(value, str) else {part, str(value)}
    return re.compile(rf"(?<![\w.])(?:{'|'.join(re.escape(form) for form in sorted(forms) if form)})(?![\w.])")

"""A lookup as steps without I/O: what to read next, given what was read. Clients, sync or not, only carry the bytes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Final

from featurekit.clock import Instant
from featurekit.errors import KeyTypeError, NotRegisteredError, OnlineStoreError
from featurekit.online.answer import AnswerPlan, ViewRows
from featurekit.online.keys import KeyTexts, Namespace
from featurekit.online.planned import Pick, PlannedService
from featurekit.online.reason import Reason
from featurekit.online.result import Features
from featurekit.online.store import Value
from featurekit.plan import decode_plan

Steps = Generator[list[bytes], list[Value], Features]
"""Yields keys to read in one round trip, is sent their values, and returns the answer."""

_TRIES: Final = 10


class Lookups:
    """Answers lookups from what it has learned of services and heads so far; safe to share by threads.

    A request takes one round trip: the rows of the refreshes that are known, and with them the service's pointer, the
    heads and the markers, which tell whether what is known still holds. Where it does not, the request begins again.
    """

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._services: dict[str, tuple[PlannedService, AnswerPlan]] = {}

    def steps(self, service: str, entities: Any, request: Any, at: Instant) -> Steps:
        """Return the steps of one lookup; everything in it is as of `at`."""
        known = self._services.get(service)
        for _ in range(_TRIES):
            if known is None:
                known = yield from self.load(service)
            planned, answers = known
            try:
                columns = planned.accept(entities, request)
            except KeyTypeError:
                latest = yield from self.load(service)
                if latest is known:
                    raise
                known = latest  # the request may be right for what is published now
                continue
            keys = planned.entity_keys(columns.values)
            picks = [view.head.at(at) for view in planned.views]
            values = yield _keys_to_read(planned, picks, keys)
            if values[0] != planned.pointer:
                known = None  # readers were moved to another version: answer with that one throughout
                continue
            if not _heads_still_say(planned, picks, values, at):
                continue
            views = _views(planned, picks, keys, values)
            return Features(
                answers, columns, views, service=planned.plan.service, fingerprint=planned.plan.fingerprint, at=at
            )
        raise OnlineStoreError(
            f"{service} could not be looked up: its plan or its heads changed {_TRIES} times meanwhile",
            why="each try found other refreshes than the one before",
            try_="see what keeps writing heads",
        )

    def load(self, service: str) -> Generator[list[bytes], list[Value], tuple[PlannedService, AnswerPlan]]:
        """Return a service as it is published now."""
        pointer_key = self._namespace.pointer(service)
        (pointer,) = yield [pointer_key]
        if pointer is None:
            self._services.pop(service, None)
            raise NotRegisteredError(
                f"service {service!r} is not registered",
                where=f"project {self._namespace.project}, environment {self._namespace.environment}",
            )
        known = self._services.get(service)
        if known is not None and known[0].pointer == pointer:
            return known
        key = self._namespace.plan(service, pointer)
        (body,) = yield [key]
        if body is None:
            raise OnlineStoreError(
                f"the lookup plan of {service} is gone",
                where=key.decode(),
                why="its pointer is there and its body is not: the store lost data, or somebody deleted keys",
                try_="featurekit register publishes it again",
            )
        planned = PlannedService(decode_plan(body), self._namespace, pointer_key=pointer_key, pointer=pointer)
        loaded = planned, AnswerPlan(planned)
        self._services[service] = loaded
        return loaded


def _keys_to_read(planned: PlannedService, picks: Sequence[Pick | None], keys: Sequence[KeyTexts]) -> list[bytes]:
    """Return the pointer, the heads, the markers of the picked refreshes, and their rows: in that order."""
    wanted = [planned.pointer_key, *planned.head_keys]
    wanted += [pick.marker for pick in picks if pick is not None]
    prefix = planned.row_prefix
    for view, pick in zip(planned.views, picks, strict=True):
        if pick is not None:
            suffix = pick.row_suffix
            wanted += [prefix + key + suffix for key in keys[view.encoder] if key is not None]
    return wanted


def _heads_still_say(
    planned: PlannedService, picks: Sequence[Pick | None], values: Sequence[Value], at: Instant
) -> bool:
    """Learn the heads just read; return whether they lead to the same picks."""
    for i, view in enumerate(planned.views):
        if values[1 + i] != view.head.content:
            view.update_head(values[1 + i])
    for view, pick in zip(planned.views, picks, strict=True):
        now = view.head.at(at)
        if now is not pick and now != pick:
            return False
    return True


def _views(
    planned: PlannedService,
    picks: Sequence[Pick | None],
    keys: Sequence[KeyTexts],
    values: Sequence[Value],
) -> list[ViewRows]:
    markers = 1 + len(planned.views)
    rows = markers + sum(pick is not None for pick in picks)
    found = []
    for view, pick in zip(planned.views, picks, strict=True):
        if pick is None:
            found.append(ViewRows(rows=(), as_of=None, reason=Reason.NO_REFRESH))
            continue
        texts = keys[view.encoder]
        count = len(texts) - texts.count(None)
        mine = values[rows : rows + count]
        rows += count
        is_there = values[markers] is not None
        markers += 1
        if not is_there:
            found.append(ViewRows(rows=(), as_of=None, reason=Reason.KEY_SPACE_DROPPED))
        elif count == len(texts):
            found.append(ViewRows(rows=mine, as_of=pick.as_of))
        else:
            # A NULL join key is an entity without a row.
            each = iter(mine)
            found.append(ViewRows(rows=[None if key is None else next(each) for key in texts], as_of=pick.as_of))
    return found

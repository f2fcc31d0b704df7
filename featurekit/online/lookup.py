"""A lookup as steps without I/O: what to read next, given what was read. Clients, sync or not, only carry the bytes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any, Final

from featurekit.clock import Instant
from featurekit.errors import KeyTypeError, NotRegisteredError, OnlineStoreError, StoreEmptyError
from featurekit.on_unavailable import Instead
from featurekit.online.answer import AnswerPlan, ViewRows
from featurekit.online.cache import KeptValues
from featurekit.online.counts import Counts
from featurekit.online.degrade import LastKnown, check_available, reason_of
from featurekit.online.in_place import rows_in_place
from featurekit.online.keys import SERVICE_VERSION, KeyTexts, Namespace, leads_to
from featurekit.online.planned import Pick, PlannedService, Selection
from featurekit.online.publish import decode_names
from featurekit.online.reason import Reason
from featurekit.online.request import Columns, did_you_mean
from featurekit.online.result import Features
from featurekit.online.store import Value
from featurekit.plan import decode_plan

Steps = Generator[list[bytes], list[Value], Features]
"""Yields keys to read in one round trip, is sent their values, and returns the answer.

An OnlineStoreError is thrown in where they could not be read.
"""

Known = tuple[PlannedService, AnswerPlan]

_TRIES: Final = 10


class Lookups:
    """Answers lookups from what it has learned of services and heads so far; safe to share by threads.

    A request takes one round trip: the rows of the refreshes that are known, and with them the service's pointer, the
    heads and the markers, which tell whether what is known still holds. Where it does not, the request begins again.
    Where the store has no answer, the service's `on_unavailable` says what stands in for it.
    """

    def __init__(self, namespace: Namespace, last_known: LastKnown, counts: Counts) -> None:
        self._namespace = namespace
        self._services: dict[str, Known] = {}
        self._last_known = last_known
        self._counts = counts

    def steps(self, service: str, entities: Any, request: Any, at: Instant) -> Steps:
        """Return the steps of one lookup; everything in it is as of `at`."""
        known = self._services.get(service)
        try:
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
                if planned.keeps_rows and self._last_known.is_due():
                    yield from self._hear_of_erasures()
                asked_s = self._last_known.now() if planned.keeps_rows else 0.0
                keys = planned.entity_keys(columns.values)
                selection = planned.select(at)
                values = yield _keys_to_read(planned, selection, keys)
                contents = values[: len(selection.contents)]
                if contents != selection.contents:
                    if contents[0] != planned.pointer:
                        known = None  # readers were moved to another version: answer with that one throughout
                        continue
                    if not planned.still_selects(selection, contents[1:], at):
                        continue
                views = _views(planned, selection, keys, values)
                if planned.on_unavailable is not None:
                    read_s = asked_s - values.age_s if isinstance(values, KeptValues) else asked_s
                    views = self._completed(planned, selection.picks, keys, views, at, read_s)
                return _features(answers, columns, views, at)
            raise OnlineStoreError(
                f"{service} could not be looked up: its plan or its heads changed {_TRIES} times meanwhile",
                why="each try found other refreshes than the one before",
                try_="see what keeps writing heads",
            )
        except OnlineStoreError as error:
            # What was known before the store went away still says what stands in.
            known = self._services.get(service)
            if known is None or not known[0].answers_without(error):
                raise
            return self._without_store(known, entities, request, at, reason_of(error))

    def load(self, service: str) -> Generator[list[bytes], list[Value], Known]:
        """Return a service as it is published now; `service@number` is a registered version of it."""
        pointer_key = self._namespace.pointer(service)
        pointer, names = yield [pointer_key, self._namespace.names]
        known = self._services.get(service)
        if pointer is None:
            raise self._has_no_pointer(service, names)
        if known is not None and known[0].pointer == pointer:
            return known
        key = self._namespace.plan(service, pointer)
        (body,) = yield [key]
        if body is None:
            now, _ = yield [pointer_key, self._namespace.names]
            if now != pointer:  # readers were moved on meanwhile, and the plan was collected
                return (yield from self.load(service))
            raise StoreEmptyError(
                f"the lookup plan of {service} is gone",
                where=key.decode(),
                why="its pointer is there and its body is not: the store lost data, or somebody deleted keys",
                try_="featurekit register publishes it again",
            )
        if not leads_to(pointer, body):
            raise OnlineStoreError(
                f"the lookup plan of {service} is not the one that its pointer names",
                where=key.decode(),
                why="its bytes have another hash: they were damaged, or overwritten by hand",
                try_="delete the key, then featurekit register publishes it again",
            )
        planned = PlannedService(decode_plan(body), self._namespace, pointer_key=pointer_key, pointer=pointer)
        loaded = planned, AnswerPlan(planned, self._counts)
        self._services[service] = loaded
        return loaded

    def known_name(self, service: str) -> str:
        """Return the name of a service that has been loaded, empty for any other."""
        known = self._services.get(service)
        return "" if known is None else known[0].plan.service

    def services(self) -> Generator[list[bytes], list[Value], tuple[str, ...]]:
        """Return the names of all services that are published now, sorted."""
        (names,) = yield [self._namespace.names]
        return tuple(sorted(decode_names(names)))

    def _has_no_pointer(self, service: str, names: Value) -> NotRegisteredError | StoreEmptyError:
        """Return what to say of a service without a pointer; forget it where it was withdrawn."""
        where = f"project {self._namespace.project}, environment {self._namespace.environment}"
        registered = decode_names(names)
        # The names are written with the first pointer, and a service is taken out before its pointer goes.
        is_lost = service in registered if names is not None else service in self._services
        if is_lost:
            return StoreEmptyError(
                f"the online store has lost {service}: its pointer is gone",
                where=where,
                why="it restarted without its data, or somebody deleted keys",
                try_="featurekit register publishes it again, featurekit materialize its values",
            )
        if names is None:
            return NotRegisteredError(
                f"service {service!r} is not registered: the online store holds no service at all",
                where=where,
                why="nobody has registered one, or the store has lost its data",
                try_="featurekit register",
            )
        self._services.pop(service, None)
        name, _, number = service.partition(SERVICE_VERSION)
        return NotRegisteredError(
            f"service {service!r} is not registered",
            where=where,
            why=f"version {number} was dropped, or never registered" if name in registered else None,
            try_=did_you_mean(service, registered) or "featurekit register",
        )

    def _completed(
        self,
        planned: PlannedService,
        picks: Sequence[Pick | None],
        keys: Sequence[KeyTexts],
        views: list[ViewRows],
        at: Instant,
        read_s: float = 0.0,
    ) -> list[ViewRows]:
        """Return the views, the last known rows in place of those that are unavailable, where they may stand in."""
        policy = planned.on_unavailable
        if policy is None or policy.instead is not Instead.LAST_KNOWN:
            return views
        completed = []
        for view, pick, found in zip(planned.views, picks, views, strict=True):
            texts = keys[view.encoder]
            if found.as_of is not None and pick is not None:
                if found.reasons is not None:  # rows that are ahead of the refresh they would be remembered as
                    codes = found.reasons.tolist()
                    texts = [None if code else key for key, code in zip(texts, codes, strict=True)]
                self._last_known.remember(view, pick, texts, found.rows, read_s)
                completed.append(found)
                continue
            recalled = self._last_known.recall(view, texts, at=at, max_age=policy.max_age, otherwise=found.reason)
            completed.append(found if recalled is None else recalled)
        return completed

    def _hear_of_erasures(self) -> Generator[list[bytes], list[Value], None]:
        """Forget what is kept where an entity was erased since; before rows are read, so that none is from before."""
        self._last_known.put_off()  # first: other lookups need not ask as well while this one waits
        with suppress(OnlineStoreError):  # what is kept is forgotten when the store can say again
            (token,) = yield [self._namespace.erased]
            self._last_known.heard(token)

    def _without_store(self, known: Known, entities: Any, request: Any, at: Instant, reason: Reason) -> Features:
        planned, answers = known
        columns = planned.accept(entities, request)
        keys = planned.entity_keys(columns.values)
        views = [ViewRows(rows=(), as_of=None, reason=reason)] * len(planned.views)
        views = self._completed(planned, [None] * len(views), keys, views, at)
        return _features(answers, columns, views, at)


def _features(answers: AnswerPlan, columns: Columns, views: list[ViewRows], at: Instant) -> Features:
    plan = answers.plan
    features = Features(answers, columns, views, service=plan.service, fingerprint=plan.fingerprint, at=at)
    if plan.on_unavailable is not None and plan.on_unavailable.instead is Instead.ERROR:
        check_available(features)
    return features


def _keys_to_read(planned: PlannedService, selection: Selection, keys: Sequence[KeyTexts]) -> list[bytes]:
    """Return the pointer, the heads, the markers of the picked refreshes, and their rows: in that order."""
    wanted = selection.fixed.copy()
    prefix = planned.row_prefix
    for view, pick in zip(planned.views, selection.picks, strict=True):
        if pick is not None:
            suffix = pick.row_suffix
            wanted += [prefix + key + suffix for key in keys[view.encoder] if key is not None]
    return wanted


def _views(
    planned: PlannedService, selection: Selection, keys: Sequence[KeyTexts], values: Sequence[Value]
) -> list[ViewRows]:
    picks, markers, rows = selection.picks, len(selection.contents), len(selection.fixed)
    as_ofs = selection.as_ofs
    if as_ofs is not None and None not in values[markers:rows]:
        count = len(keys[0])
        if count and len(values) == rows + count * len(as_ofs):
            # All entities have all their keys, and nothing is to be said of any view: what most requests are.
            begins = range(rows, len(values), count)
            return [ViewRows(values[i : i + count], as_of) for i, as_of in zip(begins, as_ofs, strict=True)]
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
            continue
        if count < len(texts):
            # A NULL join key is an entity without a row.
            each = iter(mine)
            mine = [None if key is None else next(each) for key in texts]
        if pick.is_live:
            mine, reasons = rows_in_place(mine, pick, view.codec.identity)
            found.append(ViewRows(rows=mine, as_of=pick.as_of, reasons=reasons))
        else:
            found.append(ViewRows(rows=mine, as_of=pick.as_of))
    return found

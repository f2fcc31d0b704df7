"""Lookup plans in the online store: bodies that never change, and for each service a pointer to the one that counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass

from featurekit.online.keys import SERVICE_VERSION, Namespace, pointer_text
from featurekit.online.store import OnlineStore, ReadableStore, Value
from featurekit.plan import LookupPlan, encode_plan


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanBody:
    """An encoded plan, as it was registered and is published: bytes that never change."""

    service: str
    fingerprint: str
    content: bytes

    @classmethod
    def of(cls, plan: LookupPlan) -> PlanBody:
        return cls(service=plan.service, fingerprint=plan.fingerprint, content=encode_plan(plan))

    @property
    def pointer(self) -> bytes:
        """What a service's pointer holds when its readers are to get this plan."""
        return pointer_text(self.fingerprint, self.content)


def publish_plans(store: OnlineStore, namespace: Namespace, bodies: Iterable[PlanBody]) -> None:
    """Write the bodies; no reader moves yet."""
    values = {namespace.plan(body.service, body.pointer): body.content for body in bodies}
    if values:
        store.write(values)


def switch_services(store: OnlineStore, namespace: Namespace, pointers: Mapping[str, bytes]) -> None:
    """Move the readers of the named services to these plans, all in one step; the bodies must be published.

    `service@number` is a version that readers are pinned to: it is no service of its own in any list.
    """
    if pointers:
        store.write({namespace.pointer(service): pointer for service, pointer in pointers.items()})
        listed = {service for service in pointers if SERVICE_VERSION not in service}
        if listed:
            _change_names(store, namespace, lambda names: names | listed)


def withdraw_services(store: OnlineStore, namespace: Namespace, services: Iterable[str]) -> None:
    """Let lookups of these services say that they are not registered."""
    gone = set(services)
    if any(SERVICE_VERSION not in service for service in gone):
        # Names first: a pointer that is gone while the name is there is one that the store has lost.
        _change_names(store, namespace, lambda names: names - gone)
    for service in sorted(gone):
        store.change(namespace.pointer(service), lambda _: None)


def published_services(store: ReadableStore, namespace: Namespace) -> tuple[str, ...]:
    """Return the names of all published services, sorted.

    They are kept under a key of their own, for hints and listings: to look for pointers would be to walk all rows.
    """
    (content,) = store.read([namespace.names])
    return tuple(sorted(decode_names(content)))


def decode_names(content: Value) -> set[str]:
    """Return the names that are kept under `Namespace.names`."""
    return set(json.loads(content)) if content else set()


def _change_names(store: OnlineStore, namespace: Namespace, change: Callable[[set[str]], Set[str]]) -> None:
    store.change(namespace.names, lambda content: json.dumps(sorted(change(decode_names(content)))).encode())

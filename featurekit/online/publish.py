"""Lookup plans in the online store: bodies that never change, and for each service a pointer to the one that counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Set

from featurekit.online.keys import Namespace
from featurekit.online.store import OnlineStore, ReadableStore, Value
from featurekit.plan import LookupPlan, encode_plan


def publish_plans(store: OnlineStore, namespace: Namespace, plans: Iterable[LookupPlan]) -> None:
    """Write the plans' bodies; no reader moves yet."""
    bodies = {namespace.plan(plan.service, plan.fingerprint): encode_plan(plan) for plan in plans}
    if bodies:
        store.write(bodies)


def switch_services(store: OnlineStore, namespace: Namespace, fingerprints: Mapping[str, str]) -> None:
    """Move the readers of the named services to these plans, all in one step; the bodies must be published."""
    pointers = {namespace.pointer(service): fingerprint.encode() for service, fingerprint in fingerprints.items()}
    if pointers:
        store.write(pointers)
        _change_names(store, namespace, lambda names: names | fingerprints.keys())


def withdraw_services(store: OnlineStore, namespace: Namespace, services: Iterable[str]) -> None:
    """Let lookups of these services say that they are not registered."""
    gone = set(services)
    for service in sorted(gone):
        store.change(namespace.pointer(service), lambda _: None)
    if gone:
        _change_names(store, namespace, lambda names: names - gone)


def published_services(store: ReadableStore, namespace: Namespace) -> tuple[str, ...]:
    """Return the names of all published services, sorted.

    They are kept under a key of their own, for hints and listings: to look for pointers would be to walk all rows.
    """
    (content,) = store.read([namespace.names])
    return tuple(sorted(_names(content)))


def _names(content: Value) -> set[str]:
    return set(json.loads(content)) if content else set()


def _change_names(store: OnlineStore, namespace: Namespace, change: Callable[[set[str]], Set[str]]) -> None:
    store.change(namespace.names, lambda content: json.dumps(sorted(change(_names(content)))).encode())

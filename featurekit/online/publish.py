"""Lookup plans in the online store: bodies that never change, and for each service a pointer to the one that counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from featurekit.online.keys import Namespace
from featurekit.online.store import OnlineStore, ReadableStore
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


def withdraw_services(store: OnlineStore, namespace: Namespace, services: Iterable[str]) -> None:
    """Let lookups of these services say that they are not registered."""
    for service in services:
        store.change(namespace.pointer(service), lambda _: None)


def published_services(store: ReadableStore, namespace: Namespace) -> tuple[str, ...]:
    """Return the names of all published services, sorted."""
    prefix = namespace.pointer("")
    return tuple(sorted({key.removeprefix(prefix).decode() for key in store.find(prefix)}))

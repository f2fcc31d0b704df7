"""How a view is served at an instant: by which plan, from which refresh."""

from __future__ import annotations

from dataclasses import dataclass

from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledView
from featurekit.errors import NotRegisteredError
from featurekit.online.client import FeatureClient
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.refresh import read_head
from featurekit.online.store import ReadableStore
from featurekit.plan import PlanView


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A view that is served: by which plan, and from which key space."""

    view: CompiledView
    plan: PlanView
    space: KeySpace


@dataclass(frozen=True, slots=True, kw_only=True)
class NotServed:
    """A view of which nothing can be compared, and why; `error` where nobody registered it."""

    view: CompiledView
    problem: str
    error: NotRegisteredError | None = None


def find_serving(
    view: CompiledView, *, client: FeatureClient, store: ReadableStore, namespace: Namespace, at: Instant
) -> Serving | NotServed:
    """Return how the view is served to a request at an instant, or why it can't be compared."""
    try:
        plans = client.plan(view.name).views
    except NotRegisteredError as error:
        return NotServed(view=view, problem=error.what, error=error)
    if [(plan.view, plan.alias) for plan in plans] != [(view.name, view.name)]:
        problem = (
            "a service has the view's name, so the view can't be looked up by itself\nGive the service another name."
        )
        return NotServed(view=view, problem=problem)
    (plan,) = plans
    if plan.fingerprint != view.fingerprint.data:
        problem = (
            f"{plan.view}@{plan.fingerprint[:8]} is served, and these definitions say {view.fingerprint.data[:8]}\n"
            "Register and materialize the view, or check with the definitions that are deployed."
        )
        return NotServed(view=view, problem=problem)
    space = KeySpace(namespace=namespace, view=view.name, fingerprint=plan.fingerprint, as_of=0)
    entry = read_head(store, space).at(at)
    if entry is None:
        problem = (
            f"no refresh is served at {format_instant(at)}\n"
            f"The view's head ({space.head.decode()}) lists none that is visible by then, or is not there. "
            "Materialize it."
        )
        return NotServed(view=view, problem=problem)
    return Serving(view=view, plan=plan, space=space.at(entry.as_of, entry.restatement, entry.live))

"""docs/online.md: its tables are what really comes back, and its Python runs."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pytest
import yaml

from featurekit.clock import DAY, HOUR
from featurekit.definitions.base import WRITTEN
from featurekit.definitions.service import FeatureService, ServiceFeatures
from featurekit.errors import FeaturekitError
from featurekit.on_unavailable import Instead, OnUnavailable
from featurekit.online.breaker import Breaker
from featurekit.online.client import FeatureClient
from featurekit.online.keys import KeySpace, Namespace
from featurekit.online.publish import PlanBody, publish_plans, switch_services
from featurekit.online.reason import Reason
from featurekit.online.redis import RedisStore
from featurekit.online.refresh import drop_space
from featurekit.online.retries import Retries
from featurekit.status import Status
from featurekit.types import Float64, Int64, String
from tests.docs.pages import ROOT, blocks_of, table
from tests.online.deployments import Server, emptied, standalone
from tests.online.servers import NAMESPACE, materialize, offline_batch, plan_field, service_plan, view_plan

PAGE: Final = ROOT / "docs" / "online.md"
AS_OF: Final = 20 * DAY
NOON: Final = AS_OF + 12 * HOUR
ASKED: Final = {"carrier": "UA"}
VIEW: Final = view_plan(
    [plan_field("flights_7d", Int64(), empty=0, default=0), plan_field("mean_delay_7d", Float64())],
    name="punctuality",
    keys={"carrier": String()},
)


@pytest.fixture(scope="module")
def module_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with standalone(tmp_path_factory.mktemp("store"), "valkey") as server:
        yield server


@pytest.fixture
def server(module_server: Server) -> Iterator[Server]:
    with emptied(module_server) as server:
        yield server


def world(server: Server, policy: OnUnavailable | None) -> None:
    store = RedisStore(server.url)
    body = PlanBody.of(replace(service_plan(VIEW, name="flight_delay"), on_unavailable=policy))
    publish_plans(store, NAMESPACE, [body])
    switch_services(store, NAMESPACE, {body.service: body.pointer})
    rows = [{"carrier": carrier, "flights_7d": 12, "mean_delay_7d": 3.5} for carrier in ("UA", "DL")]
    materialize(store, server.url, VIEW, AS_OF, offline_batch(VIEW, rows), completed_at=AS_OF)
    store.close()


def client_of(server: Server, **options: Any) -> FeatureClient:
    given = {"clock": lambda: NOON, "retries": Retries(tries=1), "timeout_ms": 10_000, **options}
    return FeatureClient(server.url, project=NAMESPACE.project, environment=NAMESPACE.environment, **given)


def policy_of(written: str) -> OnUnavailable | None:
    """Return what a cell of the page declares, read as in a file."""
    if written == "nothing declared":
        return None
    declared = yaml.safe_load(written.strip("`"))
    service = FeatureService.model_validate(
        {"name": "s", "features": (ServiceFeatures(view="v"),), "on_unavailable": declared},
        context=WRITTEN,
    )
    return service.on_unavailable


def told(client: FeatureClient, timeout_ms: float = 10_000) -> list[str]:
    """Return what a lookup comes to, as the page writes it: an error's name, or each value, status and reason."""
    try:
        found = client.lookup("flight_delay", ASKED, timeout_ms=timeout_ms)
    except FeaturekitError as error:
        return [type(error).__name__] * len(VIEW.fields)
    return [
        f"{value}, {Status(status).name}, {Reason(reason).name}"
        for value, status, reason in zip(
            found.to_dict().values(), found.statuses[0].tolist(), found.reasons[0].tolist(), strict=True
        )
    ]


POLICIES: Final = list(table(PAGE, "`on_unavailable`"))
FAILURES: Final = list(table(PAGE, "what happened"))


def test_the_table_of_policies_has_all() -> None:
    policies = [policy_of(written) for written, *_ in POLICIES]
    assert policies[0] is None
    assert [policy.instead for policy in policies[1:] if policy is not None] == list(Instead)


@pytest.mark.parametrize(("written", "flights", "mean"), POLICIES, ids=[row[0] for row in POLICIES])
def test_each_policy_gives_what_its_line_says(server: Server, written: str, flights: str, mean: str) -> None:
    world(server, policy_of(written))
    with client_of(server) as client:
        assert told(client) == ["12, PRESENT, NONE", "3.5, PRESENT, NONE"]
        server.kill()
        assert told(client) == [flights, mean]


@pytest.mark.parametrize(("how", "undeclared", "error", "reason"), FAILURES, ids=[row[3] for row in FAILURES])
def test_each_failure_gives_what_its_line_says(
    server: Server, how: str, undeclared: str, error: str, reason: str
) -> None:
    columns = ((None, undeclared), (OnUnavailable(Instead.ERROR), error), (OnUnavailable(Instead.NULL), "UNAVAILABLE"))
    for policy, expected in columns:
        if server.process is None:
            server.start()
        world(server, policy)
        with client_of(server, breaker=Breaker(failures=1 if reason == "BREAKER_OPEN" else 99)) as client:
            client.lookup("flight_delay", ASKED)
            _fail(server, client, reason)
            _, found = told(client, 150 if reason == "STORE_TIMEOUT" else 10_000)
        if server.process is not None:
            server.resume()
        assert found == (f"None, UNAVAILABLE, {reason}" if expected == "UNAVAILABLE" else expected), how


def _fail(server: Server, client: FeatureClient, reason: str) -> None:
    store = RedisStore(server.url)
    space = KeySpace(namespace=NAMESPACE, view=VIEW.view, fingerprint=VIEW.fingerprint, as_of=AS_OF)
    match Reason[reason]:
        case Reason.STORE_UNREACHABLE:
            server.kill()
        case Reason.STORE_TIMEOUT:
            server.pause()
        case Reason.BREAKER_OPEN:
            server.kill()
            told(client)
        case Reason.STORE_EMPTY:
            server.kill()
            server.start()
        case Reason.NO_REFRESH:
            store.change(space.head, lambda _: None)
        case Reason.KEY_SPACE_DROPPED:
            drop_space(store, space)
        case Reason.BROKEN_ROW:
            store.write({space.row(b"UA"): b"\x01"})
        case other:
            raise AssertionError(other)
    store.close()


def test_every_reason_is_on_the_page() -> None:
    named = [name for cells in table(PAGE, "reason") for name in cells[0].split(", ")]
    assert sorted(named) == sorted(reason.name for reason in Reason)


def test_the_examples_run(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.online.servers.NAMESPACE", Namespace("flights", "prod"))
    monkeypatch.setattr(f"{__name__}.NAMESPACE", Namespace("flights", "prod"))
    world(server, None)
    blocking, awaiting, caching = (
        block.text.replace("redis://localhost:6379", server.url).replace("timeout_ms=50", "timeout_ms=10000")
        for block in blocks_of("python", (PAGE,))
    )
    names: dict[str, Any] = {}
    exec(compile(blocking, str(PAGE), "exec"), names)
    assert names["features"].to_dict() == {"punctuality.flights_7d": 12, "punctuality.mean_delay_7d": 3.5}
    patient = awaiting.replace("timeout_ms=20)", "timeout_ms=10000)")
    asyncio.run(eval(compile(patient, str(PAGE), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names))
    assert names["features"].to_arrow().column("punctuality.flights_7d").to_pylist() == [12, 12]
    exec(compile(caching, str(PAGE), "exec"), names)
    with names["client"] as client:
        assert client.lookup("flight_delay", {"carrier": "UA"}).to_dict()["punctuality.flights_7d"] == 12

"""`pin`, `unpin`, `rollback`, `gc` and `model delete`, and what `status` says of versions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from featurekit.apply import register
from featurekit.clock import DAY, HOUR
from featurekit.compiler import compile_repository
from featurekit.definitions.repo import load_repo
from featurekit.online.keys import Namespace
from featurekit.online.refresh import begin_refresh, complete_refresh
from featurekit.registry.desired import desired_state
from featurekit.registry.registry import Registry
from tests.cli.conftest import Cli
from tests.cli.served import AS_OF, NOW, Served
from tests.serving.onnx_models import echo

LATER = "2026-01-10T12:00Z"


def registry_of(served: Served) -> Registry:
    settings = served.settings
    return Registry(
        settings.registry, project=settings.project, environment=settings.environment, models=settings.models
    )


@pytest.fixture
def moved(served: Served, folder: Path) -> Served:
    """The project, whose readers moved to a second version with a refresh of the same time."""
    (file,) = (folder / "feature_defs").glob("*.yaml")
    file.write_text(file.read_text().replace("window: 7d", "window: 8d"))
    definitions = compile_repository(load_repo(served.settings.definitions, root=folder), folder)
    namespace = Namespace(served.settings.project, served.settings.environment)
    registry = registry_of(served)
    complete(served, registry)
    register(desired_state(definitions), registry, served.store, namespace, NOW)
    space = replace(served.space, fingerprint=definitions.views["customer_spend"].fingerprint.data)
    after = replace(served, definitions=definitions, space=space)
    after.serve()
    complete(after, registry)
    register(desired_state(definitions), registry, served.store, namespace, NOW + HOUR)
    assert registry.deployed().serving["checkout"].number == 2
    return after


def complete(served: Served, registry: Registry) -> None:
    """Put the refresh that `serve` wrote on record."""
    space = served.space
    registry.confirm_refresh(
        view=space.view,
        fingerprint=space.fingerprint,
        as_of=AS_OF,
        restatement=0,
        completed_at=AS_OF,
        visible_from=AS_OF,
        rows=2,
    )


def test_a_pin_is_listed_where_it_matters_and_keeps_the_version(cli: Cli, moved: Served) -> None:
    shown = cli("pin", "checkout@1", "--by", "mobile app", "--now", LATER)
    assert shown.stdout == "checkout@1 is pinned by mobile app: it stays, and `materialize` refreshes it\n"
    assert "checkout@1  mobile app" in cli("pin").stdout
    status = cli("status")
    assert "pinned by mobile app" in status.stdout
    registered = cli("status", "--json").document["registered"]
    kept = {(one["name"], one["version"]): one for one in registered["kept_versions"]}
    assert kept[("checkout", 1)]["needed_by"] == ["pinned by mobile app"]
    assert kept[("customer_spend", 1)]["needed_by"] == ["checkout@1, pinned by mobile app"]
    assert kept[("customer_spend", 1)]["late"] is False
    assert cli("gc", "--json", "--now", LATER).document["views"] == []

    assert cli("lookup", "checkout@1", "customer_id=1", "basket_amount=61.25", "--now", LATER).exit_code == 0
    assert cli("unpin", "checkout@1", "--by", "mobile app", "--now", "2026-01-10T13:00Z").exit_code == 0
    waits = cli("gc", "--now", "2026-01-10T13:30Z")
    assert "customer_spend@1 stays for the grace: needed by nobody since 2026-01-10T13:00Z" in waits.stdout
    would = cli("gc", "--dry-run", "--now", "2026-01-10T14:00Z")
    assert "would drop 2 rows and 4 other things" in would.stdout
    done = cli("gc", "--now", "2026-01-10T14:00Z", "--json").document
    # The view as a service of its own was pinned by nobody: that went before.
    assert (done["services"], done["views"], done["rows"]) == (["checkout@1"], ["customer_spend@1"], 2)
    gone = cli("lookup", "checkout@1", "customer_id=1", "basket_amount=61.25", "--now", LATER)
    assert gone.exit_code == 2
    assert "version 1 was dropped, or never registered" in gone.stderr


def test_a_registration_goes_back_and_forward_and_status_says_so(cli: Cli, moved: Served) -> None:
    back = cli("rollback", "--registration", "2", "--now", LATER)
    assert back.exit_code == 0, back.stderr
    assert "serving checkout v1 instead of v2" in back.stdout
    assert "registration 2 is rolled back: featurekit rollback --registration 2 --forward" in cli("status").stdout
    again = cli("rollback", "--registration", "2", "--now", LATER)
    assert (again.exit_code, "it is rolled back already" in again.stderr) == (2, True)
    moves = cli("rollback", "--registration", "2", "--forward", "--json", "--now", LATER).document["moves"]
    assert {"service": "checkout", "from": 1, "version": 2} in moves


def test_a_refresh_goes_back_and_forward(cli: Cli, moved: Served) -> None:
    space = moved.space.at(AS_OF + DAY)
    begun = begin_refresh(moved.store, space, expires_in_s=3600)
    grid = moved.definitions.views["customer_spend"].view.grid
    complete_refresh(moved.store, begun, grid=grid, completed_at=AS_OF + DAY, rows=0)

    back = cli("rollback", "customer_spend", "--now", LATER)
    assert back.stdout == (
        "withdrawn: customer_spend@2 as of 2026-01-09T00:00Z\ncustomer_spend@2 serves as of 2026-01-08T00:00Z\n"
    )
    forward = cli("rollback", "customer_spend", "--forward", "--now", LATER, "--json").document
    assert forward["serves"] == {"as_of": "2026-01-09T00:00Z", "restatement": 0}
    assert forward["brought_back"] == [{"as_of": "2026-01-09T00:00Z", "restatement": 0}]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("rollback",), "give a view or a registration"),
        (("rollback", "v", "--registration", "1"), "give a view or a registration"),
        (("rollback", "v", "--to", "2026-01-01", "--forward"), "--to is for a view that goes back"),
        (("pin", "checkout@1"), "say who reads it"),
        (("unpin", "checkout@1"), "say whose pin it is"),
        (("gc", "--grace", "soon"), "soon"),
    ],
)
def test_wrong_usage_is_told(cli: Cli, project: Path, words: tuple[str, ...], told: str) -> None:
    shown = cli(*words)
    assert (shown.exit_code, told in shown.stderr) == (2, True), shown.stderr


def test_a_deleted_model_is_gone_and_its_number_is_not_given_again(cli: Cli, served: Served, folder: Path) -> None:
    words = ("model", "register", "again", "--onnx", str(echo(folder / "again.onnx", 1)), "--service", "checkout")
    columns = ("--column", "customer_spend.orders_7d")
    assert cli(*words, *columns).exit_code == 0
    deleted = cli("model", "delete", "again")
    assert deleted.stdout == "deleted again v1, of checkout@1\n"
    assert cli("model", "list").stdout == "no model is registered\n"
    assert cli("model", "delete", "again").exit_code == 2
    assert "model again v2" in cli(*words, *columns).stdout

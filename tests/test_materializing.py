"""Many refreshes: one bad view is its own affair, an outage is everybody's, and what is done is always told."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from featurekit.errors import (
    FeaturekitError,
    GateError,
    NotRegisteredError,
    OnlineStoreError,
    RegistryError,
    SettingsError,
    SourceError,
)
from featurekit.materializing import MaterializeErrors, refresh_each
from featurekit.refresh_values import RefreshOutcome
from tests.registry.states import TODAY

GATE = GateError("mean_1d is not between 0 and 1", where="2 of 3 rows", try_="look at the source")
AWAY = OnlineStoreError("the online store can't be reached")


def outcome(view: str) -> RefreshOutcome:
    return RefreshOutcome(
        view=view,
        fingerprint="9f3c" * 16,
        as_of=TODAY,
        restatement=0,
        visible_from=TODAY,
        rows=3,
        bytes=100,
        invisible=0,
        is_new=True,
        moved=(),
    )


def run(views: str, errors: Mapping[str, BaseException], **more: Any) -> tuple[RefreshOutcome, ...]:
    """Refresh views of one letter each; those in `errors` raise."""

    def refresh(view: Any, as_of: int) -> RefreshOutcome:
        assert as_of == TODAY
        if view.name in errors:
            raise errors[view.name]
        return outcome(view.name)

    wanted: list[Any] = [(SimpleNamespace(name=name), TODAY) for name in views]
    return refresh_each(wanted, refresh, **more)


def failed(views: str, errors: Mapping[str, BaseException]) -> tuple[str, str, str, int]:
    """Return which views are served, which failed, which were not tried, and the exit code."""
    with pytest.raises(MaterializeErrors) as caught:
        run(views, errors)
    found = caught.value
    served, bad = (each.view for each in found.outcomes), (each.view for each in found.failures)
    return "".join(served), "".join(bad), "".join(view for view, _ in found.left), found.exit_code


@pytest.mark.parametrize(
    "error", [GATE, SourceError("the source is not there"), NotRegisteredError("feature view 'b' is not registered")]
)
def test_a_view_that_fails_takes_no_other_with_it(error: FeaturekitError) -> None:
    assert failed("abcd", {"b": error}) == ("acd", "b", "", 2)


@pytest.mark.parametrize("error", [AWAY, RegistryError("the registry is busy")])
def test_after_an_outage_the_rest_is_not_tried_and_what_is_done_is_told(error: FeaturekitError) -> None:
    assert failed("abcd", {"a": GATE, "c": error}) == ("b", "ac", "d", 3)


def test_wrong_settings_are_told_once_and_not_for_each_view() -> None:
    assert failed("abcd", {"b": SettingsError("no such Spark master")}) == ("a", "b", "cd", 2)


@pytest.mark.parametrize("error", [GATE, AWAY])
def test_a_failure_with_nothing_beside_it_is_raised_as_it_is(error: FeaturekitError) -> None:
    with pytest.raises(type(error)) as caught:
        run("a", {"a": error})
    assert caught.value is error


def test_a_defect_is_raised_as_it_is_and_says_what_was_done() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run("abc", {"b": ZeroDivisionError()})
    assert caught.value.__notes__ == ["Served before this: a as of 2013-11-15T00:00Z"]


def test_all_that_succeed_are_returned_and_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    assert run("ab", {}, progress=lambda *words: told.append(words)) == (outcome("a"), outcome("b"))
    assert told == [("materialize a", 0, 2), ("materialize b", 1, 2), ("materialize", 2, 2)]


def test_the_error_says_which_refresh_failed_and_why_and_survives_a_process() -> None:
    with pytest.raises(MaterializeErrors) as caught:
        run("abc", {"b": GATE, "c": AWAY})
    text = str(caught.value)
    assert text.startswith("b as of 2013-11-15T00:00Z: GateError: mean_1d is not between 0 and 1\n  where  2 of 3 rows")
    assert "MaterializeErrors: 2 of 3 refreshes failed\n" in text
    assert str(pickle.loads(pickle.dumps(caught.value))) == text
    (first, second) = caught.value.parts()["failures"]
    assert (first["view"], first["as_of"], first["error"]) == ("b", "2013-11-15T00:00Z", "GateError")
    assert second["error"] == "OnlineStoreError"

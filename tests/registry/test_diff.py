"""What differs between definitions and deployed state."""

from __future__ import annotations

from dataclasses import replace

from featurekit.compiled import Fingerprint
from featurekit.registry.diff import (
    ServiceCreated,
    ServiceDataChanged,
    ServiceMetadataChanged,
    ServiceRemoved,
    ViewCreated,
    ViewDataChanged,
    ViewMetadataChanged,
    ViewRemoved,
    diff,
)
from featurekit.registry.state import Definition, Deployed, DesiredView
from tests.registry.states import deployed, desired, registered_service, registered_view, service, view

SPEND = view("spend", amount_7d="1", amount_30d="1")
SCORE = service("score", SPEND)


def with_data(of: DesiredView, fingerprint: str, **parts: str) -> DesiredView:
    """The view with parts of its data half replaced; an empty text takes the part away."""
    data = {**of.definition.data, **{name.replace("__", "/"): text for name, text in parts.items()}}
    kept = {name: text for name, text in data.items() if text}
    return replace(
        of,
        fingerprint=Fingerprint(data=fingerprint, metadata=of.fingerprint.metadata),
        definition=Definition(data=kept, written=of.definition.written),
    )


def test_everything_is_created_in_an_empty_registry() -> None:
    assert diff(desired([SPEND], [SCORE]), Deployed()) == (
        ViewCreated(name="spend", number=1),
        ServiceCreated(name="score", number=1),
    )


def test_what_is_the_same_is_no_change() -> None:
    state = deployed([registered_view(SPEND, 4)], [registered_service(SCORE, 2)])

    assert diff(desired([SPEND], [SCORE]), state) == ()


def test_a_change_of_data_names_the_feature_that_differs_and_not_its_siblings() -> None:
    changed = with_data(SPEND, "spend-b", features__amount_7d="2")
    state = deployed([registered_view(SPEND, 2)], [])

    assert diff(desired([changed], []), state) == (ViewDataChanged(name="spend", number=3, differs=("amount_7d",)),)


def test_a_feature_that_is_new_or_gone_differs() -> None:
    changed = with_data(SPEND, "spend-b", features__amount_30d="", features__amount_1d="1")
    state = deployed([registered_view(SPEND)], [])

    (change,) = diff(desired([changed], []), state)

    assert change == ViewDataChanged(name="spend", number=2, differs=("amount_1d", "amount_30d"))


def test_a_column_that_a_new_feature_reads_is_not_named_beside_it() -> None:
    changed = with_data(SPEND, "spend-b", features__amount_1d="1", **{"source.columns.tax": '"double"'})
    state = deployed([registered_view(SPEND)], [])

    (change,) = diff(desired([changed], []), state)

    assert change == ViewDataChanged(name="spend", number=2, differs=("amount_1d",))


def test_a_column_of_another_type_is_named() -> None:
    before = with_data(SPEND, "spend-a", **{"source.columns.amount": '"int"'})
    after = with_data(SPEND, "spend-b", **{"source.columns.amount": '"bigint"'})

    (change,) = diff(desired([after], []), deployed([registered_view(before)], []))

    assert change == ViewDataChanged(name="spend", number=2, differs=("source.columns.amount",))


def test_an_order_of_features_is_named_where_nothing_else_differs() -> None:
    before = with_data(SPEND, "spend-a", **{"order of features": "[1,2]"})
    after = with_data(SPEND, "spend-b", **{"order of features": "[2,1]"})

    (change,) = diff(desired([after], []), deployed([registered_view(before)], []))

    assert change == ViewDataChanged(name="spend", number=2, differs=("order of features",))


def test_another_owner_is_a_change_of_metadata_and_keeps_the_version() -> None:
    changed = view("spend", owner="ml", amount_7d="1", amount_30d="1")
    state = deployed([registered_view(SPEND, 3)], [])

    assert diff(desired([changed], []), state) == (ViewMetadataChanged(name="spend", number=3, differs=("owner",)),)


def test_text_that_is_written_otherwise_is_a_change_of_metadata_though_its_fingerprint_is_the_same() -> None:
    definition = Definition(data=SPEND.definition.data, written={**SPEND.definition.written, "where": '"A = 1"'})
    changed = replace(SPEND, definition=definition)

    (change,) = diff(desired([changed], []), deployed([registered_view(SPEND)], []))

    assert change == ViewMetadataChanged(name="spend", number=1, differs=("where",))


def test_a_view_that_changes_changes_the_services_that_read_it() -> None:
    changed = with_data(SPEND, "spend-b", features__amount_7d="2")
    state = deployed([registered_view(SPEND)], [registered_service(SCORE, 5)])

    assert diff(desired([changed], [service("score", changed)]), state) == (
        ViewDataChanged(name="spend", number=2, differs=("amount_7d",)),
        ServiceDataChanged(name="score", number=6, differs=("spend",)),
    )


def test_a_lookup_plan_in_another_encoding_is_published_again_under_the_same_version() -> None:
    state = deployed([registered_view(SPEND)], [registered_service(SCORE, 2)])

    assert diff(desired([SPEND], [service("score", SPEND, plan=b"plan of a later format")]), state) == (
        ServiceMetadataChanged(name="score", number=2, differs=("lookup plan",)),
    )


def test_what_is_no_longer_defined_is_removed() -> None:
    state = deployed([registered_view(SPEND, 2)], [registered_service(SCORE, 3)])

    assert diff(desired([], []), state) == (
        ViewRemoved(name="spend", number=2),
        ServiceRemoved(name="score", number=3),
    )


def test_a_name_that_comes_back_goes_on_counting() -> None:
    state = Deployed(view_numbers={"spend": 2}, service_numbers={"score": 7}, registration=9)

    assert diff(desired([SPEND], [SCORE]), state) == (
        ViewCreated(name="spend", number=3),
        ServiceCreated(name="score", number=8),
    )

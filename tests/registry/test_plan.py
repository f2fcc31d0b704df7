"""Plans as values: given desired and deployed, these stages in this order."""

from __future__ import annotations

from featurekit.clock import DAY
from featurekit.registry.diff import (
    ServiceCreated,
    ServiceDataChanged,
    ServiceRemoved,
    ViewCreated,
    ViewDataChanged,
    ViewMetadataChanged,
    ViewRemoved,
)
from featurekit.registry.explain import explain, summarize
from featurekit.registry.model_record import ModelRecord
from featurekit.registry.plan import (
    KeepModel,
    NeedsRefresh,
    PublishPlan,
    RegistrationPlan,
    RemoveService,
    RemoveView,
    SwitchPointer,
    TakeOver,
    WriteService,
    WriteView,
    plan_registration,
)
from featurekit.registry.state import Deployed, DesiredService
from tests.registry.states import (
    NOW,
    TODAY,
    deployed,
    desired,
    pending,
    registered_service,
    registered_view,
    service,
    view,
    watermarks,
)

SPEND, SPEND_B = view("spend", amount="1"), view("spend", "b", amount="2")
LOAD, LOAD_B = view("load", size="1"), view("load", "b", size="2")
SCORE, SCORE_B = service("score", SPEND, LOAD, plan=b"1"), service("score", SPEND_B, LOAD, plan=b"2")
REFRESHED = "that version is refreshed until the model is deleted"
UNTIL_THEN = "until then v1 serves, and is refreshed"
RANK, RANK_B = service("rank", LOAD, plan=b"3"), service("rank", LOAD_B, plan=b"4")


def model(name: str, of: DesiredService, *, version: int = 1) -> ModelRecord:
    return ModelRecord(
        name=name,
        version=version,
        service=of.name,
        service_fingerprint=of.fingerprint.data,
        sha256="",
        file="",
        columns=(),
        dtype="float32",
        input="features",
        output="probability",
        registered_at=NOW,
        service_number=1,
    )


def test_a_first_registration_publishes_before_it_serves_and_serves_before_anything_is_materialized() -> None:
    plan = plan_registration(desired([SPEND, LOAD], [SCORE]), Deployed(), {}, NOW)

    assert plan == RegistrationPlan(
        base=0,
        stages=(
            WriteView(view=SPEND, change=ViewCreated(name="spend", number=1)),
            WriteView(view=LOAD, change=ViewCreated(name="load", number=1)),
            WriteService(service=SCORE, change=ServiceCreated(name="score", number=1)),
            PublishPlan(service=SCORE, number=1),
            SwitchPointer(service="score", number=1, replaces=None, waits=(), is_own=False),
            NeedsRefresh(view="spend", number=1, as_of=TODAY),
            NeedsRefresh(view="load", number=1, as_of=TODAY),
        ),
    )


def test_nothing_new_is_an_empty_plan() -> None:
    state = deployed([registered_view(SPEND)], [registered_service(service("score", SPEND))])

    assert plan_registration(desired([SPEND], [service("score", SPEND)]), state, {}, NOW).is_empty


def test_a_changed_view_keeps_its_services_on_the_old_version_until_it_is_materialized() -> None:
    state = deployed([registered_view(SPEND), registered_view(LOAD)], [registered_service(SCORE)])
    done = watermarks((SPEND, TODAY), (LOAD, TODAY))

    plan = plan_registration(desired([SPEND_B, LOAD], [SCORE_B]), state, done, NOW)

    assert plan.base == 1
    assert plan.stages == (
        WriteView(view=SPEND_B, change=ViewDataChanged(name="spend", number=2, differs=("amount",))),
        WriteService(service=SCORE_B, change=ServiceDataChanged(name="score", number=2, differs=("spend",))),
        PublishPlan(service=SCORE_B, number=2),
        SwitchPointer(service="score", number=2, replaces=1, waits=("spend",), is_own=False),
        NeedsRefresh(view="spend", number=2, as_of=TODAY),
    )


def test_services_of_one_registration_wait_for_the_same_views() -> None:
    both = service("score", SPEND, plan=b"1")
    both_b = service("score", SPEND_B, plan=b"2")
    state = deployed(
        [registered_view(SPEND), registered_view(LOAD)], [registered_service(both), registered_service(RANK)]
    )

    plan = plan_registration(desired([SPEND_B, LOAD_B], [both_b, RANK_B]), state, {}, NOW)

    switches = [stage for stage in plan.stages if isinstance(stage, SwitchPointer)]
    assert [(each.service, each.waits) for each in switches] == [
        ("score", ("load", "spend")),
        ("rank", ("load", "spend")),
    ]


def test_a_view_that_was_never_materialized_does_not_hold_up_the_change_of_another() -> None:
    state = deployed([registered_view(SPEND), registered_view(LOAD)], [registered_service(SCORE)])

    plan = plan_registration(desired([SPEND_B, LOAD], [SCORE_B]), state, {}, NOW)

    assert [stage.waits for stage in plan.stages if isinstance(stage, SwitchPointer)] == [("spend",)]


def test_a_service_that_begins_to_read_a_materialized_view_moves_at_once() -> None:
    alone, both = service("score", SPEND, plan=b"1"), service("score", SPEND, LOAD, plan=b"2")
    state = deployed([registered_view(SPEND), registered_view(LOAD)], [registered_service(alone)])

    plan = plan_registration(desired([SPEND, LOAD], [both]), state, watermarks((LOAD, TODAY)), NOW)

    assert [stage.waits for stage in plan.stages if isinstance(stage, SwitchPointer)] == [()]


SERVING_B = deployed([registered_view(SPEND_B, 2)], [registered_service(service("score", SPEND_B), 2)])


def test_a_definition_that_comes_back_after_a_pause_is_materialized_anew() -> None:
    done = watermarks((SPEND, TODAY - DAY), (SPEND_B, TODAY))

    plan = plan_registration(desired([SPEND], [service("score", SPEND)]), SERVING_B, done, NOW)

    assert [stage.waits for stage in plan.stages if isinstance(stage, SwitchPointer)] == [("spend",)]
    assert plan.stages[-1] == NeedsRefresh(view="spend", number=3, as_of=TODAY)


def test_a_definition_that_comes_back_while_its_values_are_fresh_is_served_at_once() -> None:
    done = watermarks((SPEND, TODAY), (SPEND_B, TODAY))

    plan = plan_registration(desired([SPEND], [service("score", SPEND)]), SERVING_B, done, NOW)

    assert plan.stages[-1] == SwitchPointer(service="score", number=3, replaces=2, waits=(), is_own=False)


def test_a_definition_that_comes_back_before_its_successor_was_served_needs_nothing() -> None:
    alone, alone_b = service("score", SPEND, plan=b"1"), service("score", SPEND_B, plan=b"2")
    state = deployed(
        [registered_view(SPEND_B, 2, registration=2)],
        [registered_service(alone_b, 2, registration=2)],
        serving=[registered_service(alone)],
        pending=(pending(2, "score"),),
        registration=2,
    )

    plan = plan_registration(desired([SPEND], [alone]), state, watermarks((SPEND, TODAY)), NOW)

    assert plan.stages[2:] == (
        PublishPlan(service=alone, number=3),
        TakeOver(registration=2),
        SwitchPointer(service="score", number=3, replaces=1, waits=(), is_own=False),
    )


def test_a_registration_takes_over_what_an_earlier_one_left_waiting_in_the_same_services() -> None:
    other, other_b = service("other", SPEND, plan=b"5"), service("other", SPEND_B, plan=b"6")
    state = deployed(
        [registered_view(SPEND_B, 2, registration=2), registered_view(LOAD)],
        [registered_service(SCORE_B, 2, registration=2), registered_service(other_b, 2, registration=2)],
        serving=[registered_service(SCORE), registered_service(other)],
        pending=(pending(2, "score", "other"),),
        registration=2,
    )
    score_c = service("score", SPEND_B, LOAD_B, plan=b"7")

    plan = plan_registration(desired([SPEND_B, LOAD_B], [score_c, other_b]), state, {}, NOW)

    assert [stage for stage in plan.stages if isinstance(stage, TakeOver | SwitchPointer)] == [
        TakeOver(registration=2),
        SwitchPointer(service="score", number=3, replaces=1, waits=("load", "spend"), is_own=False),
        SwitchPointer(service="other", number=2, replaces=1, waits=("load", "spend"), is_own=False),
    ]


def test_a_registration_leaves_alone_what_waits_in_other_services() -> None:
    state = deployed(
        [registered_view(SPEND_B, 2, registration=2), registered_view(LOAD)],
        [registered_service(service("score", SPEND_B), 2, registration=2), registered_service(RANK)],
        serving=[registered_service(service("score", SPEND)), registered_service(RANK)],
        pending=(pending(2, "score"),),
        registration=2,
    )

    plan = plan_registration(desired([SPEND_B, LOAD_B], [service("score", SPEND_B), RANK_B]), state, {}, NOW)

    assert [stage for stage in plan.stages if isinstance(stage, TakeOver | SwitchPointer)] == [
        SwitchPointer(service="rank", number=2, replaces=1, waits=("load",), is_own=False)
    ]


def test_another_owner_asks_for_no_refresh_and_no_switch() -> None:
    alone = service("score", SPEND)
    state = deployed([registered_view(SPEND)], [registered_service(alone)])
    renamed = view("spend", owner="ml", amount="1")

    plan = plan_registration(desired([renamed], [alone]), state, {}, NOW)

    assert plan.stages == (
        WriteView(view=renamed, change=ViewMetadataChanged(name="spend", number=1, differs=("owner",))),
    )


def test_what_is_removed_is_taken_from_its_readers() -> None:
    state = deployed([registered_view(SPEND)], [registered_service(service("score", SPEND))])

    assert plan_registration(desired([], []), state, {}, NOW).stages == (
        RemoveView(change=ViewRemoved(name="spend", number=1)),
        RemoveService(change=ServiceRemoved(name="score", number=1), is_own=False),
    )


def test_explain_says_what_the_stages_do() -> None:
    state = deployed([registered_view(SPEND), registered_view(LOAD)], [registered_service(SCORE)])
    own = service("spend", SPEND_B, is_own=True)

    plan = plan_registration(desired([SPEND_B, LOAD], [SCORE_B, own]), state, {}, NOW)

    assert explain(plan) == (
        "+ spend v2 (data changed: amount), needs materialize",
        "+ service score v2 (data changed: spend)",
        "  publish the lookup plan of score v2",
        f"  switch score from v1 to v2 when materialized: spend; {UNTIL_THEN}",
        "  spend v2 has no fresh values: materialize as of 2013-11-15T00:00Z",
    )
    assert summarize(plan) == ("+ spend v2 (data changed: amount)", "+ service score v2 (data changed: spend)")


def test_a_model_whose_service_changes_is_told_to_stay() -> None:
    state = deployed(
        [registered_view(SPEND), registered_view(LOAD)], [registered_service(SCORE), registered_service(RANK)]
    )
    old, other, gone = model("delay", SCORE), model("queue", SCORE, version=2), model("rank", RANK)
    models = (old, model("queue", SCORE_B, version=3), other, gone)

    plan = plan_registration(desired([SPEND_B, LOAD], [SCORE_B]), state, {}, NOW, models)

    # The newest version of `queue` is for what comes: it waits for the switch, and there is nothing to do.
    assert [stage for stage in plan.stages if isinstance(stage, KeepModel)] == [
        KeepModel(model="rank", version=1, service="rank", number=1, becomes=None),
        KeepModel(model="delay", version=1, service="score", number=1, becomes=2),
    ]
    assert explain(plan)[-3:-1] == (
        f"  model rank v1 stays on rank@1 when its service is removed: {REFRESHED}",
        f"  model delay v1 stays on score@1 when its service moves to v2: {REFRESHED}",
    )


def test_a_model_of_a_service_that_stays_is_not_told() -> None:
    state = deployed(
        [registered_view(SPEND), registered_view(LOAD)], [registered_service(SCORE), registered_service(RANK)]
    )
    plan = plan_registration(desired([SPEND_B, LOAD], [SCORE_B, RANK]), state, {}, NOW, [model("rank", RANK)])
    assert not [stage for stage in plan.stages if isinstance(stage, KeepModel)]


def test_explain_says_when_nothing_changes() -> None:
    assert explain(plan_registration(desired([], []), Deployed(), {}, NOW)) == ("nothing changes",)


def test_explain_has_a_line_for_each_kind_of_stage() -> None:
    alone = service("score", SPEND)
    state = deployed(
        [registered_view(SPEND), registered_view(LOAD)],
        [registered_service(alone), registered_service(RANK)],
        serving=[registered_service(RANK)],
        pending=(pending(1, "score"),),
    )
    renamed = view("spend", owner="ml", amount="1")

    plan = plan_registration(desired([renamed], [service("score", renamed, plan=b"later")]), state, {}, NOW)

    assert explain(plan) == (
        "~ spend v1 (metadata changed: owner)",
        "- load v1 (removed)",
        "~ service score v1 (metadata changed: lookup plan)",
        "- service rank v1 (removed), its lookups end at once",
        "  publish the lookup plan of score v1",
    )

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from featurekit.online.keys import Namespace
from featurekit.online.planned import Pick, PlannedService, ReadHead
from featurekit.types import Int64, String
from tests.online.servers import plan_field, service_plan, view_plan

INSTANTS = st.integers(0, 30)


def planned_service(names: tuple[str, ...]) -> PlannedService:
    views = [
        view_plan([plan_field("n", Int64())], name=name, keys={"user_id": Int64(), f"{name}_id": String()})
        for name in names
    ]
    return PlannedService(service_plan(*views), Namespace("a", "b"), pointer_key=b"pointer", pointer=b"p")


def head_of(visible: list[int], *, is_live: bool = False) -> ReadHead:
    picks = [
        Pick(as_of=at, restatement=0, visible_from=at, marker=b"m%d" % at, row_suffix=b"s%d" % at, is_live=is_live)
        for at in visible
    ]
    return ReadHead(repr(visible).encode(), tuple(picks))


@given(st.lists(st.lists(INSTANTS, max_size=4), min_size=1, max_size=3), st.lists(INSTANTS, min_size=1, max_size=9))
def test_what_was_selected_holds_for_as_long_as_its_instants_say(heads: list[list[int]], instants: list[int]) -> None:
    # Not sorted: a refresh of an older state can be visible later than that of a newer one.
    planned = planned_service(tuple("uvw"[: len(heads)]))
    for view, visible in zip(planned.views, heads, strict=True):
        view.head = head_of(visible)
    for at in instants:
        selection = planned.select(at)
        picks = [view.head.at(at) for view in planned.views]
        assert list(selection.picks) == picks
        markers = [pick.marker for pick in picks if pick is not None]
        assert selection.fixed == [b"pointer", *planned.head_keys, *markers]
        assert selection.contents == [b"p", *[view.head.content for view in planned.views]]
        assert selection.as_ofs == (None if None in picks else [pick.as_of for pick in picks if pick is not None])


def test_a_head_that_was_learned_is_selected_by() -> None:
    planned = planned_service(("u",))
    (view,) = planned.views
    view.head = head_of([5])
    old = planned.select(10)
    assert planned.select(7) is old
    view.head = head_of([8, 5])
    assert planned.still_selects(old, [view.head.content], 7)  # what is new is visible later
    assert not planned.still_selects(old, [view.head.content], 10)
    assert [pick and pick.as_of for pick in planned.select(10).picks] == [8]
    view.head = head_of([8], is_live=True)
    assert not planned.still_selects(planned.select(10), [view.head.content], 10)
    assert planned.select(10).as_ofs is None


@given(st.dictionaries(st.sampled_from(["user_id", "u_id", "x"]), st.integers() | st.text() | st.none()))
def test_one_entity_is_accepted_as_any_request_is(entities: dict[str, object]) -> None:
    planned = planned_service(("u",))
    outcomes = []
    requests: tuple[dict[str, object] | None, ...] = (None, {})
    for request in requests:  # with a request beside it, it is looked at as all others are
        try:
            outcomes.append(repr(planned.accept(entities, request)))
        except Exception as error:  # noqa: BLE001  # whichever it is, it must be the same
            outcomes.append(repr(error))
    assert outcomes[0] == outcomes[1]

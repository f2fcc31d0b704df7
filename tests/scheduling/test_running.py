"""Tasks are done in order, recorded as they begin and end, and none that fails keeps the next from being done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from featurekit.clock import DAY
from featurekit.errors import GateError, OnlineStoreError
from featurekit.grid import Grid
from featurekit.registry.registry import Registry
from featurekit.scheduling.plan import Plan, Task, ViewCadence, make_plan
from featurekit.scheduling.running import Performed, run_due
from tests.registry.states import TODAY


class Doing:
    """Keeps what it is asked to do, and does what it was made with."""

    def __init__(self, log: Registry, outcomes: Mapping[str, BaseException | bool]) -> None:
        self.log = log
        self.outcomes = outcomes
        self.done: list[str] = []

    def perform(self, task: Task) -> tuple[str, bool]:
        self.done.append(task.name)
        assert self.log.schedule.latest()[task.name].ended_at is None
        outcome = self.outcomes.get(task.name, False)
        if isinstance(outcome, BaseException):
            raise outcome
        return f"did {task.name}", outcome


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(f"sqlite:///{tmp_path}/r.db", project="shop", environment="dev", models=tmp_path / "models")


def everything_due() -> Plan:
    views = [ViewCadence(view=name, grid=Grid(DAY), lateness=0, due=(TODAY,)) for name in ("a", "b")]
    return make_plan(views, {}, at=TODAY, check_at=0, gc_at=0)


def run(work: Doing, registry: Registry, *, may: Iterator[bool] | None = None) -> tuple[Performed, ...]:
    allowed = (True for _ in count()) if may is None else may
    plan = everything_due()
    found = run_due(plan, work, registry.schedule, clock=lambda: TODAY, may_go_on=lambda: next(allowed))
    return tuple(found)


def test_all_that_is_due_is_done_and_recorded(registry: Registry) -> None:
    work = Doing(registry, {"check": True})
    done = run(work, registry)
    assert work.done == ["materialize:a", "materialize:b", "check", "gc"]
    assert [one.exit_code for one in done] == [0, 0, 1, 0]
    assert all(one.is_done for one in registry.schedule.latest().values())


def test_what_fails_takes_nothing_with_it_and_says_why(registry: Registry) -> None:
    failures = {
        "materialize:a": GateError("a breaks what is expected"),
        "materialize:b": KeyError("b"),
        "check": OnlineStoreError("the store is away"),
    }
    done = run(Doing(registry, failures), registry)
    assert [one.exit_code for one in done] == [2, 70, 3, 0]
    kept = registry.schedule.latest()
    assert "a breaks what is expected" in str(kept["materialize:a"].failure)
    assert "a defect: KeyError: 'b'" in str(kept["materialize:b"].failure)
    assert kept["gc"].is_done


def test_what_is_stopped_begins_nothing_more(registry: Registry) -> None:
    work = Doing(registry, {})
    run(work, registry, may=iter([True, True, False]))
    assert work.done == ["materialize:a", "materialize:b"]
    assert sorted(registry.schedule.latest()) == work.done


def test_what_is_killed_is_on_record_as_begun(registry: Registry) -> None:
    with pytest.raises(SystemExit):
        run(Doing(registry, {"materialize:b": SystemExit(9)}), registry)
    killed = registry.schedule.latest()["materialize:b"]
    assert (killed.ended_at, killed.attempts) == (None, 1)
    assert registry.schedule.latest()["materialize:a"].is_done

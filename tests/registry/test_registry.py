"""The registry on a real database: what is written is read back, whole or not at all, by one writer after the other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from featurekit.clock import HOUR
from featurekit.errors import ModelError, NotRegisteredError, RegistryError
from featurekit.registry import models, refreshes
from featurekit.registry.model_record import ModelRecord
from featurekit.registry.models import drafted, file_sha256
from featurekit.registry.registry import Registry
from featurekit.registry.state import (
    Deployed,
    DesiredService,
    DesiredView,
    RefreshStatus,
    Registration,
    RegistrationStatus,
)
from featurekit.registry.tables import REFRESHES
from tests.registry.states import NOW, TODAY, registered_service, registered_view, service, view, watermarks

SPEND, SPEND_B = view("spend", amount="1"), view("spend", "b", amount="2")
SCORE, SCORE_B = service("score", SPEND), service("score", SPEND_B)

REGISTER_TEN = """
import sys
from pathlib import Path
from typing import Any
from featurekit.registry.registry import Registry
from tests.registry.test_registry import register
from tests.registry.states import view
url, project, name = sys.argv[1:]
for number in range(10):
    registry = Registry(url, project=project, environment="dev", models=Path("models"))
    register(registry, view(f"{name}_{number}"))
"""


def register(registry: Registry, *versions: DesiredView | DesiredService, number: int = 1) -> int:
    """Write the versions as one registration and return its number."""
    with registry.writing() as writer:
        id_ = writer.deployed().registration + 1
        names = tuple(version.name for version in versions)
        status = RegistrationStatus.PENDING
        writer.add_registration(Registration(id=id_, at=NOW, changes=names, services=("score",), status=status))
        for version in versions:
            writer.add_version(version, number=number, registration=id_, at=NOW)
    return id_


def test_an_empty_registry_is_made_on_first_use(registry: Registry) -> None:
    assert registry.deployed() == Deployed()
    assert registry.watermarks() == {}
    assert registry.registrations() == ()


def test_what_is_registered_is_read_back(open_registry: Callable[[], Registry]) -> None:
    register(open_registry(), SPEND, SCORE)

    state = open_registry().deployed()

    assert state.views == {"spend": registered_view(SPEND)}
    assert state.services == {"score": registered_service(SCORE)}
    assert state.serving == {}
    assert state.registration == 1
    assert state.pending == (
        Registration(id=1, at=NOW, changes=("spend", "score"), services=("score",), status=RegistrationStatus.PENDING),
    )


def test_the_newest_version_is_deployed_and_the_one_that_serves_is_kept(registry: Registry) -> None:
    register(registry, SPEND, SCORE)
    with registry.writing() as writer:
        writer.serve("score", 1)
        writer.end_registration(1, RegistrationStatus.SWITCHED)
    register(registry, SPEND_B, SCORE_B, number=2)

    state = registry.deployed()

    assert state.views == {"spend": registered_view(SPEND_B, 2, registration=2)}
    assert state.services == {"score": registered_service(SCORE_B, 2, registration=2)}
    assert state.serving == {"score": registered_service(SCORE)}
    assert [each.id for each in state.pending] == [2]


def test_metadata_is_replaced_and_nothing_else(registry: Registry) -> None:
    register(registry, SPEND)
    renamed = view("spend", owner="ml", amount="1")

    with registry.writing() as writer:
        writer.update_metadata(renamed, number=1)

    assert registry.deployed().views == {"spend": registered_view(renamed)}


def test_what_is_removed_is_not_deployed_and_its_number_is_not_given_again(registry: Registry) -> None:
    register(registry, SPEND, SCORE)
    with registry.writing() as writer:
        writer.serve("score", 1)
        writer.remove_view("spend", registration=2)
        writer.remove_service("score", registration=2)

    state = registry.deployed()

    assert (state.views, state.services, state.serving) == ({}, {}, {})
    assert (state.view_numbers, state.service_numbers) == ({"spend": 1}, {"score": 1})


def test_a_change_set_that_fails_leaves_nothing_behind(registry: Registry) -> None:
    def write_and_fail() -> None:
        with registry.writing() as writer:
            writer.add_version(SPEND, number=1, registration=1, at=NOW)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()

    assert registry.deployed() == Deployed()


def test_environments_do_not_see_each_other(url: str, project: str, tmp_path: Path) -> None:
    dev, prod = (Registry(url, project=project, environment=name, models=tmp_path) for name in ("dev", "prod"))

    register(dev, SPEND)

    assert prod.deployed() == Deployed()
    assert register(prod, SPEND) == 1


def test_processes_that_register_at_once_lose_nothing(
    url: str, project: str, open_registry: Callable[[], Registry]
) -> None:
    root = Path(__file__).parents[2]
    names = ("first", "second", "third")
    writers = [
        subprocess.Popen([sys.executable, "-c", REGISTER_TEN, url, project, name], cwd=root, stderr=subprocess.PIPE)
        for name in names
    ]

    assert [(writer.communicate(timeout=120)[1], writer.returncode) for writer in writers] == [(b"", 0)] * 3

    registry = open_registry()
    assert registry.deployed().views.keys() == {f"{name}_{number}" for name in names for number in range(10)}
    assert [each.id for each in registry.registrations()] == list(range(1, 31))


def test_a_writer_that_finds_the_registry_locked_says_so(url: str, project: str, tmp_path: Path) -> None:
    first = Registry(url, project=project, environment="dev", models=tmp_path)
    second = Registry(url, project=project, environment="dev", models=tmp_path, lock_wait_s=0.05)

    with first.writing(), pytest.raises(RegistryError, match="the registry is busy") as caught, second.writing():
        pass

    assert caught.value.why == "another process has been writing for 0.05 s"


def test_a_reader_sees_the_state_before_an_unfinished_change_set(open_registry: Callable[[], Registry]) -> None:
    register(open_registry(), SPEND)

    with open_registry().writing() as writer:
        writer.remove_view("spend", registration=2)

        assert open_registry().deployed().views.keys() == {"spend"}


def test_a_refresh_is_recorded_from_its_start_to_its_end(registry: Registry) -> None:
    register(registry, SPEND)
    started = registry.start_refresh(
        view="spend", fingerprint="spend-a", as_of=TODAY, started_at=NOW, snapshot='{"a":1}'
    )

    assert (started.status, started.restatement) == (RefreshStatus.RUNNING, 0)
    assert registry.watermarks() == {}

    ended = registry.complete_refresh(started, completed_at=NOW + 5, rows=3, bytes_=120, counters='{"null_keys":1}')

    assert ended == replace(
        started, status=RefreshStatus.COMPLETE, completed_at=NOW + 5, rows=3, bytes=120, counters='{"null_keys":1}'
    )
    assert registry.refreshes("spend") == (ended,)
    assert registry.watermarks() == watermarks((SPEND, TODAY))


def test_each_run_of_one_as_of_has_a_restatement_of_its_own(registry: Registry) -> None:
    def start(view_: str, as_of: int) -> int:
        refresh = registry.start_refresh(view=view_, fingerprint=f"{view_}-a", as_of=as_of, started_at=NOW)
        return refresh.restatement

    # Also after one that never ended: its rows may be half there.
    assert [start("spend", TODAY), start("spend", TODAY), start("spend", TODAY - 1), start("load", TODAY)] == [
        0,
        1,
        0,
        0,
    ]


def test_a_failed_refresh_moves_no_watermark(registry: Registry) -> None:
    started = registry.start_refresh(view="spend", fingerprint="spend-a", as_of=TODAY, started_at=NOW)

    failed = registry.fail_refresh(started, completed_at=NOW + 1, failure="the source went away")

    assert (failed.status, failed.failure, failed.completed_at) == (
        RefreshStatus.FAILED,
        "the source went away",
        NOW + 1,
    )
    assert registry.watermarks() == {}


def test_a_watermark_has_the_latest_as_of_and_what_lookups_see_however_far_between(registry: Registry) -> None:
    slow, quick = view("spend", delay=100 * HOUR, every=HOUR), view("load", every=HOUR)
    register(registry, slow, quick)
    hours = [TODAY + number * HOUR for number in range(150)]
    with registry.writing() as writer:
        for each in (slow, quick):
            fingerprint = each.fingerprint.data
            for as_of in (*hours[:3], *hours):
                refreshes.write_start(
                    writer.connection,
                    writer.namespace,
                    view=each.name,
                    fingerprint=fingerprint,
                    as_of=as_of,
                    started_at=NOW,
                    snapshot="{}",
                )
        done = {"status": "complete", "completed_at": NOW, "rows": 0, "bytes": 0}
        writer.connection.execute(REFRESHES.update().where(REFRESHES.c.namespace == writer.namespace).values(done))
    now = TODAY + 149 * HOUR + 5

    found = registry.watermarks(now)

    assert found["spend-a"].as_ofs == (hours[149], hours[49])
    assert found["spend-a"].visible(slow.grid, now) == hours[49]
    assert found["load-a"].as_ofs == (hours[149],)
    assert registry.watermarks()["spend-a"].as_ofs == (hours[149],)
    assert registry.watermarks(TODAY)["spend-a"].visible(slow.grid, TODAY) is None


def test_a_refresh_ends_once(registry: Registry) -> None:
    started = registry.start_refresh(view="spend", fingerprint="spend-a", as_of=TODAY, started_at=NOW)
    registry.fail_refresh(started, completed_at=NOW, failure="")

    with pytest.raises(RegistryError, match="is not running"):
        registry.complete_refresh(started, completed_at=NOW, rows=0, bytes_=0)


def test_refreshes_are_listed_latest_first_of_one_view_or_of_all(registry: Registry) -> None:
    for name in ("spend", "load", "spend"):
        registry.start_refresh(view=name, fingerprint=f"{name}-a", as_of=TODAY, started_at=NOW)

    assert [each.view for each in registry.refreshes()] == ["spend", "load", "spend"]
    assert [each.restatement for each in registry.refreshes("spend")] == [1, 0]
    assert len(registry.refreshes(limit=2)) == 2
    assert registry.refreshes("spend", fingerprint="spend-b") == ()


RECORD = ModelRecord(
    name="delay",
    version=0,
    service="score",
    service_fingerprint="score(spend-a)",
    sha256="",
    file="",
    columns=("spend.amount",),
    dtype="float32",
    input="features",
    output="probability",
    registered_at=NOW,
    service_number=1,
)


def add(registry: Registry, source: Path) -> ModelRecord:
    with drafted(source, registry.models_folder) as draft:
        return registry.add_model(replace(RECORD, sha256=draft.sha256, file=draft.file), draft)


def test_models_are_numbered_and_their_files_kept_by_content(registry: Registry, tmp_path: Path) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(b"one")
    first = add(registry, source)
    source.write_bytes(b"two")
    second = add(registry, source)
    again = add(registry, source)

    assert [each.version for each in (first, second, again)] == [1, 2, 3]
    assert registry.model("delay") == again
    assert registry.model("delay", 1) == first
    assert registry.models() == registry.models("delay") == (again, second, first)
    assert registry.model_path(first).read_bytes() == b"one"
    assert registry.model_path(second) == registry.model_path(again)
    assert file_sha256(registry.model_path(first)) == first.sha256
    assert sorted(path.name for path in registry.models_folder.iterdir()) == sorted({first.file, second.file})


def test_a_models_file_goes_with_the_last_that_has_it_and_stays_where_that_is_not_written(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(str(tmp_path).encode())  # no other test has this in the database
    first, second = add(registry, source), add(registry, source)
    registry.delete_model(first, NOW)
    assert registry.models() == (second,)
    assert registry.model_path(second).exists()

    real = models.write_deleted

    def breaks(*given: Any) -> None:
        real(*given)
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(models, "write_deleted", breaks)
        with pytest.raises(OSError, match="the disk is full"):
            registry.delete_model(second, NOW)
    assert registry.models() == (second,)
    assert registry.model_path(second).exists()

    registry.delete_model(second, NOW)
    assert not registry.model_path(second).exists()


def test_a_model_of_a_process_that_names_no_version_of_its_service_is_bound_by_fingerprint(
    registry: Registry, tmp_path: Path
) -> None:
    register(registry, SPEND, SCORE)
    register(registry, SPEND_B, SCORE_B, number=2)
    source = tmp_path / "model.onnx"
    source.write_bytes(b"one")
    with drafted(source, registry.models_folder) as draft:
        told = replace(RECORD, sha256=draft.sha256, file=draft.file, service_number=0)
        model = registry.add_model(replace(told, service_fingerprint=SCORE.fingerprint.data), draft)

    assert registry.models()[0].service_number == 1
    services = {use.version.number: use for use in registry.uses().services}
    assert services[1].by == ("model delay v1",)
    assert "model delay v1" not in services[2].by

    registry.delete_model(model, NOW + HOUR)
    services = {use.version.number: use for use in registry.uses().services}
    assert (services[1].by, services[1].idle_since) == ((), NOW + HOUR)


def test_a_models_file_that_can_not_be_deleted_is_told_with_its_place(registry: Registry, tmp_path: Path) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(str(tmp_path).encode())  # no other test has this in the database
    record = add(registry, source)
    path = registry.model_path(record)
    path.unlink()
    path.mkdir()

    with pytest.raises(RegistryError, match="is deleted, and its file can't be") as caught:
        registry.delete_model(record, NOW)

    assert str(path) in str(caught.value)
    assert registry.models() == ()


def test_a_model_that_is_refused_leaves_no_file(registry: Registry, tmp_path: Path) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(b"one")

    with pytest.raises(ModelError), drafted(source, registry.models_folder):
        raise ModelError("refused")

    assert list(registry.models_folder.iterdir()) == []
    assert registry.models() == ()


def test_a_model_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no model file"), drafted(tmp_path / "no.onnx", tmp_path):
        pass


def test_a_model_nobody_registered_says_how_to(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(NotRegisteredError, match="there is no model 'delay'") as caught:
        registry.model("delay")
    assert caught.value.try_ == "featurekit model register delay --onnx FILE --service SERVICE"

    (tmp_path / "model.onnx").write_bytes(b"one")
    add(registry, tmp_path / "model.onnx")
    with pytest.raises(NotRegisteredError, match="model 'delay' has no version 2") as caught:
        registry.model("delay", 2)
    assert caught.value.try_ == "one of v1"

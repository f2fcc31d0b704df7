"""What batch work shows: values as they stand, absent where there are none, bounded, and whole or not at all."""

from __future__ import annotations

import socket
from pathlib import Path

import httpx
import pytest

from featurekit.clock import DAY, HOUR
from featurekit.errors import InputError, RegistryError, SettingsError
from featurekit.monitoring.batch import MOST_FIELDS, BatchState, ViewState, exposition, listen, write_metrics
from tests.monitoring.test_metrics import samples
from tests.registry.states import TODAY
from tests.registry.test_check_history import field, run, view

SERVED = ViewState(
    view="spend",
    as_of=TODAY - DAY,
    promised_as_of=TODAY,
    succeeded_at=TODAY - HOUR,
    took=90_000_000,
    rows=12,
    runs={"complete": 3, "failed": 1},
)
GONE = ViewState(view="gone", as_of=None, promised_as_of=TODAY)
STATE = BatchState(
    at=TODAY,
    views=[SERVED, GONE],
    check=run(view(field("mean", "scaled"), outcome="inconsistent"), passed=False),
    succeeded={"check": TODAY - DAY},
    overdue={"check": TODAY - HOUR},
    alerts={"slack": 2},
)


def shown(state: BatchState) -> dict[tuple[str, tuple[str, ...]], float]:
    return samples(exposition(lambda: state).decode())


def test_each_value_is_shown_with_its_labels() -> None:
    found = shown(STATE)
    assert found["featurekit_view_as_of_timestamp_seconds", ("spend",)] == (TODAY - DAY) / 1e6
    assert found["featurekit_view_promised_as_of_timestamp_seconds", ("gone",)] == TODAY / 1e6
    assert found["featurekit_materialize_last_duration_seconds", ("spend",)] == 90
    assert found["featurekit_materialize_runs", ("failed", "spend")] == 1
    assert found["featurekit_check_passed", ()] == 0
    assert found["featurekit_check_outcome", ("inconsistent", "spend")] == 1
    assert found["featurekit_check_differing_cells", ("mean", "spend")] == 3
    assert found["featurekit_schedule_overdue_seconds", ("check",)] == 3600
    assert found["featurekit_alerts_waiting", ("slack",)] == 2


def test_what_there_is_none_of_is_absent_and_not_zero() -> None:
    found = shown(BatchState(at=TODAY, views=[GONE]))
    assert ("featurekit_view_as_of_timestamp_seconds", ("gone",)) not in found
    assert ("featurekit_materialize_last_rows", ("gone",)) not in found
    assert not [name for name, _ in found if name.startswith("featurekit_check")]


def test_of_too_many_fields_those_that_differ_are_shown() -> None:
    plain = [field(f"f{number}") for number in range(MOST_FIELDS)]
    found = shown(BatchState(at=TODAY, views=[], check=run(view(*plain, field("wrong", "scaled")))))
    assert len([name for name, _ in found if name == "featurekit_check_cells"]) == MOST_FIELDS
    assert found["featurekit_check_differing_cells", ("wrong", "spend")] == 3
    assert found["featurekit_check_fields_left_out", ()] == 1


def test_a_state_that_can_not_be_read_is_shown_as_that() -> None:
    def read() -> BatchState:
        raise RegistryError("the registry is away")

    assert samples(exposition(read).decode()) == {("featurekit_batch_up", ()): 0}


def test_the_file_is_the_old_one_or_the_whole_new_one(tmp_path: Path) -> None:
    file = tmp_path / "featurekit.prom"
    file.write_text("old")

    def defect() -> BatchState:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_metrics(defect, file)
    assert (file.read_text(), [path.name for path in tmp_path.iterdir()]) == ("old", ["featurekit.prom"])
    write_metrics(lambda: STATE, file)
    assert samples(file.read_text()) == shown(STATE)
    assert file.stat().st_mode & 0o777 == 0o644
    with pytest.raises(InputError, match="can't be written"):
        write_metrics(lambda: STATE, tmp_path / "no" / "featurekit.prom")


def test_a_port_shows_the_state_as_it_is_when_it_is_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match="can't be shown"):
            listen(lambda: STATE, "127.0.0.1", port)
    states = iter([STATE, BatchState(at=TODAY, views=[])])
    listen(lambda: next(states), "127.0.0.1", port)
    first, second = (samples(httpx.get(f"http://127.0.0.1:{port}/metrics").text) for _ in range(2))
    assert first == shown(STATE)
    assert ("featurekit_check_passed", ()) not in second

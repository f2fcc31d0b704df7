"""A refresh and its kept rows: the history has what was served and nothing else, wherever a run dies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from featurekit import refreshing
from featurekit.clock import DAY, HOUR, Instant
from featurekit.errors import GateError, HistoryError, RefreshRunningError
from featurekit.keeping import expire, expired, gaps, view_histories
from featurekit.leasing import leased
from featurekit.offline.history import History, HistoryEntry, served_at
from featurekit.offline.history_sink import Draft
from featurekit.online import embedded
from featurekit.online.redis import RedisStore
from featurekit.registry.registry import Registry
from tests.refreshed import PLACE, Refreshed
from tests.registry.definitions import compiled
from tests.registry.states import NOW, TODAY
from tests.test_refreshing import WINDOW, broken


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("state")
    yield embedded.start(folder).url
    embedded.stop(folder)


@pytest.fixture
def shop(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Refreshed]:
    """The shop, registered and not refreshed yet, at 03:00; its store and its history are empty."""
    store = RedisStore(url)
    store.delete(b"*")
    registry = Registry(
        f"sqlite:///{tmp_path / 'registry.db'}",
        project=PLACE.project,
        environment=PLACE.environment,
        models=tmp_path / "models",
    )
    shop = Refreshed(
        compiled=compiled(tmp_path),
        store=store,
        url=url,
        registry=registry,
        now=NOW,
        history=History(tmp_path / "history", project=PLACE.project, environment=PLACE.environment),
    )
    monkeypatch.setattr(refreshing, "materialize", shop.materialize)
    shop.register()
    yield shop
    store.close()


def entries(shop: Refreshed) -> tuple[HistoryEntry, ...]:
    assert shop.history is not None
    return shop.history.entries("spend", shop.view.fingerprint.data)


def folders(shop: Refreshed) -> list[str]:
    """Return the names of all folders of refreshes, drafts too."""
    assert shop.history is not None
    return sorted(path.name for path in shop.history.root.rglob("*as_of=*"))


def test_a_refresh_is_kept_with_the_rows_and_times_that_serve(shop: Refreshed) -> None:
    outcome = shop.refresh(TODAY)
    (entry,) = entries(shop)
    assert (entry.as_of, entry.restatement, entry.rows) == (TODAY, 0, 3)
    assert (entry.visible_from, entry.completed_at, entry.withdrawn_at) == (outcome.visible_from, NOW, None)
    assert entry.snapshot is not None
    assert entry.snapshot.source == "orders"
    (file,) = entry.files
    assert pq.read_table(entry.path / file.name)["user_id"].to_pylist() == [0, 1, 2]
    (record,) = shop.registry.refreshes("spend")
    assert (record.visible_from, record.kind, record.online) == (outcome.visible_from, "full", True)
    assert "history." not in record.counters
    assert folders(shop) == ["as_of=20131115T0000Z-0"]


def test_what_is_restated_says_why_and_what_it_was_before_stays(shop: Refreshed) -> None:
    shop.refresh(TODAY)
    shop.now += HOUR
    outcome = shop.refresh(TODAY, restate="the source was loaded twice")
    assert outcome.reason == "the source was loaded twice"
    first, second = entries(shop)
    assert (first.restatement, first.reason) == (0, None)
    assert (second.restatement, second.reason) == (1, "the source was loaded twice")
    assert served_at(entries(shop), NOW) == first
    assert served_at(entries(shop), NOW + HOUR) == second
    assert served_at(entries(shop), TODAY) is None


def test_a_refresh_that_the_gate_refuses_is_not_kept(shop: Refreshed) -> None:
    def refuse() -> None:
        assert folders(shop) == ["_draft.as_of=20131115T0000Z-0"]
        raise GateError("amount_7d is not between 0 and 1")

    shop.computed = refuse
    with pytest.raises(GateError):
        shop.refresh(TODAY)
    assert folders(shop) == []


def test_a_run_that_died_when_its_refresh_served_is_kept_by_the_next(shop: Refreshed) -> None:
    with broken(Draft, "finish", error=SystemExit()), pytest.raises(SystemExit):
        shop.refresh(TODAY)
    assert (entries(shop), folders(shop)) == ((), ["_draft.as_of=20131115T0000Z-0"])

    shop.now += HOUR
    assert not shop.refresh(TODAY).is_new

    (entry,) = entries(shop)
    assert (entry.rows, entry.visible_from, entry.completed_at) == (3, NOW, NOW)
    assert folders(shop) == ["as_of=20131115T0000Z-0"]


def test_a_folder_that_can_not_get_its_name_is_a_note_and_the_next_run_tries_again(shop: Refreshed) -> None:
    full = HistoryError("the history can't be written")
    with broken(Draft, "finish", error=full):
        (note,) = shop.refresh(TODAY).notes
    assert note == "its rows are not in the history yet: the history can't be written"
    shop.refresh(TODAY)
    assert [entry.as_of for entry in entries(shop)] == [TODAY]


def test_a_history_that_can_not_be_written_fails_the_refresh_before_it_serves(shop: Refreshed, tmp_path: Path) -> None:
    (tmp_path / "history").write_text("a file")
    with pytest.raises(HistoryError) as caught:
        shop.refresh(TODAY)
    assert caught.value.exit_code == 3
    assert shop.keys(shop.space(TODAY)) == 0


def test_a_view_without_a_history_keeps_nothing(shop: Refreshed, tmp_path: Path) -> None:
    shop.compiled = compiled(tmp_path, ("refresh: 1d", "refresh: 1d\n    history: false"))
    shop.register()
    shop.refresh(TODAY)
    assert folders(shop) == []


def test_how_long_rows_are_kept_is_no_part_of_what_they_mean(shop: Refreshed, tmp_path: Path) -> None:
    other = compiled(tmp_path, ("refresh: 1d", "refresh: 1d\n    history: {keep: 400d}")).views["spend"]
    assert other.fingerprint.data == shop.view.fingerprint.data
    assert other.fingerprint.metadata != shop.view.fingerprint.metadata
    assert other.view.history_keep(1) == 400 * DAY


def test_a_changed_definition_starts_a_history_of_its_own(shop: Refreshed, tmp_path: Path) -> None:
    shop.refresh(TODAY)
    old = entries(shop)
    shop.compiled = compiled(tmp_path, WINDOW)
    shop.register()
    assert shop.history is not None
    assert shop.history.latest(shop.view, before=TODAY + DAY) is None
    shop.refresh(TODAY)
    assert [entry.as_of for entry in entries(shop)] == [TODAY]
    assert entries(shop)[0].path.parent != old[0].path.parent
    assert all(entry.path.exists() for entry in old)


def test_a_refresh_that_another_run_computes_is_refused_and_one_that_waits_finds_it_there(shop: Refreshed) -> None:
    fingerprint = shop.view.fingerprint.data

    def second() -> None:
        other = Refreshed(**{**{name: getattr(shop, name) for name in shop.__dataclass_fields__}, "holder": "second"})
        with pytest.raises(RefreshRunningError, match="spend as of 2013-11-15T00:00Z is being computed by another run"):
            other.refresh(TODAY)

    shop.compute = second
    shop.refresh(TODAY)
    assert [(one.restatement, one.status.value) for one in shop.registry.refreshes("spend")] == [(0, "complete")]
    assert shop.registry.leased("spend", fingerprint) == frozenset()

    with leased(shop.registry, "spend", fingerprint, (TODAY,), holder="other"):
        assert not shop.refresh(TODAY, wait=True).is_new  # what serves needs no lease


@pytest.fixture
def month(shop: Refreshed) -> Refreshed:
    """The shop with five daily refreshes, each computed at 03:00 of its day; 13 November is missing."""
    for day in (-4, -3, -1, 0):
        shop.now = NOW + day * DAY
        shop.refresh(TODAY + day * DAY)
    return shop


def kept_days(shop: Refreshed) -> list[int]:
    return [(entry.as_of - TODAY) // DAY for entry in entries(shop)]


def test_gaps_are_the_instants_of_the_grid_that_nothing_is_kept_of(month: Refreshed) -> None:
    assert month.history is not None
    (found,) = view_histories(month.history, month.registry)
    assert [(gap.first, gap.last, gap.refreshes) for gap in found.gaps] == [(TODAY - 2 * DAY, TODAY - 2 * DAY, 1)]
    assert (found.is_live, found.rows, len(found.entries)) == (True, 12, 4)
    assert gaps((), month.view.view.grid) == ()


@pytest.mark.parametrize(
    ("keep", "now", "is_live", "left"),
    [
        (2 * DAY, NOW, True, [-1, 0]),
        (2 * DAY + 1, NOW, True, [-1, 0]),
        (4 * DAY + 1, NOW, True, [-4, -3, -1, 0]),
        (4 * DAY, NOW, True, [-3, -1, 0]),
        (1, NOW + 100 * DAY, True, [0]),  # it serves
        (1, TODAY + HOUR, True, [-1, 0]),  # the newest does not serve yet
        (1, NOW + 100 * DAY, False, []),
    ],
)
def test_what_is_older_than_is_kept_goes_unless_it_serves(
    month: Refreshed, keep: int, now: Instant, is_live: bool, left: list[int]
) -> None:
    gone = expired(entries(month), now=now, keep=keep, is_live=is_live)
    assert [(entry.as_of - TODAY) // DAY for entry in entries(month) if entry not in gone] == left


def test_expired_rows_go_and_the_run_history_stays(month: Refreshed) -> None:
    assert month.history is not None
    would = expire(month.history, month.registry, now=NOW + DAY, keep=lambda _: 2 * DAY, dry_run=True)
    assert kept_days(month) == [-4, -3, -1, 0]
    went = expire(month.history, month.registry, now=NOW + DAY, keep=lambda _: 2 * DAY)
    assert [one.entry.as_of for one in would] == [one.entry.as_of for one in went]
    assert kept_days(month) == [0]
    assert folders(month) == ["as_of=20131115T0000Z-0"]
    assert len(month.registry.refreshes("spend")) == 4


def test_a_version_that_nobody_reads_goes_whole_and_one_that_serves_still_does_not(
    month: Refreshed, tmp_path: Path
) -> None:
    assert month.history is not None
    month.compiled = compiled(tmp_path, WINDOW)
    month.register()  # its readers still wait on the old version
    expire(month.history, month.registry, now=NOW + 400 * DAY, keep=lambda _: DAY)
    assert folders(month) == ["as_of=20131115T0000Z-0"]
    month.refresh(TODAY)
    expire(month.history, month.registry, now=NOW + 400 * DAY, keep=lambda _: DAY)
    assert kept_days(month) == [0]
    assert len(folders(month)) == 1


def test_tiles_go_with_the_last_refresh_of_their_version(month: Refreshed, tmp_path: Path) -> None:
    assert month.history is not None
    tiles = entries(month)[0].path.parent / "_tiles"
    tiles.mkdir()
    expire(month.history, month.registry, now=NOW + 400 * DAY, keep=lambda _: DAY)
    assert kept_days(month) == [0]
    assert tiles.exists()
    month.compiled = compiled(tmp_path, WINDOW)
    month.register()
    month.refresh(TODAY)
    expire(month.history, month.registry, now=NOW + 400 * DAY, keep=lambda _: DAY)
    assert not tiles.exists()


def test_drafts_that_nobody_writes_any_more_are_dropped_and_others_are_not(month: Refreshed) -> None:
    assert month.history is not None
    fingerprint = month.view.fingerprint.data
    for as_of in (TODAY + DAY, TODAY + 2 * DAY):
        month.history.draft(month.view, as_of, 0).begin()
    with leased(month.registry, "spend", fingerprint, (TODAY + 2 * DAY,), holder="at work"):
        expire(month.history, month.registry, now=NOW, keep=lambda _: 90 * DAY)
    drafts = [name for name in folders(month) if name.startswith("_draft")]
    assert drafts == ["_draft.as_of=20131117T0000Z-0"]
    assert kept_days(month) == [-4, -3, -1, 0]

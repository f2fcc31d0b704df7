"""load_repo as a whole: which files, which definitions, what is left for the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from featurekit.clock import DAY, HOUR
from featurekit.definitions.entity import Entity
from featurekit.definitions.feature_view import Feature, FeatureView, Refresh
from featurekit.definitions.problem import Problem, did_you_mean
from featurekit.definitions.repo import check_repository, load_repo, raise_mistakes
from featurekit.definitions.repository import Repository
from featurekit.definitions.service import ServiceFeatures
from featurekit.definitions.source import Source, SourceFormat
from featurekit.errors import DefinitionError, DefinitionErrors
from featurekit.types import Float64, Int64
from tests.definitions.written import BASE, feature, load, service

FEATURE_DEFS = Path(__file__).parents[2] / "feature_defs"


def test_real_definitions_load_without_a_mistake() -> None:
    loaded = load_repo(FEATURE_DEFS)
    raise_mistakes(loaded)
    assert loaded.left_out == frozenset()
    assert {"carrier", "airport", "route", "plane"} <= loaded.repository.entities.keys()
    assert "flight_delay" in loaded.repository.feature_services


def test_definitions_have_the_values_that_were_written(tmp_path: Path) -> None:
    loaded = load(
        tmp_path, base=BASE, x=service("[load, {view: load as dest_load, keys: {airport: dest}}, trip.is_far as far]")
    )
    raise_mistakes(loaded)
    view = loaded.repository.feature_views["load"]
    assert (view.entity, view.source, view.refresh) == ("airport", "departures", Refresh(every=DAY))
    assert view.features == (
        Feature(name="n_1d", sql="count(*)", window=DAY),
        Feature(name="last_delay", sql="delay", ttl=7 * DAY),
    )
    assert loaded.repository.on_demand_feature_views["trip"].request == {"distance": Float64()}
    assert loaded.repository.feature_services["s"].features == (
        ServiceFeatures(view="load"),
        ServiceFeatures(view="load", alias="dest_load", keys={"airport": "dest"}),
        ServiceFeatures(view="trip", feature="is_far", alias="far"),
    )


def test_view_from_yaml_equals_the_view_from_python(tmp_path: Path) -> None:
    text = feature("{sql: 'coalesce(a, 0)', window: 7d, default: 0}", refresh="6h\n    availability_delay: 1h30m")
    assert load(tmp_path, base=BASE, x=text).repository.feature_views["v"] == FeatureView(
        name="v",
        entity="carrier",
        source="departures",
        refresh=Refresh(every=6 * HOUR),
        availability_delay=90 * 60 * 10**6,
        features=(Feature(name="n", sql="coalesce(a, 0)", window=7 * DAY, default=0),),
    )


def test_python_takes_durations_as_text_too_and_refuses_the_same_mistakes() -> None:
    assert Feature.model_validate({"name": "n", "sql": "a", "window": "7d"}).window == 7 * DAY
    for wrong in (
        {"window": 0},
        {"window": -1},
        {"window": "7"},
        {"window": DAY, "ttl": DAY},
        {"name": "found"},
        {"x": 1},
    ):
        with pytest.raises(ValidationError):
            Feature.model_validate({"name": "n", "sql": "a", **wrong})


def test_definitions_are_frozen(tmp_path: Path) -> None:
    view = load(tmp_path, base=BASE).repository.feature_views["load"]
    with pytest.raises(ValidationError):
        view.name = "other"


def test_files_are_read_in_folders_too_but_not_hidden_ones(tmp_path: Path) -> None:
    feature_defs = tmp_path / "feature_defs"
    (feature_defs / "more").mkdir(parents=True)
    (feature_defs / ".hidden").mkdir()
    (feature_defs / "a.yml").write_text("entities:\n  a: {join_keys: {a: int}}\n")
    (feature_defs / "more" / "b.yaml").write_text("entities:\n  b: {join_keys: {b: int}}\n")
    (feature_defs / ".#a.yml").write_text("not: [yaml")
    (feature_defs / ".hidden" / "c.yaml").write_text("not: [yaml")
    (feature_defs / "notes.txt").write_text("not: [yaml")
    loaded = load_repo(feature_defs)
    raise_mistakes(loaded)
    assert list(loaded.repository.entities) == ["a", "b"]
    assert loaded.positions.at("entities", "b") == "feature_defs/more/b.yaml:2:3"
    assert load_repo(feature_defs, root=feature_defs).positions.at("entities", "a") == "a.yml:2:3"


def test_one_file_is_a_repo_too(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("entities:\n  a: {join_keys: {a: int}}\n")
    loaded = load_repo(tmp_path / "x.yaml")
    assert loaded.positions.at("entities", "a") == "x.yaml:2:3"


@pytest.mark.parametrize(
    ("make", "what"), [(True, "there are no definitions here"), (False, "there is no such folder")]
)
def test_folder_without_definitions_is_a_mistake(tmp_path: Path, make: bool, what: str) -> None:
    folder = tmp_path / "feature_defs"
    if make:
        folder.mkdir()
    with pytest.raises(DefinitionErrors) as caught:
        raise_mistakes(load_repo(folder))
    assert [(mistake.what, mistake.where) for mistake in caught.value.mistakes] == [(what, str(folder))]


def test_broken_link_is_a_mistake_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / "feature_defs").mkdir()
    (tmp_path / "feature_defs" / "x.yaml").symlink_to(tmp_path / "nowhere.yaml")
    loaded = load_repo(tmp_path / "feature_defs")
    assert [mistake.where for mistake in loaded.mistakes] == ["feature_defs/x.yaml:1:1"]
    assert "can't be read" in loaded.mistakes[0].what


def test_definitions_from_python_are_checked_against_each_other_too() -> None:
    view = FeatureView(
        name="v", entity="carier", source="s", refresh=Refresh(every=DAY), features=(Feature(name="n", sql="a"),)
    )
    entity = Entity(name="carrier", join_keys={"carrier": Int64()})
    source = Source(name="s", path="a.parquet", event_timestamp="t")
    loaded = check_repository(
        Repository(entities={"carrier": entity}, sources={"s": source}, feature_views={"v": view})
    )
    assert [(mistake.where, mistake.try_) for mistake in loaded.mistakes] == [
        ("feature_views.v.entity", "did you mean carrier?")
    ]
    assert loaded.repository.feature_views == {}
    with pytest.raises(ValidationError, match="carrier stands under the name other"):
        Repository(entities={"other": entity})


def test_compilers_mistakes_are_raised_among_ours_in_order(tmp_path: Path) -> None:
    loaded = load(
        tmp_path, base=BASE, x=feature("{sql: a, window: 7}\n      m: {sql: nonsense}\n      l: {sql: b, ttl: 0d}")
    )
    compiler = Problem(path=("feature_views", "v", "features", "m", "sql"), what="no column nonsense", offset=0)
    with pytest.raises(DefinitionErrors) as caught:
        raise_mistakes(loaded, [compiler, DefinitionError("a", where="feature_defs/a.yaml:1:1")])
    assert [mistake.where for mistake in caught.value.mistakes] == [
        "feature_defs/a.yaml:1:1",
        "feature_defs/x.yaml:7:27",
        "feature_defs/x.yaml:8:16",
        "feature_defs/x.yaml:9:24",
    ]
    assert caught.value.exit_code == 2
    assert caught.value.what == "4 mistakes in the definitions"


def test_nothing_is_raised_where_nothing_is_wrong(tmp_path: Path) -> None:
    raise_mistakes(load(tmp_path, base=BASE))


def test_what_is_right_is_left_for_the_compiler(tmp_path: Path) -> None:
    text = feature("{sql: a, window: 7}\n      m: {sql: b}")
    loaded = load(tmp_path, base=BASE, x=text + service("[load, v.m]\n  t:\n    features: [load, v.n]"))
    assert [view.name for view in loaded.repository.feature_views["v"].features] == ["m"]
    assert list(loaded.repository.feature_services) == ["s"]
    assert loaded.left_out == {("feature_views", "v", "features", "n"), ("feature_services", "t")}


def test_definition_that_needs_what_is_left_out_is_left_out_too(tmp_path: Path) -> None:
    text = BASE.replace("{airport: string}", "{airport: strin}")
    loaded = load(tmp_path, base=text, x=service("[load]"))
    assert len(loaded.mistakes) == 1
    assert loaded.left_out == {("entities", "airport"), ("feature_views", "load"), ("feature_services", "s")}
    assert loaded.repository.feature_views == {}


def test_cut_text_is_never_taken_for_a_value(tmp_path: Path) -> None:
    loaded = load(tmp_path, base=BASE, x=feature("{sql: coalesce(a, 0)}"))
    assert "v" not in loaded.repository.feature_views


@pytest.mark.parametrize(
    ("fields", "origin"),
    [
        ({"path": "a.parquet"}, SourceFormat.PARQUET),
        ({"path": "folder"}, SourceFormat.PARQUET),
        ({"path": "a.csv", "columns": {"t": "timestamp"}}, SourceFormat.CSV),
        ({"path": "a.csv.gz", "columns": {"t": "timestamp"}}, SourceFormat.CSV),
        ({"path": "a.txt", "format": "csv", "columns": {"t": "timestamp"}}, SourceFormat.CSV),
        ({"table": "a.b", "columns": {"t": "timestamp"}}, SourceFormat.TABLE),
        ({"sql": "SELECT 1", "columns": {"t": "timestamp"}}, SourceFormat.SQL),
    ],
)
def test_source_knows_where_its_rows_come_from(fields: dict[str, object], origin: SourceFormat) -> None:
    assert Source.model_validate({"name": "s", "event_timestamp": "t", **fields}).origin is origin


def test_declared_columns_are_a_schema() -> None:
    source = Source.model_validate({"name": "s", "table": "t", "event_timestamp": "a", "columns": {"a": "bigint"}})
    assert source.declared_schema is not None
    assert [(field.name, field.type) for field in source.declared_schema.fields] == [("a", Int64())]


def test_suggestions_are_the_closest_name_or_a_short_list() -> None:
    assert did_you_mean("carier", ["route", "carrier"]) == "did you mean carrier?"
    assert did_you_mean("x", []) is None
    assert (
        did_you_mean("zzz", [f"n{at:02}" for at in range(40)])
        == f"one of {', '.join(f'n{at:02}' for at in range(12))}, … (40 in all)"
    )

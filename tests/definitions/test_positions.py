"""Positions: file:line:column of any value, and of any character inside a text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.definitions.positions import Positions, by_position
from featurekit.definitions.problem import Problem
from featurekit.definitions.yaml_file import YamlFile
from featurekit.definitions.yaml_source import Mapping, Scalar, read_yaml
from featurekit.errors import DefinitionError
from tests.definitions.written import load

TEXT = """\
feature_views:
  v:
    entity: carrier
    source: s
    refresh: 6h
    keys: {carrier: op_carrier}
    features:
      plain: {sql: avg(dep_delay), window: 7d}
      block:
        sql: |
          count(*)
            FILTER (WHERE a > 1)
      folded:
        sql: >-
          count(*)
          / sum(b)
      quoted: {sql: "concat(\\"a\\",\\tb)"}
      single: {sql: 'a = ''b'' + c'}
      several: {sql: sum(a)
        + sum(b)}
"""
V = ("feature_views", "v")


@pytest.fixture
def positions(tmp_path: Path) -> Positions:
    return load(tmp_path, flights=TEXT).positions


@pytest.mark.parametrize(
    ("path", "position"),
    [
        ((*V, "features", "plain", "sql"), "8:20"),
        ((*V, "features", "plain", "window"), "8:44"),
        ((*V, "features", "plain"), "8:7"),
        ((*V, "features", "block", "sql"), "10:14"),
        (V, "2:3"),
        ((*V, "keys", "carrier"), "6:21"),
        ((*V, "keys"), "6:5"),
        ((*V, "refresh", "every"), "5:14"),
        ((*V, "features", "plain", "ttl"), "8:7"),
        ((*V, "availability_delay"), "2:3"),
    ],
)
def test_value_stands_where_it_was_written_or_what_is_around_it(
    positions: Positions, path: tuple[str, ...], position: str
) -> None:
    assert positions.at(*path) == f"feature_defs/flights.yaml:{position}"


@pytest.mark.parametrize(
    ("feature", "needle", "position"),
    [
        ("plain", "avg", "8:20"),
        ("plain", "dep_delay", "8:24"),
        ("block", "count", "11:11"),
        ("block", "FILTER", "12:13"),
        ("block", "a > 1", "12:27"),
        ("folded", "count", "15:11"),
        ("folded", "sum", "16:13"),
        ("quoted", "concat", "17:22"),
        ("quoted", '"a"', "17:29"),
        ("quoted", "b)", "17:37"),
        ("single", "a =", "18:22"),
        ("single", "'b'", "18:26"),
        ("single", "c", "18:34"),
        ("several", "sum(a)", "19:22"),
        ("several", "sum(b)", "20:11"),
    ],
)
def test_character_of_a_text_stands_where_it_was_written(
    tmp_path: Path, feature: str, needle: str, position: str
) -> None:
    loaded = load(
        tmp_path,
        flights=TEXT,
        base="entities:\n  carrier: {join_keys: {carrier: int}}\nsources:\n  s: {path: p, event_timestamp: t}\n",
    )
    found = loaded.repository.feature_views["v"].feature(feature)
    assert found is not None
    at = loaded.positions.at(*V, "features", feature, "sql", offset=found.sql.index(needle))
    assert at == f"feature_defs/flights.yaml:{position}"


def test_end_of_a_text_stands_behind_its_last_character(positions: Positions) -> None:
    at = positions.at(*V, "features", "plain", "sql", offset=len("avg(dep_delay)"))
    assert at == "feature_defs/flights.yaml:8:34"


def test_definitions_from_python_have_paths_for_positions() -> None:
    assert Positions().at("feature_views", "v", "features", "n", "sql", offset=3) == "feature_views.v.features.n.sql"
    assert Positions().of_name("feature_views", "v") == "feature_views.v"


def test_problem_gets_the_position_of_its_character(positions: Positions) -> None:
    problem = Problem(path=(*V, "features", "plain", "sql"), what="no column dep_delay", try_="delay", offset=4)
    mistake = positions.mistake(problem)
    assert (mistake.where, mistake.what) == ("feature_defs/flights.yaml:8:24", "no column dep_delay")
    name = positions.mistake(Problem(path=(*V, "keys", "carrier"), what="x", at_name=True))
    assert name.where == "feature_defs/flights.yaml:6:12"


def test_mistakes_are_in_order_of_numbers_and_each_is_there_once() -> None:
    places = ["b.yaml:1:1", "a.yaml:10:1", "a.yaml:9:12", "a.yaml:9:2", "a.yaml:9:2"]
    found = by_position([DefinitionError("x", where=place) for place in places])
    assert [mistake.where for mistake in found] == ["a.yaml:9:2", "a.yaml:9:12", "a.yaml:10:1", "b.yaml:1:1"]


SQL = st.text(st.sampled_from("ab(),*'\"\\ =<>.+:#é\t"), min_size=1, max_size=40).map(str.strip).filter(bool)


def quoted(sql: str) -> str:
    return '"' + sql.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '"'


def single(sql: str) -> str:
    return "'" + sql.replace("'", "''") + "'"


def block(sql: str) -> str:
    return "|\n    " + sql


@given(SQL, st.sampled_from([quoted, single, block]))
def test_each_visible_character_is_found_in_the_file(sql: str, style: object) -> None:
    assert callable(style)
    text = f"a:\n  sql: {style(sql)}\n"
    node, flaws = read_yaml(text)
    assert flaws == ()
    assert isinstance(node, Mapping)
    inner = node.items[0][1]
    assert isinstance(inner, Mapping)
    scalar = inner.items[0][1]
    assert isinstance(scalar, Scalar)
    lines = text.split("\n")
    for offset, character in enumerate(scalar.text):
        if character.isspace():
            continue
        _, line, column = YamlFile("f", text).position_in(scalar, offset).split(":")
        there = lines[int(line) - 1][int(column) - 1 :]
        assert there.startswith((character, f"\\{character}"))

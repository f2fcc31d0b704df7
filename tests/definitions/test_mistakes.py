"""What load_repo says of definitions that are YAML and still wrong: file, line, column, what, why, what to try."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.definitions.written import feature, load, mistakes, places, service, source

CASES = [
    # text of x.yaml, [(position, what)…]
    # -- names and shapes
    ("entities:\n  1b: {join_keys: {a: int}}\n", [("2:3", "entity 1b: '1b' is not a name")]),
    ("entities:\n  found: {join_keys: {a: int}}\n", [("2:3", "entity found: 'found' is a reserved name")]),
    ("entities:\n  __e: {join_keys: {a: int}}\n", [("2:3", "entity __e: '__e' is a reserved name")]),
    (
        f"entities:\n  {'e' * 64}: {{join_keys: {{a: int}}}}\n",
        [("2:3", f"entity {'e' * 64}: '{'e' * 64}' is not a name")],
    ),
    ("entities:\n  e: {join_keys: {as_of: int}}\n", [("2:19", "entity e: 'as_of' is a reserved name")]),
    ("entities:\n  e: text\n", [("2:6", "entity e must be a mapping")]),
    ("entities:\n  e: {}\n", [("2:3", "entity e: join_keys is missing")]),
    ("entities:\n  e: {join_keys: {}}\n", [("2:7", "entity e: join_keys is empty")]),
    (
        "entities:\n  e: {join_keys: [a]}\n",
        [("2:7", "entity e: join_keys must be a mapping {name: value}, not a list")],
    ),
    ("entities:\n  e: {join_keys: {a: strin}}\n", [("2:22", "entity e: 'strin' is not a type")]),
    ("entities:\n  e: {join_keys: {a: 'decimal(50,2)'}}\n", [("2:22", "entity e: decimal(50,2) is not a type")]),
    ("entities:\n  e: {join_keys: {a: binary}}\n", [("2:22", "entity e: binary can't be the type of a join key")]),
    ("entities:\n  e: {join_keys: {a: 1}}\n", [("2:22", "entity e: a must be the name of a type, not the number 1")]),
    (
        "entities:\n  e: {join_keys: {a: int, A: int}}\n",
        [("2:27", "entity e: the join keys a and A differ in case only")],
    ),
    (
        "entities:\n  e: {joinkeys: {a: int}}\n",
        [("2:3", "entity e: join_keys is missing"), ("2:7", "entity e: joinkeys is not a field here")],
    ),
    ("entities:\n  e: {join_keys: {a: int}, name: f}\n", [("2:28", "entity e: name is not a field")]),
    ("entities:\n  carrier: {join_keys: {a: int}}\n", [("2:3", "the entity carrier is declared twice")]),
    ("entities:\n  Carrier: {join_keys: {a: int}}\n", [("2:3", "carrier and Carrier differ in case only")]),
    # -- sources
    (source("{event_timestamp: t}"), [("2:3", "source s: path, table or sql is missing")]),
    (source("{path: p, table: q, event_timestamp: t}"), [("2:16", "source s: it has path and table")]),
    (source("{path: p.parquet}"), [("2:3", "source s: event_timestamp is missing")]),
    (source("{path: p.csv, event_timestamp: t}"), [("2:13", "source s: a CSV source declares no columns")]),
    (source("{table: a.b, event_timestamp: t}"), [("2:14", "source s: a source by table declares no columns")]),
    (source("{sql: SELECT 1, event_timestamp: t}"), [("2:12", "source s: a source by sql declares no columns")]),
    (source("{path: p, format: orc, event_timestamp: t}"), [("2:24", "source s: 'orc' is not a format")]),
    (
        source("{table: q, format: csv, event_timestamp: t, columns: {t: timestamp}}"),
        [("2:25", "source s: csv is not the format of a source by table")],
    ),
    (
        source("{path: p, format: sql, event_timestamp: t}"),
        [("2:24", "source s: sql is not the format of a source by path")],
    ),
    (source("{path: p, event_timestamp: t, event_id: i}"), [("2:46", "source s: event_id needs a created_timestamp")]),
    (
        source("{path: p, event_timestamp: t, created_timestamp: c, known_from: 2013-01-01}"),
        [("2:70", "source s: known_from without assumed_lag")],
    ),
    (
        source("{path: p, event_timestamp: t, created_timestamp: c, assumed_lag: 1h}"),
        [("2:71", "source s: assumed_lag without known_from")],
    ),
    (
        source("{path: p, event_timestamp: t, known_from: 2013-01-01, assumed_lag: 1h}"),
        [("2:48", "source s: known_from needs a created_timestamp")],
    ),
    (
        source("{path: p, event_timestamp: t, created_timestamp: c, known_from: 2013-01-01T02:00, assumed_lag: 1h}"),
        [("2:70", "source s: '2013-01-01T02:00' has no zone")],
    ),
    (source("{path: p, event_timestamp: t, timezone: Mars/X}"), [("2:46", "source s: 'Mars/X' is not a time zone")]),
    (
        source("{path: p, event_timestamp: t, null_tokens: [NA]}"),
        [("2:36", "source s: null_tokens on a source by parquet")],
    ),
    (
        source("{path: p.csv, event_timestamp: t, columns: {t: timestamp}, null_tokens: NA}"),
        [("2:78", "source s: null_tokens must be a list [ ], not the text 'NA'")],
    ),
    (
        source("{path: p.csv, event_timestamp: t, columns: {t: timestamp, T: int}}"),
        [("2:64", "source s: the columns t and T differ in case only")],
    ),
    # -- refresh, window, ttl
    (feature("{sql: a}", refresh="0d"), [("5:14", "feature view v: the duration is zero")]),
    (feature("{sql: a}", refresh="-1d"), [("5:14", "feature view v: '-1d' is not a duration")]),
    (feature("{sql: a}", refresh="daily"), [("5:14", "feature view v: 'daily' is not a duration")]),
    (feature("{sql: a}", refresh="1"), [("5:14", "feature view v: 1 is not a duration")]),
    (feature("{sql: a}", refresh="{timezone: UTC}"), [("5:5", "feature view v: every is missing")]),
    (feature("{sql: a}", refresh="[1d]"), [("5:5", "feature view v: ['1d'] is not a duration")]),
    (
        feature("{sql: a}", refresh="{every: 36h, timezone: UTC}"),
        [("5:22", "feature view v: 1d12h is not whole days")],
    ),
    (
        feature("{sql: a}", refresh="{every: 7d, timezone: America/New_York}"),
        [("5:5", "feature view v: every 7d in a zone without an anchor")],
    ),
    (
        feature("{sql: a}", refresh="{every: 7d, anchor: 2013-11-04}"),
        [("5:34", "feature view v: an anchor without a timezone")],
    ),
    (
        feature("{sql: a}", refresh="{every: 7d, timezone: UTC, anchor: 2013-11-31}"),
        [("5:49", "feature view v: '2013-11-31' is not a date")],
    ),
    (
        feature("{sql: a}", refresh="{every: 1d, timezone: America/NewYork}"),
        [("5:36", "feature view v: 'America/NewYork' is not a time zone")],
    ),
    (
        feature("{sql: a}", refresh="1d\n    availability_delay: 1h\n    allowed_lateness: 2h"),
        [("7:23", "feature view v: allowed_lateness (2h) is longer than availability_delay (1h)")],
    ),
    (
        feature("{sql: a}", refresh="1d\n    availability_delay: 1h\n    allowed_lateness: 1h"),
        [("7:23", "feature view v: allowed_lateness (1h) is as long as availability_delay (1h)")],
    ),
    (
        feature("{sql: a}", refresh="1d\n    allowed_lateness: 5m"),
        [("6:23", "feature view v: allowed_lateness (5m) is longer than availability_delay (0s)")],
    ),
    (feature("{sql: a, window: 0d}"), [("7:27", "feature v.n: the duration is zero")]),
    (feature("{sql: a, window: lifelong}"), [("7:27", "feature v.n: 'lifelong' is not a duration")]),
    (feature("{sql: a, window: true}"), [("7:27", "feature v.n: true is not a window")]),
    (feature("{sql: a, window: [7d]}"), [("7:19", "feature v.n: ['7d'] is not a window")]),
    (feature("{sql: a, window: {}}"), [("7:19", "feature v.n: a window of nothing is none")]),
    (feature("{sql: a, window: {rows: 0}}"), [("7:34", "feature v.n: 0 is not a number of rows")]),
    (feature("{sql: a, window: {rows: 1.5}}"), [("7:34", "feature v.n: 1.5 is not a number of rows")]),
    (feature("{sql: a, window: {rows: 9, within: 30}}"), [("7:45", "feature v.n: 30 is not a duration")]),
    (feature("{sql: a, window: {rows: 9, witin: 3d}}"), [("7:37", "feature v.n: witin is not a field of a window")]),
    (feature("{sql: a, window: {within: 3d}}"), [("7:19", "feature v.n: a window of within is none")]),
    (feature("{sql: a, window: {calendar: 7h}}"), [("7:38", "feature v.n: '7h' is no stretch of the calendar")]),
    (feature("{sql: a, window: {rows: 9}, ttl: 1d}"), [("7:43", "feature v.n: it has a window and a ttl")]),
    (feature("{sql: a, ttl: 0s}"), [("7:24", "feature v.n: the duration is zero")]),
    (feature("{sql: a, ttl: 50000d}"), [("7:24", "feature v.n: the duration 50000d is too long")]),
    (feature("{sql: a, window: 1d, ttl: 1d}"), [("7:36", "feature v.n: it has a window and a ttl")]),
    # -- features
    (feature("count(*)"), [("7:10", "feature v.n must be a mapping")]),
    (feature("{window: 1d}"), [("7:7", "feature v.n: sql is missing")]),
    (feature("{sql: ''}"), [("7:16", "feature v.n: sql is empty")]),
    (feature("{sql: a, windw: 1d}"), [("7:19", "feature v.n: windw is not a field here")]),
    (feature("{sql: a, name: m}"), [("7:19", "feature v.n: name is not a field")]),
    (
        feature("{sql: a, default: [1]}"),
        [("7:19", "feature v.n: default must be a number, text, or true or false, not a list")],
    ),
    (feature("{sql: a}\n      N: {sql: b}"), [("8:7", "feature view v: n and N differ in case only")]),
    (feature("{sql: a}\n      n: {sql: b}"), [("8:7", "n is written twice")]),
    (
        feature("{sql: a}", more=" {}\n    x:"),
        [("6:5", "feature view v: features must be a mapping"), ("7:5", "feature view v: x is not a field here")],
    ),
    # -- expectations
    (feature("{sql: a, expect: {}}"), [("7:19", "feature v.n: it expects nothing")]),
    (
        feature("{sql: a, expect: 5}"),
        [("7:27", "feature v.n: expect must be a mapping {name: value}, not the number 5")],
    ),
    (feature("{sql: a, expect: {not_null: false}}"), [("7:38", "feature v.n: not_null: false expects nothing")]),
    (feature("{sql: a, expect: {between: [3, 1]}}"), [("7:28", "feature v.n: no value is between 3 and 1")]),
    (feature("{sql: a, expect: {between: [1]}}"), [("7:28", "feature v.n: between has 1 entries")]),
    (feature("{sql: a, expect: {between: [1, 2, 3]}}"), [("7:28", "feature v.n: between has 3 entries")]),
    (
        feature("{sql: a, expect: {between: [a, 2]}}"),
        [("7:38", "feature v.n: entry 0 must be a number, not the text 'a'")],
    ),
    (feature("{sql: a, expect: {in_set: []}}"), [("7:28", "feature v.n: in_set is empty")]),
    (feature("{sql: a, expect: {max_null_share: 2}}"), [("7:44", "feature v.n: max_null_share is 2")]),
    (
        feature("{sql: a, expect: {not_null: true, max_null_share: 0.5}}"),
        [("7:60", "feature v.n: not_null and max_null_share")],
    ),
    (feature("{sql: a, expect: {betwen: [1, 2]}}"), [("7:28", "feature v.n: betwen is not a field here")]),
    # -- names of other definitions
    (feature("{sql: a}").replace("carrier", "carier"), [("3:13", "feature view v: there is no entity carier")]),
    (feature("{sql: a}").replace("departures", "depart"), [("4:13", "feature view v: there is no source depart")]),
    (
        feature("{sql: a}", refresh="1d\n    keys: {plane: op_plane}"),
        [("6:12", "feature view v: plane is not a join key of the entity carrier")],
    ),
    (
        "on_demand_feature_views:\n  load: {features: {a: {sql: b}}}\n",
        [("2:3", "load is a feature view and an on-demand feature view")],
    ),
    (
        "on_demand_feature_views:\n  t: {request: {d: double}, features: {D: {sql: a}}}\n",
        [("2:40", "on-demand feature view t: D is a feature, and d a request value")],
    ),
    (
        service("[load]") + "    on_unavailable: nul\n",
        [("4:21", "feature service s: 'nul' is nothing that can stand in")],
    ),
    (
        service("[load]") + "    on_unavailable: last_known\n",
        [("4:21", "feature service s: last_known has no age limit")],
    ),
    (
        service("[load]") + "    on_unavailable: {last_known: 0s}\n",
        [("4:34", "feature service s: '0s' is not an age")],
    ),
    (
        service("[load]") + "    on_unavailable: {last_known: 1 hour}\n",
        [("4:34", "feature service s: '1 hour' is not a duration")],
    ),
    (service("[lod]"), [("3:16", "feature service s: there is no view lod")]),
    (service("[load.n]"), [("3:16", "feature service s: the view load has no feature n")]),
    (service("[trip.far]"), [("3:16", "feature service s: the view trip has no feature far")]),
    (service("[load, load]"), [("3:22", "feature service s: load is there twice")]),
    (service("[load.n_1d, load]"), [("3:27", "feature service s: load is there twice")]),
    (service("[load.n_1d, load.last_delay, load.n_1d]"), [("3:44", "feature service s: load.n_1d is there twice")]),
    (service("[load, trip as load]"), [("3:22", "feature service s: load names both load and trip")]),
    (service("[load as a, load as A]"), [("3:27", "feature service s: a and A differ in case only")]),
    (
        service("[load.n_1d as a, {view: load.last_delay as a, keys: {airport: dest}}]"),
        [("3:32", "feature service s: a is there twice with different keys")],
    ),
    (
        service("[{view: load, keys: {plane: dest}}]"),
        [("3:36", "feature service s: plane is not a join key of the entity airport")],
    ),
    (
        service("[{view: trip, keys: {a: b}}]"),
        [("3:29", "feature service s: the on-demand view trip has no join keys")],
    ),
    (service("[load as dest_load, keys: {airport: dest}]"), [("3:35", "feature service s: keys stands alone")]),
    (service("[{alias: x}]"), [("3:16", "feature service s: the entry names no view")]),
    (
        service("[{view: load, aliass: x}]"),
        [("3:29", "feature service s: aliass is not a field of an entry of features")],
    ),
    (
        service("[{view: load as a, alias: b}]"),
        [("3:34", "feature service s: alias is said twice, in view and as a field")],
    ),
    (service("[{view: load, as: a, alias: b}]"), [("3:29", "feature service s: it has as and alias")]),
    (service("['load n']"), [("3:16", "feature service s: 'load n' does not name features of a view")]),
    (service("[5]"), [("3:16", "feature service s: an entry of features must be the name of a view")]),
    (service("[load as found]"), [("3:16", "feature service s: 'found' is a reserved name")]),
    # -- thresholds
    (
        feature("{sql: count(*), window: 7d}") + "    thresholds: {}\n",
        [("8:5", "feature view v: it asks for nothing")],
    ),
    (
        feature("{sql: count(*), window: 7d}") + "    thresholds: {coverage: 99}\n",
        [("8:28", "feature view v: coverage is 99")],
    ),
    (
        feature("{sql: count(*), window: 7d}") + "    thresholds: {freshness: 26}\n",
        [("8:29", "feature view v: 26 is not a duration")],
    ),
    (
        feature("{sql: count(*), window: 7d}") + "    thresholds: {null_share: {n: 0.1, m: 2}}\n",
        [("8:42", "feature view v: m is 2")],
    ),
    (
        feature("{sql: count(*), window: 7d}") + "    thresholds: {null_share: {n: 0.1, m: 0.2}}\n",
        [("8:39", "feature view v has no stored feature m")],
    ),
    (
        service("[load, trip]") + "    thresholds: {null_share: {load.n_1d: 0, trip.is_far: 0}}\n",
        [("4:45", "feature service s has no stored feature trip.is_far")],
    ),
    (service("load"), [("3:15", "feature service s: features must be a list")]),
    (service("[]"), [("3:5", "feature service s: features must be a list")]),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[case[1][-1][1][:60] for case in CASES])
def test_mistake_is_told_where_it_stands_in_four_parts(
    tmp_path: Path, text: str, expected: list[tuple[str, str]]
) -> None:
    found = mistakes(tmp_path, text)
    assert places(found) == expected
    for mistake in found:
        assert mistake.why, mistake
        assert mistake.try_, mistake


@pytest.mark.parametrize(
    ("text", "try_"),
    [
        ("entities:\n  e: {joinkeys: {a: int}, join_keys: {a: int}}\n", "did you mean join_keys?"),
        ("entities:\n  e: {join_keys: {a: strin}}\n", "did you mean string?"),
        ("featureviews: {}\n", "did you mean feature_views?"),
        (feature("{sql: a, windw: 1d}"), "did you mean window?"),
        (feature("{sql: a, expect: {betwen: [1, 2]}}"), "did you mean between?"),
        (feature("{sql: a}", refresh="{evry: 1d, every: 1d}"), "did you mean every?"),
        (
            feature("{sql: a}").replace("carrier", "Carrier"),
            "did you mean carrier? Names are matched exactly, upper and lower case too",
        ),
        (feature("{sql: a}").replace("carrier", "plane"), "one of airport, carrier, route"),
        (service("[lod]"), "did you mean load?"),
        (service("[load.n_2d]"), "did you mean n_1d?"),
        (feature("{sql: a, window: 7}"), 'for example "7d"'),
        (
            service("[load as dest_load, keys: {airport: dest}]"),
            "{view: airport_load as dest_load, keys: {airport: dest}}",
        ),
    ],
)
def test_mistake_names_what_was_probably_meant(tmp_path: Path, text: str, try_: str) -> None:
    assert [mistake.try_ for mistake in mistakes(tmp_path, text)] == [try_]


def test_all_mistakes_of_all_files_come_at_once_by_file_line_and_column(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        b="entities:\n  e: {join_keys: {a: strin, b: int}, x: 1}\n"
        + source("{path: p, event_timestamp: t, timezone: M}"),
        a=feature("{sql: coalesce(a, 0), window: 7}", refresh="0d"),
        c="a: [\n",
    )
    assert [str(mistake.where).removeprefix("feature_defs/") for mistake in loaded.mistakes] == [
        "a.yaml:5:14",
        "a.yaml:7:16",
        "a.yaml:7:40",
        "b.yaml:2:22",
        "b.yaml:2:38",
        "b.yaml:4:46",
        "c.yaml:1:4",
    ]


def test_definition_with_a_mistake_of_its_own_still_has_its_names_checked(tmp_path: Path) -> None:
    text = feature("{sql: a}", refresh="0d").replace("carrier", "carier")
    assert [place for place, _ in places(mistakes(tmp_path, text))] == ["3:13", "5:14"]
    found = mistakes(tmp_path, service("[lod, 5, load.x, trip]\n    x: 1"))
    assert [place for place, _ in places(found)] == ["3:16", "3:21", "3:24", "4:5"]


def test_one_mistake_is_not_told_again_by_what_refers_to_it(tmp_path: Path) -> None:
    text = "entities:\n  e: {join_keys: {a: strin}}\n" + feature("{sql: a, window: 0d}").replace("carrier", "e")
    found = mistakes(tmp_path, text + service("[v.n]"))
    assert [place for place, _ in places(found)] == ["2:22", "9:27"]


def test_unreadable_file_hides_no_names_that_may_be_in_it(tmp_path: Path) -> None:
    loaded = load(tmp_path, x=feature("{sql: a}"), y="entities:\n\tcarrier: {}\n")
    assert places(list(loaded.mistakes)) == [("feature_defs/y.yaml:2:1", "a tab where YAML wants spaces")]


def test_misspelt_section_hides_no_names_that_may_be_in_it(tmp_path: Path) -> None:
    text = feature("{sql: a}") + "entitys:\n  carrier: {}\nsources:\n  departures: {path: p, event_timestamp: t}\n"
    assert places(list(load(tmp_path, x=text).mistakes)) == [("8:1", "entitys is not a section")]

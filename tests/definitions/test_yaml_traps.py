"""YAML that people read in one way and YAML readers in another: an error at its place, never a wrong value."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from featurekit.definitions.yaml_values import Suspect, plain_value
from tests.definitions.written import check, feature, load, mistakes, places

TRAPS = [
    # text of the feature, position, what, what to try
    (
        "{sql: coalesce(a, 0), window: 7d}",
        "7:16",
        "sql ends at a comma: it reads `coalesce(a`",
        'sql: "coalesce(a, 0)"',
    ),
    ("{sql: if(a, b, c)}", "7:16", "`b` and `c)` as a field of its own", 'sql: "if(a, b, c)"'),
    ('{sql: concat("a", b)}', "7:16", "sql ends at a comma", "sql: 'concat(\"a\", b)'"),
    ('{sql: "a", description: one, two}', "7:34", "description ends at a comma", '"one, two"'),
    ("{sql:count(*)}", "7:11", "a space is missing in `sql:count(*)`", "add it"),
    ("{sql: a, window: 1:30}", "7:27", "`1:30` is not clear without quotes", '"1:30"'),
    ("{sql: a, default: 1:30:00}", "7:28", "`1:30:00` is not clear", '"1:30:00"'),
    ("{sql: on}", "7:16", "`on` is not clear", '"on"'),
    ("{sql: a, default: yes}", "7:28", "`yes` is not clear", '"yes"'),
    ("{sql: a, default: NO}", "7:28", "`NO` is not clear", '"NO"'),
    ("{sql: a, default: off}", "7:28", "`off` is not clear", '"off"'),
    ("{sql: a, default: True}", "7:28", "`True` is not clear", '"True"'),
    ("{sql: a, default: 0123}", "7:28", "`0123` is not clear", '"0123"'),
    ("{sql: a, default: 0o17}", "7:28", "`0o17` is not clear", '"0o17"'),
    ("{sql: a, default: 0x1F}", "7:28", "`0x1F` is not clear", '"0x1F"'),
    ("{sql: a, default: 1_000}", "7:28", "`1_000` is not clear", '"1_000"'),
    ("{sql: a, default: 1_000.5}", "7:28", "`1_000.5` is not clear", '"1_000.5"'),
    ("{sql: a, default: 2013-01-02}", "7:28", "`2013-01-02` is not clear", '"2013-01-02"'),
    ("{sql: a, default: 2013-01-02T03:04:05Z}", "7:28", "is not clear", '"2013-01-02T03:04:05Z"'),
    ("{sql: a, default: ~}", "7:28", "`~` is not clear", '"~"'),
    ("{sql: a, default: NULL}", "7:28", "`NULL` is not clear", '"NULL"'),
    ("{sql: a, default: .nan}", "7:28", "`.nan` is not clear", '".nan"'),
    ("{sql: a, default: 1e999}", "7:28", "`1e999` is not clear", "quote it"),
    (f"{{sql: a, default: {'9' * 5000}}}", "7:28", "is not clear", "quote it"),
    ("{sql: 1}", "7:16", "sql must be text, not the number 1", '"1"'),
    ("{sql: 1.0}", "7:16", "sql must be text, not the number 1.0", '"1.0"'),
    ("{sql: true}", "7:16", "sql must be text, not true", '"true"'),
    ("{sql: null}", "7:16", "sql must be text, not null", '"null"'),
    ("{sql: a, owner: 5}", "7:26", "owner must be text, not the number 5", '"5"'),
    ("{sql: a, window: 7}", "7:27", "7 is not a duration", '"7d"'),
    ("{sql: a, ttl: 7.5}", "7:24", "7.5 is not a duration", "30m"),
    ("{sql: a, ttl: true}", "7:24", "True is not a duration", "30m"),
    ("{sql: a: b}", "7:17", "a second `: ` on one line", "quote the text"),
    ("{sql: a, default: !!python/object:os.system x}", "7:28", "the tag !!python/object:os.system", "the value itself"),
    ("{sql: !!str 5}", "7:16", "the tag !!str", "the value itself"),
    ("{sql: !custom 5}", "7:16", "the tag !custom", "the value itself"),
    ("{sql: *x}", "7:16", "the alias *x", "quote it where it begins with *"),
    ("{sql: &x a}", "7:16", "the anchor &x", "the value itself"),
    ("{<<: {ttl: 1d}, sql: a}", "7:11", "the merge key <<", "the fields themselves"),
    ("{sql: @x}", "7:16", "a value can't begin with @", "quote the text"),
    ("{sql: `x`}", "7:16", "a value can't begin with `", "quote the text"),
    ("{sql: 'a' = b}", "7:20", "text goes on behind a closing quote", "quote all of it"),
    ("{sql: f(a, 'b') = c, ttl: 1d}", "7:19", "the value ends at this comma", "quote all of it"),
    ('\n        sql: "a" || b', "8:18", "text goes on behind a closing quote", "quote all of it"),
    ("\n        sql: a = 'x #y'", "8:14", "sql ends before `#y'`", "quote all of it"),
    ("{sql: x[1]}", "7:17", "this is not YAML", "quote the text"),
    ("{sql: a, sql: b}", "7:19", "sql is written twice", "keep one"),
    ("{sql: a, true: b}", "7:19", "`true` is not a name", "begin it with a letter"),
    ("{sql: a, on: b}", "7:19", "`on` is not clear", '"on"'),
    ("{sql: a, [x]: b}", "7:19", "a name is missing before the colon", "name: value"),
    ("{sql: a, owner: }", "7:19", "owner has no value", "or remove it"),
    ("{sql: 'a}", "7:16", "' is never closed", "close it"),
    ("{sql: a", "7:10", "{ is never closed", "close it"),
    ("{sql: a,\n\twindow: 1d}", "8:1", "a tab where YAML wants spaces", "use spaces"),
    ("\n        sql: a\n\t\twindow: 1d", "9:1", "a tab where YAML wants spaces", "use spaces"),
    ("\n        sql: where a: b", "8:21", "a second `: ` on one line", "quote the text"),
    ("{sql: \x07}", "7:16", "the character U+0007 is not allowed", "remove it"),
]


@pytest.mark.parametrize(("text", "where", "what", "try_"), TRAPS, ids=[trap[0][:40] for trap in TRAPS])
def test_trap_is_one_mistake_at_its_place(tmp_path: Path, text: str, where: str, what: str, try_: str) -> None:
    found = mistakes(tmp_path, feature(text))
    assert [place for place, _ in places(found)] == [where]
    assert what in found[0].what
    assert try_ in str(found[0].try_)
    assert found[0].why


FILES = [
    ("", "1:1", "the file is empty"),
    ("\n# only a comment\n", "1:1", "the file is empty"),
    ("---\n", "2:1", "the file is not a mapping of sections"),
    ("- a\n", "1:1", "the file is not a mapping of sections"),
    ("text", "1:1", "the file is not a mapping of sections"),
    ("entities:\n  e: {join_keys: {a: int}}\n---\nsources: {}\n", "3:1", "a second YAML document begins here"),
    ("entities:\n  e: {join_keys: {a: int}}\n---\n", "3:1", "a second YAML document begins here"),
    ("entity:\n  e: {join_keys: {a: int}}\n", "1:1", "entity is not a section"),
    ("entities:\n", "1:1", "entities has no value"),
    ("entities: [e]\n", "1:1", "entities must be a mapping {name: …}"),
    ("entities: carrier\n", "1:11", "entities must be a mapping {name: …}"),
    ("entities:\n  e:\n", "2:3", "e has no value"),
    ("entities:\n  e: {join_keys: {a: int}}\nentities: {}\n", "3:1", "entities is written twice"),
    ("entities: " + "[" * 2000, "1:34", "nested deeper than 24 levels"),
    ("entities: " + "{a: " * 2000, "1:103", "nested deeper than 24 levels"),
]


@pytest.mark.parametrize(("text", "where", "what"), FILES, ids=[repr(file[0][:30]) for file in FILES])
def test_file_that_is_no_mapping_of_sections_is_a_mistake(tmp_path: Path, text: str, where: str, what: str) -> None:
    assert places(mistakes(tmp_path, text)) == [(where, what)]


def test_file_that_is_not_utf8_is_a_mistake_in_its_line(tmp_path: Path) -> None:
    load(tmp_path)
    (tmp_path / "feature_defs" / "x.yaml").write_bytes(b"entities:\n  e: \xff\n")
    assert places(list(load(tmp_path).mistakes)) == [("2:6", "it is not UTF-8 text")]


def test_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    loaded = load(tmp_path, x="\ufeffentities:\r\n  e: {join_keys: {a: int}}\r\n")
    assert loaded.mistakes == ()
    assert loaded.positions.at("entities", "e", "join_keys", "a") == "feature_defs/x.yaml:2:22"


PLAIN = [
    ("12", 12),
    ("-7", -7),
    ("+7", 7),
    ("0", 0),
    ("9223372036854775807", 2**63 - 1),
    ("0.5", 0.5),
    (".5", 0.5),
    ("1.", 1.0),
    ("-1.5e3", -1500.0),
    ("1e3", 1000.0),
    ("true", True),
    ("false", False),
    ("null", None),
    ("count(*)", "count(*)"),
    ("7d", "7d"),
    ("a:b", "a:b"),
    ("1.2.3", "1.2.3"),
    ("y", "y"),
    ("n", "n"),
    ("nothing", "nothing"),
    ("-", "-"),
    ("1 + 1", "1 + 1"),
]


@pytest.mark.parametrize(("text", "value"), PLAIN)
def test_unquoted_scalar_is_what_everyone_reads(text: str, value: object) -> None:
    assert plain_value(text) == value
    assert type(plain_value(text)) is type(value)


@pytest.mark.parametrize("text", ["2013-01-02", "2013-01-02T03:04Z"])
def test_date_stays_text_where_a_date_is_meant(text: str) -> None:
    assert plain_value(text, dates=True) == text
    assert isinstance(plain_value(text), Suspect)


@given(st.text(alphabet="0123456789_.:-+eExobnyN~ aftrulsp=<", max_size=12))
@example("1:30")
@example("0123")
@example("1_000")
@example("2013-01-02")
@example("1e3")
@example("0o17")
@example("685_230.15")
@example("190:20:30.15")
@example("0b1010_0111")
def test_what_is_not_refused_reads_the_same_in_yaml_1_1(text: str) -> None:
    ours = plain_value(text)
    try:
        theirs = yaml.safe_load(f"[{text}]") if text else None
    except (yaml.YAMLError, ValueError):
        return
    if not text or isinstance(ours, Suspect) or not isinstance(theirs, list) or len(theirs) != 1:
        return
    # One difference is harmless: YAML 1.1 takes 1e3 and 1.5e3 for text, everyone else for a number.
    if isinstance(ours, float) and isinstance(theirs[0], str):
        assert float(theirs[0]) == ours
    elif text == text.strip() and not isinstance(theirs[0], dict):
        assert theirs[0] == ours
        assert type(theirs[0]) is type(ours)


@given(st.text(max_size=200))
@example("a: &a [*a]")
@example("? a\n: b")
@example("%TAG ! tag:x,2000:\n---\n!a b")
@example("\ud800")
def test_no_text_crashes_the_loader(text: str) -> None:
    check(text)


PIECES = (
    *("entities", "feature_views", "sources", "sql", "features", "refresh", "v", "carrier", "join_keys"),
    *(": ", ":\n", "\n", "\n  ", "\n    ", "- ", "{", "}", "[", "]", ", ", "'", '"', "|", ">", "#", "\t", "?", "%"),
    *("&a ", "*a", "!!int ", "<<", "---", "1:30", "on", "7d", "null", "~"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_no_pieces_of_yaml_crash_the_loader(pieces: list[str]) -> None:
    check("".join(pieces))

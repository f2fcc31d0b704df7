"""Definitions as text in a folder, and what load_repo says of them."""

from __future__ import annotations

from pathlib import Path

from featurekit.definitions.repo import LoadedRepo, check_written, load_repo
from featurekit.definitions.repo_files import Written, add_text
from featurekit.definitions.yaml_file import YamlFile
from featurekit.errors import DefinitionError

BASE = """\
entities:
  carrier: {join_keys: {carrier: string}}
  airport: {join_keys: {airport: string}}
  route: {join_keys: {origin: string, dest: string}}
sources:
  departures: {path: departures.parquet, event_timestamp: departed_at, created_timestamp: recorded_at}
feature_views:
  load:
    entity: airport
    source: departures
    refresh: 1d
    features:
      n_1d: {sql: count(*), window: 1d}
      last_delay: {sql: delay, ttl: 7d}
on_demand_feature_views:
  trip:
    request: {distance: double}
    features:
      is_far: {sql: distance > 1500}
"""


def load(folder: Path, **files: str) -> LoadedRepo:
    """Load a feature_defs/ with these files, `name="text"` for name.yaml."""
    feature_defs = folder / "feature_defs"
    feature_defs.mkdir(exist_ok=True)
    for name, text in files.items():
        (feature_defs / f"{name}.yaml").write_bytes(text.encode())
    return load_repo(feature_defs)


def mistakes(folder: Path, text: str) -> list[DefinitionError]:
    """What is wrong with feature_defs/x.yaml, beside a base.yaml without mistakes that it may refer to."""
    return list(load(folder, base=BASE, x=text).mistakes)


def places(found: list[DefinitionError]) -> list[tuple[str, str]]:
    """Each mistake as (line:column in x.yaml, what)."""
    return [(str(mistake.where).removeprefix("feature_defs/x.yaml:"), mistake.what) for mistake in found]


def feature(text: str, *, refresh: str = "1d", more: str = "") -> str:
    """A view `v` with one feature `n`, written on line 7 from column 10 on."""
    lines = ["feature_views:", "  v:", "    entity: carrier", "    source: departures", f"    refresh: {refresh}"]
    return "\n".join([*lines, f"    features:{more}", f"      n: {text}", ""])


def source(text: str) -> str:
    """A source `s`, written on line 2 from column 6 on."""
    return f"sources:\n  s: {text}\n"


def service(text: str) -> str:
    """A service `s` whose features are written on line 3 from column 15 on."""
    return f"feature_services:\n  s:\n    features: {text}\n"


def check(text: str) -> LoadedRepo:
    """What load_repo makes of one file's text, without a folder."""
    written = Written()
    add_text(YamlFile("x.yaml", text), written)
    return check_written(written)

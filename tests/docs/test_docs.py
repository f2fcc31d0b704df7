"""What the pages say is so: definitions load, Python compiles, links and commands are there, printed output is real."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from typer.main import get_command

from featurekit.arrow_types import to_arrow
from featurekit.cli.app import COMMANDS, app, load_command
from featurekit.cli.render import Output
from featurekit.compiled import CompiledRepository
from featurekit.compiler import compile_repository
from featurekit.definitions.repo import load_repo
from featurekit.definitions.repo_files import SECTIONS
from featurekit.errors import FeaturekitError
from featurekit.expr.functions import BY_SPELLING
from featurekit.types import parse_type
from tests.docs.functions_page import PAGE as FUNCTIONS_PAGE
from tests.docs.functions_page import page as functions_page
from tests.docs.pages import ROOT, Block, blocks, blocks_of, command_lines, links, name_of, pages, table

README: Final = ROOT / "README.md"
DEFINITIONS: Final = ROOT / "docs" / "definitions.md"
VALIDATE: Final = "$ featurekit validate\n"

# The Parquet files that the examples name: the flights' columns, as far as the examples use them.
PARQUET: Final = {
    "data/departures.parquet": {
        "carrier": "string",
        "op_carrier": "string",
        "origin": "string",
        "dest": "string",
        "cancelled": "boolean",
        "dep_delay": "double",
        "departed_at": "timestamp_ntz",
        "recorded_at": "timestamp_ntz",
    },
    "data/schedule/month=11/part-0.parquet": {
        "flight_id": "string",
        "origin": "string",
        "cancelled": "boolean",
        "scheduled_at": "timestamp",
        "recorded_at": "timestamp",
    },
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return a folder with the sources that the examples name."""
    for name, columns in PARQUET.items():
        _write_parquet(tmp_path / name, columns)
    for block in blocks_of("yaml", (README, DEFINITIONS)):
        for source in yaml.safe_load(block.text).get("sources", {}).values():
            path = source.get("path", "")
            if path.endswith(".csv"):
                (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / path).write_text(",".join(source["columns"]) + "\n")
    return tmp_path


def _write_parquet(path: Path, columns: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([(name, to_arrow(parse_type(kind))) for name, kind in columns.items()])
    pq.write_table(schema.empty_table(), path)


def compiled(texts: list[str], base: Path) -> CompiledRepository:
    """Return what the texts, each a file of feature_defs/, compile to; DefinitionErrors with all mistakes."""
    folder = base / "feature_defs"
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"block_{number:02}.yaml").write_text(text, encoding="utf-8")
    return compile_repository(load_repo(folder), base)


def flawed() -> Block:
    """Return the block on the page of definitions that `validate` is shown to complain about."""
    found = blocks(DEFINITIONS)
    (at,) = (at for at, block in enumerate(found) if block.text.startswith(VALIDATE))
    return found[at - 1]


def test_every_yaml_block_is_a_whole_document() -> None:
    for block in blocks_of("yaml"):
        assert yaml.safe_load(block.text).keys() <= SECTIONS.keys(), block


def test_definition_in_the_readme_loads_as_it_is_written(base: Path) -> None:
    (block,) = blocks_of("yaml", (README,))
    lines = block.text.splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 110
    assert compiled([block.text], base).views


def test_check_in_the_readme_is_what_the_tour_prints() -> None:
    (block,) = blocks_of("text", (README,))
    printed = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in block.text.splitlines() if line not in printed] == ["…"]


def test_blocks_of_the_page_of_definitions_are_one_project_without_mistakes(base: Path) -> None:
    texts = [block.text for block in blocks_of("yaml", (DEFINITIONS,)) if block != flawed()]
    whole = compiled(texts, base)
    assert set(whole.services) == {"flight_delay", "route_forecast", "order_risk"}
    assert [output.name for output in whole.services["flight_delay"].outputs if "." in output.name][-6:] == [
        "plan.cancelled_share_7d",
        *(f"trip.{name}" for name in ("hour_local", "is_evening", "delay_known", "is_cold", "is_far")),
    ]


def test_mistakes_on_the_page_are_what_validate_prints(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = (block for block in blocks(DEFINITIONS) if block.text.startswith(VALIDATE))
    folder = base / "feature_defs"
    folder.mkdir()
    (folder / "views.yaml").write_text(flawed().text, encoding="utf-8")
    with pytest.raises(FeaturekitError) as caught:
        compile_repository(load_repo(folder), base)
    Output().error(caught.value)
    assert capsys.readouterr().err == shown.text.removeprefix(VALIDATE)


@pytest.mark.parametrize("row", list(table(DEFINITIONS, "written | what is said")), ids=lambda row: str(row[0]))
def test_yaml_that_the_page_calls_a_mistake_is_told_as_it_says(row: list[str], base: Path) -> None:
    written, what, why = row
    text = f"""\
        entities: {{e: {{join_keys: {{carrier: string}}}}}}
        sources: {{s: {{path: data/departures.parquet, event_timestamp: departed_at, timezone: UTC}}}}
        feature_views:
          v: {{entity: e, source: s, refresh: 1d, features: {{f: {written.strip("`")}}}}}
        """
    (base / "one.yaml").write_text(dedent(text), encoding="utf-8")
    told = [(mistake.what, mistake.why or "") for mistake in load_repo(base / "one.yaml").mistakes]
    assert any(what in said and why in reason for said, reason in told), told


@pytest.mark.parametrize("block", blocks_of("python"), ids=str)
def test_python_on_the_pages_compiles_and_imports_names_that_are_there(block: Block) -> None:
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "featurekit":
            module = import_module(node.module or "")
            for alias in node.names:
                assert hasattr(module, alias.name), f"{node.module} has no {alias.name}"


def test_definitions_built_in_python_compile_as_the_page_says(
    base: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(base)
    (block,) = blocks_of("python", (DEFINITIONS,))
    exec(compile(block.text, str(block), "exec"), {})
    assert capsys.readouterr().out == "bigint\n"


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_relative_link_points_to_a_file(page: Path) -> None:
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


@cache
def options_of(command: str) -> frozenset[str]:
    """Return the options of a command and of the commands in it."""
    loaded = load_command(command)
    parts = (loaded, *getattr(loaded, "commands", {}).values())
    return frozenset(word for part in parts for option in part.params for word in option.opts) | {"--help"}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_every_command_and_option_on_the_page_is_there(page: Path) -> None:
    everywhere = {word for option in get_command(app).params for word in option.opts}
    for line in command_lines(page):
        command = next((word for word in line.split()[1:] if not word.startswith("-")), None)
        assert command in COMMANDS or command == "COMMAND", line
        known = options_of(command) if command in COMMANDS else everywhere | {"--help"}
        assert set(re.findall(r"(?<!\S)--[a-z][a-z-]*", line)) <= known, line


def test_committed_page_of_functions_is_what_the_catalogue_gives() -> None:
    assert FUNCTIONS_PAGE.read_text(encoding="utf-8") == functions_page(), "run python -m tests.docs.functions_page"


def test_every_function_of_the_catalogue_is_on_its_page() -> None:
    text = FUNCTIONS_PAGE.read_text(encoding="utf-8")
    assert [name for name in BY_SPELLING if not re.search(rf"[` ]{name}[(\[]", text)] == []

"""The YAML files of a repo as plain values by section and name, with positions; no model has seen them yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from featurekit.definitions.positions import Positions
from featurekit.definitions.problem import Place, did_you_mean
from featurekit.definitions.yaml_file import YamlFile
from featurekit.definitions.yaml_source import Flaw, Mapping, Node, read_yaml
from featurekit.definitions.yaml_values import REFUSED, Reading, Spot, value_of
from featurekit.errors import DefinitionError

SECTIONS: Final = {
    "entities": "entity",
    "sources": "source",
    "feature_views": "feature view",
    "on_demand_feature_views": "on-demand feature view",
    "feature_services": "feature service",
}
"""The sections of a file, and what one thing in each is called."""


@dataclass(slots=True)
class Written:
    """What the files say. `spoiled` are the paths whose value can't be trusted; their mistakes are told already."""

    sections: dict[str, dict[str, Any]] = field(default_factory=dict)
    spots: dict[Place, tuple[YamlFile, Spot]] = field(default_factory=dict)
    spoiled: set[Place] = field(default_factory=set)
    mistakes: list[DefinitionError] = field(default_factory=list)
    is_complete: bool = True
    """False where a file could not be read: a name that seems to be missing may be in it."""

    def is_spoiled(self, path: Place) -> bool:
        """Return whether the value at the path, or one around it, was complained about."""
        return any(path[:length] in self.spoiled for length in range(1, len(path) + 1))

    def complain(self, file: YamlFile, flaw: Flaw) -> None:
        where = file.position(flaw.index)
        self.mistakes.append(DefinitionError(flaw.what, where=where, why=flaw.why, try_=flaw.try_))


def read_files(path: Path, root: Path) -> Written:
    """Return what the YAML files under `path` (or the one file it is) say, under names relative to `root`."""
    written = Written()
    files = _yaml_files(path)
    for file in files:
        _read_file(file, _shown(file, root), written)
    if not files:
        what = "there are no definitions here" if path.is_dir() else "there is no such folder"
        why = "no file in it is called *.yaml or *.yml" if path.is_dir() else None
        try_ = "`featurekit init` writes an example; or name another folder"
        written.mistakes.append(DefinitionError(what, where=str(path), why=why, try_=try_))
    return written


def _yaml_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    # Hidden files are editors' and tools' own: a lock or a backup would declare everything twice.
    files = [file for suffix in ("*.yaml", "*.yml") for file in path.rglob(suffix)]
    shown = [file for file in files if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    return sorted((file for file in shown if not file.is_dir()), key=lambda file: file.as_posix())


def _shown(file: Path, root: Path) -> str:
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else file.as_posix()


def _read_file(path: Path, name: str, written: Written) -> None:
    try:
        data = path.read_bytes()
    except OSError as error:
        written.is_complete = False
        written.complain(YamlFile(name, ""), Flaw(0, f"it can't be read: {error.strerror}"))
        return
    try:
        add_text(YamlFile(name, data.decode("utf-8")), written)
    except UnicodeDecodeError as error:
        written.is_complete = False
        before = data[: error.start].decode("utf-8")
        flaw = Flaw(len(before), "it is not UTF-8 text", f"byte {error.start} of the file", "save it as UTF-8")
        written.complain(YamlFile(name, before), flaw)


def add_text(file: YamlFile, written: Written) -> None:
    """Take in one file's text."""
    node, flaws = read_yaml(file.text)
    written.is_complete &= isinstance(node, Mapping)
    for flaw in (*flaws, *_take_in(node, file, written, has_flaws=bool(flaws))):
        written.complain(file, flaw)


def _take_in(node: Node | None, file: YamlFile, written: Written, *, has_flaws: bool) -> Iterator[Flaw]:
    """Add the file's definitions; yield what is wrong with them as YAML."""
    begin = f"begin with one of {', '.join(SECTIONS)}"
    if node is None:
        if not has_flaws:
            yield Flaw(0, "the file is empty", "a file without definitions is often one that was lost", begin)
        return
    if not isinstance(node, Mapping):
        yield Flaw(node.start, "the file is not a mapping of sections", "what it declares has a name", begin)
        return
    reading = Reading()
    value = value_of(node, (), file.text, reading)
    yield from reading.flaws
    written.is_complete &= not any(len(place) == 1 for place in reading.spoiled)
    for section, definitions in value.items():
        spot = reading.spots[(section,)]
        if section not in SECTIONS:
            meant = did_you_mean(section, SECTIONS)
            written.is_complete &= not (meant and meant.startswith("did"))
            yield Flaw(spot.index, f"{section} is not a section", "a file has sections by these names only", meant)
        elif isinstance(definitions, dict):
            for name, body in definitions.items():
                yield from _add_definition((section, name), body, reading, file, written)
        elif definitions is not REFUSED:
            what = f"{section} must be a mapping {{name: …}}"
            yield Flaw(spot.index, what, "what is declared has a name", f"{section}: {{name: {{…}}}}")


def _add_definition(path: Place, body: Any, reading: Reading, file: YamlFile, written: Written) -> Iterator[Flaw]:
    section, name = str(path[0]), str(path[1])
    known = written.sections.setdefault(section, {})
    if name in known:
        first = Positions(written.spots).at(*path)
        what = f"the {SECTIONS[section]} {name} is declared twice"
        yield Flaw(reading.spots[path].index, what, f"it stands at {first} already", "keep one of the two")
        return
    known[name] = body
    written.spots.update({spot: (file, place) for spot, place in reading.spots.items() if spot[:2] == path})
    written.spoiled.update(spot for spot in reading.spoiled if spot[:2] == path)

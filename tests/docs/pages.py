"""The pages as the tests read them: fenced blocks, tables, links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
_CODE: Final = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Block:
    """What stands between two fences; `line` is that of its first one."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> tuple[Path, ...]:
    return (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")))


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> tuple[Block, ...]:
    text = page.read_text(encoding="utf-8")
    return tuple(
        Block(name_of(page), text.count("\n", 0, found.start()) + 1, found[1], found[2])
        for found in _FENCE.finditer(text)
    )


def blocks_of(language: str, wanted: Iterable[Path] | None = None) -> tuple[Block, ...]:
    """Return all blocks of one language, of all pages where none are named."""
    return tuple(block for page in wanted or pages() for block in blocks(page) if block.language == language)


def prose(page: Path) -> str:
    """Return the page without its blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> tuple[str, ...]:
    """Return the page's relative links without their anchors."""
    found = (link.partition("#")[0] for link in _LINK.findall(prose(page)))
    return tuple(link for link in found if link and "://" not in link)


def table(page: Path, first_header: str) -> Iterator[list[str]]:
    """Yield the rows of the table whose first header is this one."""
    rows = iter(page.read_text(encoding="utf-8").splitlines())
    for line in rows:
        if line.startswith(f"| {first_header} |"):
            next(rows)
            break
    for line in rows:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split(" | ")]


def command_lines(page: Path) -> Iterator[str]:
    """Yield each `featurekit …` that the page shows as something to type: in a block, after a prompt, or in code."""
    for block in blocks(page):
        for line in block.text.splitlines():
            if block.language in ("text", "bash", "") and (found := re.match(r"(?:\$ )?(featurekit\b.*)", line)):
                yield found[1]
    for code in _CODE.findall(prose(page)):
        if re.match(r"featurekit [a-z]", code):
            yield code
    # Four spaces make a block too.
    for line in prose(page).splitlines():
        if found := re.match(r" {4}(featurekit\b.*)", line):
            yield found[1]

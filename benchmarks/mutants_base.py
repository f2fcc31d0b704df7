"""What a seeded defect is: one text of one file replaced by another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mutant:
    """A defect: `old` stands once in the file (a path inside featurekit/), `new` takes its place."""

    file: str
    what: str
    old: str
    new: str

    @property
    def family(self) -> str:
        return self.file.removesuffix(".py").split("/", 1)[-1]

    def mistake(self, root: Path) -> str | None:
        """Return why the defect can't be seeded in a tree, None where it can."""
        path = root / "featurekit" / self.file
        if not path.exists():
            return f"{self.file} is not there"
        count = path.read_text(encoding="utf-8").count(self.old)
        if count == 1 and self.old != self.new:
            return None
        return f"{self.file} has the text {count} times, not once ({self.what}):\n    {self.old}"


def seeded(file: str, *rows: tuple[str, str, str]) -> tuple[Mutant, ...]:
    """Return the defects of one file from rows of what it is, the text there, and the text in its place."""
    return tuple(Mutant(file=file, what=what, old=old, new=new) for what, old, new in rows)

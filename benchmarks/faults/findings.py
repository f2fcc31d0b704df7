"""What a fault command counts as wrong, and the first of it in words."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Final

_SHOWN: Final = 20


@dataclass(kw_only=True)
class Findings:
    """Counts by kind, each an attribute of who counts."""

    problems: list[str] = field(default_factory=list)

    def tell(self, kind: str, what: str) -> None:
        """Count one thing that must not be."""
        setattr(self, kind, getattr(self, kind) + 1)
        if len(self.problems) < _SHOWN:
            self.problems.append(f"{kind}: {what}")

    def show_problems(self) -> None:
        for problem in self.problems:
            print(problem, file=sys.stderr)

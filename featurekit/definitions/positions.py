"""Where each value of the definitions stands in its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from featurekit.definitions.problem import Place, Problem
from featurekit.definitions.yaml_file import YamlFile
from featurekit.definitions.yaml_source import Scalar
from featurekit.definitions.yaml_values import Spot
from featurekit.errors import DefinitionError

_WHERE: Final = re.compile(r"(.*?):(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Positions:
    """The places of all values by path; empty for definitions that were built from Python."""

    spots: Mapping[Place, tuple[YamlFile, Spot]] = field(default_factory=dict)

    def at(self, *path: str | int, offset: int | None = None) -> str:
        """Return `file:line:column` of the value at `path`, or of the nearest thing around it that was written.

        With an offset: of that character of the text there, exactly where the scalar is plain, quoted or a block, and
        the scalar's start where an escape makes it unclear. Definitions from Python have dotted paths for positions.
        """
        for length in range(len(path), 0, -1):
            found = self.spots.get(path[:length])
            if found is None:
                continue
            file, spot = found
            if offset is not None and length == len(path) and isinstance(spot.node, Scalar):
                return file.position_in(spot.node, offset)
            return file.position(spot.index)
        return ".".join(str(part) for part in path)

    def of_name(self, *path: str | int) -> str:
        """Return `file:line:column` of the name before the value at `path`."""
        found = self.spots.get(path)
        if found is None or found[1].key is None:
            return self.at(*path)
        return found[0].position(found[1].key.start)

    def mistake(self, problem: Problem) -> DefinitionError:
        """Return the problem as an error that knows its position."""
        path = problem.path
        where = self.of_name(*path) if problem.at_name else self.at(*path, offset=problem.offset)
        return DefinitionError(problem.what, where=where, why=problem.why, try_=problem.try_)


def by_position(mistakes: Iterable[DefinitionError]) -> tuple[DefinitionError, ...]:
    """Return the mistakes by file, line and column; each one once."""
    unique = {(mistake.where, mistake.what): mistake for mistake in mistakes}
    return tuple(sorted(unique.values(), key=_order))


def _order(mistake: DefinitionError) -> tuple[str, int, int, str]:
    where = mistake.where or ""
    if match := _WHERE.match(where):
        return match[1], int(match[2]), int(match[3]), mistake.what
    return where, 0, 0, mistake.what

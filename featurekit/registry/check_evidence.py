"""Kept reports show entities as evidence: who is forgotten is taken out of them too."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, and_, select, update

from featurekit.registry.check_tables import CHECK_RUNS


def count_check_texts(connection: Connection, namespace: str, holds: Callable[[str], bool], instead: str | None) -> int:
    """Return how many pieces of evidence of kept reports name something; with `instead`, their texts become it."""
    table, found = CHECK_RUNS, 0
    of_it = table.c.namespace == namespace
    for number in connection.scalars(select(table.c.run).where(of_it)).all():
        own = and_(of_it, table.c.run == number)
        content = json.loads(zlib.decompress(connection.execute(select(table.c.document).where(own)).scalar_one()))
        named = [each for each in _evidence(content) if any(map(holds, _texts(each)))]
        found += len(named)
        if named and instead is not None:
            for each in named:
                each |= {name: instead if isinstance(text, str) else [] for name, text in each.items() if text}
            text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
            connection.execute(update(table).where(own).values(document=zlib.compress(text.encode(), 9)))
    return found


def _evidence(content: Any) -> Iterator[dict[str, Any]]:
    """Yield the parts of a report that tell of one entity, wherever they lie."""
    match content:
        case {"entity": str()}:
            yield content
        case dict():
            for each in content.values():
                yield from _evidence(each)
        case list():
            for each in content:
                yield from _evidence(each)
        case _:
            pass


def _texts(evidence: dict[str, Any]) -> Iterator[str]:
    for value in evidence.values():
        yield from [value] if isinstance(value, str) else value if isinstance(value, list) else ()
